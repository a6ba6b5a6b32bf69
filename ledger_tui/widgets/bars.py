"""The widgets without a frame: status, banner, the small screen's gauges, the footer with its messages."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.message import Message

from ledger_tui.format import width_of
from ledger_tui.rows.look import Line, clip, measure, wrap_line
from ledger_tui.widgets.brush import Brush
from ledger_tui.widgets.canvas import Canvas

Hint = tuple[str, str, bool, int, str]
"""Key, label, possible, rank, action id; see :func:`ledger_tui.keys.footer`."""


class Bar(Canvas):
    """Lines that a function makes for the width and height there are."""

    class Clicked(Message):
        """The mouse was pressed on a bar."""

        def __init__(self, bar: Bar) -> None:
            super().__init__()
            self.bar = bar

    def __init__(self, brush: Brush, make: Callable[[int, int], list[Line]], *, id: str) -> None:
        super().__init__(brush, id=id)
        self._make = make

    def compose_lines(self, width: int, height: int) -> list[Line]:
        """What the function says."""
        return self._make(width, height)

    def on_click(self, event: events.Click) -> None:
        """Tell the screen."""
        event.stop()
        self.post_message(self.Clicked(self))


class Hints(Canvas):
    """The footer: a message while there is one, then the keys that fit; the keys can be clicked."""

    class Pressed(Message):
        """The mouse chose an action of the footer."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self, brush: Brush, hints: Callable[[], list[Hint]]) -> None:
        super().__init__(brush, id="hints")
        self._hints = hints
        self.message: Line = []
        self._spots: list[tuple[int, int, str]] = []

    def compose_lines(self, width: int, height: int) -> list[Line]:
        """One line."""
        start: Line = [(" ", "text"), *clip(self.message, width - 2)]
        if self.message:
            start.append(("   ", "text"))
        line = clip(start, width)
        self._spots = []
        for key, label, possible, _, action in fitting(self._hints(), width - measure(line) - 1):
            at = measure(line)
            line += [
                (key, "key" if possible else "faint"),
                (f" {label}", "muted" if possible else "faint"),
                ("  ", "text"),
            ]
            self._spots.append((at, at + width_of(key) + width_of(label) + 1, action))
        return [clip(line, width)]

    def on_click(self, event: events.Click) -> None:
        """The action whose words were clicked."""
        event.stop()
        for start, end, action in self._spots:
            if start <= event.x < end:
                self.post_message(self.Pressed(action))


def fitting(hints: list[Hint], room: int) -> list[Hint]:
    """The hints that fit into `room` cells, in their order; the lowest ranks go first, the later of equals first."""
    kept = list(hints)
    while kept and sum(width_of(hint[0]) + width_of(hint[1]) + 3 for hint in kept) > room + 2:
        lowest = min(hint[3] for hint in kept)
        kept.pop(max(index for index, hint in enumerate(kept) if hint[3] == lowest))
    return kept


def centred(lines: list[Line], width: int, height: int) -> list[Line]:
    """Lines wrapped to a readable column in the middle of the room."""
    column = min(width - 4, 76)
    wrapped = [piece for line in lines for piece in (wrap_line(line, column) if line else [[]])]
    top = max(0, (height - len(wrapped)) * 2 // 5)
    margin: Line = [(" " * ((width - column) // 2), "text")]
    return [[] for _ in range(top)] + [[*margin, *line] for line in wrapped]
