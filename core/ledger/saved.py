"""What outlasts the process: an engine as plain data, and an engine that goes on from it.

Findings, extractions and the bodies of steps are kept one by one, as they change one by one; the rest is one small
record (:class:`Lasting`) and a few that change seldom. Steps are named by their part ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from core.ledger.changes import Pair
from core.ledger.distil import Run
from core.ledger.effects import Effect, Extract
from core.ledger.engine import Engine
from core.ledger.escalation import Meter
from core.ledger.finding import Finding, Receipt
from core.ledger.handover import Kept, findings_of, kept_of, split_at
from core.ledger.injection import KeptNotes
from core.ledger.ledger import Undo
from core.ledger.observations import NoteOutcome, Tokens
from core.ledger.repeats import KeptRepeats
from core.ledger.schedule import KeptPlan
from core.ledger.steering import Undoable
from core.ledger.steps import Step


class Lasting(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The small rest of one root session's ledger; it changes with nearly every step.

    Attributes:
        completed: number of the last completed step.
        made: number of the last finding, whatever became of it.
        paired: the same of pairs.
        spent: tokens of this session's extractions.
        tokens, total_tokens, cost: of the session itself.
        topics: those that have findings, in the order in which notes name them.
        changes: files that changed last, and when.
    """

    completed: int = 0
    made: int = 0
    paired: int = 0
    pairs: tuple[Pair, ...] = ()
    topics: tuple[str, ...] = ()
    muted: tuple[str, ...] = ()
    meters: tuple[Meter, ...] = ()
    plan: KeptPlan = KeptPlan()
    notes: KeptNotes = KeptNotes()
    changes: tuple[tuple[str, int], ...] = ()
    spent: int = 0
    tokens: Tokens = Tokens()
    total_tokens: int = 0
    cost: float = 0.0
    has_inherited: bool = False


class KeptUndo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An :class:`core.ledger.ledger.Undo`; its deleted facts as the difference to those of now."""

    what: str
    before: tuple[tuple[str, Kept | None], ...] = ()
    more_deleted: tuple[str, ...] = ()
    less_deleted: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()


class Decided(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person decided: facts that are not wanted, and what can be taken back; it changes with commands only."""

    deleted: tuple[str, ...] = ()
    ledger: tuple[KeptUndo, ...] = ()
    undos: tuple[Undoable, ...] = ()


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was kept of one root session's ledger.

    Attributes:
        kept: its findings, held ones included, in any order.
        evicted: facts that had to make room.
        runs: its last extractions, oldest first.
        steps: bodies of steps, as far as they are needed, by part id.
        recent: the last steps, oldest first, those from before attaching included.
        counted: all steps ever counted.
    """

    root: str
    lasting: Lasting = Lasting()
    decided: Decided = Decided()
    known: tuple[bytes, ...] = ()
    repeats: KeptRepeats = msgspec.field(default_factory=KeptRepeats)
    kept: tuple[Kept, ...] = ()
    evicted: tuple[str, ...] = ()
    runs: tuple[Run, ...] = ()
    steps: Mapping[str, Step] = msgspec.field(default_factory=dict)
    recent: tuple[str, ...] = ()
    counted: frozenset[str] = frozenset()


def lasting_of(engine: Engine) -> Lasting:
    """The rest of `engine` as it is now."""
    state, ledger = engine.state, engine.state.ledger
    return Lasting(
        completed=state.completed,
        made=ledger.made,
        paired=ledger.paired,
        pairs=tuple(ledger.pairs.values()),
        topics=state.topics,
        muted=tuple(sorted(state.meters.muted)),
        meters=tuple(state.meters.saved()),
        plan=engine.extractions.schedule.kept(),
        notes=engine.injector.kept(),
        changes=state.kept_changes(),
        spent=engine.extractions.budget.session_tokens,
        tokens=engine.tokens,
        total_tokens=engine.total_tokens,
        cost=engine.cost,
        has_inherited=engine.has_inherited,
    )


def decided_of(engine: Engine) -> Decided:
    """What a person decided in `engine` so far."""
    ledger = engine.state.ledger
    return Decided(
        deleted=tuple(sorted(ledger.deleted)),
        ledger=tuple(_kept_undo(undo, ledger.deleted) for undo in ledger.undos),
        undos=tuple(engine.steering.undos),
    )


def restore(engine: Engine, t: int, saved: Saved) -> list[Effect]:
    """Let an engine without findings go on from `saved`, at time `t`; it may have followed the session already.

    Returns what is to be done at once: the fate of notes under way is not known any more, and the extraction under way
    has to be given to somebody again.
    """
    state, ledger, lasting = engine.state, engine.state.ledger, saved.lasting
    if len(ledger):
        return []
    _steps(engine, saved)
    findings = _findings(saved)
    present = {finding.topic for finding in findings if finding.state != "held"}
    state.begin_with(topic for topic in lasting.topics if topic in present)
    state.apply(t, ledger.adopt(findings, saved.decided.deleted, lasting.made, evict=False))
    ledger.sort_topics(lasting.topics)
    ledger.restore(lasting.pairs, lasting.paired, saved.evicted)
    ledger.undos.extend(_undo(kept, ledger.deleted, saved.steps) for kept in saved.decided.ledger)
    engine.steering.undos.extend(saved.decided.undos)
    state.meters.muted |= set(lasting.muted)
    state.meters.restore(lasting.meters)
    state.restore_changes(lasting.changes)
    state.repeats.restore(saved.repeats)
    engine.extractions.known.restore(saved.known)
    engine.extractions.budget.session_tokens = lasting.spent
    engine.has_inherited = engine.has_inherited or lasting.has_inherited
    engine.injector.restore(lasting.notes, engine.recent)
    effects = _under_way(engine, t, saved.runs)
    state.changed("steps", "findings", "meters", "extractions", "status")
    return effects


def _steps(engine: Engine, saved: Saved) -> None:
    """Steps and buffer; what the engine counted itself after the last kept step comes after them."""
    lasting, schedule = saved.lasting, engine.extractions.schedule
    before, after = split_at(engine.recent, saved.recent[-1] if saved.recent else "")
    after = [step for step in after if step.part not in saved.counted]
    own = [step for step in after if not step.earlier]
    later = [msgspec.structs.replace(step, n=lasting.completed + n) for n, step in enumerate(own, 1)]
    known = {step.part: step for step in (*schedule.earlier, *schedule.waiting, *before, *after)} | dict(saved.steps)
    engine.recent.clear()
    engine.recent.extend(known[part] for part in saved.recent if part in known)
    engine.recent.extend(later)
    engine.counted = saved.counted
    engine.tokens, engine.cost = lasting.tokens, lasting.cost + sum(step.cost for step in later)
    engine.total_tokens = lasting.total_tokens + sum(step.tokens.total for step in later)
    engine.state.completed = lasting.completed + len(later)
    missed = [step for step in schedule.earlier if step.part not in saved.counted]
    schedule.restore(lasting.plan, known)
    for step in (*missed, *later):
        schedule.add(step)


def _under_way(engine: Engine, t: int, runs: Sequence[Run]) -> list[Effect]:
    """Ends, or begins again, what was under way."""
    effects: list[Effect] = []
    for note in engine.injector.under_way:
        fate = NoteOutcome(t=t, session=engine.root, note=note, delivery="none", arrived="unknown")
        effects += engine.injector.outcome(fate)
    job = engine.extractions.schedule.running
    for run in runs:
        if run.state in ("queued", "running"):
            run.state = "queued" if job is not None and job.id == run.id else "failed"
    engine.extractions.runs.extend(runs)
    if job is not None:
        known = engine.state.ledger.known
        effects.append(Extract(t=t, session=engine.root, id=job.id, steps=job.steps, known=known))
    return effects


def _findings(saved: Saved) -> list[Finding]:
    kept = sorted(saved.kept, key=lambda item: item.finding.seq)
    return findings_of(kept, saved.steps)


def _kept_undo(undo: Undo, deleted: frozenset[str]) -> KeptUndo:
    return KeptUndo(
        what=undo.what,
        before=tuple((id, kept_of(finding) if finding else None) for id, finding in undo.before.items()),
        more_deleted=tuple(sorted(undo.tombstones - deleted)),
        less_deleted=tuple(sorted(deleted - undo.tombstones)),
        pairs=undo.pairs,
    )


def _undo(kept: KeptUndo, deleted: frozenset[str], steps: Mapping[str, Step]) -> Undo:
    return Undo(
        kept.what,
        {id: findings_of((item,), steps)[0] if item else None for id, item in kept.before},
        (deleted | frozenset(kept.more_deleted)) - frozenset(kept.less_deleted),
        kept.pairs,
    )


def parts_of(findings: Iterable[Finding]) -> set[str]:
    """Part ids of all steps that the receipts of these findings hold."""
    return {step.part for finding in findings for step in finding.receipt.steps}


__all__ = ["Decided", "KeptUndo", "Lasting", "Receipt", "Saved", "decided_of", "lasting_of", "parts_of", "restore"]
