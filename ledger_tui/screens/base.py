"""What all screens have in common: keys from the one table, and a footer that shows keys and messages."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.screen import Screen, ScreenResultType
from textual.timer import Timer

from core.views import Pane, SessionView
from ledger_tui.actions import BY_ID, Action, Situation
from ledger_tui.desk import Desk
from ledger_tui.keys import canonical, footer, shown
from ledger_tui.rows.look import Line, Look, say
from ledger_tui.widgets.bars import Hint, Hints

MESSAGE_SECONDS = 6.0
"""How long a message stays in the footer."""


class LedgerScreen(Screen[ScreenResultType]):
    """A screen whose keys come from the table of actions."""

    context: ClassVar[str] = "steps"

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.hints = Hints(desk.brush, self.footer)
        self._message_timer: Timer | None = None

    def situation(self) -> Situation:
        """What the user is looking at."""
        return Situation(self.context, self.desk.host.server, read_only=self.desk.host.read_only)

    def footer(self) -> list[Hint]:
        """The keys the footer shows: those of the table, or those of the filter while it is typed."""
        if self.typing:
            return [("enter", "keep the filter", True, 9, ""), ("esc", "show all again", True, 9, "")]
        return footer(self.desk.keys, self.situation())

    @property
    def typing(self) -> bool:
        """Whether a filter is being typed."""
        return False

    def changed(self, panes: frozenset[Pane], view: SessionView | None) -> None:
        """The ledger changed; `panes` says what."""

    def second(self) -> None:
        """A second passed, while something counts seconds."""

    def recolour(self) -> None:
        """The theme changed: draw everything again."""
        self.refresh()
        self.hints.repaint(whole=True)

    def look(self) -> Look:
        """How to draw now."""
        return self.desk.look()

    def takes_key(self, key: str, character: str | None) -> bool:
        """Whether the key is text being typed (a filter)."""
        return False

    async def on_key(self, event: events.Key) -> None:
        """A key that no widget took. Subclasses override :meth:`pressed`: Textual would call both `on_key`s."""
        await self.pressed(event)

    async def pressed(self, event: events.Key) -> None:
        """Do what the table says; every key ends here, so that nothing else reacts to it."""
        event.stop()
        event.prevent_default()
        if self.takes_key(event.key, event.character):
            self.hints.repaint()
            return
        key = canonical(event.key, event.character)
        action = self.desk.keys.action(key, self.situation().context)
        if action:
            await self.perform(action)
        elif elsewhere := self.desk.keys.elsewhere(key):
            self.say(f"{shown(key)} means “{elsewhere.label}”; it does nothing here.", ok=False)

    async def perform(self, action: Action) -> None:
        """Carry out an action, or say why it is not possible."""
        now = self.situation()
        reason = action.check(now)
        if reason:
            self.say(reason, ok=False)
        else:
            self.unsay()
            await self.act(action.id, now)
        self.hints.repaint()

    async def act(self, action: str, now: Situation) -> None:
        """Carry out the possible action with this id."""
        raise NotImplementedError

    def on_hints_pressed(self, message: Hints.Pressed) -> None:
        """A key of the footer was clicked."""
        message.stop()
        if message.action:
            self.call_next(self.perform, BY_ID[message.action])

    def say(self, text: str, *, ok: bool = True) -> None:
        """Show outside text in the footer for a while."""
        signs = self.desk.brush.signs
        sign: Line = [(signs.chosen + " ", "live")] if ok else [(signs.warn + " ", "warn")]
        self._show([*sign, (text, "text")])

    def say_with_keys(self, template: str) -> None:
        """Show a sentence of the program's own, its `{action}`s as keys."""
        self._show([(self.desk.brush.signs.chosen + " ", "live"), *say(template, self.look())])

    def _show(self, line: Line) -> None:
        self.hints.message = line
        self.hints.repaint()
        if self._message_timer:
            self._message_timer.stop()
        self._message_timer = self.set_timer(MESSAGE_SECONDS, self.unsay)

    def unsay(self) -> None:
        """Take the message away."""
        if self._message_timer:
            self._message_timer.stop()
            self._message_timer = None
        if self.hints.message:
            self.hints.message = []
            self.hints.repaint()
