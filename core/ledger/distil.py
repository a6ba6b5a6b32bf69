"""Extractions of one ledger: when a job starts, what its answer adds, what its failure leads to."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from core.ledger.effects import Effect, Extract, ExtractionReport
from core.ledger.finding import Receipt
from core.ledger.injection import label
from core.ledger.ledger import Origin
from core.ledger.observations import Candidate, ExtractionAnswered, ExtractionFailed, ExtractionStarted, StepFinished
from core.ledger.schedule import Job, Schedule, completed
from core.ledger.state import State
from core.ledger.steps import Step

KEPT_RUNS: Final = 100
"""Extractions whose account is kept for the screen."""


class Run(msgspec.Struct, kw_only=True):
    """Account of one extraction; None where a figure is not known (yet)."""

    id: str
    state: Literal["queued", "running", "done", "failed", "skipped"]
    steps: int
    first_step: int
    last_step: int
    started: int
    report: ExtractionReport
    retry_at: int = 0


class Extractions:
    """Runs the schedule and judges the answers."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.schedule = Schedule(state.settings.extraction_interval_steps, state.settings.max_buffered_steps)
        self.runs: deque[Run] = deque(maxlen=KEPT_RUNS)

    def due(self, t: int) -> list[Effect]:
        """Start the next job if it is time; those without any tool output are passed over."""
        effects: list[Effect] = []
        while (job := self.schedule.next(t)) is not None:
            run = self._queue(job, t)
            effects.append(run.report)
            if any(step.calls for step in job.steps):
                known = self._state.ledger.facts
                return [*effects, Extract(t=t, session=self._state.root, id=job.id, steps=job.steps, known=known)]
            self.schedule.succeeded(job.id)
            effects.append(self._update(run, t, "skipped", error="no tool output in these steps"))
        return effects

    def _queue(self, job: Job, t: int) -> Run:
        self._state.changed("extractions", "steps")
        numbers = [step.n for step in job.steps]
        report = ExtractionReport(t=t, session=self._state.root, id=job.id, state="queued", steps=completed(job.steps))
        run = Run(
            id=job.id,
            state="queued",
            steps=report.steps,
            first_step=min(numbers),
            last_step=max(numbers),
            started=t,
            report=report,
        )
        self.runs.append(run)
        return run

    def started(self, told: ExtractionStarted) -> list[Effect]:
        """The job was given to an agent."""
        run = self._run(told.id)
        if run is None or run.state != "queued":
            return []
        run.started = told.t
        changes = {"agent": told.agent, "model": told.model, "prompt_chars": told.prompt_chars}
        return [self._update(run, told.t, "running", **changes)]

    def answered(self, told: ExtractionAnswered) -> list[Effect]:
        """The job's answer is here: accept what is new."""
        job, run = self.schedule.succeeded(told.id), self._run(told.id)
        if job is None or run is None:
            return []
        effects: list[Effect] = []
        added = duplicates = 0
        rejected = told.rejected
        for item in told.items:
            if self._state.ledger.has_fact(item.fact):
                duplicates += 1
                continue
            changes = self._state.ledger.extracted(told.t, item.fact, item.topic, _origin(job, item))
            added += changes[0].kind == "added"
            rejected += changes[0].kind == "rejected"
            effects += self._state.apply(told.t, changes)
        found = len(told.items) + told.rejected
        counts = {"found": found, "added": added, "duplicates": duplicates, "rejected": rejected}
        figures = {"ms": told.ms, "tokens": told.tokens, "cost": told.cost}
        return [*effects, self._update(run, told.t, "done", **counts, **figures), *self.due(told.t)]

    def failed(self, told: ExtractionFailed) -> list[Effect]:
        """The job failed: its steps wait for the next try."""
        job, run = self.schedule.failed(told.id, told.t), self._run(told.id)
        if job is None or run is None:
            return []
        run.retry_at = self.schedule.retry_at
        return [self._update(run, told.t, "failed", error=told.error, ms=told.ms)]

    def step(self, step: Step, end: StepFinished) -> list[Effect]:
        """A step ended: buffer it, start a job if it is time."""
        effects: list[Effect] = []
        if self.schedule.add(step) and not step.earlier:
            text = f"more than {self.schedule.limit} steps wait for extraction: the oldest are dropped"
            effects = self._state.warn_once(end.t, "buffer_full", text)
        return effects + self.due(end.t)

    def broken_off(self, steps: Sequence[Step]) -> None:
        """Steps ended without completing: what they left waits for the next extraction."""
        for step in steps:
            self.schedule.add(step)
        if steps:
            self._state.changed("extractions", "steps")

    def _run(self, id: str) -> Run | None:
        return next((run for run in reversed(self.runs) if run.id == id), None)

    def _update(
        self, run: Run, t: int, state: Literal["running", "done", "failed", "skipped"], **changes: object
    ) -> ExtractionReport:
        run.state = state
        run.report = msgspec.structs.replace(run.report, t=t, state=state, **changes)
        self._state.changed("extractions", "steps")
        return run.report


def _origin(job: Job, item: Candidate) -> Origin:
    """The step a fact most likely comes from: the last whose call names the topic's file, else the last with a call."""
    receipt = Receipt(job.steps)
    subject = label(item.topic).rpartition("/")[2].casefold()
    with_calls = [step for step in job.steps if step.calls]
    for step in reversed(with_calls):
        for call in reversed(step.calls):
            if subject in f"{call.command} {call.path}".casefold():
                return Origin(step.n, step.origin, call.call, receipt, f"extracted by {job.id}")
    last = with_calls[-1]
    return Origin(last.n, last.origin, last.calls[-1].call, receipt, f"extracted by {job.id}")
