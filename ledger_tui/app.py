"""The Textual application around the dashboard: start, stop, themes, and the feed from the ledger."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App

from core.views import Pane, SessionView
from ledger_tui.desk import Desk, wall_clock
from ledger_tui.feed import Feed
from ledger_tui.keys import keymap
from ledger_tui.offer import Offer
from ledger_tui.screens.base import LedgerScreen
from ledger_tui.screens.dashboard import Dashboard
from ledger_tui.theme import THEMES, check_theme, textual_theme
from ledger_tui.widgets.brush import Brush

if TYPE_CHECKING:
    from core.settings import Settings
    from core.views import LedgerHost

NO_COLOUR_THEME = "ledger-ansi"
"""The theme for NO_COLOR: its signs, words and reversed rows need no colour."""


class LedgerApp(App[int], inherit_bindings=False):
    """Shows one ledger."""

    CSS_PATH: ClassVar[str] = str(Path(__file__).with_name("ledger.tcss"))
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False
    TITLE = "ledger"

    def __init__(
        self,
        host: LedgerHost,
        settings: Settings,
        *,
        demo: Callable[[], LedgerHost] | None = None,
        offer: Offer | None = None,
        clock: Callable[[], int] = wall_clock,
        zone: tzinfo | None = None,
        project: str = "",
    ) -> None:
        """Raises UsageError for an unknown theme and for keys that cannot be."""
        name = theme_name(settings.theme)
        self.desk = Desk(
            host,
            keymap(settings.keys),
            Brush(name, plain=settings.ascii),
            *(clock, zone, demo, offer, os.environ, project),
        )
        super().__init__(ansi_color=True if os.environ.get("NO_COLOR") else None)
        for known in THEMES:
            self.register_theme(textual_theme(known))
        self.theme = name
        self.feed: Feed | None = None

    def get_default_screen(self) -> Dashboard:
        """The dashboard."""
        return Dashboard(self.desk)

    @property
    def dashboard(self) -> Dashboard:
        """The screen at the bottom."""
        board = self.screen_stack[0]
        assert isinstance(board, Dashboard)
        return board

    async def on_mount(self) -> None:
        """Paint first, then start the ledger."""
        self.feed = Feed(self.desk.host, self._changed, self._second, self.call_later)
        self.feed.flush()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.exit, 128 + number)
        self.call_after_refresh(self.desk.host.start)

    async def on_unmount(self) -> None:
        """Leave nothing running."""
        if self.feed:
            self.feed.stop()
        await self.desk.host.stop()

    def _ledger_screens(self) -> list[LedgerScreen[object]]:
        return [screen for screen in self.screen_stack if isinstance(screen, LedgerScreen)]

    def _changed(self, panes: frozenset[Pane], view: SessionView | None) -> None:
        offer = self.desk.offer
        if offer and offer.is_due(self.desk.host.server):
            self.run_worker(self._look_for_plugin(offer), group="offer", exclusive=True)
        elif offer and offer.hint(self.desk.host):
            self.dashboard.hint_at_offer(offer)
        for screen in self._ledger_screens():
            screen.changed(panes, view)

    async def _look_for_plugin(self, offer: Offer) -> None:
        await offer.look()
        self._changed(frozenset(("status",)), self.desk.host.view())

    def _second(self) -> None:
        for screen in self._ledger_screens():
            screen.second()

    def on_app_blur(self, event: events.AppBlur) -> None:
        """Slower while out of sight."""
        if self.feed:
            self.feed.focus(front=False)

    def on_app_focus(self, event: events.AppFocus) -> None:
        """At full pace again."""
        if self.feed:
            self.feed.focus(front=True)

    def next_theme(self) -> str:
        """Change to the theme after the present one; returns its name."""
        names = list(THEMES)
        name = names[(names.index(self.theme) + 1) % len(names)]
        self.use_theme(name)
        return name

    def use_theme(self, name: str) -> None:
        """Draw everything in the colours of this theme."""
        self.desk.brush.use(name)
        self.theme = name
        for screen in self._ledger_screens():
            screen.recolour()

    async def start_demo(self) -> None:
        """Show the demo's ledger instead of the one that found no server."""
        if self.desk.demo is None or self.feed is None:
            return
        before, self.desk.host = self.desk.host, self.desk.demo()
        self.feed.stop()
        self.feed = Feed(self.desk.host, self._changed, self._second, self.call_later)
        self.feed.flush()
        await before.stop()
        await self.desk.host.start()

    def notify(self, message: str, *, markup: bool = False, **rest: object) -> None:
        """Toasts never read markup."""
        super().notify(message, markup=markup, **rest)  # type: ignore[arg-type]


def theme_name(wanted: str) -> str:
    """The theme to use: the wanted one, or the colourless one under NO_COLOR.

    Raises:
        UsageError: there is no such theme.
    """
    check_theme(wanted)
    return NO_COLOUR_THEME if os.environ.get("NO_COLOR") else wanted


def run(
    host: LedgerHost,
    settings: Settings,
    *,
    demo: Callable[[], LedgerHost] | None = None,
    offer: Offer | None = None,
    project: str = "",
) -> int:
    """Show `host` until the user quits; the exit code.

    Args:
        host: the ledger; it is started after the first paint and stopped at the end.
        settings: `theme`, `ascii` and `keys` are used.
        demo: makes the demo's ledger, offered where no server is found.
        offer: installs the plugin for the project.
        project: its folder.

    Raises:
        UsageError: an unknown theme, action or key, or two actions on one key.
    """
    app = LedgerApp(host, settings, demo=demo, offer=offer, project=project)
    result = app.run()
    return result if result is not None else (app.return_code or 0)
