"""`ledger-tui watch`: follow a dump file."""

from __future__ import annotations

import argparse
from pathlib import Path

from ledger_tui import options
from ledger_tui.commands import dashboard

HELP = "follow a dump file written by any ledger, read-only"
EXAMPLES = """\
examples:
  ledger-tui watch
  ledger-tui watch /tmp/opencode-ledger-facts.json --json
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's own flags."""
    parser.add_argument("dump", metavar="DUMP", nargs="?", type=Path, help="the file (default: the setting dump_path)")
    parser.add_argument("--json", action="store_true", help="JSON lines on standard output instead of the dashboard")


def run(args: argparse.Namespace) -> int:
    """Follow the file until the user quits or a signal comes."""
    settings = options.config(args).settings if args.json else options.screen_settings(args)
    path = (args.dump or settings.dump_path).expanduser().absolute()
    if not args.json:
        dashboard.need_terminal()
    from core import watching  # noqa: PLC0415

    if not args.json:
        caps = (settings.max_findings_per_topic, settings.max_findings)
        return dashboard.show(watching.WatchHost(path, per_topic=caps[0], overall=caps[1]), settings)
    from core.jsonlines import BackgroundJsonLines, standard_output  # noqa: PLC0415
    from ledger_tui.running import run_until_signal  # noqa: PLC0415

    with BackgroundJsonLines(standard_output()) as out:
        return run_until_signal(lambda: watching.lines(path, out.write))
