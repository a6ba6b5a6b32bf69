"""The vocabulary of everything drawn: spans, lines, rows, and what a row needs to know to draw itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import islice
from typing import Protocol, TypeVar

from ledger_tui.format import cut, fit, left, tame, width_of
from ledger_tui.theme import UNICODE, Signs

Span = tuple[str, str]
"""Text and the name of its style."""

Line = list[Span]
"""One line of the screen, left to right."""


@dataclass(frozen=True, slots=True)
class Look:
    """How to draw: signs, time zone, the present moment in ms, and the key of an action by its id."""

    now: int = 0
    zone: tzinfo | None = None
    signs: Signs = UNICODE
    key_of: Callable[[str], str] = lambda action: f"<{action}>"


class Row(Protocol):
    """One thing in a list; `key` identifies it from one update to the next."""

    @property
    def key(self) -> str:
        """What tells it from the other rows of its list."""
        ...

    @property
    def selectable(self) -> bool:
        """Whether the cursor may stand on it."""
        ...

    def height(self, width: int) -> int:
        """Lines it takes at this width, at least 1."""
        ...

    def lines(self, width: int, look: Look) -> list[Line]:
        """Exactly `height(width)` lines of at most `width` cells."""
        ...

    def text(self) -> str:
        """All of it as plain text, for the filter and for copying."""
        ...


Item = TypeVar("Item")


def last(items: Sequence[Item], number: int) -> Iterator[Item]:
    """The last `number` items, in their order; `items` may be a deque, which cannot be sliced."""
    return islice(items, max(0, len(items) - number), None)


def spread(width: int, left_part: Line, flexible: Span, right_part: Line) -> Line:
    """A line of exactly `width` cells: fixed spans, one that takes the room between, fixed spans.

    When the room between would fall under a third of the width, spans of the right part go, the first of them first.
    """
    fixed = measure(left_part)
    kept = list(right_part)
    while kept and width - fixed - measure(kept) < min(width_of(tame(flexible[0])), width // 3):
        kept.pop(0)
    room = max(0, width - fixed - measure(kept))
    return clip([*left_part, (left(flexible[0], room), flexible[1]), *kept], width)


def measure(line: Line) -> int:
    """Cells the spans of `line` take; their text is tame."""
    return sum(width_of(text) for text, _ in line)


def clip(line: Line, width: int) -> Line:
    """`line` without what lies beyond `width` cells."""
    out: Line = []
    for text, style in line:
        room = width - measure(out)
        if room <= 0:
            break
        short = cut if text.isspace() else fit
        out.append((text if width_of(text) <= room else short(text, room), style))
    return out


def say(template: str, look: Look) -> Line:
    """A sentence of the program's own as spans: `{action}` becomes that action's key, `` `code` `` is set off.

    Only for templates written here, never for outside text.
    """
    out: Line = []
    for index, piece in enumerate(template.split("`")):
        if index % 2:
            out.append((piece, "strong"))
        else:
            out += _with_keys(piece, look)
    return [span for span in out if span[0]]


def _with_keys(text: str, look: Look) -> Line:
    out: Line = []
    while "{" in text:
        before, _, rest = text.partition("{")
        action, _, text = rest.partition("}")
        out += [(before, "muted"), (look.key_of(action), "key")]
    return [*out, (text, "muted")]


def wrap_line(line: Line, width: int) -> list[Line]:
    """`line` broken at spaces into lines of at most `width` cells, styles kept."""
    out: list[Line] = [[]]
    used = 0
    for word, style in _words(line):
        size = width_of(word)
        if used and used + size > width:
            out.append([])
            used = 0
            word = word.lstrip()  # noqa: PLW2901 - a word that starts a line loses its space
            size = width_of(word)
        if size > width:
            word, size = cut(word, width), width  # noqa: PLW2901
        out[-1].append((word, style))
        used += size
    return out


def pieces(text: str, width: int) -> Iterator[str]:
    """A line broken wherever it is full, for what has to be read to the last character."""
    rest = tame(text)
    while True:
        head = cut(rest, width) or rest[:1]
        yield head
        rest = rest[len(head) :]
        if not rest:
            return


def _words(line: Line) -> Line:
    """The spans of `line` split before each space."""
    out: Line = []
    for text, style in line:
        head, *tail = text.split(" ")
        if head:
            out.append((head, style))
        out += [(" " + word, style) for word in tail]
    return out
