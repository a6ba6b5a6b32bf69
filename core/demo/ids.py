"""Ids as OpenCode makes them: a prefix, the time and a counter in 12 hex digits, and a tail; they sort by time."""

from __future__ import annotations

from collections.abc import Callable

_MASK = (1 << 48) - 1


class Ids:
    """Makes ids that differ; `clock` tells ms since the epoch."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._last = 0
        self._count = 0

    def new(self, prefix: str) -> str:
        """An id of its own, later than all before it."""
        return f"{prefix}_{self._stamp():012x}{self._count:014d}"

    def new_session(self) -> str:
        """A session's id; they sort the other way round, the latest first."""
        return f"ses_{~self._stamp() & _MASK:012x}{self._count:014d}"

    def _stamp(self) -> int:
        self._count += 1
        self._last = max(self._last + 1, self._clock() << 12)
        return self._last & _MASK
