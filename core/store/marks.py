"""What of one ledger is in the database already, and the statements that bring the rest of it there."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Final

import msgspec

from core.ledger.distil import Run
from core.ledger.effects import Effect, ExtractionReport, FindingReport, NoteReport
from core.ledger.engine import Engine
from core.ledger.finding import Finding, Receipt
from core.ledger.saved import decided_of, lasting_of, parts_of
from core.ledger.steps import Step
from core.store.bodies import encode

Statement = tuple[str, tuple[Any, ...]]

MAX_NOTES: Final = 10_000
"""Notes that wait in memory while the database cannot be written; the oldest go first."""
TRIM_STEPS: Final = 200
"""After so many new steps, bodies that nothing needs any more are dropped."""
_GONE: Final = ("evicted", "deleted", "rejected", "merged")
_KEPT_GONE: Final = "evicted"
"""Evicted facts stay in the database: they were learned. The others a person did not want."""


class Position(msgspec.Struct):
    """How far a recording was taken in for one ledger.

    Attributes:
        observed: observations.
        answered: extractions that ended.
    """

    observed: int = 0
    answered: int = 0


class Marks:
    """What is stored of one root session's ledger. `statements` tells what is not, `commit` that it is now.

    Args:
        root: the root session.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.notes: list[NoteReport] = []
        self.gone: dict[str, FindingReport] = {}
        self.seen: tuple[Any, ...] = ()
        self.findings: dict[str, Finding] = {}
        self.receipts: set[bytes] = set()
        self.parts: dict[str, bytes] = {}
        self.steps: set[str] = set()
        self.runs: dict[str, ExtractionReport] = {}
        self.last_seq = 0
        self.stored_head: tuple[Any, ...] = ()
        self._trimmed = 0
        self._decided: tuple[Any, ...] = ()
        self._repeats: tuple[int, ...] = ()
        self._known: tuple[str, ...] = ()
        self._new_steps: list[str] = []
        self._new_receipts: set[bytes] = set()
        self._new_parts: dict[str, bytes] = {}

    def adopt(self, engine: Engine) -> None:
        """`engine` goes on from what is stored; of its records it is not known yet whether they are the same."""
        self.findings = {finding.id: finding for finding in _all(engine)}
        self.runs = {run.id: run.report for run in engine.extractions.runs}

    def take(self, effects: Iterable[Effect]) -> None:
        """Remember what effects say that the engine itself does not keep."""
        for effect in effects:
            if isinstance(effect, NoteReport):
                self.notes.append(effect)
            elif isinstance(effect, FindingReport) and effect.change in _GONE:
                self.gone[effect.id] = effect
        del self.notes[:-MAX_NOTES]

    def unchanged(self, engine: Engine) -> bool:
        """Whether nothing that is stored can have changed since the last commit."""
        return not self.notes and self.seen == _seen(engine)

    def head(self, engine: Engine) -> tuple[Any, ...]:
        """What the ledger's own row says of it: directory, title, findings, completed steps."""
        ledger = engine.state.ledger
        return engine.directory, engine.title, len(ledger) + len(ledger.held), engine.state.completed

    def statements(self, engine: Engine) -> list[Statement]:
        """All that has to be written, in order."""
        self._new_steps, self._new_receipts, self._new_parts = [], set(), {}
        return [
            *self._step_rows(engine),
            *self._finding_rows(engine),
            *self._run_rows(engine),
            *self._records(engine),
            *(_insert("ledger_note", "root, body", self.root, encode(note)) for note in self.notes),
            *self._trim(engine),
        ]

    def commit(self, engine: Engine) -> None:
        """What :meth:`statements` told is stored, and :meth:`head`."""
        self.stored_head = self.head(engine)
        self.seen = _seen(engine)
        self.findings = {finding.id: finding for finding in _all(engine)}
        self.runs = {run.id: run.report for run in engine.extractions.runs}
        self._decided = _decided_key(engine)
        self._repeats = engine.state.repeats.counted
        self._known = _known_key(engine)
        self.receipts |= self._new_receipts
        self.parts |= self._new_parts
        self.steps.update(self._new_steps)
        self.last_seq += len(self._new_steps)
        if self.last_seq - self._trimmed >= TRIM_STEPS:
            self._trimmed = self.last_seq
        self.notes.clear()
        self.gone.clear()

    # Rows

    def _step_rows(self, engine: Engine) -> Iterator[Statement]:
        schedule = engine.extractions.schedule
        fresh: dict[str, Step] = {}
        for step in reversed(engine.recent):
            if step.part in self.steps:
                break
            fresh[step.part] = step
        fresh = dict(reversed(fresh.items()))
        for step in (*schedule.earlier, *schedule.waiting):
            if step.part not in self.steps:
                fresh.setdefault(step.part, step)
        for place, step in enumerate(fresh.values(), self.last_seq + 1):
            self._new_steps.append(step.part)
            yield self._step(step, place)

    def _step(self, step: Step, seq: int) -> Statement:
        return _replace("ledger_step", "root, part, seq, body", self.root, step.part, seq, encode(step))

    def _finding_rows(self, engine: Engine) -> Iterator[Statement]:
        current = set()
        for finding in _all(engine):
            current.add(finding.id)
            if self.findings.get(finding.id) is not finding:
                yield from self._finding(finding)
        evicted = [told for told in self.gone.values() if told.change == _KEPT_GONE and told.id not in current]
        for told in evicted:
            yield from self._finding(self.findings.get(told.id) or _told(told), gone=_KEPT_GONE)
        for id in self.findings.keys() - current - {told.id for told in evicted}:
            yield "DELETE FROM ledger_finding WHERE root = ? AND id = ?", (self.root, id)

    def _finding(self, finding: Finding, gone: str = "") -> Iterator[Statement]:
        parts = tuple(step.part for step in finding.receipt.steps)
        key = receipt_key(parts)
        if key not in self.receipts and key not in self._new_receipts:
            self._new_receipts.add(key)
            yield _replace("ledger_receipt", "root, key, body", self.root, key, encode(parts))
            for step in finding.receipt.steps:  # those of a session this one was forked from are not its own
                if step.part not in self.steps and step.part not in self._new_steps:
                    body = encode(step)
                    yield (
                        "INSERT OR IGNORE INTO ledger_step (root, part, seq, body) VALUES (?, ?, 0, ?)",
                        (self.root, step.part, body),
                    )
        body = encode(msgspec.structs.replace(finding, receipt=Receipt()))
        columns = "root, id, seq, gone, fact, receipt, body"
        fact = finding.fact.encode("utf-8", "replace").decode()
        yield _replace("ledger_finding", columns, self.root, finding.id, finding.seq, gone, fact, key, body)

    def _run_rows(self, engine: Engine) -> Iterator[Statement]:
        for run in engine.extractions.runs:
            if self.runs.get(run.id) is not run.report:
                yield _replace("ledger_run", "root, id, seq, body", self.root, run.id, _number(run), encode(run))

    def _records(self, engine: Engine) -> Iterator[Statement]:
        """The records that are written as a whole, those of them that can have changed."""
        yield from self._record("lasting", lasting_of(engine))
        if self._decided != _decided_key(engine):
            yield from self._record("decided", decided_of(engine))
        if self._repeats != engine.state.repeats.counted:
            yield from self._record("repeats", engine.state.repeats.export())
        if self._known != _known_key(engine):
            yield from self._record("known", engine.extractions.known.export())

    def _record(self, name: str, value: Any) -> Iterator[Statement]:
        body = encode(value)
        if self.parts.get(name) != body:
            self._new_parts[name] = body
            yield _replace("ledger_part", "root, name, body", self.root, name, body)

    def _trim(self, engine: Engine) -> Iterator[Statement]:
        if self.last_seq + len(self._new_steps) - self._trimmed < TRIM_STEPS:
            return
        needed = json.dumps(sorted(needed_parts(engine)))
        yield (
            "UPDATE ledger_step SET body = NULL WHERE root = ? AND body IS NOT NULL"
            " AND part NOT IN (SELECT value FROM json_each(?))",
            (self.root, needed),
        )


def needed_parts(engine: Engine) -> set[str]:
    """Part ids of the steps whose bodies somebody may still ask for."""
    plan, ledger = engine.extractions.schedule.kept(), engine.state.ledger
    before = [finding for undo in ledger.undos for finding in undo.before.values() if finding is not None]
    parts = parts_of((*_all(engine), *before)) | {step.part for step in engine.recent}
    return parts.union(plan.waiting, plan.earlier, plan.reverted, plan.running_steps)


def receipt_key(parts: Iterable[str]) -> bytes:
    """Names a receipt."""
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8).digest()


def usage(root: str, effects: Iterable[Effect]) -> list[Statement]:
    """Rows for the extractions that ended and cost something."""
    return [
        _replace("ledger_usage", "day, root, job, tokens", day_of(effect.t), root, effect.id, effect.tokens.total)
        for effect in effects
        if isinstance(effect, ExtractionReport) and effect.state in ("done", "failed") and effect.tokens is not None
    ]


def day_of(t: int) -> str:
    """The local day of a time in ms since the epoch."""
    return time.strftime("%Y-%m-%d", time.localtime(t / 1000))


def _seen(engine: Engine) -> tuple[Any, ...]:
    return (*engine.state.revisions.values(), engine.state.completed, engine.title, engine.state.last_change)


def _decided_key(engine: Engine) -> tuple[Any, ...]:
    ledger = engine.state.ledger
    return ledger.deleted, tuple(ledger.undos), tuple(engine.steering.undos)


def _known_key(engine: Engine) -> tuple[str, ...]:
    """Changes when an extraction has ended: only then calls become known."""
    runs = engine.extractions.runs
    return (runs[-1].id, runs[-1].state) if runs else ()


def _all(engine: Engine) -> Iterator[Finding]:
    yield from engine.state.ledger
    yield from engine.state.ledger.held.values()


def _told(report: FindingReport) -> Finding:
    """A finding that came and went at once, as far as was said of it."""
    digits = report.id.removeprefix("f")
    return Finding(
        id=report.id,
        seq=int(digits) if digits.isdigit() else 0,
        fact=report.fact,
        topic=report.topic,
        established_at=report.t,
        step=report.step,
        origin=report.origin,
        call=report.call,
    )


def _number(run: Run) -> int:
    digits = run.id.removeprefix("x")
    return int(digits) if digits.isdigit() else 0


def _insert(table: str, columns: str, *values: Any) -> Statement:
    return f"INSERT INTO {table} ({columns}) VALUES ({_places(values)})", values  # noqa: S608 - names are our own


def _replace(table: str, columns: str, *values: Any) -> Statement:
    return f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({_places(values)})", values  # noqa: S608


def _places(values: tuple[Any, ...]) -> str:
    return ", ".join("?" * len(values))
