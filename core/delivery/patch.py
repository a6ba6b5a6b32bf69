"""Delivery from outside: append a note to the finished tool part over HTTP, without anything inside OpenCode.

Best effort: whether the next request still carries it is decided by a race (see :mod:`core.delivery.receipts`).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from core.delivery.receipts import Outcome, Receipts
from core.errors import LedgerError
from core.ledger.effects import Note
from core.ledger.note import carries_note


class PartStore(Protocol):
    """The two calls of an OpenCode client that delivery needs."""

    async def raw_part(self, session: str, message: str, part: str) -> dict[str, Any]:
        """The whole part as the server has it."""
        ...

    async def patch_part(self, session: str, message: str, part: str, body: dict[str, Any]) -> None:
        """Replace the whole part."""
        ...


class PatchDelivery:
    """Sends notes; each is sent at most once and its outcome told at most once.

    Args:
        parts: the server.
        settle: told each outcome as soon as it is known.
        warn: told (code, message) when the server refuses.
    """

    def __init__(self, parts: PartStore, settle: Callable[[Outcome], None], warn: Callable[[str, str], None]) -> None:
        self._parts = parts
        self._settle = settle
        self._warn = warn
        self._patched: set[str] = set()
        self.receipts = Receipts()

    def send(self, note: Note) -> Coroutine[Any, Any, None]:
        """Append the note's text to its part, once awaited; what happens from this call on counts for its receipt.

        Never raises what the server does: a refusal is an outcome.
        """
        self.receipts.sending(note)
        return self._send(note)

    async def _send(self, note: Note) -> None:
        try:
            problem = await self._append(note)
        except LedgerError as error:
            problem = str(error)
        outcomes = self.receipts.failed(note) if problem else self.receipts.sent(note)
        if any(outcome.arrived == "failed" for outcome in outcomes):
            self._warn("patch_failed", f"A note was not delivered: {problem}")
        self.tell(outcomes)

    def tell(self, outcomes: list[Outcome]) -> None:
        """Pass outcomes on."""
        for outcome in outcomes:
            self._settle(outcome)

    async def _append(self, note: Note) -> str:
        """Patch the part; returns what stands against it, empty when it is done."""
        if note.part in self._patched:
            return "this call carries a note already"
        body = await self._parts.raw_part(note.origin, note.message, note.part)
        state = body.get("state")
        if body.get("type") != "tool" or not isinstance(state, dict) or state.get("status") != "completed":
            return "the call is not a finished tool call any more"
        output = state.get("output")
        if not isinstance(output, str):
            return "the call has no output to append to"
        if carries_note(output):
            return "this call carries a note already"
        self._patched.add(note.part)
        await self._parts.patch_part(
            note.origin, note.message, note.part, {**body, "state": {**state, "output": output + note.text}}
        )
        return ""
