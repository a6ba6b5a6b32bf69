"""The ledger's own SQLite database: how it is opened, and the steps by which its tables came to be.

WAL with `synchronous=NORMAL`: what was committed survives the death of the process (a power cut may cost the last
commits, never the file). Several processes may have it open.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from core.errors import FileError
from core.text import clean_line

if TYPE_CHECKING:
    import sqlite3

DATABASE: Final = "ledger.db"
"""Name of the ledger's own database, in its state folder."""

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """
        CREATE TABLE own_session (
            id TEXT PRIMARY KEY,
            server TEXT NOT NULL,
            t INTEGER NOT NULL,              -- created, ms since the epoch
            owner TEXT NOT NULL,             -- process that works with it; empty: nobody does any more
            gone INTEGER NOT NULL DEFAULT 0  -- 1: deleted on the server
        ) STRICT
        """,
        "CREATE INDEX own_session_server ON own_session (server, gone)",
    ),
    (
        """
        CREATE TABLE ledger (
            root TEXT PRIMARY KEY,           -- id of the root session
            directory TEXT NOT NULL,
            title TEXT NOT NULL,
            created INTEGER NOT NULL,        -- ms since the epoch, as all times here
            updated INTEGER NOT NULL,
            owner TEXT NOT NULL,             -- process that writes it; empty: none does
            findings INTEGER NOT NULL,       -- those in the ledger, held ones included
            completed INTEGER NOT NULL,      -- steps counted
            observed INTEGER NOT NULL,       -- of a recording: facts of the session taken in
            answered INTEGER NOT NULL        -- of a recording: extractions that have ended
        ) STRICT
        """,
        "CREATE INDEX ledger_updated ON ledger (updated)",
        "CREATE INDEX ledger_directory ON ledger (directory, updated)",
        """
        CREATE TABLE ledger_part (           -- records of a ledger that are written as a whole, by name
            root TEXT NOT NULL,
            name TEXT NOT NULL,
            body BLOB NOT NULL,              -- a version byte and msgpack, as all bodies here
            PRIMARY KEY (root, name)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE ledger_finding (
            root TEXT NOT NULL,
            id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            gone TEXT NOT NULL DEFAULT '',   -- why it is not in the ledger any more; empty: it is
            fact TEXT NOT NULL,
            receipt BLOB NOT NULL,           -- key in ledger_receipt
            body BLOB NOT NULL,
            PRIMARY KEY (root, id)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE ledger_receipt (        -- part ids of the steps that findings rest on
            root TEXT NOT NULL,
            key BLOB NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (root, key)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE ledger_step (
            root TEXT NOT NULL,
            part TEXT NOT NULL,
            seq INTEGER NOT NULL,            -- order in which it was counted; 0: not a step of this ledger
            body BLOB,                       -- NULL: nothing needs it any more
            PRIMARY KEY (root, part)
        ) STRICT
        """,
        "CREATE INDEX ledger_step_seq ON ledger_step (root, seq)",
        """
        CREATE TABLE ledger_note (
            id INTEGER PRIMARY KEY,
            root TEXT NOT NULL,
            body BLOB NOT NULL
        ) STRICT
        """,
        "CREATE INDEX ledger_note_root ON ledger_note (root)",
        """
        CREATE TABLE ledger_run (
            root TEXT NOT NULL,
            id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (root, id)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE ledger_usage (          -- tokens of extractions, for the budget of a day
            day TEXT NOT NULL,               -- YYYY-MM-DD, local time
            root TEXT NOT NULL,
            job TEXT NOT NULL,
            tokens INTEGER NOT NULL,
            PRIMARY KEY (day, root, job)
        ) STRICT, WITHOUT ROWID
        """,
    ),
)
"""Each item brings the database from version n (its index) to n + 1. Items are only ever added."""

_OPENING_SECONDS: Final = 5.0
"""How long other processes that are creating the same database are waited for."""


def open_database(
    path: Path, *, busy_seconds: float = 5.0, migrations: Sequence[Sequence[str]] = MIGRATIONS
) -> sqlite3.Connection:
    """Open the database, created if need be (mode 0600, its folder 0700), with all its tables.

    The connection commits by itself; use `BEGIN IMMEDIATE` for more than one statement. It may be used from any thread,
    one at a time. May take some seconds while other processes create the same database.

    Args:
        path: file of the database.
        busy_seconds: how long a statement waits for the writer of another process.
        migrations: see :data:`MIGRATIONS`.

    Raises:
        FileError: it cannot be opened, is no database, or was written by a later version of the program.
    """
    import sqlite3  # noqa: PLC0415 - not needed before the first frame

    named = clean_line(str(path), 300)
    try:
        _check_own(path, migrations, named)
    except sqlite3.Error as error:
        raise FileError(
            f"cannot use {named}: {_reason(error)}", "Move the file away to start with a new one."
        ) from error
    try:
        _create(path)
        connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error, ValueError) as error:
        raise FileError(
            f"cannot open {named}: {_reason(error)}", "Set LEDGER_HOME to a folder you can write to."
        ) from error
    try:
        _set_up(connection, migrations, named)
    except sqlite3.Error as error:
        connection.close()
        raise FileError(
            f"cannot use {named}: {_reason(error)}", "Move the file away to start with a new one."
        ) from error
    except FileError:
        connection.close()
        raise
    return connection


def is_busy(error: sqlite3.Error) -> bool:
    """True when another process is writing, so that trying again will help."""
    import sqlite3  # noqa: PLC0415

    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _check_own(path: Path, migrations: Sequence[Sequence[str]], named: str) -> None:
    """Raise FileError for a database of another program, before anything of it is changed."""
    import sqlite3  # noqa: PLC0415

    try:
        if path.stat().st_size == 0:
            return
    except OSError:
        return  # not there yet, or not to be reached: opening it says why
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True, timeout=_OPENING_SECONDS)
    try:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        first = re.search(r"CREATE (?:VIRTUAL )?TABLE (\w+)", migrations[0][0]) if migrations else None
        if tables and first is not None and first[1] not in tables:
            raise FileError(f"{named} is another program's database", "Name another file; this one was not changed.")
    finally:
        connection.close()


def _create(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(file, 0o600)
    finally:
        os.close(file)


def _set_up(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]], named: str) -> None:
    """Switch to WAL and migrate; again and again while another process is about the same."""
    import sqlite3  # noqa: PLC0415

    give_up = time.monotonic() + _OPENING_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            _migrate(connection, migrations, named)
        except sqlite3.OperationalError as error:
            # A busy timeout does not cover the switch to WAL.
            if not is_busy(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.02)
        else:
            return


def _migrate(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]], named: str) -> None:
    if _version(connection) == len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        _check(version, len(migrations), named)
        for statements in migrations[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _check(version: int, newest: int, named: str) -> None:
    if version > newest:
        raise FileError(f"{named} was written by a later version of ledger-tui", "Update ledger-tui.")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
