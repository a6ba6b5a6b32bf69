"""When each path is to be looked at: once it has been quiet for a while, but not put off for ever."""

from __future__ import annotations

import asyncio
import math


class Due:
    """Paths that wait to be looked at. Times are seconds of the event loop's clock.

    Args:
        quiet: seconds after the last sign of a change at which a path is looked at.
        patience: seconds after the first sign from which further signs put nothing off.
    """

    def __init__(self, quiet: float, patience: float) -> None:
        self._quiet = quiet
        self._patience = patience
        self._first: dict[str, float] = {}
        self._at: dict[str, float] = {}
        self._news = asyncio.Event()

    def __bool__(self) -> bool:
        return bool(self._at)

    def __contains__(self, path: object) -> bool:
        return path in self._at

    def soon(self, path: str) -> None:
        """A sign that the path changes."""
        now = asyncio.get_running_loop().time()
        first = self._first.setdefault(path, now)
        self._at[path] = min(now + self._quiet, first + self._patience)
        self._news.set()

    def now(self, path: str) -> None:
        """The path is to be looked at without waiting."""
        self._first.setdefault(path, -math.inf)
        self._at[path] = -math.inf
        self._news.set()

    def impatient(self, path: str) -> bool:
        """Whether the path has been put off for long enough."""
        return asyncio.get_running_loop().time() - self._first.get(path, math.inf) >= self._patience

    def done(self, path: str) -> None:
        """The path was looked at, unless there was a new sign in the meantime."""
        if path not in self._at:
            self._first.pop(path, None)

    def forget(self, path: str) -> None:
        """The path is no longer of interest."""
        self._at.pop(path, None)
        self._first.pop(path, None)

    async def next(self) -> str:
        """The next path, taken out, when its time has come."""
        loop = asyncio.get_running_loop()
        while True:
            self._news.clear()
            path = min(self._at, key=self._at.__getitem__, default=None)
            if path is not None and self._at[path] <= loop.time():
                del self._at[path]
                return path
            try:
                async with asyncio.timeout_at(None if path is None else self._at[path]):
                    await self._news.wait()
            except TimeoutError:
                continue
