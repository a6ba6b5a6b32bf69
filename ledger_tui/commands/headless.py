"""`ledger-tui headless`: the ledger without a screen."""

from __future__ import annotations

import argparse

from ledger_tui import options

HELP = "run the ledger without a screen; JSON lines on standard output until Ctrl-C"
EXAMPLES = """\
examples:
  ledger-tui headless --server 4096
  ledger-tui headless --directory ~/shop --set extraction_interval_steps=5 | jq -c 'select(.type == "finding")'

exit codes: 1 failed, 2 wrong usage, 3 server unreachable or refused, 130 Ctrl-C
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's own flag."""
    options.add_resume(parser)


def run(args: argparse.Namespace) -> int:
    """Follow the folder's sessions until a signal comes."""
    settings = options.config(args).settings
    host_options = options.host_options(args)
    from core import headless  # noqa: PLC0415
    from core.host.host import Host  # noqa: PLC0415
    from core.jsonlines import BackgroundJsonLines, standard_output  # noqa: PLC0415
    from ledger_tui.running import run_until_signal  # noqa: PLC0415

    with BackgroundJsonLines(standard_output()) as out:

        async def main() -> int:
            return await headless.run(Host(host_options, settings), out)

        return run_until_signal(main)
