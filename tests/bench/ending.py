"""Running a benchmark so that what it started ends with it, also when it is told to end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run `work` to its end; SIGTERM, SIGHUP and Ctrl-C unwind it first. Raises SystemExit (128 + signal) for those."""
    told: list[int] = []

    async def guarded() -> None:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()

        def end(number: int) -> None:
            if not told:  # another one does not disturb the tidying up
                task.cancel()
            told.append(number)

        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            loop.add_signal_handler(number, end, number)
        await task

    try:
        asyncio.run(guarded())
    except asyncio.CancelledError:
        raise SystemExit(128 + told[0] if told else 1) from None
