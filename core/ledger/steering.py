"""What a person asks of one ledger: commands in, effects and one answering sentence out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import msgspec

from core.ledger import commands as ask
from core.ledger import review
from core.ledger.distil import Extractions
from core.ledger.effects import Effect, Said
from core.ledger.escalation import Meter
from core.ledger.injection import Injector
from core.ledger.ledger import UNDO_DEPTH
from core.ledger.state import State
from core.ledger.topics import label
from core.text import mask, mask_line

_SOURCE_CHARS: Final = 200


class Undoable(msgspec.Struct, frozen=True, kw_only=True):
    """A change by a person that can be taken back: of findings (the ledger knows what), of a mute, or of meters."""

    kind: Literal["ledger", "mute", "meters"]
    topic: str = ""
    on: bool = False
    meters: tuple[Meter, ...] = ()


class Steering:
    """Carries out commands; the last ten changes of findings, mutes and resets can be undone."""

    def __init__(self, state: State, injector: Injector, extractions: Extractions) -> None:
        self._state = state
        self._injector = injector
        self._extractions = extractions
        self.undos: deque[Undoable] = deque(maxlen=UNDO_DEPTH)
        self._handlers: dict[type[ask.Command], Callable[[Any], list[Effect]]] = {
            ask.Pin: self._pin,
            ask.Delete: self._delete,
            ask.Edit: self._edit,
            ask.Add: self._add,
            ask.Accept: self._accept,
            ask.Reject: self._reject,
            ask.Resolve: self._resolve,
            ask.Undo: self._take_back,
            ask.Mute: self._mute,
            ask.ResetMeter: self._reset,
            ask.ExtractNow: self._extract,
            ask.TellAgent: self._tell,
        }

    def handle(self, command: ask.Command) -> list[Effect]:
        """Carry out a command; the last effect is always what to say to the user."""
        return self._handlers[type(command)](command)

    def _pin(self, command: ask.Pin) -> list[Effect]:
        changes = self._state.ledger.pin(command.t, command.ids, command.on)
        word = "Pinned" if command.on else "Unpinned"
        if not changes:
            return [self._said(command, f"Already {word.lower()}.")]
        count = sum(change.kind in ("pinned", "unpinned") for change in changes)
        return self._changed(command, changes, f"{word} {_facts(count)}.")

    def _delete(self, command: ask.Delete) -> list[Effect]:
        changes = self._state.ledger.delete(command.ids)
        if not changes:
            return [self._said(command, "Nothing to delete: the finding is gone already.", ok=False)]
        return self._changed(command, changes, f"Deleted {_facts(len(changes))}.")

    def _edit(self, command: ask.Edit) -> list[Effect]:
        fact, topic = mask(command.fact.strip()), mask(command.topic.strip()) or "general"
        old = self._state.ledger.get(command.id)
        if not fact:
            return [self._said(command, "A fact needs some text; delete it instead.", ok=False)]
        if old is None:
            return [self._said(command, "That finding is gone.", ok=False)]
        changes = self._state.ledger.edit(command.t, command.id, fact, topic)
        if not changes:
            same = (old.fact, old.topic) == (fact, topic)
            return [self._said(command, "Nothing changed." if same else "That fact is in the ledger already.", ok=same)]
        return self._changed(command, changes, "Edited.")

    def _add(self, command: ask.Add) -> list[Effect]:
        fact, topic = mask(command.fact.strip()), mask(command.topic.strip()) or "general"
        if not fact:
            return [self._said(command, "A fact needs some text.", ok=False)]
        changes = self._state.ledger.add(command.t, fact, topic, mask_line(command.source, _SOURCE_CHARS))
        if not changes:
            return [self._said(command, "That fact is in the ledger already.", ok=False)]
        return self._changed(command, changes, "Added.")

    def _accept(self, command: ask.Accept) -> list[Effect]:
        changes = review.accept(self._state.ledger, command.t, command.ids)
        if not changes:
            return [self._said(command, "Nothing to accept: it does not wait any more.", ok=False)]
        count = sum(change.kind == "accepted" for change in changes)
        said = f"Accepted {_facts(count)}." if count else "It waits no more: the ledger has that fact already."
        return self._changed(command, changes, said)

    def _reject(self, command: ask.Reject) -> list[Effect]:
        changes = review.reject(self._state.ledger, command.ids)
        if not changes:
            return [self._said(command, "Nothing to reject: it does not wait any more.", ok=False)]
        return self._changed(command, changes, f"Rejected {_facts(len(changes))}.")

    def _resolve(self, command: ask.Resolve) -> list[Effect]:
        if command.pair not in self._state.ledger.pairs:
            return [self._said(command, "That pair is decided already.", ok=False)]
        changes = review.resolve(self._state.ledger, command.t, command.pair, command.how)
        self._state.changed("findings", "extractions")
        return self._changed(command, changes, _DECIDED[command.how])

    def _take_back(self, command: ask.Undo) -> list[Effect]:
        if not self.undos:
            return [self._said(command, "Nothing to undo.", ok=False)]
        what, effects = self._undone(self.undos.pop(), command.t)
        return [*effects, self._said(command, f"Undone: {what}.")]

    def _undone(self, last: Undoable, t: int) -> tuple[str, list[Effect]]:
        if last.kind == "mute":
            return ("mute" if last.on else "unmute"), self._set_muted(last.topic, not last.on)
        if last.kind == "meters":
            return "meter reset", self._restore(last.meters)
        what, changes = self._state.ledger.undo(t)
        self._state.changed("findings", "extractions")
        return what, self._state.apply(t, changes)

    def _mute(self, command: ask.Mute) -> list[Effect]:
        muted = self._state.meters.muted
        if (command.topic in muted) is command.on:
            return [self._said(command, f"{label(command.topic)} is {'' if command.on else 'not '}muted already.")]
        self._set_muted(command.topic, command.on)
        self.undos.append(Undoable(kind="mute", topic=command.topic, on=command.on))
        text = "muted: touches are counted, notes are not sent" if command.on else "no longer muted"
        return [self._said(command, f"{label(command.topic)} {text}.")]

    def _set_muted(self, topic: str, on: bool) -> list[Effect]:
        (self._state.meters.muted.add if on else self._state.meters.muted.discard)(topic)
        self._state.changed("meters", "findings")
        return []

    def _reset(self, command: ask.ResetMeter) -> list[Effect]:
        saved = self._state.meters.saved(command.topic)
        if not saved:
            return [self._said(command, f"The meter of {label(command.topic)} is at zero already.")]
        self._state.meters.start_over(command.topic)
        self._state.changed("meters")
        self.undos.append(Undoable(kind="meters", meters=tuple(saved)))
        return [self._said(command, f"Meter of {label(command.topic)} set to zero.")]

    def _restore(self, saved: Sequence[Meter]) -> list[Effect]:
        self._state.meters.restore(saved)
        self._state.changed("meters")
        return []

    def _extract(self, command: ask.ExtractNow) -> list[Effect]:
        schedule = self._extractions.schedule
        if (reason := self._extractions.budget.reached) and self._state.settings.extractor != "rules":
            return [self._said(command, reason, ok=False)]
        running = schedule.running
        steps = schedule.force(earlier=command.earlier)
        if not schedule.waiting:
            hint = " Steps from before attaching can be included." if schedule.earlier else ""
            return [self._said(command, f"No steps wait for extraction.{hint}", ok=False)]
        what = _steps(steps) if steps else "what a broken-off step left"
        if running is not None:
            return [self._said(command, f"{what[0].upper()}{what[1:]} will be extracted when {running.id} is done.")]
        return [*self._extractions.due(command.t), self._said(command, f"Extracting {what}.")]

    def _tell(self, command: ask.TellAgent) -> list[Effect]:
        if not self._state.settings.injection_enabled:
            return [self._said(command, "Notes are switched off (injection_enabled is false).", ok=False)]
        ids = [id for id in command.ids if self._state.ledger.get(id)]
        if not ids:
            return [self._said(command, "No finding is selected.", ok=False)]
        if not self._injector.tell(ids):
            return [self._said(command, "Not told: it waits for you, or another fact took its place.", ok=False)]
        return [
            self._said(command, f"{_facts(self._injector.queued)} will be put in front of the agent at its next call.")
        ]

    def _changed(self, command: ask.Command, changes: Sequence[Any], text: str) -> list[Effect]:
        self.undos.append(Undoable(kind="ledger"))
        return [*self._state.apply(command.t, changes), self._said(command, text)]

    def _said(self, command: ask.Command, text: str, *, ok: bool = True) -> Said:
        return Said(t=command.t, session=self._state.root, text=text, ok=ok)


_DECIDED: Final = {
    "swap": "Swapped: the other fact holds.",
    "keep_both": "Both facts hold.",
    "merge": "Merged into one fact.",
    "dismiss": "Left as it is.",
}
"""What is said after a decision over a pair."""


def _facts(n: int) -> str:
    return "1 fact" if n == 1 else f"{n} facts"


def _steps(n: int) -> str:
    return "1 step" if n == 1 else f"{n} steps"
