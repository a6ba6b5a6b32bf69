"""`ledger-tui demo`: the dashboard on a recorded session."""

from __future__ import annotations

import argparse

from core.errors import UsageError
from ledger_tui import options
from ledger_tui.commands import dashboard

HELP = "show the dashboard on a recorded session; needs neither OpenCode nor a key"
EXAMPLES = """\
examples:
  ledger-tui demo
  ledger-tui demo --speed 1
"""
MAX_SPEED = 100.0


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's own flags."""
    parser.add_argument(
        "--speed",
        type=float,
        default=dashboard.DEMO_SPEED,
        metavar="N",
        help="play at this multiple of the recorded speed, up to 100 (default: 4)",
    )


def run(args: argparse.Namespace) -> int:
    """Play the recording until the user quits."""
    if not 0 < args.speed <= MAX_SPEED:
        raise UsageError(f"--speed {args.speed:g} is not above 0 and at most {MAX_SPEED:g}", "Leave it out for 4.")
    settings = options.screen_settings(args)
    dashboard.need_terminal()
    from core.demo import demo_host  # noqa: PLC0415

    return dashboard.show(demo_host(settings, args.speed), settings)
