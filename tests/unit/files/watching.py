"""A watch that runs, and the changes it told of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from core.files import FileWatch

PATIENCE = 30
"""Seconds after which a test gives up waiting."""


class Seen:
    """What a watch told."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self._news = asyncio.Event()

    def __call__(self, path: str) -> None:
        self.paths.append(path)
        self._news.set()

    def count(self, path: Path) -> int:
        return self.paths.count(str(path))

    async def until(self, path: Path, times: int = 1) -> None:
        """Wait until a path was told so many times."""
        async with asyncio.timeout(PATIENCE):
            while self.count(path) < times:
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def watching(*paths: Path, read_at: int = 0, **more: Any) -> AsyncIterator[tuple[FileWatch, Seen]]:
    """A watch over the files, which it has seen."""
    seen = Seen()
    watch = FileWatch(seen, **{"beat": 0.3, "quiet": 0.1, **more})
    task = asyncio.create_task(watch.run())
    watch.watch({str(path): read_at for path in paths})
    try:
        async with asyncio.timeout(PATIENCE):
            await watch.settled()
        yield watch, seen
    finally:
        task.cancel()
        await asyncio.wait([task])


async def checked(watch: FileWatch, *paths: Path) -> None:
    """Have the files looked at now, and wait for it."""
    watch.check(map(str, paths))
    async with asyncio.timeout(PATIENCE):
        await watch.settled()
