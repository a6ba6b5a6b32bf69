"""The journal: ledgers in the database, so that a process may die at any moment.

What is acknowledged (a JSON line, a mark on screen) was committed before; WAL keeps a commit through `kill -9`. One
process writes a root session's ledger at a time. While the database cannot be written the ledger goes on in memory,
which is said once; everything not stored yet is stored when it can be.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from core.clock import now_ms
from core.errors import FileError
from core.ledger.effects import Effect
from core.ledger.engine import Engine
from core.ledger.saved import Saved
from core.store import trouble
from core.store.database import open_database
from core.store.loading import load, marks_of
from core.store.marks import Marks, Position, Statement, day_of, usage
from core.store.process import is_running, this_process
from core.text import clean_line

__all__ = ["Journal", "Position"]

_log = logging.getLogger(__name__)

BUSY_SECONDS: Final = 0.03
"""A write runs in the event loop's thread, which must not stop for over 50 ms; what waits is tried again later."""
RETRY_SECONDS: Final = 5.0
"""Pause between two tries while the disk is full or the like."""
CHECKPOINT_BYTES: Final = 4 << 20
"""After so much was written, the log is copied into the database, in a thread of its own: that waits for the disk."""


class Journal:
    """Keeps ledgers.

    Opening may wait some seconds for other processes: do it in a thread. All else is for the event loop's thread, and
    takes a few ms at most.

    Args:
        path: the database file.
        on_warning: told, with a code and a sentence, when facts are not stored, and when they are again.
        clock: ms since the epoch.

    Attributes:
        problem: why facts are not stored at present, as a sentence; empty while they are.
    """

    def __init__(
        self, path: Path, on_warning: Callable[[str, str], None], *, clock: Callable[[], int] = now_ms
    ) -> None:
        self.problem = ""
        self._path = path
        self._named = clean_line(str(path), 300)
        self._on_warning = on_warning
        self._clock = clock
        self._me = this_process()
        self._marks: dict[str, Marks] = {}
        self._owned: set[str] = set()
        self._foreign: dict[str, float] = {}
        self._told = False
        self._retry_at = 0.0
        self._written = 0
        self._checkpoint: threading.Thread | None = None
        self._waiting: dict[str, tuple[Engine, Position]] = {}
        self._usage: list[Statement] = []
        self._database: sqlite3.Connection | None = None
        self._open()

    # Reading

    def load(self, root: str) -> tuple[Saved, Position] | None:
        """What is kept of a root session's ledger, which this process goes on with; None when there is nothing.

        What cannot be read of it is left out, with a warning.
        """
        if self._database is None:
            self._tell()
            return None
        try:
            found = load(self._database, root)
        except sqlite3.Error as error:
            self._failed(error)
            return None
        self._marks.pop(root, None)
        if found is None:
            return None
        if found.skipped:
            self._on_warning("store_skipped", f"{found.skipped} stored items of {root} cannot be read: left out.")
        self._marks[root] = marks_of(found)
        with contextlib.suppress(sqlite3.OperationalError):  # it is claimed with the first change then
            if self._own(root):
                self._database.execute("UPDATE ledger SET owner = ? WHERE root = ?", (self._me, root))
        return found.saved, found.position

    def begun(self, engine: Engine) -> None:
        """`engine` goes on from what :meth:`load` gave: that much of it is stored."""
        marks = self._marks.get(engine.root)
        if marks is not None:
            marks.adopt(engine)

    def counts(self) -> dict[str, int]:
        """How many findings are stored of each root session."""
        if self._database is None:
            return {}
        try:
            return dict(self._database.execute("SELECT root, findings FROM ledger").fetchall())
        except sqlite3.Error as error:
            self._failed(error)
            return {}

    def day_tokens(self) -> int:
        """Tokens that the extractions of all ledgers have used on the present day."""
        if self._database is None:
            return 0
        try:
            row = self._database.execute(
                "SELECT coalesce(sum(tokens), 0) FROM ledger_usage WHERE day = ?", (day_of(self._clock()),)
            ).fetchone()
        except sqlite3.Error as error:
            self._failed(error)
            return 0
        return int(row[0])

    # Writing

    def save(self, engine: Engine, effects: Sequence[Effect] = (), at: Position | None = None) -> bool:
        """Store what has changed in `engine`; to be called before anything is said of `effects`, which come with it.

        Args:
            engine: of a root session.
            effects: what the engine returned last.
            at: how far a recording was taken in.

        Returns:
            True when all of it is in the database.
        """
        if self._database is None:
            self._tell()
            return False
        marks = self._marks.setdefault(engine.root, Marks(engine.root))
        marks.take(effects)
        self._usage += usage(engine.root, effects)
        is_told = at is not None and bool(effects)  # of a recording: it is not told again
        if marks.unchanged(engine) and not self._usage and not is_told:
            return engine.root not in self._waiting
        if is_told:
            marks.stored_head = ()
        self._waiting[engine.root] = (engine, at or Position())
        return self._save_waiting()

    def retry(self) -> bool:
        """Try to store what could not be stored; True when nothing waits."""
        return not self._waiting or self._save_waiting()

    def close(self) -> None:
        """Store what waits, and let other processes have the ledgers. May wait for the disk."""
        self._retry_at = 0.0
        if self._database is None:
            return
        self._save_waiting()
        try:
            for root in self._owned:
                self._database.execute("UPDATE ledger SET owner = '' WHERE root = ? AND owner = ?", (root, self._me))
        except sqlite3.Error as error:
            _log.info("ledgers are not given back: %s", error)
        if self._checkpoint is not None:
            self._checkpoint.join()
        self._database.close()
        self._database = None
        self._retry_at = float("inf")

    # How

    def _open(self) -> None:
        try:
            self._database = open_database(self._path)
        except FileError as error:
            self.problem = f"Facts are not stored: {error}"
            return
        self._patience(BUSY_SECONDS)
        self._database.execute("PRAGMA wal_autocheckpoint = 0")

    def _save_waiting(self) -> bool:
        if self._database is None or time.monotonic() < self._retry_at:
            return False
        try:
            for root, (engine, at) in list(self._waiting.items()):
                if self._own(root):
                    self._write(self._database, engine, at)
                    del self._waiting[root]
        except sqlite3.Error as error:
            self._failed(error)
            return False
        if self.problem:
            self.problem, self._told = "", False
            self._patience(BUSY_SECONDS)
            self._on_warning("store_again", "Facts are stored again, with all that came meanwhile.")
        return not self._waiting

    def _write(self, database: sqlite3.Connection, engine: Engine, at: Position) -> None:
        """One transaction."""
        marks = self._marks[engine.root]
        rows = [*marks.statements(engine), *self._usage]
        if not rows and marks.stored_head == marks.head(engine):
            marks.commit(engine)
            return
        database.execute("BEGIN IMMEDIATE")
        try:
            database.execute(*self._head(engine.root, marks.head(engine), at))
            for statement, values in rows:
                database.execute(statement, values)
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        marks.commit(engine)
        self._usage.clear()
        self._written += sum(len(value) for _, values in rows for value in values if isinstance(value, bytes)) + 4096
        if self._written > CHECKPOINT_BYTES:
            self._written = 0
            self._begin_checkpoint()

    def _head(self, root: str, head: tuple[Any, ...], at: Position) -> Statement:
        """The row of the ledger itself."""
        return (
            "INSERT INTO ledger (root, directory, title, findings, completed, created, updated, owner, observed,"
            " answered) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9) ON CONFLICT (root) DO UPDATE SET"
            " directory = coalesce(nullif(?2, ''), directory), title = coalesce(nullif(?3, ''), title),"
            " findings = ?4, completed = ?5, updated = ?6, owner = ?7, observed = ?8, answered = ?9",
            (root, *head, self._clock(), self._me, at.observed, at.answered),
        )

    def _own(self, root: str) -> bool:
        """Whether this process writes the ledger of `root`: unless another living one does."""
        if root in self._owned:
            return True
        if time.monotonic() < self._foreign.get(root, 0.0) or self._database is None:
            return False
        row = self._database.execute("SELECT owner FROM ledger WHERE root = ?", (root,)).fetchone()
        if row is not None and row[0] not in ("", self._me) and is_running(row[0]):
            if root not in self._foreign:
                self._on_warning("store_shared", f"Another ledger stores the facts of {root}: this one does not.")
            self._foreign[root] = time.monotonic() + RETRY_SECONDS
            return False
        marks = self._marks[root]
        if row is not None and not marks.last_seq:
            last = self._database.execute("SELECT max(seq) FROM ledger_step WHERE root = ?", (root,)).fetchone()
            marks.last_seq = last[0] or 0
        self._foreign.pop(root, None)
        self._owned.add(root)
        return True

    def _failed(self, error: sqlite3.Error) -> None:
        kind = trouble.kind(error)
        _log.info("the database cannot be used: %s", error)
        if kind == "busy":
            self._warn(f"Facts are kept in memory for the moment: {self._named}: {trouble.words(error)}.")
            self._patience(0.0)  # it is tried often now, and must not wait each time
            return
        self._retry_at = time.monotonic() + RETRY_SECONDS if kind == "passing" else float("inf")
        way_out = "" if kind == "passing" else " Move the file away to start with a new one."
        self._warn(f"Facts are not stored: {self._named}: {trouble.words(error)}.{way_out}")

    def _warn(self, text: str) -> None:
        self.problem = text
        self._tell()

    def _tell(self) -> None:
        """Say once that facts are not stored."""
        if self.problem and not self._told:
            self._told = True
            self._on_warning("store_failed", self.problem)

    def _patience(self, seconds: float) -> None:
        """How long a statement waits for the writer of another process."""
        if self._database is not None:
            self._database.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

    def _begin_checkpoint(self) -> None:
        if self._checkpoint is None or not self._checkpoint.is_alive():
            self._checkpoint = threading.Thread(target=_checkpoint, args=(self._path,), name="checkpoint", daemon=True)
            self._checkpoint.start()


def _checkpoint(path: Path) -> None:
    try:
        database = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        finally:
            database.close()
    except sqlite3.Error as error:
        _log.info("no checkpoint: %s", error)
