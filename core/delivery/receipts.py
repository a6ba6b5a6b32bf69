"""Whether a note reached the model in time: pure bookkeeping over what the event stream shows.

OpenCode echoes a patched part on the stream. Seen on 1.18.33: when the echo comes before the `message.updated` that
creates the next assistant message, the next request carries the note (5 of 5); when it comes after, the note is one
request late (5 of 5). Neither the response to the PATCH nor `step-start` and `step-finish` tell.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from core.ledger.effects import Note

Arrived = Literal["next", "late", "failed", "unknown"]


class Outcome(msgspec.Struct, frozen=True):
    """A note and what became of it."""

    note: Note
    arrived: Arrived


class _Pending(msgspec.Struct):
    note: Note
    echoed: bool = False
    sent: bool = False
    overtaken: bool = False
    blind: bool = False


class Receipts:
    """Notes under way; each is answered exactly once."""

    def __init__(self) -> None:
        self._pending: dict[str, _Pending] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def sending(self, note: Note) -> None:
        """A note is about to be sent."""
        self._pending[note.id] = _Pending(note)

    def sent(self, note: Note) -> list[Outcome]:
        """The server accepted the note."""
        pending = self._pending.get(note.id)
        if pending is None:
            return []
        pending.sent = True
        return self._settle(pending)

    def failed(self, note: Note) -> list[Outcome]:
        """The server refused the note, or did not answer; where the echo came only the answer was lost."""
        pending = self._pending.get(note.id)
        if pending is None:
            return []
        return self.sent(note) if pending.echoed else self._end(pending, "failed")

    def echoed(self, origin: str, call: str) -> list[Outcome]:
        """A finished part of this call of this agent session came back with a note in it."""
        outcomes: list[Outcome] = []
        for pending in [p for p in self._of(origin) if p.note.call == call and not p.echoed]:
            pending.echoed = True
            outcomes += self._settle(pending)
        return outcomes

    def next_turn(self, origin: str) -> list[Outcome]:
        """A new assistant message was created in this agent session: its request is made from what is there now."""
        outcomes: list[Outcome] = []
        for pending in self._of(origin):
            if pending.blind:
                outcomes += self._end(pending, "unknown")
            elif pending.echoed:
                outcomes += self._end(pending, "next")
            else:
                pending.overtaken = True
        return outcomes

    def idle(self, origin: str) -> list[Outcome]:
        """No further request follows: what is not known now never will be."""
        outcomes: list[Outcome] = []
        for pending in self._of(origin):
            outcomes += self._end(pending, "late" if pending.overtaken and pending.sent else "unknown")
        return outcomes

    def blinded(self) -> None:
        """The stream was interrupted: the order of echo and next message can no longer be seen."""
        for pending in self._pending.values():
            pending.blind = True

    def close(self) -> list[Outcome]:
        """The input ended."""
        return [outcome for pending in list(self._pending.values()) for outcome in self._end(pending, "unknown")]

    def _settle(self, pending: _Pending) -> list[Outcome]:
        return self._end(pending, "late") if pending.overtaken and pending.echoed else []

    def _of(self, origin: str) -> list[_Pending]:
        return [pending for pending in self._pending.values() if pending.note.origin == origin]

    def _end(self, pending: _Pending, arrived: Arrived) -> list[Outcome]:
        del self._pending[pending.note.id]
        return [Outcome(pending.note, arrived)]
