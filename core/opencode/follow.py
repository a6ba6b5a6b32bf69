"""Following one OpenCode server: whatever happens there reaches the sink once and in order, through any interruption.

On each connect the event stream is opened first; its events wait in the stream's backlog while the state is read back
over HTTP, and are taken in after it. What was seen both ways is told once (see :class:`Assembler`). A root session is
read back when it was attached before, is busy, changed since the ledger attached, was asked for, or is the latest of
the directory; any other one when its first event arrives, and its events wait meanwhile.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Container

from core import errors
from core.opencode.announce import Announcer
from core.opencode.assemble import Assembler, session_of
from core.opencode.events import SessionChanged
from core.opencode.facts import moment
from core.opencode.loading import Loader
from core.opencode.reading import MAX_MESSAGES, Listing, Reader, ServerClient
from core.opencode.sink import ConnectionState, Peers, Sink, Stream, Timing
from core.opencode.stream import Connected, Frame, Lost, Refused, Skipped
from core.opencode.wire import Event, EventDecoder

__all__ = ["ConnectionState", "Follower", "Peers", "ServerClient", "Sink", "Stream", "Timing"]


class Follower:
    """Follows one directory of one server until :meth:`run` is cancelled.

    Attributes:
        decoder: counts of unknown and broken events.
    """

    def __init__(
        self,
        client: ServerClient,
        stream: Stream,
        sink: Sink,
        *,
        directory: str | None = None,
        own: Container[str] = (),
        max_messages: int = MAX_MESSAGES,
        timing: Timing | None = None,
        peers: Peers | None = None,
    ) -> None:
        """Prepare to follow.

        Args:
            client: asked for the state.
            stream: brings the events.
            sink: is told.
            directory: sessions of others do not count (None: those of all count). It may be a link: OpenCode writes
                where it leads to.
            own: ids of the ledger's own sessions.
            max_messages: messages of a session that are read back at most.
            timing: clock and patience.
            peers: the others that follow the same sessions.
        """
        self.decoder = EventDecoder()
        self._stream = stream
        self._sink = sink
        self._timing = timing or Timing()
        self._peers = peers or Peers()
        self._reader = Reader(client, max_messages=max_messages)
        names = None if directory is None else {directory, os.path.realpath(directory)}
        self._assembler = Assembler(names, own)
        self._announcer = Announcer(sink, self._assembler, self._timing.now)
        self._loader = Loader(self._reader, self._assembler, self._announcer, self._timing, self._peers)
        self._again = asyncio.Event()
        self._failures = 0
        self._is_live = False

    @property
    def attached_at(self) -> int:
        """When the first connection was made, in ms; 0 before."""
        return self._loader.attached_at

    def root_of(self, session: str) -> str | None:
        """Root session above an agent session; None when it does not count, or is not known yet."""
        return self._assembler.root_of(session)

    async def run(self) -> None:
        """Follow until cancelled; a refusal waits for :meth:`retry_now`, anything else is tried again by itself.

        Returns when the stream ends for good, which that of a server never does. An error that is no fault of the
        server (of the sink, for example) comes out as it is, in an `ExceptionGroup`.
        """
        self._sink.connection("connecting", "")
        try:
            async with asyncio.TaskGroup() as tasks:
                self._loader.create_task = tasks.create_task
                while (failure := await self._follow()) is not None:
                    await self._drop_work()
                    await self._stream.aclose()
                    await self._wait(failure)
                await self._drop_work()
        finally:
            await self._stream.aclose()
            self._sink.connection("closed", "")

    def retry_now(self) -> None:
        """Try again at once, also after a refusal."""
        self._again.set()
        self._stream.retry_now()

    def load(self, root: str) -> None:
        """Read this root session back as soon as possible, and keep it attached from then on."""
        self._loader.chosen[root] = None
        known = self._assembler.root_of(root)
        if self._is_live and known not in self._loader.attached and (known or root) not in self._loader.gates:
            if known is None:
                self._loader.begin_look_up(root)
            else:
                self._loader.begin_load(known)

    def read_anew(self, root: str) -> None:
        """Read this root session back and tell all of it again, as soon as possible: another process had it."""
        if self._is_live:
            self._loader.read_anew(root)
        else:
            self._loader.anew.add(root)

    # The stream

    async def _follow(self) -> errors.ServerError | None:
        """Follow the stream until it is refused or the state cannot be read back; gives the failure, if any."""
        refusal: errors.Refused | None = None
        async for item in self._stream:
            if isinstance(item, Frame):
                self._take(item.event)
            elif isinstance(item, Connected):
                try:
                    await self._resync()
                except errors.ServerError as error:
                    return error
            elif isinstance(item, Lost):
                await self._drop_work()
                retry_at = self._timing.now() + item.retry_in_ms
                self._sink.connection("reconnecting", item.reason, item.attempt, retry_at)
            elif isinstance(item, Refused):
                refusal = errors.Refused(item.reason)
            elif isinstance(item, Skipped):
                mib = item.max_frame_bytes >> 20
                self._sink.warn("frame_too_large", f"{item.count} event(s) of more than {mib} MiB were skipped")
        return refusal

    async def _wait(self, failure: errors.ServerError) -> None:
        """After a failure that ended the stream: until the next attempt is due or wanted."""
        self._again.clear()
        if isinstance(failure, errors.Refused):
            self._sink.connection("refused", str(failure))
            await self._again.wait()
        else:
            self._failures += 1
            seconds = self._timing.delay(self._failures)
            self._sink.warn("resync_failed", str(failure))
            retry_at = self._timing.now() + round(seconds * 1000)
            self._sink.connection("reconnecting", str(failure), self._failures, retry_at)
            await _first(self._timing.sleep(seconds), self._again.wait())
        self._sink.connection("connecting", "")

    async def _drop_work(self) -> None:
        """Forget all reading under way and what waits for it: after the next connect the state is read back."""
        self._is_live = False
        await self._loader.cancel()
        self._assembler.forget_held()

    # After a connect

    async def _resync(self) -> None:
        self._sink.connection("resyncing", "")
        self._loader.attached_at = self.attached_at or self._peers.attached_at() or self._timing.now()
        listing = await self._reader.listing()
        self._announcer.tell(self._assembler.learn(listing.sessions, self._timing.now()))
        roots = [session for session in listing.sessions if self._assembler.root_of(session.id) == session.id]
        for session in roots:
            self._announcer.show(session.id, moment(session.time.updated), anew=True)
        for root in self._wanted(listing, [(session.id, moment(session.time.updated)) for session in roots]):
            try:
                await self._loader.read_back(root, listing)
            except (errors.Unreachable, errors.Refused, errors.WrongServer):
                raise
            except errors.ServerError as error:
                self._announcer.cannot_read(root, error)
                self._loader.begin_load(root)
        self._failures = 0
        self._is_live = True
        self._sink.connection("live", "")
        for root in list(self._loader.anew):
            self.read_anew(root)
        for root in list(self._loader.chosen):
            self.load(root)

    def _wanted(self, listing: Listing, roots: list[tuple[str, int]]) -> list[str]:
        """Root sessions to be read back now, those at work first."""
        busy = [root for id in sorted(listing.busy) if (root := self._assembler.root_of(id))]
        changed = [root for root, updated in roots if updated >= self.attached_at]
        latest = [max(roots, key=lambda item: (item[1], item[0]))[0]] if roots else []
        known = [root for root in self._loader.chosen if self._assembler.root_of(root) == root]
        return list(dict.fromkeys([*busy, *known, *sorted(self._loader.attached), *changed, *latest]))

    # Events

    def _take(self, frame: bytes) -> None:
        broken = self.decoder.broken
        event = self.decoder.decode(frame)
        if event is None:
            if self.decoder.broken > broken:
                self._announcer.warn_once("broken_event", "An event could not be read and was skipped")
        elif event.data is not None:
            self._route(event, len(frame))

    def _route(self, event: Event, size: int) -> None:
        """Take an event in, or let it wait for what has to be read first."""
        id = session_of(event)
        root = self._assembler.root_of(id) or self._root_above(event)
        gates = self._loader.gates
        gate = gates.get(id, gates.get(root or id))
        if gate is not None:
            gate.add(event, size)
        elif root in self._loader.attached or not id:
            self._loader.feed(event, size)
        elif root is not None:
            self._of_unattached(event, root, size)
        elif not self._assembler.is_ignored(id):
            self._of_unknown(event, id, size)

    def _root_above(self, event: Event) -> str | None:
        """Root of a session that is new, by its parent."""
        data = event.data
        if isinstance(data, SessionChanged) and data.info is not None and data.info.parent:
            return self._assembler.root_of(data.info.parent)
        return None

    def _of_unattached(self, event: Event, root: str, size: int) -> None:
        """Of a root session nobody looked at so far: infos are noted, anything else wakes it."""
        data = event.data
        if event.type == "session.deleted":
            self._loader.feed(event)
        elif isinstance(data, SessionChanged) and data.info is not None:
            self._announcer.tell(self._assembler.learn((data.info,), self._timing.now()))
            self._announcer.noted(data, root)
        else:
            self._loader.begin_load(root).add(event, size)

    def _of_unknown(self, event: Event, id: str, size: int) -> None:
        data = event.data
        if event.type == "session.created" and isinstance(data, SessionChanged) and data.info and not data.info.parent:
            self._loader.attached.add(id)
            self._loader.feed(event)
            if self._assembler.root_of(id) is None:
                self._loader.attached.discard(id)
        elif event.type != "session.deleted":
            self._loader.begin_look_up(id).add(event, size)


async def _first(*waits: Awaitable[object]) -> None:
    """Wait until one of them is done; the others are cancelled."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
