"""What became of each session, in the output folder: the memory that lets a run go on where another one ended.

A note is stored here as soon as it is there, and handed to the sinks after that: an answer that was paid for outlasts a
kill at any later moment.
"""

from __future__ import annotations

import contextlib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from core.errors import FileError
from core.ledger.observations import Tokens
from core.store.database import open_database

if TYPE_CHECKING:
    import sqlite3

_TABLES: Final = (
    (
        """
        CREATE TABLE session (
            id TEXT PRIMARY KEY,
            state TEXT NOT NULL,             -- see core.history.state.State
            digest TEXT NOT NULL,            -- hash of the model's input
            bounds TEXT NOT NULL,            -- of the transcript, JSON
            note TEXT NOT NULL DEFAULT '',   -- the whole note; of an earlier input while a later one is worked on
            error TEXT NOT NULL DEFAULT '',  -- why there is no note for this input; one line
            model TEXT NOT NULL DEFAULT '',
            requests INTEGER NOT NULL DEFAULT 0,
            input INTEGER NOT NULL DEFAULT 0,  -- tokens, of all requests for this session, as are the next columns
            output INTEGER NOT NULL DEFAULT 0,
            reasoning INTEGER NOT NULL DEFAULT 0,
            cache_read INTEGER NOT NULL DEFAULT 0,
            cache_write INTEGER NOT NULL DEFAULT 0,
            cost REAL NOT NULL DEFAULT 0,    -- US dollars
            ms INTEGER NOT NULL DEFAULT 0,   -- waited for answers
            ended INTEGER NOT NULL DEFAULT 0 -- of the last change, ms since the epoch
        ) STRICT
        """,
        """
        CREATE TABLE delivery (              -- notes that a sink has
            session TEXT NOT NULL,
            sink TEXT NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (session, sink)
        ) STRICT, WITHOUT ROWID
        """,
    ),
)
_COLUMNS: Final = (
    "id, state, digest, bounds, note, error, model, requests,"
    " input, output, reasoning, cache_read, cache_write, cost, ms, ended"
)


class State(StrEnum):
    """What became of a session."""

    RUNNING = "running"
    """A question was under way, and no answer came: the run was ended. It is asked again."""
    DONE = "done"
    JUNK = "junk"
    """The model found nothing in it that is worth a note."""
    ERROR = "error"
    """Two answers could not be used. It is asked again only when that is wanted."""
    FAILED = "failed"
    """There was no answer. It is asked again."""


FINISHED: Final = frozenset({State.DONE, State.JUNK, State.ERROR})
"""What is not asked again while the session stays as it is."""


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What answers have cost."""

    requests: int = 0
    tokens: Tokens = Tokens()
    cost: float = 0.0
    ms: int = 0


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One session; the columns of the table say what the fields are."""

    id: str
    state: State
    digest: str
    bounds: str
    note: str = ""
    error: str = ""
    model: str = ""
    spent: Spent = Spent()
    ended: int = 0


class Book:
    """The records of one output folder. Use it from one thread at a time.

    Every method raises FileError when the file cannot be read or written.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file, created if need be."""
        try:
            return cls(open_database(path, migrations=_TABLES), path)
        except FileError as error:
            raise FileError(error.message, "Name another folder with --out.") from error

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Open the file only if it is there."""
        return cls.open(path) if path.is_file() else None

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def find(self, id: str) -> Record | None:
        """What became of session `id`; None when it was never begun."""
        rows = self._run(f"SELECT {_COLUMNS} FROM session WHERE id = ?", id)  # noqa: S608
        return _record(*rows[0]) if rows else None

    def records(self) -> list[Record]:
        """All sessions by id, without their notes."""
        columns = _COLUMNS.replace(" note,", " '',")
        return [_record(*row) for row in self._run(f"SELECT {columns} FROM session ORDER BY id")]  # noqa: S608

    def begin(self, id: str, digest: str, bounds: str, now: int) -> None:
        """A question about session `id` is about to be asked; its earlier note stays until a new one is there."""
        self._run(
            "INSERT INTO session (id, state, digest, bounds, ended) VALUES (?, 'running', ?, ?, ?) ON CONFLICT (id)"
            " DO UPDATE SET state = 'running', digest = excluded.digest, bounds = excluded.bounds, error = '',"
            " ended = excluded.ended",
            *(id, digest, bounds, now),
        )

    def finish(self, id: str, state: State, spent: Spent, now: int, **texts: str) -> None:
        """What became of it; `spent` is added to what was spent before.

        `texts`: note, error, model. Without a note the earlier one stays, but for junk.
        """
        tokens = spent.tokens
        note = texts.get("note", "") if state in (State.DONE, State.JUNK) else None
        self._run(
            "UPDATE session SET state = ?, note = coalesce(?, note), error = ?, model = ?, requests = requests + ?,"
            " input = input + ?, output = output + ?, reasoning = reasoning + ?, cache_read = cache_read + ?,"
            " cache_write = cache_write + ?, cost = cost + ?, ms = ms + ?, ended = ? WHERE id = ?",
            *(state.value, note, texts.get("error", ""), texts.get("model", ""), spent.requests),
            *(tokens.input, tokens.output, tokens.reasoning, tokens.cache_read, tokens.cache_write),
            *(spent.cost, spent.ms, now, id),
        )

    def delivered(self, id: str, sink: str) -> str:
        """Hash of the input whose note `sink` has; empty when it has none."""
        rows = self._run("SELECT digest FROM delivery WHERE session = ? AND sink = ?", id, sink)
        return str(rows[0][0]) if rows else ""

    def deliver(self, id: str, sink: str, digest: str) -> None:
        """`sink` has the note made from that input; an empty `digest`: it has none any more."""
        if digest:
            self._run("INSERT OR REPLACE INTO delivery VALUES (?, ?, ?)", id, sink, digest)
        else:
            self._run("DELETE FROM delivery WHERE session = ? AND sink = ?", id, sink)

    def output_tokens(self) -> int:
        """Mean tokens of an answer so far; 0 when there was none."""
        rows = self._run("SELECT coalesce(sum(output + reasoning) / nullif(sum(requests), 0), 0) FROM session")
        return int(rows[0][0])

    def _run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        import sqlite3  # noqa: PLC0415 - loaded already

        try:
            with contextlib.closing(self._connection.execute(statement, values)) as cursor:
                return cursor.fetchall()
        except sqlite3.Error as error:
            raise FileError(f"cannot use {self._path}: {error}", "Name another folder with --out.") from error


def _record(id: str, state: str, digest: str, bounds: str, note: str, error: str, model: str, *spent: Any) -> Record:
    requests, given, put_out, thought, read, written, cost, ms, ended = spent
    tokens = Tokens(input=given, output=put_out, reasoning=thought, cache_read=read, cache_write=written)
    return Record(
        id=id,
        state=State(state),
        digest=digest,
        bounds=bounds,
        note=note,
        error=error,
        model=model,
        spent=Spent(requests=requests, tokens=tokens, cost=cost, ms=ms),
        ended=ended,
    )
