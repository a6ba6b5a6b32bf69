"""Delivery in flight: the plugin inside OpenCode appends a note before the model sees the output, and says so.

Pure bookkeeping for the notes of one ledger. A note is answered to the plugin's question about a finished call; only
the plugin's confirmation makes it `next`. When the plugin was too late, the note is patched instead.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from core.delivery.receipts import Outcome
from core.ledger.effects import Note


class _Answered(msgspec.Struct):
    """A note in the plugin's hands."""

    note: Note
    completed: bool = False
    """The call's end was seen on the event stream."""
    missed: bool = False
    """The plugin said that it was too late, or did not say anything."""
    echoed: bool = False
    """The call came back with the note in it."""


class HookDelivery:
    """Notes that were given to the plugin; each is settled, or patched, exactly once.

    Args:
        settle: told each outcome.
        patch: sends a note that the plugin did not append.
    """

    def __init__(self, settle: Callable[[Outcome], None], patch: Callable[[Note], None]) -> None:
        self._settle = settle
        self._patch = patch
        self._answered: dict[tuple[str, str], _Answered] = {}
        """By agent session and call id: some models number their calls from 0 in each session."""

    def __len__(self) -> int:
        return len(self._answered)

    def answered(self, note: Note) -> None:
        """The plugin was given this note."""
        self._answered[note.origin, note.call] = _Answered(note)

    def confirmed(self, origin: str, call: str, *, appended: bool) -> None:
        """The plugin says whether it appended the note in time."""
        waiting = self._answered.get((origin, call))
        if waiting is None:
            return
        if appended:
            self._forget(waiting)
            self._settle(Outcome(waiting.note, "next"))
            return
        waiting.missed = True
        self._fall_back(waiting)

    def completed(self, origin: str, call: str) -> None:
        """The call's end was seen on the event stream: its part can be patched from now on."""
        waiting = self._answered.get((origin, call))
        if waiting is not None:
            waiting.completed = True
            self._fall_back(waiting)

    def silent(self, note: Note) -> None:
        """The plugin has not confirmed this note in good time: it counts as having missed the call."""
        waiting = self._answered.get((note.origin, note.call))
        if waiting is not None and waiting.note is note:
            waiting.missed = True
            self._fall_back(waiting)

    def echoed(self, origin: str, call: str) -> None:
        """The call came back with the note in it: it was appended; only the plugin can say whether in time."""
        waiting = self._answered.get((origin, call))
        if waiting is not None:
            waiting.echoed = True
            self._fall_back(waiting)

    def idle(self, origin: str) -> None:
        """Nothing follows in this agent session: what is not confirmed now never will be."""
        for waiting in list(self._answered.values()):
            if waiting.note.origin == origin:
                self._forget(waiting)
                self._settle(Outcome(waiting.note, "unknown"))

    def _forget(self, waiting: _Answered) -> None:
        del self._answered[waiting.note.origin, waiting.note.call]

    def _fall_back(self, waiting: _Answered) -> None:
        """Once the plugin has missed the call and its part can be patched."""
        if not waiting.missed or not (waiting.completed or waiting.echoed):
            return
        self._forget(waiting)
        if waiting.echoed:
            self._settle(Outcome(waiting.note, "unknown"))
        else:
            self._patch(waiting.note)
