"""Every action by name: type a few letters, enter does it."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult

from ledger_tui.actions import ACTIONS, PLACE_TITLES, WINDOWS, Action, Situation
from ledger_tui.desk import Desk
from ledger_tui.format import left
from ledger_tui.keys import shown
from ledger_tui.rows.look import Line, Look, spread
from ledger_tui.screens.dialog import Dialog
from ledger_tui.widgets.framed import Tab
from ledger_tui.widgets.listing import ListPane


@dataclass(frozen=True, slots=True)
class ActionRow:
    """An action: its key, what it does, and why it is not possible where it is not."""

    key: str
    action: Action
    keys: str
    reason: str
    order: int
    selectable: bool = True

    def height(self, width: int) -> int:
        """Always 1."""
        return 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """Key, label, help or reason."""
        start: Line = [
            (left(self.keys, 10), "faint" if self.reason else "key"),
            (left(self.action.label, 16), "faint" if self.reason else "strong"),
        ]
        return [spread(width, start, (self.reason or self.action.help, "faint" if self.reason else "muted"), [])]

    def text(self) -> str:
        """All words the search looks at."""
        return f"{self.action.label} {self.action.id.replace('_', ' ')} {self.action.help}"


class ActionPalette(Dialog[str | None]):
    """Dismissed with the id of the chosen action; what is typed filters the list."""

    def __init__(self, desk: Desk, now: Situation) -> None:
        super().__init__(desk)
        self._now = now
        self._rows: list[ActionRow] = []
        self.pane = ListPane(
            desk.brush, desk.look, lambda look: [("Nothing is called that.", "muted")], pane="actions", tail=False
        )
        self.pane.active = True
        self.pane.typing = True
        self.pane.header = self._search
        self.pane.search_above = True
        self.pane.tabs = (Tab("actions", "Actions", True),)

        self.pane.info = [("type to search, enter does it", "muted")]

    def compose(self) -> ComposeResult:
        """The list."""
        yield self.pane

    def _search(self, width: int, look: Look) -> list[Line]:
        cursor = "_" if look.signs.plain else "▏"
        return [[(f"{look.signs.crumb} ", "key"), (self.pane.list.filter, "strong"), (cursor, "key")], []]

    def on_mount(self) -> None:
        """All actions of the dashboard, possible ones first."""
        self._rows = [self._row(action) for action in ACTIONS if action.contexts - WINDOWS]
        self._sort()

    def _sort(self) -> None:
        """Possible actions first, and of those the ones called like what is typed."""
        words = self.pane.list.filter.casefold()
        self._rows.sort(key=lambda row: (bool(row.reason), words not in row.action.label, row.order))
        self.pane.list.update(self._rows)
        self.pane.list.to_top()
        self.pane.repaint()

    def _row(self, action: Action) -> ActionRow:
        if self._now.context in action.contexts:
            reason = action.check(self._now)
        else:
            places = [title for place, title in PLACE_TITLES.items() if place in action.contexts - WINDOWS]
            reason = f"Not here; it works in {' and '.join(places) or 'the welcome'}."
        keys = " ".join(map(shown, self.desk.keys.keys(action.id)[:1]))
        return ActionRow(action.id, action, keys, reason, ACTIONS.index(action))

    async def pressed(self, event: events.Key) -> None:
        """Arrows move, enter does it, escape leaves, everything else is typed."""
        event.stop()
        event.prevent_default()
        moves = {
            "down": "down",
            "up": "up",
            "pagedown": "page_down",
            "pageup": "page_up",
            "home": "top",
            "end": "bottom",
        }
        state = self.pane.list
        if event.key in moves:
            state.act(moves[event.key])
        elif event.key == "enter":
            self._choose()
        elif event.key in ("escape", "ctrl+c", "ctrl+p"):
            self.dismiss(None)
        elif self.pane.type_key(event.key, event.character):
            self._sort()
        self.pane.repaint()

    def _choose(self) -> None:
        row = self.pane.list.current
        if isinstance(row, ActionRow):
            self.dismiss(row.action.id)

    def on_list_pane_activated(self, message: ListPane.Activated) -> None:
        """A double click does it."""
        message.stop()
        self.pane.repaint()
        if message.opened:
            self._choose()
