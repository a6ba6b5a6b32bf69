"""Running a command until it is done or a signal ends it, cleanly in both cases."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any


def run_until_signal(main: Callable[[], Coroutine[Any, Any, int | None]]) -> int:
    """Run `main` in an event loop; its result is the exit code, None means 0.

    SIGINT, SIGTERM and SIGHUP cancel it, so that its `finally` blocks can tidy up; the exit code is then 128 plus the
    signal's number (130 for Ctrl-C). A second signal does not wait for that. SIGHUP stays ignored where it is from
    the start, as under nohup; SIGINT does not, since a shell script ignores it for all it runs in the background.
    """
    return asyncio.run(_supervised(main))


async def _supervised(main: Callable[[], Coroutine[Any, Any, int | None]]) -> int:
    loop = asyncio.get_running_loop()
    task = loop.create_task(main())
    hang_up = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    watched = (signal.SIGINT, signal.SIGTERM, *hang_up)
    received: list[int] = []

    def end(number: int) -> None:
        received.append(number)
        for other in watched:
            loop.remove_signal_handler(other)
        task.cancel()

    for number in watched:
        loop.add_signal_handler(number, end, number)
    try:
        code = await task
    except asyncio.CancelledError:
        if not received:
            raise
        code = 0
    return 128 + received[0] if received else code or 0
