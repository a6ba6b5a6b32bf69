"""From one sender to all open event streams, as server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Final

HEARTBEAT_SECONDS: Final = 10.0
"""As OpenCode 1.18.33."""
_MAX_WAITING: Final = 2_000
_STUCK_SECONDS: Final = 10.0


def frame(data: bytes) -> bytes:
    """One event on the wire."""
    return b"data: " + data + b"\n\n"


class Hub:
    """Streams that each get every frame sent after they were opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        """Set once somebody has listened."""
        self._streams: set[_Stream] = set()
        self._taken = asyncio.Event()

    def send(self, data: bytes) -> None:
        """Queue one event for every stream."""
        wire = frame(data)
        for stream in self._streams:
            stream.waiting.append(wire)
            stream.wake.set()

    async def room(self, at_most: int = _MAX_WAITING) -> None:
        """Wait until no stream has more than `at_most` events waiting; a stream that takes none for long is closed."""
        while any(len(stream.waiting) > at_most for stream in self._streams):
            self._taken.clear()
            try:
                async with asyncio.timeout(_STUCK_SECONDS):
                    await self._taken.wait()
            except TimeoutError:
                for stream in [stream for stream in self._streams if len(stream.waiting) > at_most]:
                    self._streams.discard(stream)
                    stream.closed = True
                    stream.wake.set()

    async def listen(self, greeting: bytes, heartbeat: Callable[[], bytes]) -> AsyncIterator[bytes]:
        """The bytes of one stream: the greeting, then everything sent, with heartbeats."""
        stream = _Stream()
        stream.waiting.append(frame(greeting))
        self._streams.add(stream)
        self.opened.set()
        try:
            while not stream.closed:
                if not stream.waiting:
                    stream.wake.clear()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(HEARTBEAT_SECONDS):
                            await stream.wake.wait()
                    if not stream.waiting:
                        stream.waiting.append(frame(heartbeat()))
                taken, stream.waiting = stream.waiting, []
                self._taken.set()
                yield b"".join(taken)
        finally:
            self._streams.discard(stream)
            self._taken.set()


class _Stream:
    """Events that wait for one listener."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []
        self.wake = asyncio.Event()
        self.closed = False
