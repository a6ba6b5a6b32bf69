"""The inbox: pairs of facts about which a person may decide."""

from __future__ import annotations

from typing import ClassVar, cast

from textual.app import ComposeResult

from core.ledger.changes import How
from core.ledger.commands import Undo
from core.views import Pane, SessionView
from ledger_tui.actions import Situation
from ledger_tui.desk import Desk
from ledger_tui.format import plural
from ledger_tui.rows.look import Line, Look
from ledger_tui.rows.pairs import PairRow, pair_rows
from ledger_tui.screens.commanding import give, resolve
from ledger_tui.screens.dialog import Dialog
from ledger_tui.widgets.framed import Tab
from ledger_tui.widgets.listing import ListPane

_MAX_HEIGHT = 34
_DECISIONS = ("swap", "keep_both", "merge", "dismiss")


class Inbox(Dialog[None]):
    """Decide over one pair after the other; a pair that is decided leaves the list."""

    context: ClassVar[str] = "inbox"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.pane = ListPane(desk.brush, desk.look, self._empty, pane="inbox", tail=False)
        self.pane.active = True
        self.pane.tabs = (Tab("inbox", "Pairs of facts", True),)

    @staticmethod
    def _empty(look: Look) -> Line:
        return [("No pair waits for you. Facts that replace, contradict or repeat each other appear here.", "muted")]

    def compose(self) -> ComposeResult:
        """The list and the footer."""
        yield self.pane
        yield self.hints

    def on_mount(self) -> None:
        """Fill the list."""
        self._fill(self.desk.host.view())

    def _fill(self, view: SessionView | None) -> None:
        pairs = view.pairs if view else ()
        self.pane.list.update(pair_rows(pairs))
        self.pane.styles.height = min(_MAX_HEIGHT, max(7, len(pairs) * 4 + 3))
        self.pane.info = [(plural(len(pairs), "pair"), "muted")]
        self.pane.repaint()
        self.hints.repaint()

    def changed(self, panes: frozenset[Pane], view: SessionView | None) -> None:
        """Pairs come and go."""
        if panes & {"findings", "extractions", "sessions"}:
            self._fill(view)

    def recolour(self) -> None:
        """Other colours."""
        super().recolour()
        self.pane.repaint(whole=True)

    def situation(self) -> Situation:
        """The pair under the cursor."""
        host = self.desk.host
        row = self.pane.list.current
        kind = row.pair.kind if isinstance(row, PairRow) else ""
        rows = len(self.pane.list.rows)
        return Situation("inbox", host.server, host.view(), read_only=host.read_only, rows=rows, pair=kind)

    async def act(self, action: str, now: Situation) -> None:
        """Move, decide, read, take back, leave."""
        row = self.pane.list.current
        if self.pane.list.act(action):
            self.pane.repaint()
        elif action == "close":
            self.dismiss(None)
        elif action == "undo":
            give(self, Undo)
        elif action == "help":
            from ledger_tui.screens.help import help_screen  # noqa: PLC0415

            await self.app.push_screen(help_screen(self.desk, now))
        elif isinstance(row, PairRow) and action in _DECISIONS:
            resolve(self, row.pair.id, cast("How", action))
        elif isinstance(row, PairRow):
            from ledger_tui.screens import reading  # noqa: PLC0415

            await self.app.push_screen(reading.pair(self.desk, row.pair))

    async def on_list_pane_activated(self, message: ListPane.Activated) -> None:
        """A double click reads both receipts."""
        message.stop()
        self.pane.repaint()
        if message.opened:
            await self.act("receipt", self.situation())
