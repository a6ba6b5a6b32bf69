"""The base of the small windows over the dashboard, which stays visible around them."""

from __future__ import annotations

from textual.screen import ScreenResultType

from ledger_tui.desk import Desk
from ledger_tui.rows.look import Line
from ledger_tui.screens.base import LedgerScreen
from ledger_tui.widgets.brush import Brush
from ledger_tui.widgets.framed import Framed, Tab, Thumb


class Dialog(LedgerScreen[ScreenResultType]):
    """A modal screen; see `ledger.tcss` for its place."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._modal = True


class Box(Framed):
    """A frame around given lines, as high as they are."""

    def __init__(self, brush: Brush, title: str, lines: list[Line], width: int) -> None:
        super().__init__(brush, id="box")
        self.active = True
        self.tabs = (Tab("box", title, True),)
        self._lines = lines
        self.styles.width = width
        self.styles.height = len(lines) + 2

    def body(self, width: int, height: int) -> tuple[list[Line], Thumb]:
        """The lines."""
        return [[("  ", "text"), *line] for line in self._lines], Thumb(0, 0)
