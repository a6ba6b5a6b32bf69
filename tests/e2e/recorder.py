"""Raw recordings of a running OpenCode: its event streams byte for byte, and what it answers over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import httpx

from tests.e2e.opencode import OpenCode


@dataclass
class Recorder:
    """Reads one event stream from entering the context to leaving it.

    Attributes:
        path: `/event` or `/global/event`.
        raw: the bytes as received.
        events: (receive time in ms since the epoch, decoded frame), in order.
    """

    server: OpenCode
    path: str = "/event"
    raw: bytearray = field(default_factory=bytearray)
    events: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    arrived: asyncio.Condition = field(default_factory=asyncio.Condition)
    _task: asyncio.Task[None] | None = None
    _rest: bytes = b""

    async def __aenter__(self) -> Recorder:
        self._task = asyncio.create_task(self._read())
        await self.until(lambda e: self.kind(e) == "server.connected")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    @staticmethod
    def kind(event: dict[str, Any]) -> str:
        """The type of an event in either form."""
        return str(event.get("payload", event).get("type"))

    async def until(self, wanted: Any, seconds: float = 90) -> dict[str, Any]:
        """The first event, earlier ones included, that `wanted` accepts. Raises TimeoutError."""
        async with asyncio.timeout(seconds), self.arrived:
            seen = 0
            while True:
                for _, event in self.events[seen:]:
                    if wanted(event):
                        return event
                seen = len(self.events)
                await self.arrived.wait()

    async def _read(self) -> None:
        with contextlib.suppress(httpx.HTTPError):
            async with self.server.client() as client, client.stream("GET", self.path, timeout=None) as response:
                async for data in response.aiter_raw():
                    self.raw += data
                    await self._take(data)

    async def _take(self, data: bytes) -> None:
        now = time.time_ns() // 1_000_000
        *frames, self._rest = (self._rest + data).split(b"\n\n")
        async with self.arrived:
            for frame in frames:
                self.events.append((now, json.loads(frame.removeprefix(b"data: "))))
            self.arrived.notify_all()


async def snapshot(client: httpx.AsyncClient) -> dict[str, Any]:
    """Everything the server says of its sessions: the lists, and each session's messages with their parts."""
    sessions = (await client.get("/session")).json()
    known = {s["id"] for s in sessions}
    for session in list(sessions):
        for child in (await client.get(f"/session/{session['id']}/children")).json():
            if child["id"] not in known:
                known.add(child["id"])
                sessions.append(child)
    messages = {s["id"]: (await client.get(f"/session/{s['id']}/message")).json() for s in sessions}
    status = (await client.get("/session/status")).json()
    return {"sessions": sessions, "status": status, "messages": messages}
