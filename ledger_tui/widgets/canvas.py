"""The base of all widgets here: it composes lines of spans and redraws those that differ from the screen."""

from __future__ import annotations

from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from ledger_tui.rows.look import Line
from ledger_tui.widgets.brush import Brush


class Canvas(Widget):
    """A widget drawn line by line; subclasses say what the lines are in :meth:`compose_lines`."""

    ALLOW_SELECT = False

    def __init__(self, brush: Brush, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.brush = brush
        self._drawn: list[Line] = []
        self._stale = True

    def compose_lines(self, width: int, height: int) -> list[Line]:
        """At most `height` lines of at most `width` cells."""
        raise NotImplementedError

    def repaint(self, *, whole: bool = False) -> None:
        """Compose anew and redraw the lines that differ; `whole` redraws all of them (other colours)."""
        if whole or self._stale:
            self._stale = True
            self.refresh()
            return
        width, height = self.size
        before, self._drawn = self._drawn, self._composed(width, height)
        for y, line in enumerate(self._drawn):
            if line != before[y]:
                self.refresh(Region(0, y, width, 1))

    def _composed(self, width: int, height: int) -> list[Line]:
        lines = self.compose_lines(width, height)[:height] if width and height else []
        return lines + [[] for _ in range(height - len(lines))]

    def render_line(self, y: int) -> Strip:
        """The strip at `y`."""
        width, height = self.size
        if self._stale or len(self._drawn) != height:
            self._drawn = self._composed(width, height)
            self._stale = False
        return self.brush.strip(self._drawn[y] if y < len(self._drawn) else [], width)

    def on_resize(self, event: events.Resize) -> None:
        """Another size: all lines anew."""
        self._stale = True
        self.refresh()
