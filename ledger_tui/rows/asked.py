"""What the agent waits for, as lines: a permission whole, a question with its options, the answers before they go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.ledger.observations import Option
from core.text import mask
from core.views import PermissionView, SessionView
from ledger_tui.answering import Answering
from ledger_tui.format import cut, fit, tame, width_of, wrap
from ledger_tui.rows.look import Line, Look, say, wrap_line

_MOST_LINES = 400
"""Lines that one paragraph of a question may take."""


def asker(view: SessionView | None, asked: PermissionView) -> str:
    """Who asks, when it is a sub-agent: its title; else empty."""
    if view is None or asked.origin in ("", view.root):
        return ""
    return view.origins.get(asked.origin) or asked.origin


def asker_lines(who: str, width: int) -> list[Line]:
    """A line that names the sub-agent which asks; none where it is the agent itself."""
    return [[(fit(f"Sub-agent: {who}", width), "muted")], []] if who else []


def pieces(text: str, width: int) -> Iterator[str]:
    """A line broken wherever it is full: nothing of what is to be allowed may be missing."""
    rest = tame(text)
    while True:
        head = cut(rest, width) or rest[:1]
        yield head
        rest = rest[len(head) :]
        if not rest:
            return


def permission_lines(asked: PermissionView, who: str, answers: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """The request, and what each answer (key, word) would mean."""
    out: list[Line] = [*asker_lines(who, width), [(tame(asked.title), "strong")], []]
    for text in asked.text.split("\n"):
        out += [[(piece, "text")] for piece in pieces(text, width)]
    if asked.patterns and asked.patterns != asked.text:
        out += [[], *wrap_line([(f"This time for: {tame(asked.patterns)}", "muted")], width)]
    meanings = {
        "once": "allow this, and ask again next time",
        "always": f"allow {tame(asked.always) or 'it'} from now on, without asking",
        "reject": "refuse; the agent is told so",
    }
    out.append([])
    for key, reply in answers:
        first, *more = wrap_line([(f"{reply}: {meanings[reply]}", "muted")], width - 5)
        out += [[(f"{key:>3}  ", "key"), *first], *([("     ", "text"), *line] for line in more)]
    return out


def question_lines(
    state: Answering, who: str, numbers: Sequence[str], width: int, look: Look
) -> tuple[list[Line], int]:
    """The page on screen, and which of its lines the cursor is on; `numbers` are the keys of the options."""
    asked = state.question
    if asked is None:
        return _summary_lines(state, numbers, width, look), 0
    out = asker_lines(who, width)
    if asked.header and asked.header != asked.text:
        out += [[(fit(asked.header, width), "strong")], []]
    for text in asked.text.split("\n"):
        out += [[(piece, "text")] for piece in wrap(text, width, _MOST_LINES)]
    out += [[], [("Choose as many as apply:" if asked.multiple else "Choose one:", "muted")]]
    at = len(out)
    for row, option in enumerate(asked.options):
        at = len(out) if row == state.cursor else at
        out += _option_lines(state, row, option, numbers[row] if row < len(numbers) else "", width, look)
    if asked.custom:
        at = len(out) if state.on_own else at
        out += _own_lines(state, width, look)
    return out, at


def _start(state: Answering, row: int, key: str, chosen: bool, look: Look) -> Line:
    """Cursor, key and whether it is chosen: 9 cells."""
    cursor = look.signs.cursor if state.cursor == row else " "
    sign = look.signs.chosen if chosen else " "
    several = state.question is not None and state.question.multiple
    return [
        (f"{cursor} ", "key"),
        (f"{fit(key, 2):<2} ", "key"),
        (f"[{sign}] " if several else f" {sign}  ", "live" if chosen else "muted"),
    ]


def _option_lines(state: Answering, row: int, option: Option, key: str, width: int, look: Look) -> list[Line]:
    """Label and description, on one line where both fit."""
    room = max(8, width - 9)
    style = "strong" if state.cursor == row or state.is_chosen(row) else "text"
    start = _start(state, row, key, state.is_chosen(row), look)
    label, words = tame(mask(option.label)), tame(option.description)  # unmasked, the label is the answer
    if words and width_of(label) + width_of(words) + 2 <= room:
        return [[*start, (label, style), ("  ", "text"), (words, "muted")]]
    first, *more = wrap(label, room, _MOST_LINES)
    out: list[Line] = [[*start, (first, style)], *([(" " * 9, "text"), (piece, style)] for piece in more)]
    described = wrap(words, room, _MOST_LINES) if words else []
    return [*out, *([(" " * 9, "text"), (piece, "muted")] for piece in described)]


def _own_lines(state: Answering, width: int, look: Look) -> list[Line]:
    """The row for own words, with those that were written."""
    start = _start(state, state.rows - 1, look.key_of("own"), bool(state.own), look)
    style = "strong" if state.on_own else "text"
    if not state.own:
        return [[*start, ("In your own words", style)]]
    first, *more = wrap(f"“{state.own}”", max(8, width - 9), _MOST_LINES)
    return [[*start, (first, style)], *([(" " * 9, "text"), (piece, style)] for piece in more)]


def _summary_lines(state: Answering, numbers: Sequence[str], width: int, look: Look) -> list[Line]:
    """All questions with their answers."""
    out: list[Line] = [[("Your answers", "strong")], []]
    for index, asked in enumerate(state.questions):
        key = numbers[index] if index < len(numbers) else ""
        answer = state.answer(index)
        out.append([(f"{fit(key, 2):<2} ", "key"), (fit(asked.header or asked.text, width - 3), "muted")])
        said = (
            wrap(mask(", ".join(answer)), width - 3, _MOST_LINES) if answer else ["not answered; the agent is told so"]
        )
        out += [[("   ", "text"), (piece, "strong" if answer else "waiting")] for piece in said]
    template = "{answer} sends them." if any(state.answers) else "Answer at least one, or {reject} refuses them all."
    return [*out, [], *wrap_line(say(template, look), width)]
