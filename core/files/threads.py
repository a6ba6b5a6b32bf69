"""Calls that may hang (a network file system that is gone), made so that nothing waits for them for long."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

MAX_HANGING: Final = 16
"""Calls that hang at the same time; until one of them comes back nothing new is begun."""


class Threads:
    """Makes calls in threads that do not keep the process from ending."""

    def __init__(self) -> None:
        self._hanging: list[threading.Thread] = []

    async def call(self, seconds: float, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `work` returns or raises.

        Raises:
            TimeoutError: it took longer than `seconds`, or too many calls hang already.
        """
        self._hanging = [thread for thread in self._hanging if thread.is_alive()]
        if len(self._hanging) >= MAX_HANGING:
            raise TimeoutError
        loop = asyncio.get_running_loop()
        result: asyncio.Future[T] = loop.create_future()

        def settle(value: T | None, error: Exception | None) -> None:
            if result.done():
                return
            if error is not None:
                result.set_exception(error)
            else:
                result.set_result(value)  # type: ignore[arg-type]  # None only where T holds it

        def run() -> None:
            try:
                outcome = (work(*args, **kwargs), None)
            except Exception as error:
                _tell(loop, settle, None, error)
            else:
                _tell(loop, settle, *outcome)

        thread = threading.Thread(target=run, name="ledger-files", daemon=True)
        thread.start()
        try:
            async with asyncio.timeout(seconds):
                return await result
        except TimeoutError:
            if thread.is_alive():
                self._hanging.append(thread)
            raise


def _tell(loop: asyncio.AbstractEventLoop, settle: Callable[..., None], value: object, error: Exception | None) -> None:
    try:
        loop.call_soon_threadsafe(settle, value, error)
    except RuntimeError:
        return  # the loop has ended meanwhile
