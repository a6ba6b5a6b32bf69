"""Ids of the sessions that the ledger opened for itself, read without touching its database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from core import paths
from core.errors import FileError
from core.history.opening import Reading
from core.store.database import DATABASE

_BUSY_SECONDS = 1.0


def own_sessions(database: Path | None = None) -> frozenset[str]:
    """The recorded ids; none where the ledger has no database, or it cannot be read.

    They are what is known beside the title: a session that lost its title is still recognised. So a failure is no
    reason to list nothing.
    """
    path = paths.state_dir() / DATABASE if database is None else database
    if not path.is_file():
        return frozenset()
    try:
        with Reading.open(path, _BUSY_SECONDS) as reading:
            return frozenset(str(id) for (id,) in reading.connection.execute("SELECT id FROM own_session"))
    except (FileError, sqlite3.Error):
        return frozenset()
