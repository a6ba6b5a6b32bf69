"""From a finished call to the note it gets: which known topics it touches, what the meter says, what is due."""

from __future__ import annotations

import shlex
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, Literal

import msgspec

from core.ledger import note as text_of
from core.ledger.effects import Deliver, Effect, Note, NoteReport, TouchReport
from core.ledger.escalation import Decision, Meter
from core.ledger.finding import Finding
from core.ledger.novelty import digest
from core.ledger.observations import NoteOutcome, ToolFinished
from core.ledger.state import State
from core.ledger.steps import KEPT_CHARS, Step
from core.ledger.topics import label

Kind = Literal["gentle", "stop", "manual"]

REMEMBERED_CALLS: Final = 2_000
"""Calls of which it is remembered that they were judged, per ledger."""
KEPT_CALLS: Final = 32
"""Judged calls that are kept beside those of the kept steps: more are hardly under way at the same time."""
REMEMBERED_COMMANDS: Final = 2_000
"""Commands whose last output is remembered, per ledger."""


class UnderWay(msgspec.Struct, frozen=True):
    """A note whose fate is not known yet, and the topics it was the first to show to its agent."""

    note: Note
    new_topics: tuple[str, ...]


class KeptNotes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All of an `Injector` that lasts.

    Attributes:
        made: number of the last note.
        by_hand: findings that wait to be put in front of the agent.
        judged: agent session, id and part of the calls judged last, oldest first.
    """

    made: int = 0
    by_hand: tuple[str, ...] = ()
    under_way: tuple[UnderWay, ...] = ()
    judged: tuple[tuple[str, str, str], ...] = ()


class Injector:
    """Decides over notes and keeps account of those under way."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._outputs: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._pending: dict[str, UnderWay] = {}
        self._judged: OrderedDict[tuple[str, str, str], None] = OrderedDict()
        self._turns: dict[str, str] = {}
        self._by_hand: tuple[str, ...] = ()
        self._notes = 0

    @property
    def queued(self) -> int:
        """Findings that wait to be put in front of the agent because a person asked."""
        return len(self._by_hand)

    def tell(self, ids: Sequence[str]) -> int:
        """Put these findings, but for those that do not hold, before the agent at its next finished call; how many."""
        told = [id for id in ids if self._tellable(id)]
        self._by_hand = tuple(dict.fromkeys((*self._by_hand, *told)))
        self._state.changed("status")
        return len(told)

    def turn(self, origin: str, message: str) -> None:
        """An agent session began this assistant message."""
        self._turns[origin] = message

    def finished(self, done: ToolFinished) -> list[Effect]:
        """What a finished call leads to; nothing for calls from before attaching and for failed ones."""
        if done.backfill or not done.ok or self._judged_before(done):
            return []
        self._repeats(done)
        effects, decision = self._touch(done)
        note = self._note_for(done, decision)
        return [*effects, Deliver(t=done.t, session=self._state.root, note=note)] if note else effects

    def _judged_before(self, done: ToolFinished) -> bool:
        """Whether this call was told before, by the plugin or by an event: it counts once.

        Its part tells it from an earlier one, since some models number their calls from 0 again.
        """
        key = (done.session, done.call, done.part)
        if key in self._judged:
            return True
        self._judged[key] = None
        if len(self._judged) > REMEMBERED_CALLS:
            self._judged.popitem(last=False)
        return False

    def outcome(self, told: NoteOutcome) -> list[Effect]:
        """The fate of a note is known: report it, once."""
        sent = self._pending.pop(told.note, None)
        if sent is None:
            return []
        note, meters = sent.note, self._state.meters
        if told.arrived == "failed":
            meters.not_shown(sent.new_topics, note.origin)
        else:
            self._state.repeats.note(len(note.text))
        if told.arrived == "late":
            meters.shown_late(sent.new_topics, note.origin, self._turns.get(note.origin, ""))
        return [self._report(told.t, note, told.delivery, told.arrived)]

    def close(self, t: int) -> list[Effect]:
        """The input ended: notes under way have an unknown fate."""
        pending, self._pending = self._pending, {}
        return [self._report(t, sent.note, "none", "unknown") for sent in pending.values()]

    def kept(self) -> KeptNotes:
        """What is to be known when another process goes on; see :meth:`restore`."""
        return KeptNotes(
            made=self._notes,
            by_hand=self._by_hand,
            under_way=tuple(self._pending.values()),
            judged=tuple(islice(reversed(self._judged), KEPT_CALLS))[::-1],
        )

    def restore(self, kept: KeptNotes, steps: Iterable[Step]) -> None:
        """Go on from what :meth:`kept` gave, where `steps` (oldest first) have ended."""
        self._notes, self._by_hand = kept.made, kept.by_hand
        self._pending = {sent.note.id: sent for sent in kept.under_way}
        for step in steps:
            for call in step.calls:
                self._judged[step.origin, call.call, call.part] = None
                whole = len(call.output) < KEPT_CHARS and len(call.command) < KEPT_CHARS
                if call.ok and whole and call.tool in self._state.settings.injection_tools:
                    self._output_changed(step.origin, call.command or shlex.quote(call.path), call.output)
        self._judged.update(dict.fromkeys(kept.judged))

    def saw(self, done: ToolFinished) -> None:
        """A call that another process has judged."""
        if not self._judged_before(done) and done.ok and done.tool in self._state.settings.injection_tools:
            command = done.command or (shlex.quote(done.path) if done.path else "")
            self._output_changed(done.session, command or done.summary, done.output)

    @property
    def under_way(self) -> tuple[str, ...]:
        """Ids of the notes whose fate is not known yet, oldest first."""
        return tuple(self._pending)

    def _touch(self, done: ToolFinished) -> tuple[list[Effect], Decision | None]:
        state = self._state
        command = done.command or (shlex.quote(done.path) if done.path else "")
        by_file = done.tool in state.settings.injection_tools
        names = state.names(command, done.description) if by_file else ()
        topics = state.touched(names) if names else ()
        why = {
            hit.topic: hit.why for hit in state.hits(done.tool, done.command or done.asked) if hit.topic not in topics
        }
        if not by_file and not why:
            return [], None
        changed = self._output_changed(done.session, command or done.summary, done.output)
        topics = tuple(topic for topic in (*topics, *why) if state.ledger.shown_of(topic))
        if not topics or changed:
            return [], None
        may_show = state.settings.injection_enabled and not done.stale and not state.watching
        firm = frozenset(topic for topic in topics if state.ledger.firm_of(topic))
        decision = state.meters.look(topics, done.session, done.message, state.step, may_show=may_show, may_stop=firm)
        state.changed("meters")
        report = TouchReport(
            t=done.t,
            session=state.root,
            call=done.call,
            origin=done.session,
            names=tuple(name.text for name in names if len(names) == 1 or state.touched((name,))),
            topics=topics,
            counts=decision.counts,
            action=decision.action,
            why={topic: reason for topic, reason in why.items() if topic in topics},
        )
        return [report], decision

    def _note_for(self, done: ToolFinished, decision: Decision | None) -> Note | None:
        if done.stale or self._state.watching or not self._state.settings.injection_enabled:
            return None
        if decision is not None and decision.action == "stop":
            findings = self._facts_of(decision)
            return self._note(done, "stop", findings, text_of.stop(self._looks(decision), findings), decision)
        due = self._facts_of(decision)
        findings = due + [finding for finding in self._take_by_hand() if finding not in due]
        if not findings:
            return None
        if due:
            return self._note(done, "gentle", findings, text_of.gentle(findings), decision)
        return self._note(done, "manual", findings, text_of.manual(findings), decision)

    def _facts_of(self, decision: Decision | None) -> list[Finding]:
        """Facts that a decision puts in front of the agent; a hard stop rests on those that nothing speaks against."""
        if decision is None:
            return []
        ledger = self._state.ledger
        of_topic = ledger.firm_of if decision.action == "stop" else ledger.shown_of
        return [finding for meter in decision.carried for finding in of_topic(meter.topic)]

    def _looks(self, decision: Decision) -> list[text_of.Look]:
        return [
            text_of.Look(
                name=label(meter.topic),
                since_shown=meter.since_shown,
                count=self._state.meters.count(meter),
                steps=self._steps_of(meter),
            )
            for meter in decision.carried
        ]

    def _steps_of(self, meter: Meter) -> int:
        """Over how many steps the looks that a stop speaks of were spread: those since the facts were shown, or all."""
        before = meter.shown_step if meter.since_shown else self._state.meters.first_step(meter) - 1
        return max(1, self._state.step - before)

    def _note(
        self, done: ToolFinished, kind: Kind, facts: Sequence[Finding], text: str, decision: Decision | None
    ) -> Note:
        """The note, and account of what it shows; facts sent by hand that found no room wait for the next call."""
        shown = text_of.carried(text, facts)
        due = {meter.topic: meter for meter in decision.carried} if decision else {}
        self._notes += 1
        note = Note(
            id=f"n{self._notes}",
            call=done.call,
            part=done.part,
            message=done.message,
            origin=done.session,
            kind=kind,
            findings=tuple(finding.id for finding in shown),
            text=text,
        )
        topics = {finding.topic for finding in shown}
        new = self._state.meters.shown([due[topic] for topic in due if topic in topics], self._state.step)
        by_hand = [finding for finding in facts if finding.topic not in due]
        if by_hand:
            new += self._shown_by_hand([finding for finding in by_hand if finding in shown], done.session)
            self.tell([finding.id for finding in by_hand if finding not in shown])
        self._pending[note.id] = UnderWay(note, tuple(new))
        return note

    def _report(
        self,
        t: int,
        note: Note,
        delivery: Literal["hook", "patch", "none"],
        arrived: Literal["next", "late", "failed", "unknown"],
    ) -> NoteReport:
        return NoteReport(
            t=t,
            session=self._state.root,
            call=note.call,
            kind=note.kind,
            findings=note.findings,
            text=note.text,
            delivery=delivery,
            arrived=arrived,
        )

    def _take_by_hand(self) -> list[Finding]:
        ids, self._by_hand = self._by_hand, ()
        if ids:
            self._state.changed("status")
        return [finding for id in ids if (finding := self._tellable(id))]

    def _tellable(self, id: str) -> Finding | None:
        """A finding that a note may carry by a person's wish: neither held nor superseded."""
        finding = self._state.ledger.get(id)
        return finding if finding is not None and (finding.shown_to_agent or finding.state == "doubtful") else None

    def _shown_by_hand(self, findings: Sequence[Finding], origin: str) -> list[str]:
        """Topics of which every fact is among `findings` are shown to this agent; gives those that were not before."""
        self._state.changed("meters")
        topics = dict.fromkeys(finding.topic for finding in findings)
        whole = [
            topic for topic in topics if all(finding in findings for finding in self._state.ledger.shown_of(topic))
        ]
        return [topic for topic in whole if self._state.meters.shown_by_hand(topic, origin, self._state.step)]

    def _repeats(self, done: ToolFinished) -> None:
        """Count a call for the account of what came again."""
        asked = done.command or f"{done.tool} {done.path or done.summary}"
        self._state.repeats.finished(asked, digest(asked, done.output, done.exit), len(done.output))

    def _output_changed(self, origin: str, command: str, output: str) -> bool:
        """True when the same command gave something else the last time: then it is no second look."""
        key, now = (origin, command), hash(output)
        before = self._outputs.pop(key, None)
        self._outputs[key] = now
        if len(self._outputs) > REMEMBERED_COMMANDS:
            self._outputs.popitem(last=False)
        return before is not None and before != now
