"""Events of sessions that are not known yet: they wait, in order and bounded, for somebody to say whose they are."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from core.opencode.facts import ID_CHARS
from core.opencode.sessions import Registry
from core.opencode.wire import Event

MAX_HELD_EVENTS: Final = 5_000
"""Beyond this number the oldest are dropped."""


class HeldEvents:
    """Events by the session they belong to.

    Attributes:
        dropped: events that found no room.
    """

    def __init__(self, registry: Registry) -> None:
        self.dropped = 0
        self._registry = registry
        self._events: dict[str, deque[Event]] = {}
        self._count = 0

    def add(self, id: str, event: Event) -> None:
        """Keep an event, unless its session is one that never counts."""
        if not id or len(id) > ID_CHARS or self._registry.is_ignored(id):
            return
        self._events.setdefault(id, deque()).append(event)
        self._count += 1
        if self._count > MAX_HELD_EVENTS:
            oldest, events = next(iter(self._events.items()))
            events.popleft()
            self._count -= 1
            self.dropped += 1
            if not events:
                del self._events[oldest]

    def missing(self) -> tuple[str, ...]:
        """Ids of the sessions whose info would help to place the events."""
        return tuple(dict.fromkeys(self._registry.missing(id) for id in self._events)) if self._events else ()

    def take(self, id: str) -> Sequence[Event]:
        """The events of a session, oldest first; they are no longer held."""
        events = self._events.pop(id, None)
        if events is None:
            return ()
        self._count -= len(events)
        return events

    def drop_ignored(self) -> None:
        """Forget the events of sessions that turned out not to count."""
        for id in [id for id in self._events if self._registry.is_ignored(id)]:
            self._count -= len(self._events.pop(id))

    def clear(self) -> None:
        """Forget all."""
        self._events.clear()
        self._count = 0
