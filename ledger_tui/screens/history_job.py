"""Work in a thread that can be stopped, and tells the screen how far it is."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

_EVERY: Final = 0.1
"""Seconds between two figures of progress."""

Result = TypeVar("Result")


class Stopped(Exception):  # noqa: N818 - it is no error
    """The work was given up."""


class Job:
    """What the work has of the screen. Made in the event loop, used in the thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = threading.Event()
        self._next = 0.0

    def stop(self) -> None:
        """End the work at its next :meth:`check`; nothing it tells reaches the screen any more."""
        self._stop.set()

    def check(self) -> None:
        """Raises Stopped when the work was given up."""
        if self._stop.is_set():
            raise Stopped

    def tell(self, call: Callable[..., object], *values: Any) -> None:
        """Have the event loop call `call(*values)`. Raises Stopped."""
        self.check()
        self._loop.call_soon_threadsafe(self._told, call, values)

    def progress(self, call: Callable[..., object], *values: Any) -> None:
        """As :meth:`tell`, ten times a second at most; other calls only check. Raises Stopped."""
        now = time.monotonic()
        if now < self._next:
            self.check()
            return
        self._next = now + _EVERY
        self.tell(call, *values)

    def _told(self, call: Callable[..., object], values: tuple[Any, ...]) -> None:
        if not self._stop.is_set():
            call(*values)


async def in_thread(work: Callable[[Job], Result]) -> Result:
    """Do `work` in a thread; when this is cancelled the work is stopped.

    Raises:
        LedgerError: what the work raises.
    """
    job = Job()
    try:
        return await asyncio.to_thread(work, job)
    finally:
        job.stop()
