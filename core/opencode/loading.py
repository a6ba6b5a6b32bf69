"""Root sessions that are attached, and reading others back while their events wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final, TypeVar

from core import errors
from core.opencode.announce import Announcer
from core.opencode.assemble import Assembler, session_of
from core.opencode.events import SessionChanged
from core.opencode.facts import moment
from core.opencode.failures import TooLarge
from core.opencode.gate import Gate
from core.opencode.reading import History, Listing, Reader
from core.opencode.records import MessageWithParts
from core.opencode.requests import Request
from core.opencode.sink import Peers, Timing
from core.opencode.wire import Event, MessageUpdated, PartUpdated, SessionStatus

_T = TypeVar("_T")

_TURN_SECONDS: Final = 0.01
_READS_AT_ONCE: Final = 3


class Loader:
    """Reads sessions back, in tasks of its own or in the caller's.

    Attributes:
        attached: root sessions whose state is known; their events can be taken in as they come.
        chosen: root sessions somebody asked for, in order.
        gates: events that wait, by root session or by a session not known yet.
        anew: root sessions of which all is to be read and told again: another process was at work there.
        attached_at: when the ledger attached, in ms; 0 before.
        create_task: starts a task; whoever provides it deals with errors that are no fault of the server.
    """

    def __init__(
        self, reader: Reader, assembler: Assembler, announcer: Announcer, timing: Timing, peers: Peers
    ) -> None:
        self.attached: set[str] = set()
        self.chosen: dict[str, None] = {}
        self.gates: dict[str, Gate] = {}
        self.anew: set[str] = set()
        self.attached_at = 0
        self.create_task: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]] = asyncio.create_task
        self._reader = reader
        self._assembler = assembler
        self._announcer = announcer
        self._timing = timing
        self._peers = peers
        self._tasks: set[asyncio.Task[None]] = set()
        self._reads = asyncio.Semaphore(_READS_AT_ONCE)

    def feed(self, event: Event, size: int = 0) -> None:
        """Take in an event of `size` bytes whose turn it is, unless what another process did has to be read first."""
        worked = self._assembler.root_of(session_of(event)) if _shows_work(event) else None
        if worked is not None and self._peers.claim(worked):
            self.read_anew(worked).put_back(event, size)
            return
        told = self._assembler.feed(event, self._timing.now())
        data = event.data
        if isinstance(data, SessionChanged):
            id = session_of(event)
            root = self._assembler.root_of(id)
            if event.type == "session.deleted":
                self._drop(id)
            elif root is not None:
                self._announcer.noted(data, root)
        self._announcer.tell(told)

    def forget(self, id: str) -> None:
        """A session turned out to be gone."""
        told = self._assembler.gone(id, self._timing.now())
        self._drop(id)
        self._announcer.tell(told)

    async def cancel(self) -> None:
        """Stop all reading, and drop what waits for it."""
        tasks, self._tasks = self._tasks, set()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self.gates.clear()

    def begin_load(self, root: str) -> Gate:
        """Start to read a root session back."""
        return self._begin(root, self._load(root))

    def read_anew(self, root: str) -> Gate:
        """Read a root session back as if nothing of it had been told; one that is not known is looked up first."""
        self.anew.add(root)
        if root in self.gates:
            return self.gates[root]
        return self.begin_look_up(root) if self._assembler.root_of(root) is None else self.begin_load(root)

    def begin_look_up(self, id: str) -> Gate:
        """Start to find out whose session this is."""
        return self._begin(id, self._look_up(id))

    def _drop(self, id: str) -> None:
        self.attached.discard(id)
        self.anew.discard(id)
        self.chosen.pop(id, None)
        self._announcer.forget(id)

    def _is_placed(self, session: str) -> bool:
        return self._assembler.root_of(session) is not None or self._assembler.is_ignored(session)

    def _begin(self, key: str, work: Coroutine[Any, Any, None]) -> Gate:
        """Start reading something back; events of `key` (a root session, or one not known) wait meanwhile."""
        gate = self.gates[key] = Gate()
        task = self.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return gate

    async def _look_up(self, id: str) -> None:
        """Find out whose session this is, then read its root session back."""
        infos = await self._insist(id, lambda: self._reader.ancestry(id, self._is_placed))
        if infos is not None:
            self._announcer.tell(self._assembler.learn(infos, self._timing.now()))
        root = self._assembler.root_of(id)
        gate = self.gates.pop(id)
        if root is None:
            self._assembler.resolve(id, None, self._timing.now())
            if id in self.anew:
                self.anew.discard(id)
                self._peers.missing(id)
            if id in self.chosen:
                del self.chosen[id]
                self._announcer.no_such_session(id)
            return
        self._announcer.show(root, max((moment(info.time.updated) for info in infos or ()), default=0))
        if root in self.gates:
            while gate:
                self.gates[root].add(*gate.take())
        else:
            self.gates[root] = gate
            await self._load(root)

    async def _load(self, root: str) -> None:
        """Read a root session back, then take in the events that waited; again if there were too many of them."""
        gate = self.gates[root]
        while True:
            gate.reset_if_overflowed()
            if root in self.anew:
                self.anew.discard(root)
                self._assembler.renew(root)
            await self._insist(root, lambda: self.read_back(root))
            since = time.monotonic()
            while gate:
                self.feed(*gate.take())
                if root in self.anew:
                    break
                if time.monotonic() - since > _TURN_SECONDS:
                    await asyncio.sleep(0)
                    since = time.monotonic()
            if not gate.overflowed and root not in self.anew:
                break
        del self.gates[root]

    async def _insist(self, id: str, read: Callable[[], Awaitable[_T]]) -> _T:
        """Read until it succeeds; the task is cancelled when the stream is lost."""
        attempt = 0
        while True:
            try:
                async with self._reads:
                    return await read()
            except errors.ServerError as error:
                attempt += 1
                if attempt > 1 or not isinstance(error, errors.Unreachable):  # once: OpenCode is ending, as a rule
                    self._announcer.cannot_read(id, error)
                await self._timing.sleep(self._timing.delay(attempt))

    async def read_back(self, root: str, listing: Listing | None = None) -> None:
        """Read a root session and its sub-agents, as far as they are not known, and tell what they say."""
        self._announcer.loading(root, on=True)
        try:
            await self._read_tree(root, listing)
        finally:
            self._announcer.loading(root, on=False)

    async def _read_tree(self, root: str, listing: Listing | None) -> None:
        busy = await self._reader.busy() if listing is None else listing.busy
        if listing is None or listing.full:
            self._announcer.tell(self._assembler.learn(await self._reader.descendants(root), self._timing.now()))
        messages: dict[str, list[MessageWithParts]] = {}
        truncated: set[str] = set()
        for id in self._assembler.below(root):
            history = await self._history(id)
            if history is not None:
                messages[id] = history.messages
                if not history.is_whole:
                    truncated.add(id)
        if root in messages:
            self.attached.add(root)
            t = self._timing.now()
            for piece in self._assembler.pieces((), messages, t, self.attached_at, busy=busy, truncated=truncated):
                self._announcer.tell(piece)
                await asyncio.sleep(0)
            # Only who is at work can wait for an answer.
            requests = await self._reader.pending() if busy.intersection(self._assembler.below(root)) else ()
            self._announcer.tell(self._assembler.pending(root, requests, self._timing.now()))

    async def _history(self, id: str) -> History | None:
        """Messages of one session; None when it is gone."""
        try:
            history = await self._reader.history(id, partial(self._assembler.knows, id))
        except errors.NotFound:
            self.forget(id)
            return None
        except TooLarge as error:
            self._announcer.cannot_read(id, error)
            return History(messages=[], is_whole=False)
        if not history.is_whole and not history.reaches_known:
            self._announcer.left_out(id, len(history.messages))
        return history


def _shows_work(event: Event) -> bool:
    """Whether only the process that works in a session sends this event of it."""
    data = event.data
    if isinstance(data, SessionStatus):
        return data.status.type in {"busy", "retry"}
    return isinstance(data, MessageUpdated | PartUpdated | Request)
