"""Runs the dashboard over the fake ledger for a test: press keys, read the screen as text."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from textual.pilot import Pilot

from core.settings import Settings
from core.views import ServerView, SessionView
from ledger_tui.app import LedgerApp
from ledger_tui.screens.dashboard import Dashboard
from ledger_tui.widgets.liststate import ListState
from tests.ui import example
from tests.ui.fake_host import FakeHost


@dataclass
class Stage:
    """A running dashboard."""

    app: LedgerApp
    host: FakeHost
    pilot: Pilot[int]

    @property
    def board(self) -> Dashboard:
        return self.app.dashboard

    @property
    def on_board(self) -> bool:
        """Whether no other screen covers the dashboard."""
        return self.app.screen is self.board

    def rows(self, pane: str) -> ListState:
        return self.board.panes[pane].list

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def settle(self) -> None:
        """Let what the host changed reach the screen."""
        assert self.app.feed
        self.app.feed.flush()
        await self.pilot.pause()

    def lines(self) -> list[str]:
        """What the top screen shows, line by line."""
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    def text(self) -> str:
        return "\n".join(self.lines())

    def footer(self) -> str:
        return self.lines()[-1]


def make_app(host: FakeHost, **settings: Any) -> LedgerApp:
    """The application with its clock and zone pinned."""
    return LedgerApp(host, Settings(**settings), clock=lambda: example.NOW, zone=UTC)


@asynccontextmanager
async def stage(
    view: SessionView | None = None,
    *,
    server: ServerView | None = None,
    size: tuple[int, int] = (120, 40),
    read_only: bool = False,
    empty: bool = False,
    **settings: Any,
) -> AsyncIterator[Stage]:
    """Run over `view` (the example when None; nothing at all with `empty`)."""
    host = FakeHost(None if empty else view or example.example(), server, read_only=read_only)
    host.items = example.session_items()
    app = make_app(host, **settings)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Stage(app, host, pilot)
