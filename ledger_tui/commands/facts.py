"""`ledger-tui facts`: findings of stored sessions."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import FileError, UsageError
from ledger_tui import options
from ledger_tui.output import complain, say

if TYPE_CHECKING:
    from core.store.archive import Archive, Removed, StoredFact, StoredSession

HELP = "list, export or remove the facts of stored sessions"
EXAMPLES = """\
Without --session or --all: the sessions of the project's folder and of the folders below it. Facts that wait for
review, or do not hold any more, say so. --agents leaves out what waits, what was superseded, and what reads like an
order.

examples:
  ledger-tui facts
  ledger-tui facts --session ses_dd50 --markdown > handover.md
  ledger-tui facts --agents >> AGENTS.md
  ledger-tui facts --all --json | jq -r '.[].fact'
  ledger-tui facts --purge --older-than 30
"""
COMMON_HELP = {
    "--session": "of this session only; the start of its id will do (default: all of the folder)",
    "--directory": "folder of the project; --project says the same (default: the current folder)",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's own flags."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_const",
        dest="form",
        const="json",
        help="one JSON array, each fact with its receipt (default: lines to read)",
    )
    form.add_argument(
        "--markdown",
        action="store_const",
        dest="form",
        const="markdown",
        help="a hand-over card with the commands and lines that bear each fact out",
    )
    form.add_argument(
        "--agents",
        action="store_const",
        dest="form",
        const="agents",
        help="a block for AGENTS.md with the facts that hold",
    )
    form.add_argument("--purge", action="store_true", help="remove the sessions named, with all that is stored of them")
    parser.add_argument("--yes", action="store_true", help="with --purge: do not ask (default: ask)")
    parser.add_argument(
        "--older-than",
        metavar="DAYS",
        type=_days,
        help="only sessions that were last active so many days ago or longer (default: all)",
    )
    parser.add_argument("--all", action="store_true", help="sessions of all folders (default: those of the project)")
    parser.add_argument("--project", metavar="DIR", dest="directory", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.add_argument(
        "--evicted", action="store_true", help="also facts that had to make room for newer ones (default: no)"
    )
    parser.add_argument(
        "--store", metavar="PATH", type=Path, help="the database (default: the one in the user's state folder)"
    )


def run(args: argparse.Namespace) -> int:
    """List, export or remove."""
    if args.yes and not args.purge:
        raise UsageError("--yes goes with --purge", "Leave it out, or add --purge.")
    path = args.store or options.database()
    if not path.exists():
        if args.store is not None:
            raise FileError(f"there is no {path}", "Give the database that `replay --store` has made.")
        return _nothing(args)
    from core.store.archive import Archive  # noqa: PLC0415

    with Archive(path) as archive:
        sessions = _sessions(archive, args)
        if args.purge:
            return _purge(archive, sessions, yes=args.yes)
        if not sessions:
            return _nothing(args)
        _write(_FORMS[args.form or "plain"](archive, sessions, args.evicted))
        if archive.skipped:
            complain(f"{archive.skipped} stored facts were written by another version and are left out")
    return 0


def _sessions(archive: Archive, args: argparse.Namespace) -> list[StoredSession]:
    """Those that were asked for."""
    from core.clock import now_ms  # noqa: PLC0415
    from core.store.archive import DAY_MS  # noqa: PLC0415

    before = now_ms() - args.older_than * DAY_MS if args.older_than is not None else None
    wanted = getattr(args, "session", None)
    if wanted is None:
        directory = None if args.all else str(options.directory(args))
        return archive.sessions(directory=directory, before=before)
    return [archive.find(wanted, before=before)]


def _json(archive: Archive, sessions: Sequence[StoredSession], evicted: bool) -> Iterator[str]:
    from core.store.cards import as_json  # noqa: PLC0415

    before = "["
    for session in sessions:
        for fact in archive.facts(session, proofs=True, evicted=evicted):
            yield f"{before}\n  {json.dumps(as_json(fact), allow_nan=False)}"
            before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def _plain(archive: Archive, sessions: Sequence[StoredSession], evicted: bool) -> Iterator[str]:
    from core.store.cards import plain  # noqa: PLC0415

    yield from _each(archive, sessions, evicted, plain)


def _markdown(archive: Archive, sessions: Sequence[StoredSession], evicted: bool) -> Iterator[str]:
    from core.store.cards import markdown  # noqa: PLC0415

    yield from _each(archive, sessions, evicted, markdown, proofs=True)


def _each(
    archive: Archive,
    sessions: Sequence[StoredSession],
    evicted: bool,
    card: Callable[[StoredSession, list[StoredFact]], Iterable[str]],
    *,
    proofs: bool = False,
) -> Iterator[str]:
    """The cards of all sessions that have facts, with a blank line between two."""
    first = True
    for session in sessions:
        facts = list(archive.facts(session, proofs=proofs, evicted=evicted))
        if facts:
            yield "" if first else "\n"
            yield from (f"{line}\n" for line in card(session, facts))
            first = False
    if first:
        complain("these sessions have no facts")


def _agents(archive: Archive, sessions: Sequence[StoredSession], evicted: bool) -> Iterator[str]:
    from core.store.cards import agents  # noqa: PLC0415

    facts = (fact for session in sessions for fact in archive.facts(session))
    yield from (f"{line}\n" for line in agents(facts))


_FORMS: Final = {"plain": _plain, "json": _json, "markdown": _markdown, "agents": _agents}


def _write(pieces: Iterable[str]) -> None:
    from core.text import clean  # noqa: PLC0415

    if sys.stdout is None:
        raise FileError("standard output is closed", "Start the command with its output led somewhere.")
    for piece in pieces:
        sys.stdout.write(clean(piece))


def _nothing(args: argparse.Namespace) -> int:
    """Say that there is nothing, and give what the form has for that."""
    where = "" if args.all or getattr(args, "session", None) else f" for {options.directory(args)}"
    hint = "" if args.all else "; --all shows those of other folders"
    if args.form == "json":
        say("[]")
    complain(f"no facts are stored{where}{hint if where else ''}")
    return 0


def _purge(archive: Archive, sessions: list[StoredSession], *, yes: bool) -> int:
    from core.store.archive import in_use  # noqa: PLC0415

    free = [session for session in sessions if not in_use(session)]
    busy = (
        f"; {_count(len(sessions) - len(free), 'session')} in use by a running ledger stays" if free != sessions else ""
    )
    if not free:
        say(f"nothing to remove{busy}")
        return 0
    facts = sum(session.findings for session in free)
    if not yes and not _agreed(f"Remove {_count(len(free), 'session')} with {_count(facts, 'fact')} for good?"):
        say("nothing was removed")
        return 1
    say(f"{_told(archive.remove(free))}{busy}")
    return 0


def _agreed(question: str) -> bool:
    """Whether a person says yes.

    Raises:
        UsageError: there is nobody to ask.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("--purge asks before it removes, and this is no terminal", "Add --yes.")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _told(removed: Removed) -> str:
    parts = (
        _count(removed.sessions, "session"),
        _count(removed.findings, "fact"),
        _count(removed.steps, "step"),
        _count(removed.notes, "note"),
    )
    return f"removed {', '.join(parts)}"


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _days(text: str) -> int:
    if not text.isdigit() or int(text) > 36_500:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days")
    return int(text)
