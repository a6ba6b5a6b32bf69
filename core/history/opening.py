"""Open somebody else's SQLite database so that nothing beside it shows that it was read.

How it is opened depends on what lies beside it:

=========================  ==========================================================================================
rollback journal mode      `mode=ro`, which takes SQLite's usual locks
log and shared memory      `mode=ro&readonly_shm=1`: a writer may be at work, or has died; what is committed is seen
log without shared memory  the log's index is kept in this process, where plain `mode=ro` would leave a `-shm` file
no log, or an empty one    `immutable=1`, where plain `mode=ro` would leave `-wal` and `-shm` files
=========================  ==========================================================================================

The last two take no locks: :meth:`Reading.check` says when somebody began to write meanwhile.

A writer that ends while a reader has the database open leaves its log there for the next one, as with any reader:
keep a connection open for as long as it is used, not longer.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from core.errors import FileError
from core.history.wal import holds_commits
from core.text import clean_line

BUSY_SECONDS: Final = 5.0
"""How long a lock of another process is waited for."""

_SIGNATURE: Final = b"SQLite format 3\x00"
_WAL_VERSION: Final = 2
"""Byte 18 of a database in WAL mode."""
_CACHE_KIB: Final = 16_384
_TRIES: Final = 3
_AGAIN: Final = "Run it again."


class Reading:
    """A read-only connection with one read transaction open: all statements see the database as of one moment.

    Use it from one thread at a time; close it with :meth:`close`, or use it as a context manager.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, *, watched: bool) -> None:
        self.path = path
        self.connection = connection
        self._seen = _state(path) if watched else None

    @classmethod
    def open(cls, path: Path, busy_seconds: float = BUSY_SECONDS) -> Self:
        """Open the database at `path`.

        Raises:
            FileError: it cannot be opened, is no SQLite database, or stayed locked for `busy_seconds`.
        """
        named = clean_line(str(path), 300)
        try:
            return cls._open(path, busy_seconds)
        except sqlite3.Error as error:
            raise _failure(error, named) from error
        except (OSError, ValueError) as error:
            raise FileError(
                f"cannot read {named}: {getattr(error, 'strerror', None) or error}", "Name another file with --db."
            ) from error

    @classmethod
    def _open(cls, path: Path, busy_seconds: float) -> Self:
        # What lies beside a database bears the name of the file itself, not that of a link to it.
        path = Path(os.path.realpath(path))
        for _ in range(_TRIES):
            query, exclusive = _how(path)
            try:
                return cls._connect(path, query, busy_seconds, exclusive=exclusive)
            except sqlite3.Error as error:
                if _is_locked(error):
                    raise
                failed = error
            # A writer that comes or goes just now changes what lies beside the database: look again.
        if not all(map(Path.exists, _beside(path))):
            raise failed
        # There is no mark of another reader that could be shared, so one has to be set.
        return cls._connect(path, "mode=ro", busy_seconds, exclusive=False)

    @classmethod
    def _connect(cls, path: Path, query: str, busy_seconds: float, *, exclusive: bool) -> Self:
        address = f"{path.absolute().as_uri()}?{query}"
        reading = cls(
            path,
            sqlite3.connect(address, uri=True, timeout=busy_seconds, isolation_level=None, check_same_thread=False),
            watched="immutable" in query or exclusive,
        )
        try:
            reading._begin(exclusive=exclusive)
        except BaseException:
            reading.connection.close()
            raise
        return reading

    def _begin(self, *, exclusive: bool) -> None:
        connection = self.connection
        connection.text_factory = _text
        if exclusive:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA query_only = 1")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the transaction; harmless when repeated."""
        with suppress(sqlite3.Error):
            self.connection.close()

    def check(self) -> None:
        """Make sure that what was read so far was not being written at the same time.

        Raises:
            FileError: the database was changed since it was opened, and no lock kept the reader apart from that.
        """
        if self._seen is not None and _state(self.path) != self._seen:
            raise FileError(f"{clean_line(str(self.path), 300)} was changed while it was read", _AGAIN)

    def failure(self, error: sqlite3.Error) -> FileError:
        """What to raise for `error`, which a statement on this connection raised."""
        try:
            self.check()
        except FileError as changed:
            return changed
        return _failure(error, clean_line(str(self.path), 300))


def _how(path: Path) -> tuple[str, bool]:
    """The query of the address, and whether the connection has to be an exclusive one. Raises OSError."""
    log, shared = _beside(path)
    if log.exists() and shared.exists():
        # Looked at first: the database file must not be opened and closed by itself while SQLite has it open in this
        # process, since that would drop SQLite's locks.
        return "mode=ro&readonly_shm=1", False
    if not _is_wal(path):
        return "mode=ro", False
    if log.exists() and holds_commits(log):
        # Without locks SQLite would bring the log home at the end; that fails, because the database is read-only, and
        # so the log stays. It would delete a log that holds no commit, which is why that is looked at before.
        return "mode=ro&vfs=unix-none", True
    return "immutable=1", False


def _beside(path: Path) -> tuple[Path, Path]:
    """Files of the log and of its shared memory."""
    return Path(f"{path}-wal"), Path(f"{path}-shm")


def _is_wal(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(20)
    if head and not head.startswith(_SIGNATURE):
        raise ValueError("it is no SQLite database")
    return len(head) == 20 and head[18] == _WAL_VERSION


def _state(path: Path) -> tuple[object, ...]:
    """Changes when somebody writes the database or begins to."""
    seen: list[object] = []
    for suffix in ("", "-wal", "-journal"):
        try:
            status = os.stat(f"{path}{suffix}")  # noqa: PTH116 - called for each statement
        except OSError:
            seen.append(None)
        else:
            # An empty log is only a sign that somebody has opened the database.
            seen.append((status.st_ino, status.st_size, status.st_mtime_ns) if status.st_size else None)
    return tuple(seen)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _is_locked(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _failure(error: sqlite3.Error, named: str) -> FileError:
    if _is_locked(error):
        return FileError(f"{named} is locked by another process", "Wait until it is done, then run it again.")
    return FileError(f"cannot read {named}: {clean_line(str(error), 200)}", "Name another file with --db.")
