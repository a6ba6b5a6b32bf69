"""What the screens of past sessions read, each in a thread: the list, one session, its facts, its note, a search.

All raise LedgerError where something cannot be read, and Stopped when they were given up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from core.errors import FileError
from ledger_tui.screens.history_job import Job

if TYPE_CHECKING:
    from core.history.pieces import Piece
    from core.history.rows import SessionRow
    from core.history.search import Hit
    from core.store.archive import StoredFact

FIRST: Final = 200
"""Sessions that are read first: those of the first page, and of some pages more."""
PIECES: Final = 500
"""Parts of a session that are read at a time."""
HITS: Final = 2_000
"""Sessions that a search shows at most, the best of all projects."""
NOTE_CHARS: Final = 100_000
"""Characters of a note that are shown."""
_EVERY: Final = 0.5
"""Seconds between two batches of sessions."""

Batch = Callable[[list[Any], bool], None]
"""Takes sessions, oldest first; the flag is set for the newest ones, which come before all others."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be said when a list is complete: one sentence for each thing that was left out."""

    problems: tuple[str, ...] = ()


def read_list(job: Job, took: Batch) -> Ended:
    """All root sessions but the ledger's own: the newest first, then the others in batches, oldest first."""
    from core.history.gathering import Gathering  # noqa: PLC0415
    from core.history.listing import count_sessions, list_all  # noqa: PLC0415
    from core.history.own import own_sessions  # noqa: PLC0415

    own = own_sessions()
    with Gathering.open() as gathering:
        total = sum(count_sessions(source, own=own) for source in gathering.sources)
        job.check()
        before = max(0, total - FIRST)
        job.tell(took, [row for _, row in list_all(gathering.sources, offset=before, own=own)], True)
        batch: list[SessionRow] = []
        due = time.monotonic() + _EVERY
        for _, row in list_all(gathering.sources, limit=before, own=own):
            job.check()
            batch.append(row)
            if time.monotonic() >= due:
                job.tell(took, batch, False)
                batch, due = [], time.monotonic() + _EVERY
        if batch:
            job.tell(took, batch, False)
        unread = gathering.unread()
        left = [f"{unread} in old JSON files: `ledger-tui history list --legacy-json` reads them"] if unread else []
        return Ended(problems=(*gathering.problems, *left))


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger itself has of past sessions.

    Attributes:
        facts: how many are stored of each root session, by its id.
        notes: names of the files in the folder of notes.
        problem: why the facts are not known, as a sentence; empty when they are.
    """

    facts: Mapping[str, int] = {}
    notes: frozenset[str] = frozenset()
    problem: str = ""

    def has_note(self, id: str) -> bool:
        """Whether a note was made of session `id`."""
        from core.history.sinks import note_name  # noqa: PLC0415

        return bool(self.notes) and Path(note_name(id)).name in self.notes


def read_known(job: Job) -> Known:
    """What the ledger has; nothing where there is nothing, or where it cannot be read."""
    from core.store.archive import Archive  # noqa: PLC0415

    folder, path = _note("").parent, _store()
    notes = frozenset(file.name for file in folder.glob("*.md")) if folder.is_dir() else frozenset[str]()
    if not path.exists():
        return Known(notes=notes)
    try:
        with Archive(path) as archive:
            return Known(facts={session.root: session.findings for session in archive.sessions()}, notes=notes)
    except FileError as error:
        return Known(notes=notes, problem=str(error))


def read_note(job: Job, id: str) -> str:
    """The note of session `id`, cleaned; of a long one the beginning."""
    from core.text import clean, clean_line  # noqa: PLC0415

    path = _note(id)
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return clean(file.read(NOTE_CHARS))
    except OSError as error:
        named = clean_line(str(path), 300)
        raise FileError(f"cannot read the note {named}: {error.strerror}", "Make it again.") from error


def read_facts(job: Job, id: str) -> tuple[StoredFact, ...]:
    """Facts that are stored of session `id`, oldest first, those that had to make room included."""
    from core.store.archive import Archive  # noqa: PLC0415

    path = _store()
    if not path.exists():
        return ()
    with Archive(path) as archive:
        return tuple(fact for session in archive.sessions(root=id) for fact in archive.facts(session, evicted=True))


def read_pieces(job: Job, id: str, skip: int) -> tuple[SessionRow, list[Piece], bool]:
    """The session, its next parts after the first `skip` ones, and whether there are more."""
    from core.history.gathering import Gathering  # noqa: PLC0415
    from core.history.parts import read_parts  # noqa: PLC0415
    from core.history.pieces import Bounds, pieces  # noqa: PLC0415

    with Gathering.open() as gathering:
        source, row = gathering.find(id)
        found: list[Piece] = []
        for piece in islice(pieces(read_parts(source, row.id), Bounds()), skip, skip + PIECES + 1):
            job.check()
            found.append(piece)
    return row, found[:PIECES], len(found) > PIECES


def search_texts(job: Job, query: str, progress: Callable[[int, int], None]) -> list[Hit]:
    """The sessions that hold all words of `query`, the best first; the index is brought up to date before."""
    from core.history.gathering import Gathering  # noqa: PLC0415
    from core.history.index import Index  # noqa: PLC0415
    from core.history.own import own_sessions  # noqa: PLC0415
    from core.history.search import check, search  # noqa: PLC0415

    check(query)
    with Gathering.open() as gathering, Index.open() as index:
        index.update(gathering.sources, own_sessions(), lambda done, of: job.progress(progress, done, of))
        job.check()
        return search(index, query, [source.path for source in gathering.sources], limit=HITS)


def _store() -> Path:
    from core.paths import state_dir  # noqa: PLC0415
    from core.store.database import DATABASE  # noqa: PLC0415

    return state_dir() / DATABASE


def _note(id: str) -> Path:
    """Where `history distil` puts the note of a session, unless it is told otherwise."""
    from core.history.sinks import note_name  # noqa: PLC0415
    from core.paths import state_dir  # noqa: PLC0415

    return state_dir() / "notes" / note_name(id)
