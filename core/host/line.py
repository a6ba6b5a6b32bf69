"""The line to one OpenCode process: follows it, and carries notes, answers and extractions to it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from core.errors import LedgerError, NotFound, Unreachable, UsageError
from core.extraction.runner import Runner
from core.extraction.turn import Turn
from core.host.finding_server import Target
from core.host.junction import Junction, Side
from core.host.options import HostOptions
from core.host.tasks import Tasks
from core.ledger import observations as seen
from core.ledger.effects import Extract
from core.opencode.client import Client
from core.opencode.facts import identifier
from core.opencode.follow import Follower
from core.opencode.records import SessionHead
from core.opencode.sink import ConnectionState, Sink, Timing
from core.opencode.stream import EventStream, Pace
from core.settings import Settings
from core.store.own import OwnSessions
from core.text import clean_line
from core.views import Answers, Reply

_log = logging.getLogger(__name__)

LOOPBACK_PAUSE_SECONDS: Final = 2.0
"""Longest pause between two attempts on this machine: one costs next to nothing, and each second may miss notes."""
FIRST_OPENING_SECONDS: Final = 40.0
"""An OpenCode that opens a project for the first time sets up its `.opencode` folder before it says anything."""


class Owner(Sink, Protocol):
    """What a line needs of the host."""

    options: HostOptions
    settings: Settings
    clock: Callable[[], int]
    read_only: bool

    def takes_snapshots(self, on: bool) -> None:
        """What the server's configuration says."""
        ...

    def tell(self, root: str, told: seen.Observation) -> None:
        """An observation made by extraction."""
        ...

    def set_server(self, **changes: Any) -> None:
        """What the status line says."""
        ...


@dataclass(frozen=True, kw_only=True)
class Company:
    """What the lines of one ledger share.

    Attributes:
        junction: where they meet.
        own: ids of the ledger's own sessions.
        turn: to run an extraction.
        said: told the line, and the state of its way to the server.
        ended: told the line, and the error that ended it for good.
        attached_at: when the first of them attached, in ms; 0 before.
    """

    junction: Junction
    own: OwnSessions
    turn: Turn
    said: Callable[..., None]
    ended: Callable[[Line, BaseException], None]
    attached_at: Callable[[], int]


class Line:
    """All traffic with one OpenCode process.

    Attributes:
        state: of the way to the server.
        way: what the follower said of that: state, sentence, attempt, time of the next one.
    """

    def __init__(self, owner: Owner, target: Target, company: Company) -> None:
        self.target = target
        self.way: tuple[ConnectionState, str, int, int] = ("connecting", "", 0, 0)
        self._owner = owner
        self._company = company
        self._side = Side(company.junction, self, owner, company.said)
        self._tasks = Tasks(owner.warn)
        self._client: Client | None = None
        self._follower: Follower | None = None
        self._runner: Runner | None = None

    @property
    def is_live(self) -> bool:
        """Whether it brings events at present."""
        return self.way[0] == "live"

    @property
    def attached_at(self) -> int:
        """When it attached, in ms; 0 before."""
        return self._follower.attached_at if self._follower is not None else 0

    @property
    def url(self) -> str:
        """Where it leads to; empty before it is tried."""
        return self._client.url if self._client is not None else ""

    @property
    def client(self) -> Client:
        """The connection in use."""
        if self._client is None:
            raise Unreachable("There is no connection to a server")
        return self._client

    def start(self, session: str | None = None) -> None:
        """Begin in the background; `session` must be there, and is read first."""
        self._tasks.spawn(self._run(session), lambda error: self._company.ended(self, error))

    async def stop(self) -> None:
        """Stop following, abort extractions (their sessions are deleted), close all connections.

        Nothing is begun from here on. A cancellation in the meantime does not keep the rest from being tidied up.
        """
        await self._tasks.stop()
        if self._client is not None:
            await self._client.aclose()

    def load(self, root: str) -> None:
        """Read the history of this session, if it was not read yet."""
        if self._follower is not None:
            self._follower.load(root)

    def read_anew(self, root: str) -> None:
        """See :class:`core.host.junction.Way`."""
        if self._follower is not None:
            self._follower.read_anew(root)

    def retry(self) -> None:
        """Try to connect at once, also after a refusal."""
        if self._follower is not None:
            self._follower.retry_now()

    def root_of(self, session: str) -> str | None:
        """Root session above an agent session; None when it does not count, or is not known yet."""
        return self._follower.root_of(session) if self._follower is not None else None

    def connected(self) -> None:
        """The follower says that all is read back."""
        self._tasks.spawn(self._get_ready())

    def reply(self, id: str, reply: Reply) -> None:
        """Answer a permission request; a failure is told as a warning."""
        self._tasks.spawn(self._reply(lambda client: client.reply_permission(id, reply)))

    def answer(self, id: str, answers: Answers | None) -> None:
        """Answer the questions of a request, None refuses; a failure is told as a warning."""

        def send(client: Client) -> Awaitable[None]:
            return client.reject_question(id) if answers is None else client.reply_question(id, answers)

        self._tasks.spawn(self._reply(send))

    def toast(self, text: str) -> None:
        """Show a sentence in OpenCode's own screen, where there is one and it works."""
        self._tasks.spawn(self._toast(text))

    def extract(self, job: Extract) -> None:
        """Have these steps distilled."""
        if self._runner is None or self._tasks.ending:
            failed = seen.ExtractionFailed(t=job.t, session=job.session, id=job.id, error="not connected")
            asyncio.get_running_loop().call_soon(self._owner.tell, job.session, failed)
        else:
            self._tasks.spawn(self._runner.run(job))

    async def _reply(self, send: Callable[[Client], Awaitable[None]]) -> None:
        try:
            await send(self.client)
        except LedgerError as error:
            self._owner.warn("permission", f"The answer did not reach the agent: {error}")

    async def _toast(self, text: str) -> None:
        with contextlib.suppress(LedgerError):
            await self.client.toast(text)

    async def _run(self, session: str | None) -> None:
        """Follow the server until cancelled."""
        owner, target, company = self._owner, self.target, self._company
        directory = str(owner.options.directory)
        self._client = client = Client(
            target.url, directory=directory, auth=target.credentials, token=target.token, vouch=target.vouch
        )
        self._runner = Runner(client, company.own, owner.settings, self._told, owner.clock, company.turn)
        longest = LOOPBACK_PAUSE_SECONDS if client.is_loopback else Pace().longest
        pace = Pace(longest=longest, first_opening=FIRST_OPENING_SECONDS)
        stream = EventStream(client.events, max_frame_bytes=owner.settings.max_frame_bytes, pace=pace)
        self._follower = Follower(
            client,
            stream,
            self._side,
            directory=directory,
            own=company.own,
            timing=Timing(now=owner.clock, pace=pace),
            peers=self._side.peers(company.attached_at),
        )
        if session:
            await self._check(session)
            self._follower.load(session)
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


def _check_session(found: SessionHead, directory: Path) -> None:
    """Raise UsageError for a session that the follower would pass over."""
    if found.parent:
        hint = f"Name the session it works for: --session {identifier(found.parent)}"
        raise UsageError(f"{identifier(found.id)} is the session of a sub-agent", hint)
    if found.directory and os.path.realpath(found.directory) != os.path.realpath(directory):
        hint = f"Name that with --directory {clean_line(found.directory, 300)}"
        raise UsageError(f"{identifier(found.id)} is a session of another folder", hint)
