"""From a finished call to the note it gets: which known topics it touches, what the meter says, what is due."""

from __future__ import annotations

import shlex
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, Literal

from core.ledger import note as text_of
from core.ledger.effects import Deliver, Effect, Note, NoteReport, TouchReport
from core.ledger.escalation import Decision
from core.ledger.finding import Finding
from core.ledger.observations import NoteOutcome, ToolFinished
from core.ledger.state import State

Kind = Literal["gentle", "stop", "manual"]

REMEMBERED_COMMANDS: Final = 2_000
"""Commands whose last output is remembered, per ledger."""


class Injector:
    """Decides over notes and keeps account of those under way."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._outputs: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._pending: dict[str, Note] = {}
        self._by_hand: tuple[str, ...] = ()
        self._notes = 0

    @property
    def queued(self) -> int:
        """Findings that wait to be put in front of the agent because a person asked."""
        return len(self._by_hand)

    def tell(self, ids: Sequence[str]) -> None:
        """Put these findings in front of the agent at its next finished call."""
        self._by_hand = tuple(dict.fromkeys((*self._by_hand, *ids)))
        self._state.changed("status")

    def finished(self, done: ToolFinished) -> list[Effect]:
        """What a finished call leads to; nothing for calls from before attaching and for failed ones."""
        if done.backfill or not done.ok:
            return []
        effects, decision = self._touch(done)
        note = self._note_for(done, decision)
        return [*effects, Deliver(t=done.t, session=self._state.root, note=note)] if note else effects

    def outcome(self, told: NoteOutcome) -> list[Effect]:
        """The fate of a note is known: report it, once."""
        note = self._pending.pop(told.note, None)
        if note is None:
            return []
        if told.arrived == "failed":
            topics = {f.topic for id in note.findings if (f := self._state.ledger.get(id))}
            self._state.meters.not_shown(tuple(topics), note.origin)
        return [self._report(told.t, note, told.delivery, told.arrived)]

    def close(self, t: int) -> list[Effect]:
        """The input ended: notes under way have an unknown fate."""
        pending, self._pending = self._pending, {}
        return [self._report(t, note, "none", "unknown") for note in pending.values()]

    def _touch(self, done: ToolFinished) -> tuple[list[Effect], Decision | None]:
        state = self._state
        if done.tool not in state.settings.injection_tools:
            return [], None
        command = done.command or (shlex.quote(done.path) if done.path else "")
        changed = self._output_changed(done.session, command or done.summary, done.output)
        names = state.names(command, done.description)
        topics = state.touched(names) if names else ()
        topics = tuple(topic for topic in topics if self._facts(topic))
        if not topics or changed:
            return [], None
        may_show = state.settings.injection_enabled and not done.stale
        decision = state.meters.look(topics, done.session, done.message, state.step, may_show=may_show)
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
        )
        return [report], decision

    def _note_for(self, done: ToolFinished, decision: Decision | None) -> Note | None:
        if done.stale or not self._state.settings.injection_enabled:
            return None
        if decision is None or decision.action == "quiet":
            chosen = self._take_by_hand()
            if not chosen:
                return None
            self._shown_by_hand(chosen, done.session)
            return self._note(done, "manual", chosen, text_of.manual(chosen))
        topics = [meter.topic for meter in decision.carried]
        findings = [finding for topic in topics for finding in self._facts(topic)]
        if decision.action == "gentle":
            findings += [finding for finding in self._take_by_hand() if finding not in findings]
            note = self._note(done, "gentle", findings, text_of.gentle(findings))
        else:
            note = self._note(done, "stop", findings, text_of.stop(self._looks(decision), findings))
        self._state.meters.shown(decision.carried, self._state.step)
        return note

    def _looks(self, decision: Decision) -> list[text_of.Look]:
        step = self._state.step
        return [
            text_of.Look(
                name=label(meter.topic),
                since_shown=meter.since_shown if meter.shown_step else 0,
                count=self._state.meters.count(meter),
                steps=max(1, step - (meter.shown_step or meter.first_step)),
            )
            for meter in decision.carried
        ]

    def _note(self, done: ToolFinished, kind: Kind, facts: Sequence[Finding], text: str) -> Note:
        self._notes += 1
        note = Note(
            id=f"n{self._notes}",
            call=done.call,
            part=done.part,
            message=done.message,
            origin=done.session,
            kind=kind,
            findings=tuple(finding.id for finding in facts),
            text=text,
        )
        self._pending[note.id] = note
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

    def _facts(self, topic: str) -> list[Finding]:
        return [finding for finding in self._state.ledger.of_topic(topic) if finding.shown_to_agent]

    def _take_by_hand(self) -> list[Finding]:
        ids, self._by_hand = self._by_hand, ()
        if ids:
            self._state.changed("status")
        return [finding for id in ids if (finding := self._state.ledger.get(id))]

    def _shown_by_hand(self, findings: Sequence[Finding], origin: str) -> None:
        for topic in dict.fromkeys(finding.topic for finding in findings):
            if all(finding in findings for finding in self._facts(topic)):
                self._state.meters.shown_by_hand(topic, origin, self._state.step)
        self._state.changed("meters")

    def _output_changed(self, origin: str, command: str, output: str) -> bool:
        """True when the same command gave something else the last time: then it is no second look."""
        key, now = (origin, command), hash(output)
        before = self._outputs.pop(key, None)
        self._outputs[key] = now
        if len(self._outputs) > REMEMBERED_COMMANDS:
            self._outputs.popitem(last=False)
        return before is not None and before != now


def label(topic: str) -> str:
    """What a topic is about, for people: its part after the first colon, or all of it."""
    return topic.partition(":")[2].strip() or topic
