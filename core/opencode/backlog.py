"""The bounded queue between the socket's reader and the consumer of the events.

What must arrive makes the reader wait when there is no room (and so, through TCP, the server); pieces of text that the
model is still writing (`message.part.delta`) are dropped instead: the finished part brings the whole text again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

import msgspec

_T = TypeVar("_T")
_DELTA = b'"message.part.delta"'
_HEAD = 4096
"""The type of an event stands within its first bytes, behind ids and, in `/global/event`, a directory."""


class _Envelope(msgspec.Struct):
    type: str = ""
    payload: _Envelope | None = None


class Backlog(Generic[_T]):
    """A queue for one reader and one consumer, bounded by number and by bytes.

    A single item is always let in when the queue is empty, however large.

    Attributes:
        dropped: text deltas left out so far because the queue was full.
    """

    def __init__(self, *, max_items: int, max_bytes: int) -> None:
        self.dropped = 0
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._items: deque[tuple[_T, int]] = deque()
        self._bytes = 0
        self._filled = asyncio.Event()
        self._emptied = asyncio.Event()

    def __len__(self) -> int:
        return len(self._items)

    def offer(self, item: _T, frame: bytes = b"") -> bool:
        """Add an item if there is room; `frame` is the event it stands for."""
        size = len(frame)
        if self._items and (len(self._items) >= self._max_items or self._bytes + size > self._max_bytes):
            return False
        self._items.append((item, size))
        self._bytes += size
        if len(self._items) == 1:
            self._filled.set()
        return True

    async def put(self, item: _T, frame: bytes = b"") -> None:
        """Add an item, after waiting for room if need be; a text delta is dropped instead."""
        while not self.offer(item, frame):
            if is_delta(frame):
                self.dropped += 1
                return
            self._emptied.clear()
            await self._emptied.wait()

    async def get(self) -> _T:
        """The oldest item, as soon as there is one."""
        while not self._items:
            self._filled.clear()
            await self._filled.wait()
        item, size = self._items.popleft()
        self._bytes -= size
        if not self._emptied.is_set():
            self._emptied.set()
        return item

    def clear(self) -> None:
        """Forget all items."""
        self._items.clear()
        self._bytes = 0
        self._emptied.set()


def is_delta(frame: bytes) -> bool:
    """Whether an event, of either stream, is a piece of text still being written."""
    if frame.find(_DELTA, 0, _HEAD) < 0:
        return False
    try:
        event = msgspec.json.decode(frame, type=_Envelope)
    except msgspec.MsgspecError:
        return False
    return "message.part.delta" in (event.type, event.payload.type if event.payload else "")
