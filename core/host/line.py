"""The line to the server: finds it, follows it, and carries notes and extractions to it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from core import paths
from core.delivery.patch import PatchDelivery
from core.delivery.receipts import Outcome
from core.errors import LedgerError, NotFound, Unreachable, UsageError
from core.extraction.runner import Runner
from core.host.finding_server import Target, find_server
from core.host.options import HostOptions
from core.ledger import observations as seen
from core.ledger.effects import Extract, Note
from core.opencode.client import Client
from core.opencode.facts import identifier
from core.opencode.follow import Follower
from core.opencode.records import SessionHead
from core.opencode.sink import Sink, Timing
from core.opencode.stream import EventStream, Pace
from core.settings import Settings
from core.store.database import DATABASE
from core.store.own import OwnSessions
from core.text import clean_line
from core.views import Reply

_log = logging.getLogger(__name__)

SEARCH_SECONDS: Final = 3.0
"""Pause between two searches for a server on loopback."""
LOOPBACK_PAUSE_SECONDS: Final = 2.0
"""Longest pause between two attempts on this machine: one costs next to nothing, and each second may miss notes."""
FIRST_OPENING_SECONDS: Final = 40.0
"""An OpenCode that opens a project for the first time sets up its `.opencode` folder before it says anything."""
SEARCH_AGAIN_AFTER: Final = 3
"""Failed attempts to reconnect after which a server that was found is looked for again: it may have another port."""


class Owner(Sink, Protocol):
    """What the line needs of the host."""

    options: HostOptions
    settings: Settings
    clock: Callable[[], int]
    read_only: bool

    def takes_snapshots(self, on: bool) -> None:
        """What the server's configuration says."""
        ...

    def settled(self, root: str, outcome: Outcome, way: Literal["hook", "patch"]) -> None:
        """The fate of a note is known."""
        ...

    def tell(self, root: str, told: seen.Observation) -> None:
        """An observation made by delivery or extraction."""
        ...

    def set_server(self, **changes: Any) -> None:
        """What the status line says."""
        ...

    def failed(self, error: BaseException) -> None:
        """The line ended: the session asked for is not there, or by a fault of the ledger itself."""
        ...


class Line:
    """All traffic with one OpenCode server. A server that is not there yet is waited for."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending = False
        self._main: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._follower: Follower | None = None
        self._runner: Runner | None = None
        self._own: OwnSessions | None = None
        self._target: Target | None = None

    async def start(self) -> None:
        """Begin in the background."""
        self._main = self._spawn(self._run())

    async def stop(self) -> None:
        """Stop following, abort extractions (their sessions are deleted), close all connections.

        Nothing is begun from here on. A cancellation in the meantime does not keep the rest from being tidied up.
        """
        self._ending = True
        for task in self._tasks:
            task.cancel()
        while self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait(self._tasks)
        if self._client is not None:
            await self._client.aclose()
        if self._own is not None:
            self._own.close()

    def load(self, root: str) -> None:
        """Read the history of this session, if it was not read yet."""
        if self._follower is not None:
            self._follower.load(root)

    def retry(self) -> None:
        """Try to connect at once, also after a refusal."""
        if self._follower is not None:
            self._follower.retry_now()

    def root_of(self, session: str) -> str | None:
        """Root session above an agent session; None when it does not count, or is not known yet."""
        return self._follower.root_of(session) if self._follower is not None else None

    def connected(self) -> None:
        """The follower says that all is read back."""
        if not self._ending:
            self._spawn(self._get_ready())

    def failing(self, attempt: int) -> None:
        """The follower says that the server does not answer for the `attempt`th time in a row."""
        was_found = self._target is not None and not self._target.named
        if was_found and attempt % SEARCH_AGAIN_AFTER == 0 and not self._ending:
            self._spawn(self._look_elsewhere())

    def delivery_for(self, root: str) -> PatchDelivery:
        """Sends the notes of one root session."""
        return PatchDelivery(
            _Parts(self), lambda outcome: self._owner.settled(root, outcome, "patch"), self._owner.warn
        )

    def deliver(self, delivery: PatchDelivery, note: Note) -> None:
        """Send a note."""
        if not self._ending:
            self._spawn(delivery.send(note))

    def reply(self, id: str, reply: Reply) -> None:
        """Answer a permission request; a failure is told as a warning."""
        if not self._ending:
            self._spawn(self._reply(id, reply))

    def toast(self, text: str) -> None:
        """Show a sentence in OpenCode's own screen, where there is one and it works."""
        if not self._ending:
            self._spawn(self._toast(text))

    def extract(self, job: Extract) -> None:
        """Have these steps distilled."""
        if self._runner is None or self._ending:
            failed = seen.ExtractionFailed(t=job.t, session=job.session, id=job.id, error="not connected")
            asyncio.get_running_loop().call_soon(self._owner.tell, job.session, failed)
        else:
            self._spawn(self._runner.run(job))

    @property
    def client(self) -> Client:
        """The connection in use."""
        if self._client is None:
            raise Unreachable("There is no connection to a server")
        return self._client

    async def _reply(self, id: str, reply: Reply) -> None:
        try:
            await self.client.reply_permission(id, reply)
        except LedgerError as error:
            self._owner.warn("permission", f"The answer did not reach the agent: {error}")

    async def _toast(self, text: str) -> None:
        with contextlib.suppress(LedgerError):
            await self.client.toast(text)

    async def _run(self) -> None:
        """Find a server and follow it until cancelled."""
        owner = self._owner
        folder = owner.options.state_dir or paths.state_dir()
        self._own = await asyncio.to_thread(OwnSessions, folder / DATABASE, owner.warn)
        self._target = await self._search()
        directory = str(owner.options.directory)
        self._client = Client(
            self._target.url, directory=directory, auth=self._target.credentials, token=self._target.token
        )
        owner.set_server(url=self._client.url)
        self._runner = Runner(self._client, self._own, owner.settings, self._told, owner.clock)
        longest = LOOPBACK_PAUSE_SECONDS if self._client.is_loopback else Pace().longest
        pace = Pace(longest=longest, first_opening=FIRST_OPENING_SECONDS)
        stream = EventStream(self._client.events, max_frame_bytes=owner.settings.max_frame_bytes, pace=pace)
        timing = Timing(now=owner.clock, pace=pace)
        self._follower = Follower(self._client, stream, owner, directory=directory, own=self._own, timing=timing)
        if owner.options.session:
            await self._check(owner.options.session)
            self._follower.load(owner.options.session)
        await self._follower.run()

    async def _check(self, session: str) -> None:
        """A server that does not answer is waited for.

        Raises:
            NotFound: the server says that there is no such session.
            UsageError: it is that of a sub-agent, or of another folder, so nothing would ever be told of it.
        """
        try:
            found = await self.client.session(session)
        except NotFound:
            raise
        except LedgerError as error:
            _log.info("session %s could not be looked up yet: %s", session, error)
            return
        _check_session(found, self._owner.options.directory)

    async def _search(self) -> Target:
        """Wait until there is a server."""
        while True:
            try:
                return await find_server(self._owner.options)
            except LedgerError as error:
                self._owner.connection("none", str(error), 0, 0)
                await asyncio.sleep(SEARCH_SECONDS)

    def _told(self, told: seen.Observation) -> None:
        """The runner names the root session as the session of what it tells."""
        self._owner.tell(told.session, told)

    async def _get_ready(self) -> None:
        """After each connect: who answers, what it has, and what an earlier run left there."""
        owner, client = self._owner, self.client
        try:
            owner.set_server(version=await client.health())
            config = await client.config()
            owner.takes_snapshots(config.snapshot)
            if self._runner is not None and not owner.read_only and (left := await self._runner.clean_up()):
                owner.warn("leftovers", f"{left} extraction session(s) of an earlier run were deleted")
        except LedgerError as error:
            owner.warn("server", str(error))

    async def _look_elsewhere(self) -> None:
        """A server that was found by itself may have come back at another port."""
        target, follower, client = self._target, self._follower, self._client
        if target is None or follower is None or client is None:
            return
        try:
            found = await find_server(self._owner.options)
        except LedgerError:
            return
        if found.url != target.url:
            self._target = found
            await client.move(found.url, found.credentials, found.token)
            self._owner.set_server(url=client.url)
            follower.retry_now()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        if not isinstance(error, LedgerError):
            _log.error("a task of the ledger failed", exc_info=error)
            self._owner.warn("fault", f"A fault of the ledger itself: {type(error).__name__}: {error}")
        if task is self._main:
            self._owner.failed(error)


class _Parts:
    """The server's parts, through whatever connection there is at the time."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def raw_part(self, session: str, message: str, part: str) -> dict[str, Any]:
        """See :class:`core.delivery.patch.PartStore`."""
        return await self._line.client.raw_part(session, message, part)

    async def patch_part(self, session: str, message: str, part: str, body: dict[str, Any]) -> None:
        """See :class:`core.delivery.patch.PartStore`."""
        await self._line.client.patch_part(session, message, part, body)


def _check_session(found: SessionHead, directory: Path) -> None:
    """Raise UsageError for a session that the follower would pass over."""
    if found.parent:
        hint = f"Name the session it works for: --session {identifier(found.parent)}"
        raise UsageError(f"{identifier(found.id)} is the session of a sub-agent", hint)
    if found.directory and os.path.realpath(found.directory) != os.path.realpath(directory):
        hint = f"Name that with --directory {clean_line(found.directory, 300)}"
        raise UsageError(f"{identifier(found.id)} is a session of another folder", hint)
