"""What one ledger hands to another that goes on in its place: same root session, another process.

Both followed the same session, so steps are named by their part ids; their numbers are those of the ledger that gives,
which began to count earlier.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from core.ledger.effects import Effect
from core.ledger.engine import Engine
from core.ledger.escalation import Meter
from core.ledger.finding import Finding, Receipt
from core.ledger.steps import Step


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A finding without its receipt, and the part ids of the steps that the receipt holds."""

    finding: Finding
    steps: tuple[str, ...] = ()


class Handover(msgspec.Struct, frozen=True, kw_only=True):
    """The lasting state of one root session's ledger.

    Attributes:
        completed: number of the last completed step.
        last: its part id; empty before the first one.
        jobs: extractions begun so far, so that their ids go on.
        made: number of the last finding, whatever became of it.
        deleted: facts that a person deleted or corrected; no extraction brings them back.
        waiting: part ids of the steps that no extraction has distilled yet, oldest first.
        earlier: part ids of steps from before the ledger attached that wait for the user's wish.
    """

    root: str
    completed: int = 0
    last: str = ""
    jobs: int = 0
    kept: tuple[Kept, ...] = ()
    made: int = 0
    deleted: tuple[str, ...] = ()
    muted: tuple[str, ...] = ()
    meters: tuple[Meter, ...] = ()
    waiting: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()


def handover_of(engine: Engine) -> Handover:
    """What the ledger of `engine` would hand over now."""
    state, schedule = engine.state, engine.extractions.schedule
    running = schedule.running.steps if schedule.running is not None else ()
    return Handover(
        root=engine.root,
        completed=state.completed,
        last=engine.recent[-1].part if engine.recent else "",
        jobs=schedule.jobs,
        kept=tuple(kept_of(finding) for finding in (*state.ledger, *state.ledger.held.values())),
        made=state.ledger.made,
        deleted=tuple(sorted(state.ledger.deleted)),
        muted=tuple(sorted(state.meters.muted)),
        meters=tuple(state.meters.saved()),
        waiting=_parts((*running, *schedule.waiting)),
        earlier=_parts(schedule.earlier),
    )


def take_over(engine: Engine, t: int, given: Handover, steps: Sequence[Step] | None) -> list[Effect]:
    """Go on from `given`, at time `t`; an engine that has findings of its own is left as it is.

    Args:
        engine: watched the same root session so far.
        t: ms since the epoch.
        given: see :class:`Handover`.
        steps: the other ledger's last completed steps, up to `given.last`. None: they are not known, `given` may be
            old, and so the meters begin at zero.
    """
    state, schedule = engine.state, engine.extractions.schedule
    if len(state.ledger):
        return []
    before, after = split_at(engine.recent, given.last)
    known = {step.part: step for step in (*schedule.earlier, *schedule.waiting, *before, *(steps or ()))}
    seen = list(steps) if steps is not None else _numbered(before, given.completed)
    after = [
        msgspec.structs.replace(step, n=given.completed + n)
        for n, step in enumerate((step for step in after if not step.earlier), 1)
    ]
    known |= {step.part: step for step in seen}
    engine.recent.clear()
    engine.recent.extend([*seen, *after])
    state.completed = given.completed + len(after)
    waiting = [msgspec.structs.replace(step, earlier=False) for step in _known(given.waiting, known)]
    schedule.go_on([*waiting, *after], _known(given.earlier, known), given.jobs)
    effects = state.apply(t, state.ledger.adopt(findings_of(given.kept, known), given.deleted, given.made))
    state.meters.muted |= set(given.muted)
    if steps is not None:
        state.meters.restore(given.meters)
    state.changed("steps", "findings", "meters", "extractions", "status")
    return effects


def split_at(recent: Iterable[Step], last: str) -> tuple[list[Step], list[Step]]:
    """The steps up to `last` and those after it; none is up to a step that is not among them."""
    steps = list(recent)
    at = next((n for n in reversed(range(len(steps))) if steps[n].part == last), -1)
    return steps[: at + 1], steps[at + 1 :]


def _numbered(steps: Sequence[Step], last: int) -> list[Step]:
    """Steps in a row of which the last has number `last`; those from before the first have none."""
    first = last - len(steps) + 1
    return [
        msgspec.structs.replace(step, n=max(0, first + at), earlier=first + at < 1) for at, step in enumerate(steps)
    ]


def kept_of(finding: Finding) -> Kept:
    """A finding as it is kept."""
    return Kept(finding=msgspec.structs.replace(finding, receipt=Receipt()), steps=_parts(finding.receipt.steps))


def _parts(steps: Iterable[Step]) -> tuple[str, ...]:
    return tuple(step.part for step in steps)


def _known(parts: Iterable[str], known: Mapping[str, Step]) -> list[Step]:
    return [known[part] for part in parts if part in known]


def findings_of(kept: Iterable[Kept], known: Mapping[str, Step]) -> list[Finding]:
    """The findings with what is left of their receipts; those of one extraction share theirs again."""
    receipts: dict[tuple[str, ...], Receipt] = {}
    findings = []
    for item in kept:
        receipt = receipts.setdefault(item.steps, Receipt(tuple(_known(item.steps, known))))
        findings.append(msgspec.structs.replace(item.finding, receipt=receipt))
    return findings
