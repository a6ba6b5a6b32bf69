"""Work in the background that ends with its owner, and whose faults are told."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from core.errors import LedgerError

_log = logging.getLogger(__name__)


class Tasks:
    """Tasks of one owner.

    Args:
        warn: told (code, message) of a fault of the ledger itself.

    Attributes:
        ending: nothing is begun any more.
    """

    def __init__(self, warn: Callable[[str, str], None]) -> None:
        self.ending = False
        self._warn = warn
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None], failed: Callable[[BaseException], None] | None = None) -> None:
        """Begin; `failed` is told the error it ends with. At the end of all nothing is begun."""
        if self.ending:
            work.close()
            return
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._done(task, failed))

    async def stop(self) -> None:
        """Cancel all and wait until they have tidied up; a cancellation in the meantime does not keep them from it."""
        self.ending = True
        for task in self._tasks:
            task.cancel()
        while self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait(self._tasks)

    def _done(self, task: asyncio.Task[None], failed: Callable[[BaseException], None] | None) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        if not isinstance(error, LedgerError):
            _log.error("a task of the ledger failed", exc_info=error)
            self._warn("fault", f"A fault of the ledger itself: {type(error).__name__}: {error}")
        if failed is not None:
            failed(error)
