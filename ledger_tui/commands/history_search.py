"""`ledger-tui history search`: full-text search in past sessions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from ledger_tui.commands import history_list, history_source
from ledger_tui.output import complain

if TYPE_CHECKING:
    from core.history.search import Hit

HELP = "search titles and texts of past sessions"
EXAMPLES = """\
A session is found when every word occurs in it, in its title or in what the user or the agent said. "two words" is a
phrase, start* the beginning of a word, -word must not occur; case and accents do not count. A query that begins with -
comes after --. The index lies in the user's cache folder, holds masked text only, and is brought up to date by every
search; the first one takes longer, and one that is stopped is continued by the next.

examples:
  ledger-tui history search makefile
  ledger-tui history search '"no rule" target*' --include-children
  ledger-tui history search --json -- token -vocab | jq -r '.[].id'
"""
_DEFAULT_LIMIT: Final = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this action's own arguments."""
    parser.add_argument("query", metavar="QUERY", nargs="+", help="the words")
    parser.add_argument(
        "--json", action="store_true", default=False, help="one JSON array, the best first (default: lines to read)"
    )
    parser.add_argument(
        "--limit",
        metavar="N",
        type=history_source.whole_number,
        default=_DEFAULT_LIMIT,
        help=f"at most so many sessions, 0 for none (default: {_DEFAULT_LIMIT})",
    )
    history_source.add_children(parser)
    history_source.add_source(parser)


def run(args: argparse.Namespace) -> int:
    """Bring the index up to date, and search it."""
    from core.history.index import Index  # noqa: PLC0415
    from core.history.own import own_sessions  # noqa: PLC0415
    from core.history.search import check, search  # noqa: PLC0415

    query = " ".join(args.query)
    check(query, args.limit)
    with history_source.gathered(args) as gathering, Index.open() as index:
        with history_source.Progress("reading sessions for the index") as progress:
            index.update(gathering.sources, own_sessions(), progress)
        places = [source.path for source in gathering.sources]
        hits = search(index, query, places, limit=args.limit, include_children=args.include_children)
    if args.json:
        history_list.write(history_list.json_array(map(_as_json, hits)))
        return 0
    if not hits and args.limit:
        complain(f"no session holds {query!r}")
    history_list.write(_lines(hits))
    return 0


def _as_json(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "title": hit.title,
        "directory": hit.directory,
        "parent": hit.parent or None,
        "time_created": hit.time_created,
        "time_updated": hit.time_updated,
        "role": hit.role,
        "time": hit.time,
        "matches": hit.matches,
        "snippet": hit.snippet,
        "marks": hit.marks,
    }


def _lines(hits: Iterable[Hit]) -> Iterator[str]:
    for number, hit in enumerate(hits):
        matches = f"{hit.matches} text{'' if hit.matches == 1 else 's'}"
        about = "  ·  ".join((hit.id, history_list.moment(hit.time_created), matches, hit.directory))
        yield f"{chr(10) if number else ''}{hit.title or '(no title)'}\n  {about}\n"
        yield from _snippet(hit)


def _snippet(hit: Hit) -> Iterator[str]:
    """The text with its words in bold on a terminal, in square brackets elsewhere."""
    yield f"  {hit.role}: "
    if sys.stdout is not None and sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        text = Text(hit.snippet)
        for start, end in hit.marks:
            text.stylize("bold reverse", start, end)
        sys.stdout.flush()
        Console(soft_wrap=True).print(text)
        return
    place = 0
    for start, end in hit.marks:
        yield f"{hit.snippet[place:start]}[{hit.snippet[start:end]}]"
        place = end
    yield f"{hit.snippet[place:]}\n"
