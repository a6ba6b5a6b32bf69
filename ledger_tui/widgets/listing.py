"""A framed list of rows: draws what its :class:`ListState` says, types the filter, answers the mouse."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.message import Message

from ledger_tui.rows.look import Line, Look, wrap_line
from ledger_tui.widgets.brush import Brush, under_cursor
from ledger_tui.widgets.framed import Framed, Thumb, thumb
from ledger_tui.widgets.liststate import ListState

_WHEEL = 3
"""Lines per turn of the wheel."""


class ListPane(Framed):
    """One list; `look` gives the moment and signs to draw with, `empty` the sentence for no rows."""

    class Activated(Message):
        """The mouse chose this pane; `opened` by a double click on a row."""

        def __init__(self, pane: ListPane, *, opened: bool = False, tab: str | None = None) -> None:
            super().__init__()
            self.pane = pane
            self.opened = opened
            self.tab = tab

    def __init__(
        self, brush: Brush, look: Callable[[], Look], empty: Callable[[Look], Line], *, pane: str, tail: bool
    ) -> None:
        super().__init__(brush, id=pane)
        self.pane = pane
        self.list = ListState(tail=tail)
        self.typing = False
        self._look = look
        self._empty = empty
        self.header: Callable[[int, Look], list[Line]] = lambda width, look: []
        self.search_above = False
        """Whether the header shows what is typed, and the bottom border need not."""
        self._head_lines = 0

    def body(self, width: int, height: int) -> tuple[list[Line], Thumb]:
        """Header, then the visible rows or the empty sentence."""
        look = self._look()
        head = self.header(width - 2, look) if height >= 6 else []
        self._head_lines = len(head)
        inner = width - 2
        self.list.resize(inner, height - len(head))
        self._label(look)
        lines = [[(" ", "text"), *line] for line in head]
        if not self.list.rows:
            sentence = self._nothing(look)
            return lines + [[(" ", "text"), *line] for line in wrap_line(sentence, inner)], Thumb(0, 0)
        lines += self._visible(width, look)
        bar = thumb(self.list.top, height - len(head), self.list.total)
        return lines, Thumb(bar.start + len(head), bar.length)

    def _visible(self, width: int, look: Look) -> list[Line]:
        out: list[Line] = []
        drawn: tuple[int, list[Line]] = (-1, [])
        for index, row, part in self.list.visible():
            if drawn[0] != index:
                drawn = (index, row.lines(width - 2, look))
            here = self.active and index == self.list.cursor
            line = [(self._gutter(index, row.key, part, here), "key"), *drawn[1][part]]
            out.append(under_cursor(line, width) if here else line)
        return out

    def _gutter(self, index: int, key: str, part: int, here: bool) -> str:
        if part == 0 and key in self.list.chosen:
            return self.brush.signs.chosen
        return self.brush.signs.cursor if part == 0 and here else " "

    def _nothing(self, look: Look) -> Line:
        if self.list.filter and self.list.everything:
            return [
                ("Nothing here contains ", "muted"),
                (f"“{self.list.filter}”", "strong"),
                ("; ", "muted"),
                (look.key_of("back"), "key"),
                (" shows all again.", "muted"),
            ]
        return self._empty(look)

    def _label(self, look: Look) -> None:
        """The words on the bottom border."""
        state = self.list
        note: Line = []
        if (self.typing or state.filter) and not self.search_above:
            note = [(f" / {state.filter}{'▏' if self.typing and not look.signs.plain else ''} ", "match")]
            matching = sum(row.selectable for row in state.rows)
            note.append((f"{matching} of {state.everything} ", "muted"))
        if state.chosen:
            note.append((f" {len(state.chosen)} chosen ", "key"))
        self.note = note
        self.corner = [(f" {state.unseen} new {look.signs.down} ", "key")] if state.unseen else []

    def type_key(self, key: str, character: str | None) -> bool:
        """A key while the filter is typed; False when the key means nothing to the filter."""
        if key == "enter":
            self.typing = False
        elif key == "escape":
            self.typing = False
            self.list.set_filter("")
        elif key in ("backspace", "ctrl+h"):
            self.list.set_filter(self.list.filter[:-1])
        elif character and character.isprintable():
            self.list.set_filter(self.list.filter + character)
        else:
            return False
        self.repaint()
        return True

    def paste(self, text: str) -> None:
        """Text pasted while the filter is typed."""
        self.list.set_filter(self.list.filter + " ".join(text.split())[:200])
        self.repaint()

    def on_click(self, event: events.Click) -> None:
        """A row, a title, the thumb, or "N new"."""
        event.stop()
        width, height = self.size
        opened = False
        tab = None
        if event.y == 0:
            tab = self.tab_at(event.x)
        elif event.y == height - 1:
            if self.list.unseen and event.x > width - 14:
                self.list.to_bottom()
        elif event.x == width - 1 and height > 3:
            self.list.jump((event.y - 1) / (height - 3))
        else:
            opened = self.list.click(event.y - 1 - self._head_lines) and event.chain == 2
        self.post_message(self.Activated(self, opened=opened, tab=tab))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Wheel down."""
        event.stop()
        self.list.scroll(_WHEEL)
        self.repaint()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Wheel up."""
        event.stop()
        self.list.scroll(-_WHEEL)
        self.repaint()
