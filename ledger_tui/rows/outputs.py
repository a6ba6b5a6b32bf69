"""A call and its output as lines: the command, then the output behind a rule, what supports a fact marked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ledger_tui.format import cut, plural, tame, width_of, wrap
from ledger_tui.marks import Support
from ledger_tui.rows.look import Line, Look

MAX_OUTPUT_LINES = 200
"""Lines of one output that are shown when all are asked for."""

NEAR = 2
"""Lines shown around one that supports a fact."""

WHOLE = 12
"""An output of up to so many lines is shown whole."""

_LINE_CHARS = 1_000
"""Characters of one output line that are shown."""

_SHELLS = ("bash", "shell")


def ending_of(ok: bool, code: int | None) -> tuple[str, str]:
    """How a call ended: word and style."""
    if ok and not code:
        return ("ok", "faint")
    return (f"exit {code}" if code else "failed", "error")


def call_head(when: str, tool: str, command: Sequence[Line], ending: tuple[str, str], sign: str = "") -> list[Line]:
    """One line that says which call, then the lines of its command, 2 cells moved in; `sign` marks the command."""
    start: Line = [(when, "muted"), (f"  {tame(tool[:40])}", "busy"), ("  " + ending[0], ending[1])]
    prompt = "$ " if tool in _SHELLS else "  "
    first = (f"{sign} ", "live") if sign else (prompt, "faint")
    return [start, *([("  ", "faint") if index else first, *line] for index, line in enumerate(command))]


def command_lines(command: str, width: int) -> list[Line]:
    """A command, wrapped to the room beside the prompt."""
    return [[(text, "text")] for text in wrap(command, width - 2, 6)]


def output_lines(
    lines: Sequence[Support], width: int, look: Look, *, everything: bool, evidence: Collection[int] = ()
) -> Iterator[Line]:
    """Output lines behind a rule, those of `evidence` (indexes) with a sign in its place.

    Of a long output only what is near evidence (without any: near a mark) is shown, unless `everything` is asked for.
    """
    rule: Line = [(look.signs.frame[5] + " ", "frame")]
    signed: Line = [(look.signs.crumb + " ", "live")]
    while lines and not lines[-1].text.strip():
        lines = lines[:-1]
    if not lines:
        yield [*rule, ("no output", "faint")]
    shown = _chosen(lines, evidence, everything=everything)
    skipped = 0
    for index, line in enumerate(lines):
        if index not in shown:
            skipped += 1
            continue
        if skipped:
            yield [*rule, (f"{look.signs.gap} {plural(skipped, 'line')} left out", "faint")]
            skipped = 0
        for piece in text_lines(line, max(8, width - 2)):
            yield [*(signed if index in evidence else rule), *piece]
    if skipped:
        yield [*rule, (f"{look.signs.gap} {plural(skipped, 'line')} left out", "faint")]


def shortened(line: str) -> str:
    """At most 1,000 characters of an output line, and how many more there are."""
    rest = len(line) - _LINE_CHARS
    return f"{line[:_LINE_CHARS]} … {plural(rest, 'more character')}" if rest > 0 else line


def _chosen(lines: Sequence[Support], evidence: Collection[int], *, everything: bool) -> set[int]:
    marked = sorted(evidence) or [index for index, line in enumerate(lines) if line.marks]
    near = {near for index in marked[: MAX_OUTPUT_LINES // 4] for near in range(index - NEAR, index + NEAR + 1)}
    if everything or len(lines) <= WHOLE:
        return set(range(min(len(lines), MAX_OUTPUT_LINES))) | near
    return near or set(range(WHOLE // 2)) | set(range(len(lines) - WHOLE // 2, len(lines)))


def text_lines(line: Support, width: int) -> list[Line]:
    """One output line cut into screen lines, its marks kept."""
    spans: Line = []
    at = 0
    for start, end in line.marks:
        spans += [(tame(line.text[at:start].expandtabs(4)), "muted"), (tame(line.text[start:end]), "mark")]
        at = end
    spans.append((tame(line.text[at:].expandtabs(4)), "muted"))
    out: list[Line] = [[]]
    used = 0
    for text, style in spans:
        rest = text
        while rest:
            if used >= width:
                out.append([])
                used = 0
            head = cut(rest, width - used) or ("" if used else rest[:1])
            out[-1].append((head, style))
            used = used + width_of(head) if head else width
            rest = rest[len(head) :]
    return out
