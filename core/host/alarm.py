"""Wakes the host when a failed extraction is due again, and only then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from core.host.desk import Desk


class Alarm:
    """One timer for all root sessions.

    Args:
        desks: the root sessions.
        clock: ms since the epoch.
        ring: called when the first extraction of any of them is due.
    """

    def __init__(self, desks: Iterable[Desk], clock: Callable[[], int], ring: Callable[[], None]) -> None:
        self._desks = desks
        self._clock = clock
        self._call = ring
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        """Whether something is waited for."""
        return self._timer is not None

    def plan(self, desk: Desk) -> None:
        """Set the alarm anew if an extraction of `desk` waits for its time."""
        due = desk.engine.extractions.schedule.due_at
        if not due:
            return
        self.cancel()
        at = min(d.engine.extractions.schedule.due_at or due for d in self._desks)
        self._timer = asyncio.get_running_loop().call_later(max(0, at - self._clock()) / 1000, self.ring)

    def cancel(self) -> None:
        """Wait for nothing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def ring(self) -> None:
        """The time has come."""
        self._timer = None
        self._call()
