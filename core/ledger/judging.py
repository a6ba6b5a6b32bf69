"""What becomes of each fact that an extraction or a rule proposes: known, held for a person, superseding or new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from core.ledger import review
from core.ledger.changes import Change, Origin
from core.ledger.files import files_of
from core.ledger.finding import Evidence, Finding, Receipt
from core.ledger.observations import Candidate
from core.ledger.relation import relation
from core.ledger.rules import RuleFact
from core.ledger.schedule import Job
from core.ledger.state import State
from core.ledger.steps import Call, Step
from core.ledger.support import Outputs, support
from core.ledger.topics import label
from core.ledger.untrusted import suspicion

_BY_WISH: Final = "every fact waits (review is all)"


class Judge:
    """Judges the facts of one extraction against the outputs it was shown and the ledger as it is.

    Args:
        state: its ledger takes what is accepted.
        job: the extraction.
        outputs: the index of its steps, where it was made beforehand (see :func:`core.ledger.support.weighed`).
    """

    def __init__(self, state: State, job: Job, outputs: object = None) -> None:
        self._state = state
        self._ledger = state.ledger
        self._job = job
        self._wanted = state.settings.review
        self._outputs = outputs if isinstance(outputs, Outputs) else None
        self._receipt = Receipt(job.steps)
        self._calls = {call.call: (step, call) for step in job.steps for call in step.calls}
        self._last = next((step for step in reversed(job.steps) if step.calls), job.steps[-1])

    def proposed(self, t: int, item: Candidate) -> list[Change]:
        """What a model wrote; no change when it is known."""
        if self._outputs is None:  # only now, as what rules read needs none
            self._outputs = Outputs(self._job.steps)
        found = support(item.fact, item.topic, self._outputs)
        doubts = suspicion(item.fact, hidden=item.hidden)
        origin = self._origin(item.fact, item.topic, found.evidence)
        reason = doubts or found.reason or (_BY_WISH if self._wanted == "all" else "")
        if self._wanted == "off":
            return self._take(t, item.fact, item.topic, msgspec.structs.replace(origin, mark=doubts))
        return self._take(t, item.fact, item.topic, origin, reason)

    def read(self, t: int, fact: RuleFact) -> list[Change]:
        """What a rule read from an output: it is there, word for word, but may still be an order or wait by wish."""
        origin = self._origin(fact.fact, fact.topic, (Evidence(fact.part, fact.call, fact.lines),))
        origin = msgspec.structs.replace(origin, note=f"read from the output ({fact.rule})")
        doubts = suspicion(fact.fact)
        if self._wanted == "off":
            return self._take(t, fact.fact, fact.topic, msgspec.structs.replace(origin, mark=doubts))
        reason = doubts or (_BY_WISH if self._wanted == "all" else "")
        return self._take(t, fact.fact, fact.topic, origin, reason)

    def _take(self, t: int, fact: str, topic: str, origin: Origin, reason: str = "") -> list[Change]:
        ledger = self._ledger
        known = ledger.with_fact(fact)
        if known is not None and known.state == "held" and not reason:
            return self._borne_out(t, known, origin)
        if known is not None:
            return self._known(t, known, origin) if reason in ("", _BY_WISH) else []
        if reason and not ledger.was_deleted(fact):
            return review.hold(ledger, t, fact, topic, origin, reason)
        others = [(old, relation(old.fact, fact)) for old in ledger.of_topic(topic) if self._may_relate(old)]
        near = [old for old, how in others if how == "near_duplicate" and old.state != "superseded"]
        changes = ledger.extracted(t, fact, topic, origin, is_new=not near, evict=False)
        new = ledger.with_fact(fact)
        if new is None or not changes or changes[0].kind != "added":
            return changes
        if path := self._state.changed_since(new.files, self._ended_of(new.call)):
            changes += review.doubt(ledger, t, path, new.id)
        for old, how in others:
            if ledger.get(old.id) is not None and old.state != "superseded":
                changes += self._relate(t, old, new, how)
        return changes + ledger.evict("", topic)  # only now, as what was superseded goes first

    def _relate(self, t: int, old: Finding, new: Finding, how: str) -> list[Change]:
        if how == "supersedes" and not review.is_by_hand(old) and new.read_at >= old.read_at:
            return review.supersede(self._ledger, t, old, new)
        if how in ("supersedes", "unsure"):
            review.add_pair(self._ledger, t, "unsure", old, new)
        elif how == "near_duplicate":
            review.add_pair(self._ledger, t, "near", old, new)
        return []

    def _may_relate(self, old: Finding) -> bool:
        """Facts of one answer never conflict."""
        return old.job != self._job.id

    def _known(self, t: int, known: Finding, origin: Origin) -> list[Change]:
        """The same fact again: it confirms a doubtful one, and brings back one whose successor no longer holds."""
        if known.state == "doubtful" and self._state.changed_since(known.files, self._ended_of(origin.call)):
            return []
        if known.state == "doubtful":
            return review.confirm(self._ledger, t, known, origin)
        successor = self._ledger.get(known.superseded_by)
        if known.state != "superseded" or (successor is not None and successor.job == self._job.id):
            return []
        return review.bring_back(self._ledger, t, known, successor)

    def _borne_out(self, t: int, held: Finding, origin: Origin) -> list[Change]:
        """A fact that waited, because no output said it, is in an output now."""
        ledger = self._ledger
        if ledger.full_of_pins(held.topic) or ledger.full_of_pins():
            return []
        del ledger.held[held.id]
        found = held.noted(
            t,
            f"borne out by {self._job.id}",
            state="accepted",
            held_for="",
            step=origin.step,
            origin=origin.session,
            call=origin.call,
            job=origin.job,
            evidence=origin.evidence,
            files=origin.files,
            receipt=origin.receipt,
        )
        return ledger.accept_one("accepted", found)

    def _ended_of(self, call: str) -> int:
        """When the call ended, in ms since the epoch; 0 when it is not known."""
        return self._calls[call][1].ended if call in self._calls else 0

    def _origin(self, fact: str, topic: str, evidence: tuple[Evidence, ...]) -> Origin:
        supporting = [self._calls[one.call] for one in evidence if one.call in self._calls]
        step, call = _main(supporting, evidence) or self._likely(topic)
        return Origin(
            step=step.n,
            session=step.origin,
            call=call.call if call else "",
            job=self._job.id,
            evidence=evidence,
            files=files_of(topic, [call for _, call in supporting], self._state.directory, fact=fact),
            receipt=self._receipt,
            note=f"extracted by {self._job.id}",
        )

    def _likely(self, topic: str) -> tuple[Step, Call | None]:
        """The last call that names the topic's file, else the last one."""
        subject = label(topic).rpartition("/")[2].casefold()
        for step, call in reversed(self._calls.values()):
            if subject in f"{call.command} {call.path}".casefold():
                return step, call
        return self._last, self._last.calls[-1] if self._last.calls else None


def _main(supporting: Sequence[tuple[Step, Call]], evidence: Sequence[Evidence]) -> tuple[Step, Call | None] | None:
    """The call with the most of the evidence; of equals the last."""
    if not supporting:
        return None
    weight = {one.call: len(one.lines) for one in evidence}
    return max(reversed(supporting), key=lambda pair: weight.get(pair[1].call, 0))
