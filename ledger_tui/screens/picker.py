"""The session picker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult

from core.views import Pane, SessionItem, SessionView
from ledger_tui.actions import Situation
from ledger_tui.desk import Desk
from ledger_tui.format import ago, fit, plural, right
from ledger_tui.rows.look import Line, Look, Row, spread
from ledger_tui.rows.status import short_address
from ledger_tui.screens.dialog import Dialog
from ledger_tui.widgets.framed import Tab
from ledger_tui.widgets.listing import ListPane

_MAX_HEIGHT = 24
_STATES = {
    "busy": ("busy", "busy"),
    "waiting": ("held", "waiting"),
    "idle": ("waiting", "idle"),
    "error": ("error", "error"),
    "deleted": ("superseded", "deleted"),
}


@dataclass(frozen=True, slots=True)
class FollowRow:
    """The row that lets the dashboard follow the busy session again."""

    key: str = ""
    selectable: bool = True

    def height(self, width: int) -> int:
        """Always 1."""
        return 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """What it does."""
        return [[("Follow whichever session is busy", "strong")]]

    def text(self) -> str:
        """What it does."""
        return "follow busy"


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A root session."""

    key: str
    item: SessionItem
    shown: bool
    selectable: bool = True

    def height(self, width: int) -> int:
        """Always 1."""
        return 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """State, title, OpenCode where there are several, steps, findings, when it was last active."""
        role, word = _STATES[self.item.state]
        facts = plural(self.item.findings, "fact") if self.item.findings else ""
        steps = plural(self.item.steps, "step") if self.item.steps else ""
        where: Line = [("  " + fit(short_address(self.item.server), 20), "faint")] if self.item.server else []
        side: Line = [
            *where,
            (right(steps, 11), "muted"),
            (right(facts, 10), "muted"),
            (right(ago(look.now - self.item.updated), 12), "faint"),
        ]
        start: Line = [(f"{look.signs.of(role)} {word:<8}", role)]
        if self.item.waits_for:
            what = "a permission" if self.item.waits_for == "permission" else "an answer"
            start.append((f"for {what}  ", role))
        here = "  (shown now)" if self.shown else ""
        return [spread(width, start, (fit(self.item.title or self.item.root, 200) + here, "text"), side)]

    def text(self) -> str:
        """Title, state and folder."""
        return f"{self.item.title} {self.item.root} {self.item.state} {self.item.directory}"


class Picker(Dialog[None]):
    """Choose a session; enter shows it."""

    context: ClassVar[str] = "picker"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.pane = ListPane(desk.brush, desk.look, self._empty, pane="picker", tail=False)
        self.pane.active = True
        self.pane.tabs = (Tab("picker", "Sessions of this folder", True),)

    @staticmethod
    def _empty(look: Look) -> Line:
        return [("No session here yet. Ask the agent something in OpenCode.", "muted")]

    def compose(self) -> ComposeResult:
        """The list and the footer."""
        yield self.pane
        yield self.hints

    def on_mount(self) -> None:
        """Fill the list; the cursor starts on the session shown."""
        self._fill()
        selected = self.desk.host.selected
        for index, row in enumerate(self.pane.list.rows):
            if row.key == selected:
                self.pane.list.to_row(index)

    def _fill(self) -> None:
        host = self.desk.host
        rows: list[Row] = [SessionRow(item.root, item, item.root == host.selected) for item in host.sessions]
        self.pane.list.update([FollowRow(), *rows] if rows else rows)
        self.pane.info = [(plural(len(rows), "session"), "muted")]
        self.pane.styles.height = min(_MAX_HEIGHT, max(5, len(rows) + 3))
        self.pane.repaint()

    def changed(self, panes: frozenset[Pane], view: SessionView | None) -> None:
        """Sessions come and go."""
        if "sessions" in panes:
            self._fill()

    def situation(self) -> Situation:
        """The list of sessions."""
        state = self.pane.list
        return Situation("picker", self.desk.host.server, rows=len(state.rows), filtered=bool(state.filter))

    @property
    def typing(self) -> bool:
        """Whether the filter is being typed."""
        return self.pane.typing

    def takes_key(self, key: str, character: str | None) -> bool:
        """Text for the filter."""
        return self.pane.typing and self.pane.type_key(key, character)

    async def act(self, action: str, now: Situation) -> None:
        """Move, filter, show the session, go back."""
        if self.pane.list.act(action):
            self.pane.repaint()
        elif action == "open":
            self._pick()
        elif action == "filter":
            self.pane.typing = True
            self.pane.repaint()
        elif action == "close":
            self.dismiss(None)
        elif action == "help":
            from ledger_tui.screens.help import help_screen  # noqa: PLC0415

            await self.app.push_screen(help_screen(self.desk, now))

    def _pick(self) -> None:
        row = self.pane.list.current
        self.dismiss(None)
        if row:
            self.desk.host.select(row.key or None)

    def on_list_pane_activated(self, message: ListPane.Activated) -> None:
        """A double click picks."""
        message.stop()
        self.pane.repaint()
        if message.opened:
            self._pick()
