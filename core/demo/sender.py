"""Sends events to all listeners and keeps the state they add up to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from core.demo.hub import Hub
from core.demo.ids import Ids
from core.demo.recording import Event
from core.demo.state import State


class Sender:
    """The one way in which anything happens on the replayed server. `clock` tells ms since the epoch."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self.state = State()
        self.hub = Hub()
        self.ids = Ids(clock)
        self.clock = clock

    def send(self, event: Event) -> None:
        """It happened: everybody is told."""
        self.state.apply(event)
        self.hub.send(msgspec.json.encode(event))

    def emit(self, kind: str, **properties: Any) -> None:
        """Send a new event."""
        self.send(self.event(kind, **properties))

    def event(self, kind: str, **properties: Any) -> Event:
        """A new event, not sent."""
        return {"id": self.ids.new("evt"), "type": kind, "properties": properties}
