"""Moves the times in a recording to the present: what was recorded in March is played now."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final

from core.demo.recording import Event

_EARLIEST: Final = 1_000_000_000_000
"""Numbers below this (September 2001 in ms) are durations or counts, not times."""


class Timeline:
    """From recorded times to times of the replay, both ms since the epoch.

    Grows while playing; what was mapped once keeps its value, so that the same message has the same times in every
    event. Order is kept: an earlier time is never mapped to a later one.
    """

    def __init__(self) -> None:
        self._recorded: list[int] = []
        self._played: list[int] = []
        self._given: dict[int, int] = {}

    def mark(self, recorded: int, played: int) -> None:
        """An event recorded at `recorded` is played at `played`; neither may be smaller than at the last call."""
        if not self._recorded or recorded > self._recorded[-1]:
            self._recorded.append(recorded)
            self._played.append(max(played, self._played[-1] if self._played else played))

    def at(self, recorded: int) -> int:
        """The time of the replay that stands for this recorded one."""
        if not self._recorded:
            return recorded
        if recorded not in self._given:
            self._given[recorded] = self._between(recorded)
        return self._given[recorded]

    def _between(self, recorded: int) -> int:
        place = max(0, bisect_right(self._recorded, recorded) - 1)
        moved = self._played[place] + recorded - self._recorded[place]
        after = self._played[place + 1] if place + 1 < len(self._played) else moved
        return min(moved, after)

    def moved(self, event: Event) -> Event:
        """A copy of an event with the times it tells moved."""
        return {**event, "properties": self._times(event["properties"])}

    def _times(self, value: dict[str, Any]) -> dict[str, Any]:
        copy = dict(value)
        for key in ("info", "part", "state"):
            if isinstance(copy.get(key), dict):
                copy[key] = self._times(copy[key])
        told = copy.get("time")
        if isinstance(told, dict):
            copy["time"] = {name: self._time(number) for name, number in told.items()}
        elif told is not None:
            copy["time"] = self._time(told)
        return copy

    def _time(self, value: Any) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= _EARLIEST:
            return self.at(int(value))
        return value
