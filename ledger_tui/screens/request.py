"""The base of the windows that show what the agent waits for; they close when somebody else has answered."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from textual import events
from textual.app import ComposeResult
from textual.screen import ScreenResultType

from core.views import Pane, PermissionView, SessionView
from ledger_tui.actions import Situation
from ledger_tui.desk import Desk
from ledger_tui.rows.asked import asker
from ledger_tui.rows.look import Line
from ledger_tui.screens.dialog import Dialog
from ledger_tui.widgets.reader import Reader

SETTLE_SECONDS = 0.3
"""Keys that come sooner, after the window opened or after each other, were meant for what it covers."""
_WIDTH = 76
_MARGIN = 6


class Request(Dialog[ScreenResultType]):
    """A framed text as high as it needs to be, as far as there is room; dismissed with None when it was answered."""

    def __init__(self, desk: Desk, asked: PermissionView, title: str) -> None:
        super().__init__(desk)
        self.asked = asked
        self._quiet_until = monotonic() + SETTLE_SECONDS
        self.who = asker(desk.host.view(), asked)
        self.reader = self.make_reader(f"The {'sub-agent' if self.who else 'agent'} asks{title}", self.lines)

    def make_reader(self, title: str, lines: Callable[[int], list[Line]]) -> Reader:
        """The frame that shows the lines."""
        return Reader(self.desk.brush, title, lines, id="box")

    def lines(self, width: int) -> list[Line]:
        """What is shown."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """The request and the keys."""
        yield self.reader
        yield self.hints

    def on_mount(self) -> None:
        """As high as the text."""
        self.fit()

    def on_resize(self, event: events.Resize) -> None:
        """Another size."""
        self.fit()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """It may have been answered while something covered it."""
        self._leave_if_answered(self.desk.host.view())

    def changed(self, panes: frozenset[Pane], view: SessionView | None) -> None:
        """Close when the request was answered elsewhere, or its session left the screen."""
        self._leave_if_answered(view)

    def _leave_if_answered(self, view: SessionView | None) -> None:
        if self.app.screen is self and self.asked.id not in {asked.id for asked in (view.permissions if view else ())}:
            self.dismiss(None)

    async def pressed(self, event: events.Key) -> None:
        """No answer is given by keys that are typed without a look at the window."""
        now = monotonic()
        if now < self._quiet_until and event.key != "escape":
            self._quiet_until = now + SETTLE_SECONDS
            event.stop()
            event.prevent_default()
            self.say("Wait a moment before you answer: this window has just opened.", ok=False)
            return
        self._quiet_until = 0.0
        await super().pressed(event)

    def fit(self, below: int = 0) -> None:
        """Draw anew, leaving so many lines free below."""
        width = max(20, min(_WIDTH, self.size.width - 2))
        wanted = len(self.lines(width - _MARGIN)) + 2
        self.reader.styles.width = width
        self.reader.styles.height = max(4, min(wanted, self.size.height - 2 - below))
        self.reader.remake()
        self.hints.repaint()

    def recolour(self) -> None:
        """Other colours."""
        super().recolour()
        self.reader.repaint(whole=True)

    async def act(self, action: str, now: Situation) -> None:
        """Move, explain the keys, or go back."""
        if self.reader.act(action):
            return
        if action == "close":
            self.dismiss(None)
        elif action == "help":
            from ledger_tui.screens.help import help_screen  # noqa: PLC0415

            await self.app.push_screen(help_screen(self.desk, now))
