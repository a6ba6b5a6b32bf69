"""Several ledgers on one project: one hosts it, the others watch, and take over when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from core.errors import FileError
from core.host.hosting import LOOK_SECONDS, ProjectLock
from core.host.inflight import InFlight


class Sharer(Protocol):
    """What is needed of the host."""

    def watch_only(self, on: bool) -> None:
        """Stop (or begin) to decide on notes and extractions."""
        ...

    def warn(self, code: str, message: str) -> None:
        """Something a person should know."""
        ...

    def set_server(self, **changes: Any) -> None:
        """What the status line says."""
        ...


class Sharing:
    """Hosts the project, with its hook server, as soon as nobody else does.

    Args:
        host: the ledger of this process.
        directory: the project.
        flight: started while this process hosts the project.
    """

    def __init__(
        self, host: Sharer, directory: Path, flight: InFlight, *, sleep: Callable[[float], Any] = asyncio.sleep
    ) -> None:
        self._host = host
        self._flight = flight
        self._sleep = sleep
        self._lock = ProjectLock(directory)
        self._waiting: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Host the project if nobody does; else watch until it is free."""
        try:
            free = self._lock.acquire()
        except FileError as error:
            self._host.warn("runtime_folder", f"Notes go by patch only: {error}")
            return
        if free:
            await self._listen()
            return
        text = f"Another ledger ({self._lock.holder()}) hosts this project; this one takes over when that ends."
        self._host.watch_only(True)
        self._host.set_server(delivery="off", delivery_detail=text)
        self._host.warn("hosted_elsewhere", text)
        self._waiting = asyncio.create_task(self._take_over())

    async def stop(self) -> None:
        """Let another ledger host the project."""
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.wait([self._waiting])
        await self._flight.stop()
        self._lock.release()

    async def _take_over(self) -> None:
        while not self._is_free():
            await self._sleep(LOOK_SECONDS)
        await self._listen()
        self._host.set_server(delivery="patch", delivery_detail="")
        self._host.warn("took_over", "The other ledger ended: this one hosts the project now.")
        self._host.watch_only(False)

    def _is_free(self) -> bool:
        """Whether this process hosts the project now; without a folder to be trusted nobody can tell: look later."""
        try:
            return self._lock.acquire()
        except FileError:
            return False

    async def _listen(self) -> None:
        if problem := await self._flight.start():
            self._host.warn("hook_server", problem)
