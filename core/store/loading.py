"""Reading one ledger back from the database. A row that cannot be read costs itself alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, Final, TypeVar

import msgspec

from core.ledger.distil import KEPT_RUNS, Run
from core.ledger.engine import RECENT_STEPS
from core.ledger.finding import Finding
from core.ledger.handover import Kept
from core.ledger.repeats import KeptRepeats
from core.ledger.saved import Decided, Lasting, Saved
from core.ledger.steps import Step
from core.store.bodies import UnknownBody, decode
from core.store.marks import Marks, Position

_T = TypeVar("_T")
_SET_SIZE: Final = 500
"""Values of one query."""


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A ledger, and what its rows were.

    Attributes:
        position: of the recording, where it came from one.
        head: see :meth:`core.store.marks.Marks.head`.
        skipped: rows that could not be read.
        last_seq: number of the last step.
        receipts: keys of those that are there.
        records: bodies of the records that are written as a whole, by name.
        stored: part ids of all steps that are there.
    """

    saved: Saved
    position: Position
    head: tuple[Any, ...]
    skipped: int
    last_seq: int
    receipts: frozenset[bytes]
    records: dict[str, bytes]
    stored: frozenset[str]


class _Reader:
    """Rows of one root session, counting those that cannot be read."""

    def __init__(self, database: sqlite3.Connection, root: str) -> None:
        self.skipped = 0
        self._database = database
        self._root = root
        self.records: dict[str, bytes] = dict(self.rows("SELECT name, body FROM ledger_part WHERE root = ?"))

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """All rows of a query whose first parameter is the root session."""
        return self._database.execute(query, (self._root, *values)).fetchall()

    def body(self, body: bytes, type: type[_T]) -> _T | None:
        """A body; None when it cannot be read."""
        try:
            return decode(body, type)
        except UnknownBody:
            self.skipped += 1
            return None

    def record(self, name: str, default: _T) -> _T:
        """A record that is written as a whole."""
        body = self.records.get(name)
        return default if body is None else self.body(body, type(default)) or default

    def known(self) -> tuple[bytes, ...]:
        """Digests of known calls."""
        body = self.records.get("known")
        return () if body is None else self.body(body, tuple[bytes, ...]) or ()

    def kept(self) -> list[Kept]:
        """The findings that are in the ledger, with the parts of their receipts."""
        receipts = {
            key: self.body(body, tuple[str, ...]) or ()
            for key, body in self.rows("SELECT key, body FROM ledger_receipt WHERE root = ?")
        }
        query = "SELECT body, receipt FROM ledger_finding WHERE root = ? AND gone = '' ORDER BY seq"
        rows = [(self.body(body, Finding), key) for body, key in self.rows(query)]
        return [Kept(finding=finding, steps=receipts.get(key, ())) for finding, key in rows if finding is not None]

    def steps(self, parts: Iterable[str]) -> dict[str, Step]:
        """Those of the steps whose bodies are there."""
        wanted, found = list(parts), {}
        for at in range(0, len(wanted), _SET_SIZE):
            some = wanted[at : at + _SET_SIZE]
            marks = ", ".join("?" * len(some))
            query = f"SELECT part, body FROM ledger_step WHERE root = ? AND part IN ({marks}) AND body NOT NULL"  # noqa: S608
            for part, body in self.rows(query, *some):
                step = self.body(body, Step)
                if step is not None:
                    found[part] = step
        return found


def load(database: sqlite3.Connection, root: str) -> Loaded | None:
    """What is kept of a root session's ledger; None: nothing.

    Raises:
        sqlite3.Error: the database cannot be read.
    """
    database.execute("BEGIN")
    try:
        return _load(_Reader(database, root), root)
    finally:
        database.execute("COMMIT")


def _load(reader: _Reader, root: str) -> Loaded | None:
    head = reader.rows("SELECT observed, answered, directory, title, findings, completed FROM ledger WHERE root = ?")
    if not head:
        return None
    lasting = _at_least(reader, reader.record("lasting", Lasting()), completed=head[0][5])
    decided = reader.record("decided", Decided())
    kept = reader.kept()
    places = reader.rows("SELECT part, seq FROM ledger_step WHERE root = ? ORDER BY seq")
    counted = [part for part, seq in places if seq > 0]
    steps = reader.steps(_needed(lasting, decided, kept) | set(counted[-RECENT_STEPS:]))
    runs = reader.rows(f"SELECT body FROM ledger_run WHERE root = ? ORDER BY seq DESC LIMIT {KEPT_RUNS}")  # noqa: S608
    saved = Saved(
        root=root,
        lasting=lasting,
        decided=decided,
        known=reader.known(),
        repeats=reader.record("repeats", KeptRepeats()),
        kept=tuple(kept),
        evicted=tuple(
            fact for (fact,) in reader.rows("SELECT fact FROM ledger_finding WHERE root = ? AND gone = 'evicted'")
        ),
        runs=tuple(run for (body,) in reversed(runs) if (run := reader.body(body, Run)) is not None),
        steps=steps,
        recent=tuple(part for part in counted[-RECENT_STEPS:] if part in steps and not steps[part].broken_off),
        counted=frozenset(counted),
    )
    return Loaded(
        saved=saved,
        position=Position(*head[0][:2]),
        head=head[0][2:],
        skipped=reader.skipped,
        last_seq=max((seq for _, seq in places), default=0),
        receipts=frozenset(key for (key,) in reader.rows("SELECT key FROM ledger_receipt WHERE root = ?")),
        records=reader.records,
        stored=frozenset(part for part, _ in places),
    )


def _at_least(reader: _Reader, lasting: Lasting, completed: int) -> Lasting:
    """The counters, not below what the other rows name: their ids must not be given again."""
    (made,) = reader.rows("SELECT coalesce(max(seq), 0) FROM ledger_finding WHERE root = ?")[0]
    (jobs,) = reader.rows("SELECT coalesce(max(seq), 0) FROM ledger_run WHERE root = ?")[0]
    return msgspec.structs.replace(
        lasting,
        made=max(made, lasting.made),
        completed=max(completed, lasting.completed),
        plan=msgspec.structs.replace(lasting.plan, jobs=max(jobs, lasting.plan.jobs)),
    )


def _needed(lasting: Lasting, decided: Decided, kept: Iterable[Kept]) -> set[str]:
    """Part ids of the steps that something rests on."""
    plan = lasting.plan
    before = [item for undo in decided.ledger for _, item in undo.before if item is not None]
    parts = {part for item in (*kept, *before) for part in item.steps}
    return parts.union(plan.waiting, plan.earlier, plan.reverted, plan.running_steps)


def marks_of(loaded: Loaded) -> Marks:
    """What need not be stored again."""
    marks = Marks(loaded.saved.root)
    marks.receipts = set(loaded.receipts)
    marks.stored_head = loaded.head
    marks.parts = dict(loaded.records)
    marks.steps = set(loaded.stored)
    marks.last_seq = loaded.last_seq
    marks.findings = {item.finding.id: item.finding for item in loaded.saved.kept}
    return marks
