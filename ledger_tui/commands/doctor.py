"""`ledger-tui doctor`: what works, what does not, and what to do."""

from __future__ import annotations

import argparse
import os
import sys
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING

from ledger_tui import options
from ledger_tui.output import say, say_json

if TYPE_CHECKING:
    from core.doctor.lines import Line
    from core.doctor.surroundings import Surroundings, Terminal

HELP = "check what works, what does not, and say what to do"
EXAMPLES = """\
One line for each check: ok, warn (the ledger works, but something is missing) or fail (something cannot work). Nothing
is changed.

examples:
  ledger-tui doctor
  ledger-tui doctor --directory ~/shop
  ledger-tui doctor --json | jq -r '.[] | select(.status != "ok") | .fix'

exit codes: 0 nothing fails, 1 something does
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's own flags."""
    parser.add_argument("--json", action="store_true", help="as JSON: a list of {check, status, text, fix}")


def run(args: argparse.Namespace) -> int:
    """Check everything and say what was found."""
    from core.doctor.examine import examine  # noqa: PLC0415

    lines = examine(_surroundings(args))
    if args.json:
        import msgspec  # noqa: PLC0415

        say_json([msgspec.structs.asdict(line) for line in lines])
    else:
        margin = max(len(line.check) for line in lines)
        columns = get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else 0
        for line in lines:
            say(_written(line, margin, columns))
    return 1 if any(line.status == "fail" for line in lines) else 0


def _written(line: Line, margin: int, columns: int) -> str:
    """One line; where it is wider than `columns` (0: no limit), broken between words under its text."""
    start = f"{line.status:<4}  {line.check:<{margin}}  "
    fix = f"-> {line.fix}" if line.fix else ""
    whole = f"{start}{line.text} {fix}".rstrip()
    if not columns or len(whole) <= columns:
        return whole
    room = max(20, columns - len(start))
    pieces = [piece for part in (line.text, fix) for piece in wrap(part, room, break_on_hyphens=False)]
    return start + f"\n{' ' * len(start)}".join(pieces)


def _surroundings(args: argparse.Namespace) -> Surroundings:
    from core import paths  # noqa: PLC0415
    from core.doctor.surroundings import Surroundings  # noqa: PLC0415
    from core.installing.texts import program_version  # noqa: PLC0415

    chosen = options.host_options(args)
    named_by = "--server" if getattr(args, "server", None) else "OPENCODE_SERVER"
    return Surroundings(
        options=chosen,
        load=lambda: options.config(args, quiet=True),
        environ=dict(os.environ),
        terminal=_terminal(),
        version=program_version(),
        state_dir=paths.state_dir(),
        named_by=named_by if chosen.server else "",
    )


def _terminal() -> Terminal:
    """The terminal, through whichever standard stream is one."""
    from core.doctor.surroundings import Terminal  # noqa: PLC0415

    streams = [stream for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__) if stream and stream.isatty()]
    encoding = sys.__stdout__.encoding if sys.__stdout__ else ""
    if not streams:
        return Terminal(is_there=False, encoding=encoding)
    try:
        size = os.get_terminal_size(streams[0].fileno())
    except OSError:
        return Terminal(is_there=True, encoding=encoding)
    return Terminal(is_there=True, size=(size.columns, size.lines), encoding=encoding)
