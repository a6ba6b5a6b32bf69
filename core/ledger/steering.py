"""What a person asks of one ledger: commands in, effects and one answering sentence out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from core.ledger import commands as ask
from core.ledger.distil import Extractions
from core.ledger.effects import Effect, Said
from core.ledger.escalation import Meter
from core.ledger.injection import Injector, label
from core.ledger.ledger import UNDO_DEPTH
from core.ledger.state import State
from core.text import mask


class Steering:
    """Carries out commands; the last ten changes of findings, mutes and resets can be undone."""

    def __init__(self, state: State, injector: Injector, extractions: Extractions) -> None:
        self._state = state
        self._injector = injector
        self._extractions = extractions
        self._undo: deque[Callable[[int], tuple[str, list[Effect]]]] = deque(maxlen=UNDO_DEPTH)
        self._handlers: dict[type[ask.Command], Callable[[Any], list[Effect]]] = {
            ask.Pin: self._pin,
            ask.Delete: self._delete,
            ask.Edit: self._edit,
            ask.Add: self._add,
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
        changes = self._state.ledger.add(command.t, fact, topic)
        if not changes:
            return [self._said(command, "That fact is in the ledger already.", ok=False)]
        return self._changed(command, changes, "Added.")

    def _take_back(self, command: ask.Undo) -> list[Effect]:
        if not self._undo:
            return [self._said(command, "Nothing to undo.", ok=False)]
        what, effects = self._undo.pop()(command.t)
        return [*effects, self._said(command, f"Undone: {what}.")]

    def _mute(self, command: ask.Mute) -> list[Effect]:
        muted = self._state.meters.muted
        if (command.topic in muted) is command.on:
            return [self._said(command, f"{label(command.topic)} is {'' if command.on else 'not '}muted already.")]
        self._set_muted(command.topic, command.on)
        self._undo.append(
            lambda _t: ("mute" if command.on else "unmute", self._set_muted(command.topic, not command.on))
        )
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
        self._undo.append(lambda _t: ("meter reset", self._restore(saved)))
        return [self._said(command, f"Meter of {label(command.topic)} set to zero.")]

    def _restore(self, saved: Sequence[Meter]) -> list[Effect]:
        self._state.meters.restore(saved)
        self._state.changed("meters")
        return []

    def _extract(self, command: ask.ExtractNow) -> list[Effect]:
        schedule = self._extractions.schedule
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
        self._injector.tell(ids)
        return [
            self._said(command, f"{_facts(self._injector.queued)} will be put in front of the agent at its next call.")
        ]

    def _changed(self, command: ask.Command, changes: Sequence[Any], text: str) -> list[Effect]:
        self._undo.append(self._undo_ledger)
        return [*self._state.apply(command.t, changes), self._said(command, text)]

    def _undo_ledger(self, t: int) -> tuple[str, list[Effect]]:
        what, changes = self._state.ledger.undo(t)
        return what, self._state.apply(t, changes)

    def _said(self, command: ask.Command, text: str, *, ok: bool = True) -> Said:
        return Said(t=command.t, session=self._state.root, text=text, ok=ok)


def _facts(n: int) -> str:
    return "1 fact" if n == 1 else f"{n} facts"


def _steps(n: int) -> str:
    return "1 step" if n == 1 else f"{n} steps"
