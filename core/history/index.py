"""A full-text index of our own over titles and texts of past sessions, in the cache folder.

It is brought up to date before a search: sessions that are new or have changed are read, those that are gone are taken
out, each in a transaction, so that an interrupted run is continued by the next one. Cleaned and masked text alone is
kept. What a session was indexed as: the row of its title, then one row for each text, under consecutive row ids.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Self

from core import paths
from core.errors import FileError
from core.history.gathering import Told
from core.history.listing import count_sessions, list_sessions
from core.history.parts import read_parts
from core.history.pieces import Bounds, Kind, pieces
from core.history.rows import PartRow, SessionRow
from core.history.source import Source
from core.store.database import open_database
from core.text import clean_line

DATABASE: Final = "history.db"
"""Name of the index, in the cache folder."""
SHIFT: Final = 24
"""Row id of a text: number of its session, shifted by so many bits, plus its place in the session."""
TEXT_CHARS: Final = 64_000
"""Code points of one text that are indexed; of a longer one beginning and end."""

_MIGRATIONS: Final = (
    (
        """
        CREATE TABLE session (
            number INTEGER PRIMARY KEY,
            source TEXT NOT NULL,          -- path of the database
            id TEXT NOT NULL,
            stamp TEXT NOT NULL,           -- changes when the session does
            parent TEXT NOT NULL,
            title TEXT NOT NULL,
            directory TEXT NOT NULL,
            created INTEGER NOT NULL,      -- ms since the epoch
            updated INTEGER NOT NULL,
            UNIQUE (source, id)
        ) STRICT
        """,
        "CREATE TABLE source (path TEXT PRIMARY KEY, state TEXT NOT NULL) STRICT",
        """
        CREATE VIRTUAL TABLE piece USING fts5 (
            body, role UNINDEXED, time UNINDEXED, tokenize = 'unicode61 remove_diacritics 2'
        )
        """,
    ),
)
_BOUNDS: Final = Bounds(text=TEXT_CHARS, reasoning=0, tool_input=0, tool_output=0)
_SPOKEN: Final = re.compile(rb'"type"\s*:\s*"(?:text|compaction)"')
_SUFFIXES: Final = ("", "-wal", "-shm")


class Index:
    """The index, open. Use it as a context manager, from one thread at a time."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    @classmethod
    def open(cls, path: Path | None = None) -> Self:
        """Open the index, made anew when it is damaged.

        Raises:
            FileError: it cannot be opened or created.
        """
        place = paths.cache_dir() / DATABASE if path is None else path
        try:
            return cls(place, open_database(place, migrations=_MIGRATIONS))
        except FileError as error:
            if type(error.__cause__) is not sqlite3.DatabaseError:
                raise
        for suffix in _SUFFIXES:
            with suppress(OSError):
                Path(f"{place}{suffix}").unlink()
        return cls(place, open_database(place, migrations=_MIGRATIONS))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it; harmless when repeated."""
        self.connection.close()

    def update(
        self, sources: Sequence[Source], own: Container[str] = (), on_progress: Told = lambda done, of: None
    ) -> int:
        """Bring the index up to date with `sources`; how many sessions were read.

        Args:
            sources: open; each is indexed by itself.
            own: ids of the sessions that the ledger opened for itself, which are not indexed.
            on_progress: called for each session; what it raises ends the work, and what was done stays.

        Raises:
            FileError: a source cannot be read, or the index not be written.
        """
        for source in sources:
            source.settle()
        with self.failing():
            states = [(source, _state(source)) for source in sources]
            stale = [(source, state) for source, state in states if self._known_state(source) != state]
            number = sum(count_sessions(source, include_children=True, own=own) for source, _ in stale)
            read = done = 0
            for source, state in stale:
                seen = set[str]()
                for row in list_sessions(source, include_children=True, own=own):
                    on_progress(done, number)
                    seen.add(row.id)
                    read += self._take_in(source, row)
                    done += 1
                self._finish(source, state, seen)
        return read

    def _known_state(self, source: Source) -> str:
        found = self.connection.execute("SELECT state FROM source WHERE path = ?", (str(source.path),)).fetchone()
        return found[0] if found else "unknown"

    def _take_in(self, source: Source, row: SessionRow) -> bool:
        """Index one session, when it is not known as it is now."""
        place, stamp = str(source.path), f"{row.time_updated}:{row.messages.all}:{row.schema}:{row.title}"
        known = self.connection.execute(
            "SELECT number, stamp FROM session WHERE source = ? AND id = ?", (place, row.id)
        ).fetchone()
        if known and known[1] == stamp:
            return False
        with self._transaction():
            if known:
                self._remove(known[0])
            columns = (place, row.id, stamp, row.parent, row.title, row.directory, row.time_created, row.time_updated)
            number = self.connection.execute(
                "INSERT INTO session (source, id, stamp, parent, title, directory, created, updated)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                columns,
            ).lastrowid
            first = (number or 0) << SHIFT
            self.connection.executemany(
                "INSERT INTO piece (rowid, body, role, time) VALUES (?, ?, ?, ?)",
                ((first + place, *text) for place, text in enumerate(_texts(source, row))),
            )
        return True

    def _finish(self, source: Source, state: str, seen: Container[str]) -> None:
        """Take out the sessions that are gone, and note down what the source was like."""
        place = str(source.path)
        known = self.connection.execute("SELECT number, id FROM session WHERE source = ?", (place,)).fetchall()
        with self._transaction():
            for number, id in known:
                if id not in seen:
                    self._remove(number)
            self.connection.execute("DELETE FROM source WHERE path = ?", (place,))
            if state:
                self.connection.execute("INSERT INTO source VALUES (?, ?)", (place, state))

    def _remove(self, number: int) -> None:
        self.connection.execute("DELETE FROM piece WHERE rowid BETWEEN ? AND ?", text_rows(number))
        self.connection.execute("DELETE FROM session WHERE number = ?", (number,))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Errors of the index as those that a user can read."""
        try:
            yield
        except sqlite3.Error as error:
            named = clean_line(str(self.path), 300)
            raise FileError(
                f"cannot use the index {named}: {error}", "Try again; if that does not help, remove the file."
            ) from error


def text_rows(number: int) -> tuple[int, int]:
    """First and last row id that texts of a session may have."""
    return number << SHIFT, ((number + 1) << SHIFT) - 1


def _texts(source: Source, row: SessionRow) -> Iterator[tuple[str, str, int]]:
    """Title and texts of a session, with the role and the time (ms since the epoch)."""
    yield row.title, "title", row.time_created
    for piece in pieces(filter(_may_be_spoken, read_parts(source, row.id)), _BOUNDS):
        if piece.kind in (Kind.TEXT, Kind.SUMMARY):
            yield piece.text, piece.role, piece.time


def _may_be_spoken(part: PartRow) -> bool:
    """False for parts that need not be decoded to know that they hold no text."""
    return part.data is not None and _SPOKEN.search(part.data) is not None


def _state(source: Source) -> str:
    """Changes when a source does; empty when that cannot be told, as of folders of JSON files."""
    if source.legacy_json:
        return ""
    seen, path = [], os.path.realpath(source.path)
    for suffix in ("", "-wal"):
        try:
            status = os.stat(f"{path}{suffix}")  # noqa: PTH116 - a suffix, not a file below it
        except OSError:
            seen.append("-")
        else:
            seen.append(f"{status.st_ino}:{status.st_size}:{status.st_mtime_ns}" if status.st_size else "-")
    return " ".join(seen)
