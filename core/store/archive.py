"""What is stored of all sessions: to be listed, exported and removed.

Reading never claims a ledger; it can be done beside processes that write.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from core.errors import FileError, UsageError
from core.ledger.finding import Finding
from core.ledger.handover import findings_of
from core.ledger.steps import Call, Step
from core.store import trouble
from core.store.bodies import UnknownBody, decode
from core.store.database import open_database
from core.store.loading import load
from core.store.marks import day_of
from core.store.process import is_running
from core.text import clean_line

_TABLES: Final = ("finding", "step", "note", "run", "part", "receipt")
DAY_MS: Final = 24 * 3600 * 1000
USAGE_DAYS: Final = 7
"""Only the present day's usage is asked for; clocks and zones may be set meanwhile."""

Gone = Literal["", "evicted"]


class StoredSession(msgspec.Struct, frozen=True, kw_only=True):
    """A root session whose ledger is stored; times in ms since the epoch."""

    root: str
    directory: str
    title: str
    created: int
    updated: int
    findings: int
    completed: int
    owner: str


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of one call that bear a fact out; line 0 is the command itself."""

    call: Call
    lines: tuple[tuple[int, str], ...]


class StoredFact(msgspec.Struct, frozen=True, kw_only=True):
    """A finding of a stored session, and what bears it out as far as that was asked for and is kept."""

    session: StoredSession
    finding: Finding
    gone: Gone = ""
    proofs: tuple[Proof, ...] = ()


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    """How much was removed."""

    sessions: int = 0
    findings: int = 0
    steps: int = 0
    notes: int = 0


class Archive:
    """All stored sessions. As a context manager it is closed at the end.

    Args:
        path: the database file, which is there.

    Attributes:
        skipped: rows that could not be read so far.

    Raises:
        FileError: by each method, too: the database cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.skipped = 0
        self._named = clean_line(str(path), 300)
        self._database = open_database(path)

    def __enter__(self) -> Archive:
        """The archive itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self._database.close()

    def sessions(
        self, *, root: str | None = None, directory: str | None = None, before: int | None = None
    ) -> list[StoredSession]:
        """Stored sessions, the one active last first.

        Args:
            root: this one only.
            directory: those of this folder and the ones below it only.
            before: those that were last active before this time (ms since the epoch) only.
        """
        wanted: list[tuple[str, tuple[object, ...]]] = []
        if root is not None:
            wanted.append(("root = ?", (root,)))
        if directory is not None:
            below = (f"{directory}/", f"{directory}0")  # "0" follows "/"
            wanted.append(("(directory = ? OR (directory > ? AND directory < ?))", (directory, *below)))
        if before is not None:
            wanted.append(("updated < ?", (before,)))
        where = " AND ".join(condition for condition, _ in wanted) or "1"
        names = StoredSession.__struct_fields__
        query = f"SELECT {', '.join(names)} FROM ledger WHERE {where} ORDER BY updated DESC, root"  # noqa: S608
        rows = self._rows(query, [value for _, values in wanted for value in values])
        return [StoredSession(**dict(zip(names, row, strict=True))) for row in rows]

    def find(self, start: str, *, before: int | None = None) -> StoredSession:
        """The session with this id, or the one whose id begins so; `before` as in :meth:`sessions`.

        Raises:
            UsageError: there is none, or there are several.
        """
        found = [session for session in self.sessions(before=before) if start and session.root.startswith(start)]
        for session in found:
            if len(found) == 1 or session.root == start:
                return session
        if not found:
            raise UsageError(f"no session {start!r} is stored", "`ledger-tui facts --all` lists them.")
        raise UsageError(f"{len(found)} stored sessions begin with {start!r}", "Give more of the id.")

    def facts(self, session: StoredSession, *, proofs: bool = False, evicted: bool = False) -> Iterator[StoredFact]:
        """Findings of a session, held ones included, oldest first.

        `proofs`: with the lines that bear them out; `evicted`: also those that had to make room.
        """
        query = "SELECT gone, body FROM ledger_finding WHERE root = ? AND (? OR gone = '') ORDER BY seq"
        found = []
        for gone, body in self._rows(query, (session.root, evicted)):
            finding = self._body(body, Finding)
            if finding is not None:
                found.append((gone, finding))
        steps = self._steps(session.root, (f for _, f in found)) if proofs else {}
        for gone, finding in found:
            yield StoredFact(session=session, finding=finding, gone=gone, proofs=_proofs(finding, steps))

    def findings(self, root: str) -> list[Finding]:
        """Findings of a session that hold, with their receipts: for another session that begins with them."""
        with self._careful():
            found = load(self._database, root)
        if found is None:
            return []
        kept = sorted(found.saved.kept, key=lambda item: item.finding.seq)
        return [
            finding for finding in findings_of(kept, found.saved.steps) if finding.state not in ("held", "superseded")
        ]

    def remove(self, sessions: Sequence[StoredSession]) -> Removed:
        """Remove all that is stored of these sessions, for good; those in use by a living process stay."""
        removed = Removed()
        with self._careful():
            self._database.execute("PRAGMA secure_delete = ON")
            for session in sessions:
                if not in_use(session):
                    removed = _added(removed, self._remove(session.root))
            if removed.sessions:
                with contextlib.suppress(sqlite3.OperationalError):  # somebody reads or writes: the room is used again
                    self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return removed

    def forget_usage(self, before: int) -> None:
        """Forget what extractions used on the days before this time."""
        with self._careful():
            self._database.execute("DELETE FROM ledger_usage WHERE day < ?", (day_of(before),))

    def _remove(self, root: str) -> Removed:
        """One session, in one transaction."""
        database = self._database
        database.execute("BEGIN IMMEDIATE")
        try:
            counts = {
                table: database.execute(f"DELETE FROM ledger_{table} WHERE root = ?", (root,)).rowcount  # noqa: S608
                for table in _TABLES
            }
            gone = database.execute("DELETE FROM ledger WHERE root = ?", (root,)).rowcount
            database.execute("COMMIT")
        except BaseException:
            database.execute("ROLLBACK")
            raise
        return Removed(sessions=gone, findings=counts["finding"], steps=counts["step"], notes=counts["note"])

    def _steps(self, root: str, findings: Iterable[Finding]) -> dict[str, Step]:
        """The steps that the evidence of these findings lies in."""
        parts = {one.part for finding in findings for one in finding.evidence}
        steps = {}
        for part in parts:
            query = "SELECT body FROM ledger_step WHERE root = ? AND part = ? AND body NOT NULL"
            for (body,) in self._rows(query, (root, part)):
                step = self._body(body, Step)
                if step is not None:
                    steps[part] = step
        return steps

    def _body(self, body: bytes, type: type[Any]) -> Any:
        try:
            return decode(body, type)
        except UnknownBody:
            self.skipped += 1
            return None

    def _rows(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with self._careful():
            return self._database.execute(query, values).fetchall()

    @contextlib.contextmanager
    def _careful(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            way_out = {"busy": "Try again in a moment.", "lasting": "Move the file away to start with a new one."}
            hint = way_out.get(trouble.kind(error), "")
            raise FileError(f"cannot use {self._named}: {trouble.words(error)}", hint) from error


def in_use(session: StoredSession) -> bool:
    """Whether a living process writes the ledger of this session."""
    return bool(session.owner) and is_running(session.owner)


def expire(path: Path, days: int, now: int) -> Removed:
    """Remove what was last active over `days` days before `now` (ms since the epoch); 0 days: nothing.

    Raises:
        FileError: the database cannot be used.
    """
    if days <= 0 or not path.exists():
        return Removed()
    with Archive(path) as archive:
        archive.forget_usage(now - USAGE_DAYS * DAY_MS)
        return archive.remove(archive.sessions(before=now - days * DAY_MS))


def _proofs(finding: Finding, steps: dict[str, Step]) -> tuple[Proof, ...]:
    found = []
    for one in finding.evidence:
        step = steps.get(one.part)
        call = next((call for call in step.calls if call.call == one.call), None) if step is not None else None
        if call is not None:
            text = call.output.split("\n")
            lines = tuple((n, text[n - 1]) for n in one.lines if 0 < n <= len(text))
            found.append(Proof(call=call, lines=lines))
    return tuple(found)


def _added(one: Removed, two: Removed) -> Removed:
    return Removed(**{name: getattr(one, name) + getattr(two, name) for name in Removed.__struct_fields__})
