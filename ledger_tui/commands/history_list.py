"""`ledger-tui history list`: past sessions, oldest first."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from core.errors import FileError
from ledger_tui.commands import history_source
from ledger_tui.output import complain

if TYPE_CHECKING:
    from core.history.rows import SessionRow

HELP = "list past sessions, oldest first (default action)"
EXAMPLES = """\
The order is that of (creation, id); --offset and --limit count in it. With --json: one array, times in ms since the
epoch, cost in US dollars, tokens with those from the cache.

examples:
  ledger-tui history list
  ledger-tui history list --offset 100 --limit 20 --include-children
  ledger-tui history list --json | jq -r '.[] | select(.cost > 1) | .title'
"""
DEFAULTS: Final = {
    "json": False,
    "limit": None,
    "offset": 0,
    "include_children": False,
    "db": None,
    "legacy_json": False,
}
"""Values of this action's flags where it is not named."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this action's own flags."""
    parser.add_argument("--json", action="store_true", default=False, help="one JSON array (default: lines to read)")
    history_source.add_part(parser)
    history_source.add_children(parser)
    history_source.add_source(parser)


def run(args: argparse.Namespace) -> int:
    """List them, one at a time."""
    from core.history.listing import list_all  # noqa: PLC0415
    from core.history.own import own_sessions  # noqa: PLC0415

    with history_source.gathered(args) as gathering:
        rows = list_all(
            gathering.sources,
            limit=args.limit,
            offset=args.offset,
            include_children=args.include_children,
            own=own_sessions(),
        )
        found = (row for _, row in rows)
        write(json_array(map(as_json, found)) if args.json else _lines(found, _known()))
    return 0


def as_json(row: SessionRow) -> dict[str, Any]:
    """The row as the contract has it."""
    return {
        "id": row.id,
        "title": row.title,
        "directory": row.directory,
        "parent": row.parent or None,
        "schema": str(row.schema),
        "time_created": row.time_created,
        "time_updated": row.time_updated,
        "messages": {"all": row.messages.all, "user": row.messages.user, "assistant": row.messages.assistant},
        "cost": row.cost,
        "tokens": row.tokens.total,
        "archived": row.archived,
    }


def json_array(items: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A JSON array, an item a line; everything beyond ASCII is escaped."""
    before = "["
    for item in items:
        yield f"{before}\n  {json.dumps(item, allow_nan=False)}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def write(pieces: Iterable[str]) -> None:
    """Write text to standard output as it comes.

    Raises:
        FileError: the program was started with its standard output closed.
    """
    from core.text import clean  # noqa: PLC0415

    if sys.stdout is None:
        raise FileError("standard output is closed", "Start the command with its output led somewhere.")
    for piece in pieces:
        sys.stdout.write(clean(piece))


def _known() -> dict[str, int]:
    """How many facts the ledger has of each root session; none where that cannot be read, which is complained about."""
    from ledger_tui.options import database  # noqa: PLC0415

    if not database().exists():
        return {}
    from core.store.archive import Archive  # noqa: PLC0415

    try:
        with Archive(database()) as archive:
            return {session.root: session.findings for session in archive.sessions()}
    except FileError as error:
        complain(str(error))
        return {}


def _lines(rows: Iterable[SessionRow], known: Mapping[str, int]) -> Iterator[str]:
    """Two lines a session on a terminal, one line elsewhere."""
    from core.text import clean_line, clip  # noqa: PLC0415
    from ledger_tui.format import count, money, plural  # noqa: PLC0415

    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    found = False
    for row in rows:
        found = True
        facts = known.get(row.id, 0)
        marks = "".join(
            (
                " (archived)" if row.archived else "",
                " (sub-agent)" if row.parent else "",
                f" ({plural(facts, 'fact')})" if facts else "",
            )
        )
        began, id = moment(row.time_created), clean_line(row.id, 80)
        tokens, cost, folder = count(row.tokens.total), money(row.cost), clip(row.directory, 120)
        title = f"{row.title or '(no title)'}{marks}"
        if is_terminal:
            about = (id, began, plural(row.messages.all, "message"), f"{tokens} tokens", cost, folder)
            yield f"{title}\n  {'  ·  '.join(about)}\n"
        else:
            yield f"{began:<16}  {row.messages.all:>6,}  {tokens:>6}  {cost:>7}  {id:<30}  {title}  {folder}\n"
    if not found:
        complain("no sessions here")


def moment(ms: int) -> str:
    """Date and time to the minute, in the zone of this machine; empty when there is no such time."""
    from datetime import UTC, datetime  # noqa: PLC0415

    try:
        return datetime.fromtimestamp(ms / 1000, tz=UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return ""
