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
        self._answered: dict[str, _Answered] = {}

    def __len__(self) -> int:
        return len(self._answered)

    def answered(self, note: Note) -> None:
        """The plugin was given this note."""
        self._answered[note.call] = _Answered(note)

    def confirmed(self, call: str, *, appended: bool) -> None:
        """The plugin says whether it appended the note in time."""
        waiting = self._answered.get(call)
        if waiting is None:
            return
        if appended:
            del self._answered[call]
            self._settle(Outcome(waiting.note, "next"))
            return
        waiting.missed = True
        self._fall_back(call, waiting)

    def completed(self, call: str) -> None:
        """The call's end was seen on the event stream: its part can be patched from now on."""
        waiting = self._answered.get(call)
        if waiting is not None:
            waiting.completed = True
            self._fall_back(call, waiting)

    def silent(self, call: str) -> None:
        """The plugin has not confirmed in good time: it counts as having missed the call."""
        waiting = self._answered.get(call)
        if waiting is not None:
            waiting.missed = True
            self._fall_back(call, waiting)

    def echoed(self, call: str) -> None:
        """The call came back with the note in it: it was appended; only the plugin can say whether in time."""
        waiting = self._answered.get(call)
        if waiting is not None:
            waiting.echoed = True
            self._fall_back(call, waiting)

    def idle(self, origin: str) -> None:
        """Nothing follows in this agent session: what is not confirmed now never will be."""
        for call, waiting in list(self._answered.items()):
            if waiting.note.origin == origin:
                del self._answered[call]
                self._settle(Outcome(waiting.note, "unknown"))

    def _fall_back(self, call: str, waiting: _Answered) -> None:
        """Once the plugin has missed the call and its part can be patched."""
        if not waiting.missed or not (waiting.completed or waiting.echoed):
            return
        del self._answered[call]
        if waiting.echoed:
            self._settle(Outcome(waiting.note, "unknown"))
        else:
            self._patch(waiting.note)
