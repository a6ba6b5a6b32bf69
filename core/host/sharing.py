"""Several ledgers on one project: one hosts it, the others watch, and take over when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from core.errors import FileError
from core.host.hosting import ENDING_SECONDS, LOOK_SECONDS, ProjectLock, named
from core.host.inflight import InFlight
from core.host.mirror import Mirror
from core.host.mirrored import Legacy


class Sharer(Protocol):
    """What is needed of the host."""

    def watch_only(self, on: bool) -> None:
        """Stop (or begin) to decide on notes and extractions."""
        ...

    def adopt(self, legacy: Legacy) -> None:
        """Go on from what is known of a root session of the ledger that hosted the project."""
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
        mirror: shows what the host knows while another process hosts the project.
    """

    def __init__(
        self,
        host: Sharer,
        directory: Path,
        flight: InFlight,
        mirror: Mirror,
        *,
        sleep: Callable[[float], Any] = asyncio.sleep,
    ) -> None:
        self._host = host
        self._flight = flight
        self._mirror = mirror
        self._sleep = sleep
        self._lock = ProjectLock(directory)
        self._waiting: asyncio.Task[None] | None = None
        self._holder = ""

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
        self._host.watch_only(True)
        self._hosted_by(self._lock.holder())
        self._mirror.start(lambda said: self._hosted_by(named(said)))
        self._waiting = asyncio.create_task(self._take_over())

    async def stop(self) -> None:
        """Let another ledger host the project."""
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.wait([self._waiting])
        await self._mirror.stop()
        await self._flight.stop()
        self._lock.release()

    def _hosted_by(self, holder: str) -> None:
        """Say it, unless that is known."""
        if holder == self._holder:
            return
        self._holder = holder
        self._host.set_server(host=holder, delivery="off", delivery_detail="")
        text = f"Another ledger ({holder}) hosts this project. This one shows it, and takes over when that one ends."
        self._host.warn("hosted_elsewhere", text)

    async def _take_over(self) -> None:
        while not self._is_free():
            await self._pause()
        await self._mirror.stop()
        legacy = self._mirror.legacy()
        for known in legacy:
            self._host.adopt(known)
        await self._listen()
        self._host.set_server(host="", delivery="patch")
        facts = sum(len(known.handover.kept) for known in legacy)
        taken = f", with {facts} of its facts" if facts else ""
        self._host.warn("took_over", f"The other ledger ended: this one hosts the project now{taken}.")
        self._host.watch_only(False)

    async def _pause(self) -> None:
        """Between two looks; a short one after the host stopped answering, because it frees the project next."""
        waits = [asyncio.ensure_future(self._sleep(LOOK_SECONDS)), asyncio.create_task(self._mirror.lost.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        if self._mirror.lost.is_set():
            self._mirror.lost.clear()
            await asyncio.sleep(ENDING_SECONDS)

    def _is_free(self) -> bool:
        """Whether this process hosts the project now; without a folder to be trusted nobody can tell: look later."""
        try:
            return self._lock.acquire()
        except FileError:
            return False

    async def _listen(self) -> None:
        if problem := await self._flight.start():
            self._host.warn("hook_server", problem)
