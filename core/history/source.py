"""One place that holds past sessions, opened for reading, and the layout it has.

::

    v1       session, message, part
    v2       session_v2, session_message
    both     OpenCode 2 keeps the tables of OpenCode 1: each session counts once, that of OpenCode 2 first
    legacy   no database, but JSON files below storage/
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

from core.errors import FileError
from core.history.opening import BUSY_SECONDS, Reading
from core.history.places import find_databases
from core.text import clean_line

__all__ = ["Layout", "Source", "find_databases"]

V1_TABLES: Final = ("session", "message", "part")
V2_TABLES: Final = ("session_v2", "session_message")

MAX_BYTES: Final = 64 * 2**20
"""Larger contents are counted, not read."""

_SHOWN_TABLES: Final = 12


class Layout(StrEnum):
    """How the sessions of a source are kept."""

    V1 = "v1"
    V2 = "v2"
    BOTH = "both"
    LEGACY = "legacy"


class Source:
    """Past sessions at one place. Use it as a context manager, from one thread at a time.

    Everything is read as of one moment: that of :meth:`open`, or the last :meth:`renew`.

    Attributes:
        path: the database, or the folder that holds `storage/`.
        layout: how the sessions are kept.
        legacy_json: True when sessions in JSON files are read too.
    """

    def __init__(self, path: Path, reading: Reading | None, *, legacy_json: bool, busy_seconds: float) -> None:
        self.path = path
        self.legacy_json = legacy_json
        self._reading = reading
        self._busy_seconds = busy_seconds
        self._columns: dict[str, frozenset[str]] = {}
        self.layout = self._find_layout()

    @classmethod
    def open(cls, path: Path, *, legacy_json: bool = False, busy_seconds: float = BUSY_SECONDS) -> Self:
        """Open the database at `path`, or the JSON files of the folder `path`.

        Args:
            path: as :func:`find_databases` gives it.
            legacy_json: read sessions from JSON files too, where the database does not have them.
            busy_seconds: how long a lock of another process is waited for.

        Raises:
            FileError: it cannot be read, stays locked, or holds none of the tables that sessions are kept in.
        """
        reading = None if path.is_dir() else Reading.open(path, busy_seconds)
        try:
            return cls(path, reading, legacy_json=legacy_json or reading is None, busy_seconds=busy_seconds)
        except BaseException:
            if reading is not None:
                reading.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; harmless when repeated."""
        if self._reading is not None:
            self._reading.close()

    def renew(self) -> None:
        """See the source as it is now; a reader that goes on for long keeps OpenCode's log from being emptied.

        Raises:
            FileError: as :meth:`open`.
        """
        if self._reading is not None:
            self._reading.close()
            self._reading = Reading.open(self.path, self._busy_seconds)
            self._columns.clear()
            self.layout = self._find_layout()

    def settle(self) -> None:
        """Renew when the source was written although no lock protects this reader; to be called before reading."""
        if self._reading is not None:
            try:
                self._reading.check()
            except FileError:
                self.renew()

    @property
    def storage(self) -> Path:
        """Folder of the JSON files; it need not exist."""
        return (self.path if self._reading is None else self.path.parent) / "storage"

    @property
    def has_v1(self) -> bool:
        """True when the tables of OpenCode 1 are there."""
        return all(map(self.columns, V1_TABLES))

    @property
    def has_v2(self) -> bool:
        """True when the tables of OpenCode 2 are there."""
        return all(map(self.columns, V2_TABLES))

    def columns(self, table: str) -> frozenset[str]:
        """Names of the columns of `table`; none when there is no such table."""
        if table not in self._columns:
            found = self.all("SELECT name FROM pragma_table_info(?)", table)
            self._columns[table] = frozenset(str(name) for (name,) in found)
        return self._columns[table]

    def rows(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement, one at a time; none where there is no database.

        Raises:
            FileError: the database cannot be read, or was changed meanwhile.
        """
        if self._reading is None:
            return
        try:
            # No `yield from`: a cursor that is abandoned with it would be closed after its connection.
            for row in self._reading.connection.execute(statement, values):  # noqa: UP028
                yield row
        except sqlite3.Error as error:
            raise self._reading.failure(error) from error
        self._reading.check()

    def all(self, statement: str, *values: object) -> Sequence[tuple[Any, ...]]:
        """All rows of a statement, for those that have few; changes meanwhile are not looked for.

        Raises:
            FileError: the database cannot be read.
        """
        if self._reading is None:
            return []
        try:
            return self._reading.connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._reading.failure(error) from error

    def content(self, table: str, rowid: int) -> tuple[bytes | None, str]:
        """What the column `data` of one row holds, or None and the reason; not copied more often than need be.

        Raises:
            FileError: the database cannot be read.
        """
        if self._reading is None:
            return None, "unreadable"
        try:
            with self._reading.connection.blobopen(table, "data", rowid, readonly=True) as blob:
                return (blob.read(), "") if len(blob) <= MAX_BYTES else (None, "too large")
        except sqlite3.OperationalError as error:
            if "cannot open value" in str(error):
                return None, "unreadable"
            raise self._reading.failure(error) from error
        except sqlite3.Error as error:
            raise self._reading.failure(error) from error

    def _find_layout(self) -> Layout:
        if self._reading is None:
            if (self.storage / "session").is_dir():
                return Layout.LEGACY
            raise FileError(f"no storage/session in {clean_line(str(self.path), 300)}", "Name another place with --db.")
        if not self.has_v1 and not self.has_v2:
            raise self._no_tables()
        one, two = self._holds_v1(), self._holds_v2()
        if two:
            return Layout.BOTH if one else Layout.V2
        return Layout.V1 if self.has_v1 else Layout.V2

    def _holds_v1(self) -> bool:
        return self.has_v1 and bool(self.all("SELECT 1 FROM session LIMIT 1"))

    def _holds_v2(self) -> bool:
        if self.has_v2:
            return bool(self.all("SELECT 1 FROM session_v2 LIMIT 1"))
        # Versions on the way to OpenCode 2 kept its messages under the sessions of OpenCode 1.
        return bool(self.columns("session_message") and self.all("SELECT 1 FROM session_message LIMIT 1"))

    def _no_tables(self) -> FileError:
        names = [str(name) for (name,) in self.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        more = ", …" if len(names) > _SHOWN_TABLES else ""
        found = clean_line(", ".join(names[:_SHOWN_TABLES]), 300) + more if names else "no table"
        return FileError(
            f"{clean_line(str(self.path), 300)} holds no OpenCode sessions: looked for the tables"
            f" {', '.join(V1_TABLES)} (OpenCode 1) or {', '.join(V2_TABLES)} (OpenCode 2), found {found}",
            "Name another file with --db.",
        )
