"""Plays a recording: each event at its time, and the next turn not before a note could be put into the last call."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from typing import Any, Final

from core.demo.pace import Pace
from core.demo.recording import Event, Recorded
from core.demo.sender import Sender
from core.demo.timeline import Timeline

GRACE_SECONDS: Final = 0.15
"""Between the end of a call and the next request a real server makes a snapshot, 100 to 280 ms in the recordings."""
PATCH_SECONDS: Final = 2.0
"""How long a change of a part that was announced by reading it is waited for."""
_BREATH: Final = 100


class Player:
    """Sends recorded events.

    Args:
        recording: may be made while it is played.
        pace: how fast; at infinite speed nothing is waited for but slow listeners.
        move: move the times that events tell to the present.
        hold: wait before each turn until a note could have been put into the call before it.
    """

    def __init__(
        self,
        recording: Iterable[Recorded],
        pace: Pace,
        sender: Sender,
        *,
        move: bool,
        hold: bool,
    ) -> None:
        self.finished = asyncio.Event()
        self._recording = recording
        self._pace = pace
        self._sender = sender
        self._hold = hold
        self._timeline = Timeline() if move else None
        self._assistants: set[str] = set()
        self._tool_ended = -math.inf
        self._reading: dict[str, float] = {}
        self._patched: dict[str, dict[str, Any]] = {}
        self._settled = asyncio.Event()

    async def run(self) -> None:
        """Play to the end."""
        for number, recorded in enumerate(self._recording, 1):
            await self._pace.sleep(recorded.pause / 1000)
            await self._sender.hub.room()
            await self._gate(recorded.event)
            self._sender.send(self._prepared(recorded))
            if number % _BREATH == 0:
                await asyncio.sleep(0)
        self.finished.set()

    def reads(self, message: str) -> None:
        """A client reads a message: it may be about to change a part of it."""
        self._reading[message] = _now()

    def patched(self, message: str, part: dict[str, Any]) -> None:
        """A client changed a part; later events show it as changed."""
        self._patched[part["id"]] = part
        self._reading.pop(message, None)
        self._settled.set()

    def _prepared(self, recorded: Recorded) -> Event:
        event = recorded.event
        if self._timeline is not None:
            self._timeline.mark(recorded.t, self._sender.clock())
            event = self._timeline.moved(event)
        part = event["properties"].get("part")
        if isinstance(part, dict):
            if part.get("type") == "tool" and _status(part) in ("completed", "error"):
                self._tool_ended = _now()
            changed = self._patched.get(str(part.get("id")))
            if changed is not None and _status(part) == "completed":
                event = {**event, "properties": {**event["properties"], "part": changed}}
        return event

    async def _gate(self, event: Event) -> None:
        """Hold back the message that opens the next turn until a note on the last call has had its chance."""
        if not self._hold or not self._opens_turn(event) or self._pace.speed == math.inf:
            return
        await self._sender.hub.room(0)
        await asyncio.sleep(max(0.0, self._tool_ended + GRACE_SECONDS - _now()))
        while waiting := [begun for begun in self._reading.values() if begun + PATCH_SECONDS > _now()]:
            self._settled.clear()
            try:
                async with asyncio.timeout(min(waiting) + PATCH_SECONDS - _now()):
                    await self._settled.wait()
            except TimeoutError:
                break
        self._reading.clear()

    def _opens_turn(self, event: Event) -> bool:
        info = event["properties"].get("info")
        if event["type"] != "message.updated" or not isinstance(info, dict) or info.get("role") != "assistant":
            return False
        if info.get("id") in self._assistants:
            return False
        self._assistants.add(str(info.get("id")))
        return True


def _status(part: dict[str, Any]) -> object:
    state = part.get("state")
    return state.get("status") if isinstance(state, dict) else None


def _now() -> float:
    return asyncio.get_running_loop().time()
