"""From spans to strips: the last place text passes before the terminal."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ledger_tui.format import cut, tame, width_of
from ledger_tui.rows.look import Line
from ledger_tui.theme import ASCII, UNICODE, Palette, Signs, palette

UNDER_CURSOR = "!"
"""Ends the style name of a span on the row under the cursor."""


class Brush:
    """The palette and signs in use, shared by all widgets of the program; changed when the theme changes."""

    def __init__(self, theme: str, *, plain: bool = False) -> None:
        self.palette: Palette = palette(theme)
        self.signs: Signs = ASCII if plain else UNICODE

    def use(self, theme: str) -> None:
        """Paint with another theme from now on."""
        self.palette = palette(theme)

    def strip(self, line: Line, width: int) -> Strip:
        """`line` as a strip of exactly `width` cells; control characters that got this far end here."""
        pieces: list[tuple[str, str]] = []
        used = 0
        for text, style in line:
            shown = cut(self.signs.shown(tame(text)), width - used)
            used += width_of(shown)
            if pieces and pieces[-1][1] == style:
                pieces[-1] = (pieces[-1][0] + shown, style)
            elif shown:
                pieces.append((shown, style))
        if used < width:
            fill = "text" + UNDER_CURSOR if pieces and pieces[-1][1].endswith(UNDER_CURSOR) else "text"
            pieces.append((" " * (width - used), fill))
        return Strip([Segment(text, self._style(style)) for text, style in pieces], width)

    def _style(self, name: str) -> Style:
        if name.endswith(UNDER_CURSOR):
            return self.palette.style(name[:-1], cursor=True)
        return self.palette.style(name)


def under_cursor(line: Line, width: int) -> Line:
    """`line` as it looks with the cursor on it, filled to `width`."""
    used = sum(width_of(text) for text, _ in line)
    return [*((text, style + UNDER_CURSOR) for text, style in line), (" " * (width - used), "text" + UNDER_CURSOR)]
