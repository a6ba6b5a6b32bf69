"""When to extract, and from which steps. Pure: time is passed in.

Steps wait in a buffer until enough of them are there, then they are handed out as one job at a time. A job that fails
puts its steps back; they are tried again after a growing pause. What broken-off steps left waits among the others,
goes with the completed step before it, and is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from core.ledger.steps import Call, Step

RETRY_MS: Final = (15_000, 60_000, 180_000, 600_000)
"""Pauses after the first, second, … failure in a row; the last one repeats."""
JOB_STEPS: Final = 40
"""At most this many steps in one job (more only when the interval itself is larger)."""


class Job(msgspec.Struct, frozen=True):
    """Steps given to one extraction."""

    id: str
    steps: tuple[Step, ...]


class KeptPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All of a `Schedule` that lasts; steps are named by their part ids, oldest first.

    Attributes:
        forced: everything that waits is to be extracted as soon as possible.
        running: id of the job under way, and its steps; empty: none is.
    """

    jobs: int = 0
    forced: bool = False
    failures: int = 0
    retry_at: int = 0
    waiting: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    reverted: tuple[str, ...] = ()
    running: str = ""
    running_steps: tuple[str, ...] = ()


class Schedule:
    """Buffer and plan of one ledger's extractions.

    Args:
        interval: extract after this many completed steps, at least 1.
        limit: most steps the buffer holds, at least `interval`; the oldest are dropped beyond it.
    """

    def __init__(self, interval: int, limit: int) -> None:
        self.interval = interval
        self.limit = max(limit, interval)
        self.earlier: list[Step] = []
        self.running: Job | None = None
        self.retry_at = 0
        self._buffer: list[Step] = []
        self._reverted: list[Step] = []
        self._taken: dict[str, Step | None] = {}
        """Steps of the running job that were reverted, by part id; None: for good."""
        self._failures = 0
        self._forced = False
        self._jobs = 0
        self._closed = False
        self.paused = False

    @property
    def buffered(self) -> int:
        """Completed steps that wait, those of a running job not counted."""
        return completed(self._buffer)

    @property
    def broken_off(self) -> int:
        """How many broken-off steps left something that waits, those from before attaching included."""
        return sum(step.broken_off for steps in (self.earlier, self._buffer) for step in steps)

    @property
    def waiting(self) -> tuple[Step, ...]:
        """The steps that wait, oldest first."""
        return tuple(self._buffer)

    @property
    def jobs(self) -> int:
        """Jobs handed out so far."""
        return self._jobs

    @property
    def due_at(self) -> int:
        """When the pause before the next try is over; 0: nothing waits for that."""
        return self.retry_at if self._buffer and self.running is None else 0

    def add(self, step: Step) -> int:
        """Buffer a step (one from before attaching waits apart); returns how many old ones were dropped for it."""
        target = self.earlier if step.earlier else self._buffer
        target.append(step)
        dropped = max(0, len(target) - self.limit)
        del target[:dropped]
        return dropped

    def resume(self, session: str, message: str) -> tuple[Call, ...]:
        """The step that seemed to be broken off goes on: its calls leave the buffer, as they will come with it."""
        calls: list[Call] = []
        for steps in (self.earlier, self._buffer):
            for step in list(steps):
                if step.broken_off and (step.origin, step.message) == (session, message):
                    steps.remove(step)
                    calls += step.calls
        return tuple(calls)

    def force(self, *, earlier: bool = False) -> int:
        """Ask for everything that waits to be extracted now; returns the number of completed steps."""
        if earlier:
            self._buffer[:0], self.earlier = self.earlier, []
        self._forced = bool(self._buffer)
        self.retry_at = 0
        return self.buffered

    def try_again(self) -> None:
        """What made extractions fail is over: the next try need not wait, and its failure would count as the first."""
        self._failures, self.retry_at = 0, 0

    def is_due(self, t: int) -> bool:
        """Whether :meth:`next` would give a job at time `t`."""
        if self._closed or self.paused or self.running is not None or not self._buffer or t < self.retry_at:
            return False
        return self._forced or self.buffered >= self.interval

    def next(self, t: int) -> Job | None:
        """The job to start at time `t`, if one is due and none is running."""
        if not self.is_due(t):
            return None
        size = max(self.interval, JOB_STEPS) if self._forced or self._failures else self.interval
        self._jobs += 1
        end = _end_of(size, self._buffer)
        self.running = Job(f"x{self._jobs}", tuple(self._buffer[:end]))
        del self._buffer[:end]
        self._forced = self._forced and bool(self._buffer)
        self.retry_at = 0
        return self.running

    def split(self, steps: Sequence[Step]) -> list[tuple[Step, ...]]:
        """The jobs that a forced extraction of `steps` would make."""
        size = max(self.interval, JOB_STEPS)
        jobs: list[tuple[Step, ...]] = []
        at = 0
        while at < len(steps):
            end = at + _end_of(size, steps[at:])
            jobs.append(tuple(steps[at:end]))
            at = end
        return jobs

    def succeeded(self, id: str) -> Job | None:
        """The running job `id` is done; None when it is not the running one."""
        job = self._end(id)
        if job is not None:
            self._failures, self.retry_at = 0, 0
            self._taken.clear()
        return job

    def failed(self, id: str, t: int) -> Job | None:
        """The running job `id` failed: its steps, but for reverted ones, go back, to be tried after a pause."""
        job = self._end(id)
        if job is not None and not self._closed:
            self._buffer[:0] = [step for step in job.steps if step.part not in self._taken]
            self._reverted += [step for step in self._taken.values() if step is not None]
            self._taken.clear()
            del self._buffer[: max(0, len(self._buffer) - self.limit)]
            self.retry_at = t + RETRY_MS[min(self._failures, len(RETRY_MS) - 1)]
            self._failures += 1
            self._forced = True
        return job

    def take_back(self, gone: Callable[[Step], bool]) -> int:
        """Steps that were reverted leave the buffer; returns how many completed ones."""
        taken = [step for step in self._buffer if gone(step)]
        self._reverted += [*(step for step in self.earlier if gone(step)), *taken]
        self._buffer = [step for step in self._buffer if not gone(step)]
        self.earlier = [step for step in self.earlier if not gone(step)]
        self._forced = self._forced and bool(self._buffer)
        if self.running is not None:
            self._taken |= {step.part: step for step in self.running.steps if gone(step)}
        return completed(taken)

    def bring_back(self) -> int:
        """The revert was undone: its steps wait again; returns how many completed ones."""
        steps, self._reverted = self._reverted, []
        self.earlier = _in_order([*self.earlier, *(step for step in steps if step.earlier)])
        self._buffer = _in_order([*self._buffer, *(step for step in steps if not step.earlier)])
        self._taken = {part: step for part, step in self._taken.items() if step is None}
        return completed(steps)

    def go_on(self, waiting: Sequence[Step], earlier: Sequence[Step], jobs: int) -> None:
        """Replace what waits by what waited elsewhere, where `jobs` were handed out."""
        self._buffer, self.earlier = list(waiting[-self.limit :]), list(earlier[-self.limit :])
        self._jobs = max(self._jobs, jobs)

    def kept(self) -> KeptPlan:
        """All of it, to go on from later with :meth:`restore`."""
        running = self.running
        return KeptPlan(
            jobs=self._jobs,
            forced=self._forced,
            failures=self._failures,
            retry_at=self.retry_at,
            waiting=tuple(step.part for step in self._buffer),
            earlier=tuple(step.part for step in self.earlier),
            reverted=tuple(step.part for step in self._reverted),
            running=running.id if running is not None else "",
            running_steps=tuple(step.part for step in running.steps) if running is not None else (),
        )

    def restore(self, kept: KeptPlan, known: Mapping[str, Step]) -> None:
        """Go on from what :meth:`kept` gave; steps that are not known any more are left out.

        A job that was under way is so again, unless this schedule is paused: then its steps wait.
        """
        waiting, earlier, self._reverted, running = (
            [known[part] for part in parts if part in known]
            for parts in (kept.waiting, kept.earlier, kept.reverted, kept.running_steps)
        )
        if self.paused:
            waiting, running = [*running, *waiting], []
        self.go_on(waiting, earlier, kept.jobs)
        self.running = Job(kept.running, tuple(running)) if running else None
        self._forced, self._failures, self.retry_at = kept.forced, kept.failures, kept.retry_at

    def give_up_reverted(self) -> None:
        """The revert became final."""
        self._reverted.clear()
        self._taken = dict.fromkeys(self._taken)

    def close(self) -> None:
        """The session is gone: nothing is extracted any more."""
        self._closed = True
        self.retry_at = 0
        for steps in (self._buffer, self.earlier, self._reverted):
            steps.clear()

    def _end(self, id: str) -> Job | None:
        if self.running is None or self.running.id != id:
            return None
        job, self.running = self.running, None
        return job


def completed(steps: Iterable[Step]) -> int:
    """How many of these are completed steps."""
    return sum(not step.broken_off for step in steps)


def _end_of(size: int, steps: Sequence[Step]) -> int:
    """Where `size` completed steps end, with what was broken off right after them."""
    whole = 0
    for at, step in enumerate(steps):
        if not step.broken_off:
            if whole == size:
                return at
            whole += 1
    return len(steps)


def _in_order(steps: Iterable[Step]) -> list[Step]:
    return sorted(steps, key=lambda step: (not step.earlier, step.n, step.t))
