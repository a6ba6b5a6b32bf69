"""Extractions of one ledger: when a job starts, what its answer adds, what its failure leads to."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from core.ledger.budget import Budget
from core.ledger.changes import Change
from core.ledger.effects import Effect, Extract, ExtractionReport
from core.ledger.novelty import Known
from core.ledger.observations import ExtractionAnswered, ExtractionFailed, ExtractionStarted, StepFinished, Tokens
from core.ledger.schedule import Job, Schedule, completed
from core.ledger.state import State
from core.ledger.steps import Step

if TYPE_CHECKING:
    from core.ledger.judging import Judge

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


class _Counts:
    """What became of the facts of one extraction."""

    def __init__(self) -> None:
        self._facts = self._added = self._duplicates = self._rejected = self._held = 0

    def note(self, changes: list[Change]) -> list[Change]:
        """One more fact and what it led to; gives the changes back."""
        first = changes[0].kind if changes else ""
        self._facts += 1
        self._added += first in ("added", "accepted")
        self._rejected += first == "rejected"
        self._held += first == "held"
        self._duplicates += first in ("", "fresh")
        return changes

    def given(self, unreadable: int) -> dict[str, int]:
        """As the `extraction` line names them; `unreadable` items of the answer were no facts."""
        return {
            "found": self._facts + unreadable,
            "added": self._added,
            "duplicates": self._duplicates,
            "rejected": self._rejected + unreadable,
            "held": self._held,
        }


class Extractions:
    """Runs the schedule and judges the answers."""

    def __init__(self, state: State) -> None:
        settings = state.settings
        self._state = state
        self.schedule = Schedule(settings.extraction_interval_steps, settings.max_buffered_steps)
        self.runs: deque[Run] = deque(maxlen=KEPT_RUNS)
        self.known = Known()
        self.budget = Budget(settings.extraction_budget_session_tokens, settings.extraction_budget_day_tokens)

    def due(self, t: int) -> list[Effect]:
        """Start the next job if it is time; those without anything new in them are passed over."""
        effects: list[Effect] = []
        if self._asks_model and (reason := self.budget.reached):
            return self._state.warn_once(t, "budget", reason) if self.schedule.is_due(t) else effects
        while (job := self.schedule.next(t)) is not None:
            run = self._queue(job, t)
            effects.append(run.report)
            if reason := self._pointless(job):
                self.schedule.succeeded(job.id)
                effects.append(self._update(run, t, "skipped", error=reason))
                continue
            if not self._asks_model:
                effects += self._by_rules(run, job, t)
                continue
            known = self._state.ledger.known
            return [*effects, Extract(t=t, session=self._state.root, id=job.id, steps=job.steps, known=known)]
        return effects

    @property
    def _asks_model(self) -> bool:
        return self._state.settings.extractor != "rules"

    def _pointless(self, job: Job) -> str:
        """Why a job need not be given to anybody."""
        if not any(step.calls for step in job.steps):
            return "no tool output in these steps"
        if self.known.nothing_new(job.steps):
            return "nothing new: only commands seen before with the same output"
        return ""

    def _by_rules(self, run: Run, job: Job, t: int) -> list[Effect]:
        """Carry out a job without a model."""
        self.schedule.succeeded(job.id)
        counts = _Counts()
        effects = self._read(t, job, counts)
        self._remember(job)
        figures = {"agent": "rules", "model": "", "ms": 0, "tokens": None, "cost": 0.0}
        return [*effects, self._update(run, t, "done", **counts.given(0), **figures)]

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
        counts = _Counts()
        effects = self._read(told.t, job, counts) if self._state.settings.extractor == "both" else []
        judge = self._judge(job, told.outputs)
        for item in told.items:
            effects += self._state.apply(told.t, counts.note(judge.proposed(told.t, item)))
        self._remember(job)
        self._spent(told.tokens)
        figures = {"ms": told.ms, "tokens": told.tokens, "cost": told.cost}
        return [
            *effects,
            self._update(run, told.t, "done", **counts.given(told.rejected), **figures),
            *self.due(told.t),
        ]

    def _judge(self, job: Job, outputs: object = None) -> Judge:
        from core.ledger.judging import Judge  # noqa: PLC0415 - not needed for the first paint

        return Judge(self._state, job, outputs)

    def _read(self, t: int, job: Job, counts: _Counts) -> list[Effect]:
        """What rules read from the outputs of a job."""
        from core.ledger.rules import facts_of  # noqa: PLC0415 - not needed for the first paint

        judge = self._judge(job)
        effects: list[Effect] = []
        for fact in facts_of(job.steps):
            effects += self._state.apply(t, counts.note(judge.read(t, fact)))
        return effects

    def _spent(self, tokens: Tokens | None) -> None:
        if tokens is not None:
            self.budget.spent(tokens.total)
            self._state.repeats.extracted(tokens.total)

    def _remember(self, job: Job) -> None:
        for step in job.steps:
            self.known.add(step)

    def failed(self, told: ExtractionFailed) -> list[Effect]:
        """The job failed: its steps wait for the next try."""
        job, run = self.schedule.failed(told.id, told.t), self._run(told.id)
        if job is None or run is None:
            return []
        run.retry_at = self.schedule.retry_at
        self._spent(told.tokens)
        figures = {"ms": told.ms, "tokens": told.tokens, "cost": told.cost}
        return [self._update(run, told.t, "failed", error=told.error, **figures)]

    def step(self, step: Step, end: StepFinished) -> list[Effect]:
        """A step ended: buffer it, start a job if it is time."""
        effects: list[Effect] = []
        if self._state.settings.extractor != "llm":
            self._read_ahead(step)
        if self.schedule.add(step) and not step.earlier:
            text = f"more than {self.schedule.limit} steps wait for extraction: the oldest are dropped"
            effects = self._state.warn_once(end.t, "buffer_full", text)
        return effects + self.due(end.t)

    def _read_ahead(self, step: Step) -> None:
        """Let rules read a step's outputs as it ends: those of a whole job at once would keep everything waiting."""
        from core.ledger.rules.facts import found_in  # noqa: PLC0415 - not needed for the first paint

        for call in step.calls:
            found_in(call)

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
