"""`ledger-tui replay`: a recorded stream through the ledger, offline."""

from __future__ import annotations

import argparse
from pathlib import Path

from ledger_tui import options

HELP = "put a recorded stream through the ledger, offline; JSON lines on standard output"
EXAMPLES = """\
FILE holds one event of OpenCode's /event as JSON per line; - is standard input, and a pipe will do. A raw SSE capture,
events of /global/event and gzip are accepted too. The same input and the same settings give the same bytes. No dump is
written unless dump_path is set. With --store each change is in a database before its line appears: killed and started
again with the same file and store, the ledger goes on where it was.

examples:
  ledger-tui replay session.jsonl
  ssh build cat session.jsonl.gz | ledger-tui replay -
  ledger-tui replay session.jsonl.gz --answers answers.jsonl --set escalation_injections=2
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's own flags."""
    parser.add_argument("file", metavar="FILE", help="the recording; - for standard input")
    parser.add_argument(
        "--answers",
        metavar="FILE",
        type=Path,
        help="answers of the extractions, one JSON string per line, in order (default: none, so each extraction fails)",
    )
    parser.add_argument(
        "--store",
        metavar="PATH",
        type=Path,
        help="database to keep the ledger in, made if need be (default: none, nothing is kept)",
    )


def run(args: argparse.Namespace) -> int:
    """Replay to the end of the recording."""
    settings = options.config(args).settings
    from core.jsonlines import JsonLines, standard_output  # noqa: PLC0415
    from core.replaying import replay  # noqa: PLC0415

    # A file of that name is `./-`, which a Path would make the same as `-`.
    file = None if args.file == "-" else Path(args.file)
    return replay(file, settings, args.answers, JsonLines(standard_output()), args.store)
