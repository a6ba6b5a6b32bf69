"""Events that wait until the state before them has been read back."""

from __future__ import annotations

from collections import deque
from typing import Final

from core.opencode.wire import Event

MAX_EVENTS: Final = 5_000
MAX_BYTES: Final = 16 << 20


class Gate:
    """Holds events in order, up to a number and a size.

    Attributes:
        overflowed: there was no room and all were dropped: what they said has to be read back again.
    """

    def __init__(self) -> None:
        self.overflowed = False
        self._events: deque[tuple[Event, int]] = deque()
        self._size = 0

    def __len__(self) -> int:
        return len(self._events)

    def add(self, event: Event, size: int) -> None:
        """Hold an event of `size` bytes."""
        if self.overflowed:
            return
        self._events.append((event, size))
        self._size += size
        if len(self._events) > MAX_EVENTS or (self._size > MAX_BYTES and len(self._events) > 1):
            self._drop()
            self.overflowed = True

    def put_back(self, event: Event, size: int) -> None:
        """Hold an event before all others."""
        self._events.appendleft((event, size))
        self._size += size

    def take(self) -> tuple[Event, int]:
        """The oldest event and its size; there must be one."""
        event, size = self._events.popleft()
        self._size -= size
        return event, size

    def reset_if_overflowed(self) -> None:
        """Begin to hold again; what was dropped has to be read back from now on."""
        if self.overflowed:
            self._drop()
            self.overflowed = False

    def _drop(self) -> None:
        self._events.clear()
        self._size = 0
