"""A canvas inside a frame: title at the left, facts at the right, the scroll thumb on the right border."""

from __future__ import annotations

from dataclasses import dataclass

from ledger_tui.format import width_of
from ledger_tui.rows.look import Line, clip, measure
from ledger_tui.theme import Signs
from ledger_tui.widgets.brush import Brush
from ledger_tui.widgets.canvas import Canvas


@dataclass(frozen=True, slots=True)
class Tab:
    """A title in the frame: the pane it leads to, its text, whether it is the one shown."""

    pane: str
    text: str
    shown: bool


@dataclass(frozen=True, slots=True)
class Thumb:
    """The part of the right border that stands for what is visible: first line and length; 0: all is visible."""

    start: int
    length: int


def thumb(top: int, visible: int, total: int) -> Thumb:
    """Where the thumb goes for `visible` of `total` lines from line `top` on."""
    if total <= visible or visible <= 0:
        return Thumb(0, 0)
    length = max(1, visible * visible // total)
    return Thumb(round((visible - length) * top / (total - visible)), length)


class Framed(Canvas):
    """Draws the frame; subclasses fill it by :meth:`body` and name it by the attributes."""

    def __init__(self, brush: Brush, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(brush, id=id, classes=classes)
        self.active = False
        self.tabs: tuple[Tab, ...] = ()
        self.info: Line = []
        self.note: Line = []
        """At the left of the bottom border: the filter."""
        self.corner: Line = []
        """At the right of the bottom border: "3 new"."""

    def body(self, width: int, height: int) -> tuple[list[Line], Thumb]:
        """Lines between the borders and the thumb."""
        raise NotImplementedError

    def compose_lines(self, width: int, height: int) -> list[Line]:
        """Border, body, border."""
        if width < 4 or height < 2:
            return []
        inner = height - 2
        lines, bar = self.body(width - 2, inner)
        signs, style = self.brush.signs, "frame-active" if self.active else "frame"
        upright, bold = signs.frame[5], signs.frame[6]
        out = [self._top(width, signs, style)]
        for index in range(inner):
            line = clip(lines[index], width - 2) if index < len(lines) else []
            filler = (" " * (width - 2 - measure(line)), "text")
            on_thumb = bar.start <= index < bar.start + bar.length
            out.append([(upright, style), *line, filler, (bold if on_thumb else upright, style)])
        return [*out, self._bottom(width, signs, style)]

    def _top(self, width: int, signs: Signs, style: str) -> Line:
        start: Line = [(signs.frame[0], style), *self._titles(width - 4)]
        room = width - measure(start) - 5
        info = list(self.info)
        while info and measure(info) > room:
            del info[:2]  # a fact and the dot behind it
        end: Line = [(" ", "muted"), *info, (" ", "muted")] if info else []
        end.append((signs.frame[1], style))
        start = clip(start, width - measure(end))
        return [*start, (signs.frame[4] * (width - measure(start) - measure(end)), style), *end]

    def _titles(self, room: int) -> Line:
        """All tabs, or only their numbers where they do not fit."""
        for short in (False, True):
            line: Line = []
            for tab in self.tabs:
                style = ("title-active" if self.active else "title") if tab.shown else "tab"
                number = tab.text.split(" ", 1)[0]
                line.append((f" {tab.text if tab.shown or not short else number} ", style))
            if measure(line) <= room:
                break
        return line

    def tab_at(self, x: int) -> str | None:
        """The pane whose title is at column `x` of the top border."""
        position = 1
        for (text, _), tab in zip(self._titles(self.size.width - 4), self.tabs, strict=True):
            if position <= x < position + width_of(text):
                return tab.pane
            position += width_of(text)
        return None

    def _bottom(self, width: int, signs: Signs, style: str) -> Line:
        start: Line = [(signs.frame[2], style), *self.note]
        end: Line = [*self.corner, (signs.frame[3], style)]
        start = clip(start, width - measure(end))
        return [*start, (signs.frame[4] * (width - measure(start) - measure(end)), style), *end]
