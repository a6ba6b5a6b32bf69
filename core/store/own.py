"""Ids of the OpenCode sessions this ledger opened for itself, so that they are never taken for the user's.

They are kept on disk before their first use: after a crash the next process finds what is left to delete. Other ledger
processes share the store; they see each other's ids, and do not delete what another one is working with.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from core.errors import FileError
from core.store.database import is_busy, open_database
from core.store.process import is_running, this_process

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger(__name__)

_BUSY_SECONDS: Final = 0.04
"""A statement runs in the event loop's thread, which must not stop for over 50 ms; what waits is tried again later."""
_KEPT_MS: Final = 7 * 24 * 3600 * 1000
"""Events of a deleted session can still come; its id is forgotten a week later."""
_LOOK_UPS: Final = 8
"""How often the store is looked at for one unknown id: another process may store it just after its first event."""
_MAX_UNKNOWN: Final = 10_000
_MAX_UNWRITTEN: Final = 1_000


class OwnSessions:
    """The ids, in memory and on disk. Membership tests take no lock and, but for the first few of an id, no I/O.

    Opening may wait some seconds for other processes: do it in a thread. After that use it from one thread at a time.

    Args:
        path: the database file.
        on_warning: told once, with a code and a sentence, when the disk cannot be used; all goes on in memory then.
    """

    def __init__(self, path: Path, on_warning: Callable[[str, str], None] = lambda code, message: None) -> None:
        self._on_warning = on_warning
        self._warned = False
        self._me = this_process()
        self._ids: set[str] = set()
        self._unknown: dict[str, int] = {}
        self._unwritten: list[tuple[str, tuple[object, ...]]] = []
        self._seen_version = -1
        self._database: sqlite3.Connection | None = None
        try:
            self._database = open_database(path)
        except FileError as error:
            self._warn(str(error))
        else:
            self._database.execute(f"PRAGMA busy_timeout = {round(_BUSY_SECONDS * 1000)}")
            self._refresh()

    def __contains__(self, id: object) -> bool:
        if id in self._ids:
            return True
        if self._database is None or not isinstance(id, str):
            return False
        looked = self._unknown.get(id, 0)
        if looked >= _LOOK_UPS:
            return False
        if len(self._unknown) >= _MAX_UNKNOWN:
            self._unknown.clear()
        self._unknown[id] = looked + 1
        self._refresh()
        return id in self._ids

    def add(self, id: str, server: str, t: int) -> bool:
        """This process opened session `id` on `server` (its URL) at `t` (ms since the epoch).

        Returns True when that is on disk; if it is not, it is stored with the next change.
        """
        self._ids.add(id)
        self._write("DELETE FROM own_session WHERE gone = 1 AND t < ?", t - _KEPT_MS)
        self._write("INSERT OR REPLACE INTO own_session VALUES (?, ?, ?, ?, 0)", id, server, t, self._me)
        return self._save()

    def remove(self, id: str) -> None:
        """The session is deleted on the server. Its id stays known: events of it may still come."""
        self._write("UPDATE own_session SET gone = 1 WHERE id = ?", id)
        self._save()

    def abandon(self, id: str) -> None:
        """The session could not be deleted, and nobody works with it any more: it is left over from now on."""
        self._write("UPDATE own_session SET owner = '' WHERE id = ?", id)
        self._save()

    def leftovers(self, server: str = "") -> list[str]:
        """Sessions on `server` (on any, if empty) to be deleted, oldest first: no living process works with them."""
        self._save()
        wanted = "SELECT id, owner FROM own_session WHERE ? IN ('', server) AND gone = 0 ORDER BY t, id"
        rows = self._rows(wanted, server)
        living = {owner for owner in {owner for _, owner in rows} if owner == self._me or is_running(owner)}
        return [id for id, owner in rows if owner not in living]

    def close(self) -> None:
        """Close the file; from then on there is memory only."""
        if self._database is not None:
            self._save()
            self._database.close()
            self._database = None

    def _write(self, statement: str, *values: object) -> None:
        if self._database is not None:
            self._unwritten.append((statement, values))

    def _save(self) -> bool:
        """Commit what is waiting, or leave it for the next time; True when nothing is left waiting."""
        import sqlite3  # noqa: PLC0415 - loaded already when there is a database

        if self._database is None:
            return False
        if not self._unwritten:
            return True
        try:
            self._database.execute("BEGIN IMMEDIATE")
            for statement, values in self._unwritten:
                self._database.execute(statement, values)
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            _log.info("the ids of own sessions wait to be stored: %s", error)
            del self._unwritten[:-_MAX_UNWRITTEN]
            if not is_busy(error):
                self._warn(f"The ids of the ledger's own sessions cannot be stored: {error}.")
            return False
        self._unwritten.clear()
        return True

    def _refresh(self) -> None:
        """Take in what other processes have stored since."""
        version = self._rows("PRAGMA data_version")
        if version and version[0][0] != self._seen_version:
            self._seen_version = version[0][0]
            self._ids.update(id for (id,) in self._rows("SELECT id FROM own_session"))

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        import sqlite3  # noqa: PLC0415

        if self._database is None:
            return []
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            self._warn(f"The ids of the ledger's own sessions cannot be read: {error}.")
            return []

    def _warn(self, message: str) -> None:
        if not self._warned:
            self._warned = True
            self._on_warning("store_failed", message)
