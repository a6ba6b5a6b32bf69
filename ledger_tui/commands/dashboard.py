"""The dashboard on a live server: what runs when no sub-command is named."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import UsageError
from ledger_tui import options

if TYPE_CHECKING:
    from core.installing.preparing import Preparation
    from core.settings import Settings
    from core.views import LedgerHost
    from ledger_tui.offer import Offer

DEMO_SPEED = 4.0
"""Multiple of the recorded speed at which the demo begins: the first facts come after about 15 s."""


def run(args: argparse.Namespace) -> int:
    """Show the dashboard until the user quits."""
    settings = options.screen_settings(args)
    host_options = options.host_options(args)
    need_terminal()
    from core.host.host import Host  # noqa: PLC0415
    from ledger_tui.offer import Offer  # noqa: PLC0415

    host = Host(host_options, settings)
    offer = Offer(lambda: _preparation(host_options.directory), host.remark) if _is_here(host_options.server) else None
    return show(host, settings, demo=lambda: _demo(settings), offer=offer, project=str(host_options.directory))


def show(
    host: LedgerHost,
    settings: Settings,
    *,
    demo: Callable[[], LedgerHost] | None = None,
    offer: Offer | None = None,
    project: str = "",
) -> int:
    """Show `host` on the screen; the exit code.

    `demo` makes the ledger that is offered where no server is found, `offer` installs the plugin for the project,
    `project` is its folder.
    """
    from ledger_tui.app import run as run_app  # noqa: PLC0415

    return run_app(host, settings, demo=demo, offer=offer, project=project)


def _is_here(server: str | None) -> bool:
    """Whether OpenCode would run on this machine: on another one it loads no plugin from here."""
    from core.opencode.address import is_loopback, parse_address  # noqa: PLC0415

    return server is None or is_loopback(parse_address(server))


def _preparation(directory: Path) -> Preparation:
    from core.installing.preparing import Preparation  # noqa: PLC0415

    return Preparation(directory)


def _demo(settings: Settings) -> LedgerHost:
    from core.demo import demo_host  # noqa: PLC0415

    return demo_host(settings, DEMO_SPEED)


def need_terminal() -> None:
    """Refuse early where no screen can be drawn.

    Raises:
        UsageError: standard input or standard error is no terminal, or the terminal can do nothing.
    """
    streams = (sys.__stdin__, sys.__stderr__)
    if not all(stream is not None and stream.isatty() for stream in streams):
        raise UsageError("the dashboard needs a terminal", "Without one, `ledger-tui headless` writes JSON lines.")
    if os.environ.get("TERM", "") in ("", "dumb"):
        raise UsageError("this terminal cannot show a dashboard (TERM is empty or dumb)", "Set TERM, or use headless.")
