"""From an engine to what a screen draws; reads, never changes."""

from __future__ import annotations

import time
from collections.abc import Sequence

from core.ledger.distil import Run
from core.ledger.engine import Engine
from core.ledger.escalation import Meter
from core.ledger.finding import Finding
from core.ledger.ledger import Ledger
from core.ledger.observations import PermissionAsked
from core.ledger.schedule import completed
from core.ledger.topics import label
from core.views import (
    BudgetView,
    ExtractionView,
    FindingView,
    LogRow,
    MeterView,
    PairView,
    PermissionView,
    ReceiptCall,
    RunningCall,
    SessionView,
    TopicView,
)


def session_view(engine: Engine, log: Sequence[LogRow], *, loading: bool) -> SessionView:
    """Everything about one root session, from what is in memory."""
    state = engine.state
    runs = [run_view(run) for run in engine.extractions.runs]
    return SessionView(
        root=engine.root,
        title=engine.title,
        directory=engine.directory,
        state="loading" if loading else "error" if engine.error else engine.session_state,
        agent=engine.agent,
        model=engine.model,
        steps=engine.recent,
        running=[
            RunningCall(call=s.call, origin=s.session, tool=s.tool, summary=s.summary, since=s.t)
            for s in engine.running.values()
        ],
        completed=state.completed,
        buffered=engine.extractions.schedule.buffered,
        interval=state.settings.extraction_interval_steps,
        earlier=completed(engine.extractions.schedule.earlier),
        topics=topic_views(engine),
        findings=len(state.ledger),
        max_findings=state.settings.max_findings,
        held=len(state.ledger.held),
        cap_full_of_pins=state.ledger.full_of_pins(),
        meters=meter_views(engine),
        extractions=runs,
        log=log,
        tokens=engine.total_tokens,
        cost=engine.cost,
        ledger_tokens=sum(run.tokens for run in runs),
        ledger_cost=sum(run.cost for run in runs),
        origins={id: info.title for id, info in engine.sessions.items()},
        queued_note=engine.injector.queued,
        permissions=[permission_view(asked) for asked in engine.pending.values()],
        held_findings=[finding_view(finding, state.ledger) for finding in state.ledger.held.values()],
        pairs=pair_views(engine),
        budget=budget_view(engine),
        repeats=state.repeats.view(),
        broken_off=engine.extractions.schedule.broken_off,
    )


def pair_views(engine: Engine) -> list[PairView]:
    """The pairs of the inbox, oldest first."""
    ledger = engine.state.ledger
    views = []
    for pair in ledger.pairs.values():
        old, new = ledger.get(pair.old), ledger.get(pair.new)
        if old is not None and new is not None:
            both = finding_view(old, ledger), finding_view(new, ledger)
            views.append(PairView(id=pair.id, kind=pair.kind, old=both[0], new=both[1], t=pair.t))
    return views


def budget_view(engine: Engine) -> BudgetView:
    """What extractions have used and may use."""
    budget = engine.extractions.budget
    return BudgetView(
        session_tokens=budget.session_tokens,
        session_limit=budget.session_limit,
        day_tokens=budget.day_tokens,
        day_limit=budget.day_limit,
        reached=budget.reached,
    )


def permission_view(asked: PermissionAsked) -> PermissionView:
    """A request on which the agent waits."""
    return PermissionView(
        id=asked.id,
        kind=asked.kind,
        title=asked.title,
        text=asked.text,
        patterns=asked.patterns,
        always=asked.always,
        origin=asked.session,
        since=asked.t,
        questions=asked.questions,
    )


def topic_views(engine: Engine) -> list[TopicView]:
    """Topics in order of their first finding; within one, pinned findings first, then the oldest."""
    state = engine.state
    return [
        TopicView(
            topic=topic,
            findings=tuple(
                finding_view(finding, state.ledger)
                for finding in sorted(state.ledger.of_topic(topic), key=lambda f: not f.pinned)
            ),
            cap=state.settings.max_findings_per_topic,
            muted=topic in state.meters.muted,
        )
        for topic in state.ledger.topics
    ]


def finding_view(finding: Finding, ledger: Ledger, *, receipt: bool = False) -> FindingView:
    """A finding of this ledger as lists show it; with its calls when `receipt` is asked for."""
    successor = ledger.get(finding.superseded_by) if finding.superseded_by else None
    return FindingView(
        id=finding.id,
        fact=finding.fact,
        topic=finding.topic,
        step=finding.step,
        established_at=finding.established_at,
        state=finding.state,
        pinned=finding.pinned,
        source=finding.source,
        held_for=finding.held_for,
        mark=finding.mark,
        stale_for=finding.stale_for,
        stale_at=_stale_since(finding),
        superseded_by=successor.fact if successor else "",
        files=finding.files,
        history=tuple(f"{_clock(event.t)} {event.what}" for event in finding.history),
        receipt=receipt_calls(finding) if receipt else (),
    )


def _stale_since(finding: Finding) -> int:
    """When a doubtful finding became so, by its history; 0 for any other."""
    if finding.state != "doubtful":
        return 0
    return next((event.t for event in reversed(finding.history) if event.what.startswith("doubtful")), 0)


def receipt_calls(finding: Finding) -> tuple[ReceiptCall, ...]:
    """The calls a finding was extracted from: the main one, others that bear it out, then the rest from the latest."""
    lines = {one.call: one.lines for one in finding.evidence}
    entries = sorted(
        finding.receipt.calls(),
        key=lambda entry: (entry.call.call != finding.call, entry.call.call not in lines, -entry.step),
    )
    return tuple(
        ReceiptCall(
            step=entry.step,
            t=entry.call.ended,
            tool=entry.call.tool,
            summary=entry.call.summary,
            command=entry.call.command or entry.call.path,
            ok=entry.call.ok,
            exit=entry.call.exit,
            output=entry.call.output,
            lines=lines.get(entry.call.call, ()),
        )
        for entry in entries
    )


def meter_views(engine: Engine) -> list[MeterView]:
    """Meters of topics that have findings: the nearest to a stop first; topics never touched are calm."""
    state = engine.state
    views = [meter_view(engine, meter) for meter in state.meters if state.ledger.has_topic(meter.topic)]
    seen = {view.topic for view in views}
    views += [meter_view(engine, Meter(topic, engine.root)) for topic in state.ledger.topics if topic not in seen]
    return sorted(views, key=lambda view: (-view.count, view.name))


def meter_view(engine: Engine, meter: Meter) -> MeterView:
    """One meter, with a name that is not shared by a second topic of the same file."""
    state = engine.state
    name = label(meter.topic)
    twins = sum(label(topic) == name for topic in state.ledger.topics)
    return MeterView(
        topic=meter.topic,
        name=meter.topic if twins > 1 else name,
        origin=meter.origin,
        is_sub_agent=meter.origin != engine.root,
        count=state.meters.count(meter),
        threshold=state.settings.threshold,
        action=meter.last or "calm",
        shown_at=meter.shown_step,
        muted=meter.topic in state.meters.muted,
    )


def run_view(run: Run) -> ExtractionView:
    """An extraction as the pane shows it; figures not known are 0."""
    report = run.report
    return ExtractionView(
        id=run.id,
        state=run.state,
        first_step=run.first_step,
        last_step=run.last_step,
        steps=run.steps,
        started=run.started,
        agent=report.agent or "",
        model=report.model or "",
        found=report.found or 0,
        added=report.added or 0,
        duplicates=report.duplicates or 0,
        rejected=report.rejected or 0,
        held=report.held or 0,
        error=report.error or "",
        ms=report.ms or 0,
        prompt_chars=report.prompt_chars or 0,
        tokens=report.tokens.total if report.tokens else 0,
        cost=report.cost or 0.0,
        retry_at=run.retry_at,
    )


def _clock(t: int) -> str:
    return time.strftime("%H:%M", time.localtime(t / 1000))
