"""Deadlines the plugin missed: which calls went on without an answer, told without flooding whoever listens."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

WARN_MS: Final = 60_000
"""Between two warnings; in between each miss is a row of the log only."""
_REMEMBERED: Final = 500


class Misses:
    """The calls, and when the last warning was."""

    def __init__(self) -> None:
        self._calls: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._warned: int | None = None
        self._untold = 0

    def __contains__(self, call: tuple[str, str]) -> bool:
        """Whether no answer can be given any more to the plugin about this call (agent session, call id)."""
        return call in self._calls

    def add(self, t: int, session: str, call: str) -> int | None:
        """A miss at `t` (ms); returns how many were not warned of before it, None while no warning is due."""
        self.answered_empty(session, call)
        if self._warned is not None and t - self._warned < WARN_MS:
            self._untold += 1
            return None
        untold, self._untold, self._warned = self._untold, 0, t
        return untold

    def answered_empty(self, session: str, call: str) -> None:
        """The plugin asked before it was known what the call belongs to: no miss, but its note cannot go that way."""
        self._calls[session, call] = None
        if len(self._calls) > _REMEMBERED:
            self._calls.popitem(last=False)
