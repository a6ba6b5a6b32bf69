"""What was said and done in a past session, as rows of one line each; tool calls and lists of files can be folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from core.history.pieces import Kind, Piece
from ledger_tui.format import clock, fit, plural, tame, width_of
from ledger_tui.marks import Support
from ledger_tui.rows.look import Line, Look, Row, clip, pieces, wrap_line
from ledger_tui.rows.outputs import shortened, text_lines
from ledger_tui.theme import UNICODE, Signs

_FOLDED: Final = frozenset({Kind.TOOL, Kind.PATCH})
_SPEAKERS: Final = {"user": ("You", "key"), "assistant": ("Agent", "live")}
_TELLING: Final = ("command", "filePath", "path", "pattern", "query", "url", "description", "prompt")
"""Arguments that tell best what a call did, the best first."""
_HEAD_CHARS: Final = 400
"""Of an argument, on the line of a folded call."""


@dataclass(frozen=True, slots=True)
class HeadingRow:
    """A heading with an empty line above it."""

    key: str
    line: Line
    selectable: bool = False

    def height(self, width: int) -> int:
        """Always 2."""
        return 2

    def lines(self, width: int, look: Look) -> list[Line]:
        """An empty line and the heading."""
        return [[], clip(self.line, width)]

    def text(self) -> str:
        """The heading."""
        return "".join(text for text, _ in self.line)


@dataclass(frozen=True, slots=True)
class TextRow:
    """One line of the screen.

    Attributes:
        piece: index of the part it belongs to; -1 for a line of the program's own.
        plain: what the filter looks at.
    """

    key: str
    line: Line
    plain: str
    piece: int = -1
    selectable: bool = True

    def height(self, width: int) -> int:
        """Always 1."""
        return 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """The line."""
        return [clip(self.line, width)]

    def text(self) -> str:
        """What the filter looks at."""
        return self.plain


class Folds:
    """The parts of a session read so far, and which of them are unfolded.

    :meth:`rows` may be called in a thread: it measures texts of any length.
    """

    def __init__(self, zone: tzinfo | None = None, signs: Signs = UNICODE) -> None:
        self.pieces: list[Piece] = []
        self.opened: set[int] = set()
        self._zone = zone
        self._signs = signs
        self._width = 0
        self._made: dict[tuple[int, bool], tuple[TextRow, ...]] = {}

    @property
    def foldable(self) -> frozenset[int]:
        """Indexes of the parts that can be folded."""
        return frozenset(index for index, piece in enumerate(self.pieces) if piece.kind in _FOLDED)

    def toggle(self, index: int) -> bool:
        """Unfold the part with this index, or fold it; False when there is nothing to fold."""
        if not 0 <= index < len(self.pieces) or self.pieces[index].kind not in _FOLDED:
            return False
        self.opened ^= {index}
        return True

    def toggle_all(self) -> bool:
        """Unfold all, or fold all where all are unfolded; whether they are unfolded now."""
        every = self.foldable
        self.opened = set() if every <= self.opened else set(every)
        return bool(self.opened)

    def rows(self, width: int) -> list[Row]:
        """All parts at this width, with a heading where the speaker changes."""
        if width != self._width:
            self._width, self._made = width, {}
        made, opened = self._made, self.opened
        out: list[Row] = []
        speaker = ""
        for index, piece in enumerate(list(self.pieces)):
            if piece.kind is Kind.DROPPED:
                continue
            if piece.role != speaker:
                speaker = piece.role
                out.append(_heading(index, piece, self._zone))
            key = index, index in opened
            if key not in made:
                made[key] = tuple(_rows(index, piece, width, self._signs, opened=key[1]))
            out += made[key]
        return out

    def left_out(self) -> str:
        """Which parts are not shown, as a sentence; empty when all are."""
        dropped = Counter(piece.name for piece in self.pieces if piece.kind is Kind.DROPPED)
        if not dropped:
            return ""
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(dropped.items()))
        return f"{plural(dropped.total(), 'part')} not shown: {kinds}."


def _heading(index: int, piece: Piece, zone: tzinfo | None) -> HeadingRow:
    name, style = _SPEAKERS.get(piece.role, ("Unknown speaker", "muted"))
    return HeadingRow(f"who{index}", [(name, style), (f"  {clock(piece.time, zone, seconds=True)}", "faint")])


def _rows(index: int, piece: Piece, width: int, signs: Signs, *, opened: bool) -> Iterator[TextRow]:
    if piece.kind in _FOLDED:
        head = _call_head(piece, width) if piece.kind is Kind.TOOL else _patch_head(piece)
        sign: Line = [("– " if opened else "+ ", "key")]
        yield TextRow(f"{index}", [*sign, *head], f"{piece.name}\n{piece.input}\n{piece.text}", index)
        lines = _unfolded(piece, width, signs) if opened else []
    else:
        lines = list(_said(piece, width))
    for number, line in enumerate(lines):
        yield TextRow(f"{index}.{number}", line, "".join(text for text, _ in line), index)


def _said(piece: Piece, width: int) -> Iterator[Line]:
    match piece.kind:
        case Kind.REASONING:
            yield from wrapped(f"thinks: {piece.text}", width, "faint")
        case Kind.FILE:
            kind = f" ({piece.text})" if piece.text else ""
            yield from wrapped(f"file {piece.name}{kind}", width, "muted")
        case Kind.SUMMARY:
            yield [("Summary of what came before", "topic")]
            yield from wrapped(piece.text, width, "text")
        case _:
            yield from wrapped(piece.text, width, "text")


def _call_head(piece: Piece, width: int) -> Line:
    lines = piece.text.count("\n") + 1 if piece.text else 0
    failed = piece.status == "error"
    side = "  failed" if failed else f"  {plural(lines, 'line')}" if lines else f"  {piece.status or 'no output'}"
    what = fit(told(piece)[:_HEAD_CHARS], max(8, width - 4 - width_of(piece.name) - len(side)))
    return [(f"{fit(piece.name, 24)}  ", "busy"), (what, "text"), (side, "error" if failed else "faint")]


def _patch_head(piece: Piece) -> Line:
    return [(f"{plural(piece.text.count(chr(10)) + 1, 'file')} changed", "muted")]


def told(piece: Piece) -> str:
    """The argument that tells best what a call did, on one line."""
    given = dict(line.partition(": ")[::2] for line in reversed(piece.input.split("\n")))
    best = next((given[name] for name in _TELLING if given.get(name)), piece.input)
    return " ".join(tame(best.replace("\n", " ")).split())


def _unfolded(piece: Piece, width: int, signs: Signs) -> list[Line]:
    rule: Line = [(f"  {signs.frame[5]} ", "frame")]
    out: list[Line] = []
    for text, style in ((piece.input, "text"), (piece.text, "muted")):
        for line in text.split("\n") if text else []:
            cut = text_lines(Support(shortened(line), ()), max(8, width - 4))
            out += [[*rule, *((words, style) for words, _ in spans)] for spans in cut]
        if text is piece.input and text and piece.text:
            out.append([*rule, ("failed:" if piece.status == "error" else "output:", "faint")])
    return out


def wrapped(text: str, width: int, style: str) -> Iterator[Line]:
    """Lines of prose broken at spaces; a word that has no room is broken anywhere, so that nothing is lost."""
    for raw in text.split("\n"):
        line = tame(raw.expandtabs(4)).rstrip()
        if max(map(width_of, line.split(" ")), default=0) >= width:
            yield from ([(part, style)] for part in pieces(line, width))
        else:
            yield from wrap_line([(line, style)], width)


def more_row(read: int) -> TextRow:
    """The row under the parts of a session of which there are more."""
    line: Line = [(f"{plural(read, 'part')} read; ", "muted"), ("enter", "key"), (" reads on.", "muted")]
    return TextRow(MORE, line, "more")


MORE: Final = "more"
"""Key of the row that reads on."""


def sentence_rows(key: str, words: str, width: int, style: str = "muted") -> Sequence[TextRow]:
    """A sentence of the program's own, which may be long; the cursor can stand on it."""
    return [TextRow(f"{key}{number}", line, words) for number, line in enumerate(wrapped(words, width, style))]
