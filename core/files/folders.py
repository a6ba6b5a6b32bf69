"""Names in folders that something happened to, as the system tells; and a beat where it tells nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from typing import Final

_STEP_MS: Final = 200
"""Changes closer together than this are taken as one."""
_DEBOUNCE_MS: Final = 400
"""An unbroken series of changes is told this often."""
RETRY_BEATS: Final = 12
"""Beats after which the system is asked again for the watches that it refused."""


async def happenings(
    folders: Collection[str], names: Collection[str], beat: float, stop: asyncio.Event
) -> AsyncGenerator[set[str], None]:
    """Paths in the folders (not below) whose base is in `names`, each time some were written, made, moved or removed.

    An empty set is the beat: nothing was told for `beat` seconds. Where the system has no watch left to give, or a
    folder has just gone, there are only beats, and the end after :data:`RETRY_BEATS` of them. It ends soon after `stop`
    is set.
    """
    try:
        if folders:
            async with aclosing(_watched(folders, names, beat, stop)) as found:
                async for paths in found:
                    yield paths
            return
    except (OSError, RuntimeError):
        pass
    for _ in range(RETRY_BEATS):
        try:
            async with asyncio.timeout(beat):
                await stop.wait()
        except TimeoutError:
            yield set()
        else:
            return


async def _watched(
    folders: Collection[str], names: Collection[str], beat: float, stop: asyncio.Event
) -> AsyncGenerator[set[str], None]:
    from watchfiles import awatch  # noqa: PLC0415 - takes long to import

    changes = awatch(
        *folders,
        watch_filter=lambda _, path: path.rpartition("/")[2] in names,
        recursive=False,
        step=_STEP_MS,
        debounce=_DEBOUNCE_MS,
        rust_timeout=max(1, round(beat * 1000)),
        yield_on_timeout=True,
        stop_event=stop,
    )
    async with aclosing(changes):
        async for found in changes:
            yield {path for _, path in found}
