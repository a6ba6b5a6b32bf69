"""`ledger-tui history show`: one past session."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ledger_tui import options
from ledger_tui.commands import history_list, history_source
from ledger_tui.output import complain, say_json

if TYPE_CHECKING:
    from core.history.rows import SessionRow
    from core.history.transcript import Transcript

HELP = "show one past session"
EXAMPLES = """\
Without a flag, and in the JSON, the transcript is the bounded one that notes are made of: of a long session beginning
and end, with a mark that says how much is left out. --markdown gives every part, each of them bounded. All bounds are
settings: `ledger-tui config list` shows those that begin with history_.

examples:
  ledger-tui history show ses_dd507cbaeffesRjNDua5Xw8cAB
  ledger-tui history show ses_dd50 --markdown > session.md
  ledger-tui history show ses_dd50 --json | jq -r .transcript
  ledger-tui history show ses_dd50 --set history_tail_chars=100000
"""
USED: Final = ("--directory", "--set")
COMMON_HELP: Final = {"--directory": "folder whose settings apply (default: the current folder)"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this action's own arguments."""
    parser.add_argument("id", metavar="ID", help="the session; the start of its id will do")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json", action="store_true", default=False, help="one JSON object (default: a transcript to read)"
    )
    form.add_argument("--markdown", action="store_true", default=False, help="as Markdown")
    history_source.add_source(parser)


def run(args: argparse.Namespace) -> int:
    """Show it."""
    from core.history.parts import read_parts  # noqa: PLC0415

    bounds = history_source.bounds(options.config(args).settings)
    with history_source.gathered(args) as gathering:
        source, row = gathering.find(args.id)
        parts = read_parts(source, row.id)
        if args.markdown:
            from core.history.markdown import markdown  # noqa: PLC0415
            from core.history.pieces import pieces  # noqa: PLC0415

            history_list.write(markdown(row, pieces(parts, bounds)))
            return 0
        from core.history.transcript import transcript  # noqa: PLC0415

        made = transcript(parts, bounds)
    if args.json:
        more = {"transcript": made.text, "chars": made.chars, "left_out": made.left_out, "skipped": made.skipped}
        say_json(history_list.as_json(row) | more)
    else:
        history_list.write(_text(row, made))
    return 0


def _text(row: SessionRow, made: Transcript) -> Iterator[str]:
    from ledger_tui.format import count, money  # noqa: PLC0415

    facts = (
        row.id,
        row.directory,
        history_list.moment(row.time_created),
        f"{row.messages.all:,} messages",
        f"{count(row.tokens.total)} tokens",
        money(row.cost),
        row.model,
        f"sub-agent of {row.parent}" if row.parent else "",
        "archived" if row.archived else "",
    )
    yield f"{row.title or '(no title)'}\n{'  ·  '.join(filter(None, facts))}\n\n"
    yield f"{made.text or 'This session holds no text.'}\n"
    skipped = ", ".join(f"{number} {kind}" for kind, number in sorted(made.skipped.items()))
    if skipped and sys.stdout is not None and sys.stdout.isatty():
        complain(f"parts not shown: {skipped}")
