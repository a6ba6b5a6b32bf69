"""What is wrong when the database cannot be written, in words, and whether it may pass."""

from __future__ import annotations

import sqlite3
from typing import Final, Literal

from core.store.database import is_busy

Kind = Literal["busy", "passing", "lasting"]
"""`busy`: another process writes just now; `passing`: room or rights may come back; `lasting`: the file is no use."""

_WORDS: Final = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it can only be read",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_IOERR: "the disk does not take it",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_NOTADB: "it is no database",
    sqlite3.SQLITE_PERM: "it may not be written",
}
_LASTING: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def kind(error: sqlite3.Error) -> Kind:
    """Whether it helps to try again."""
    if is_busy(error):
        return "busy"
    damaged = _code(error) in _LASTING or (isinstance(error, sqlite3.DatabaseError) and _code(error) == 0)
    return "lasting" if damaged else "passing"


def words(error: sqlite3.Error) -> str:
    """Why, as a part of a sentence about the database file."""
    if is_busy(error):
        return "another process is writing it"
    return _WORDS.get(_code(error), f"{error}")


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
