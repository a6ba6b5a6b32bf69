"""A framed text that scrolls; its lines are made for the width there is."""

from __future__ import annotations

from collections.abc import Callable

from textual import events

from ledger_tui.rows.look import Line
from ledger_tui.widgets.brush import Brush
from ledger_tui.widgets.framed import Framed, Tab, Thumb, thumb

_WHEEL = 3


class Reader(Framed):
    """Scrolls over what `lines(width)` makes; made anew only when asked or when the width changes."""

    def __init__(self, brush: Brush, title: str, lines: Callable[[int], list[Line]], *, id: str = "reader") -> None:
        super().__init__(brush, id=id)
        self.active = True
        self.tabs = (Tab("reader", title, True),)
        self.top = 0
        self._make = lines
        self._lines: list[Line] = []
        self._width = 0
        self._height = 1

    def remake(self) -> None:
        """The text changed."""
        self._width = 0
        self.repaint()

    def body(self, width: int, height: int) -> tuple[list[Line], Thumb]:
        """The visible lines."""
        if self._width != width:
            self._width = width
            self._lines = self._make(max(10, width - 4))
        self._height = height
        self.top = max(0, min(self.top, len(self._lines) - height))
        shown = self._lines[self.top : self.top + height]
        below = len(self._lines) - self.top - height
        self.corner = [(f" {below} more {self.brush.signs.down} ", "muted")] if below > 0 else []
        return [[("  ", "text"), *line] for line in shown], thumb(self.top, height, len(self._lines))

    def scroll(self, lines: int) -> None:
        """By so many lines."""
        self.top = max(0, min(self.top + lines, len(self._lines) - self._height))
        self.repaint()

    def act(self, action: str) -> bool:
        """Carry out a movement; False when it is none."""
        page = max(1, self._height - 1)
        whole = len(self._lines)
        deltas = {"down": 1, "up": -1, "page_down": page, "page_up": -page, "top": -whole, "bottom": whole}
        if action not in deltas:
            return False
        self.scroll(deltas[action])
        return True

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Wheel down."""
        event.stop()
        self.scroll(_WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Wheel up."""
        event.stop()
        self.scroll(-_WHEEL)
