"""`ledger-tui record`: save the live stream."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ledger_tui import options
from ledger_tui.output import complain

HELP = "save the live stream to a file, one event as JSON per line, until Ctrl-C"
EXAMPLES = """\
What was there before comes first. Keep OUT out of the project's folder: OpenCode takes snapshots of that.

examples:
  ledger-tui record /tmp/session.jsonl --server 4096
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's own flags."""
    parser.add_argument("out", metavar="OUT", type=Path, help="the file to write")


def run(args: argparse.Namespace) -> int:
    """Record until a signal comes."""
    settings = options.config(args).settings
    host_options = options.host_options(args)
    if Path(os.path.realpath(args.out)).is_relative_to(options.directory(args)):
        complain(f"{args.out} is in the project's folder, of which OpenCode takes a snapshot at each step")
    from core.recording import record  # noqa: PLC0415
    from ledger_tui.running import run_until_signal  # noqa: PLC0415

    return run_until_signal(lambda: record(host_options, settings, args.out))
