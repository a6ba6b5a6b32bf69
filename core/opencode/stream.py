"""An event stream that does not end: it reconnects, notices silence, and never holds more than it may.

OpenCode keeps no event for a client that is away (`Last-Event-ID` is ignored), so each :class:`Connected` means: what
happened since the last :class:`Lost` has to be read back over HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Self

import msgspec

from core import errors
from core.opencode.backlog import Backlog
from core.opencode.sse import Splitter

_TURN_SECONDS = 0.01
"""A consumer that never waits gives the event loop a turn at least this often."""


class Connected(msgspec.Struct, frozen=True, kw_only=True):
    """The stream is open and bytes arrive: from here on every event is seen."""


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """One event: the joined `data` of its frame, normally a JSON object."""

    event: bytes


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """Frames above the limit were left out; the stream goes on."""

    count: int
    max_frame_bytes: int


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """The connection ended, or could not be made; the next attempt follows by itself."""

    reason: str
    attempt: int
    """Failures in a row so far, from 1."""
    retry_in_ms: int
    wrong_server: bool = False
    """Something else than OpenCode answered; attempts are far apart."""


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """The server wants a password, or another one: no further attempt is made. Iterate again to try again."""

    reason: str


Item = Connected | Frame | Skipped | Lost | Refused


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """When to give up waiting and when to try again, all in seconds."""

    silence: float = 30.0
    """A connection without any byte for this long is taken for dead (a heartbeat is due every 10 s)."""
    opening: float = 10.0
    """A new connection without any byte for this long is given up (OpenCode greets at once, or hangs at its start)."""
    first_opening: float = 0.0
    """The same before the first connection, where this is longer: a server may be setting up the project."""
    first: float = 0.5
    """Delay before the first new attempt; it doubles with every failure in a row."""
    longest: float = 5.0
    wrong_server: float = 30.0
    """Delay after an answer of something that is not OpenCode."""
    steady: float = 5.0
    """Connections that end sooner, one after another, count as failures in a row."""

    def delay(self, attempt: int, chance: float) -> float:
        """Seconds to wait after failure number `attempt` (from 1); `chance` in [0, 1) takes off up to half of it."""
        return min(self.longest, self.first * 2.0 ** min(attempt - 1, 30)) * (1.0 - 0.5 * chance)


class EventStream:
    """Asynchronous iterator over :data:`Item`; a task of its own reads ahead, at most `max_items` and `max_bytes`.

    The iteration ends after :class:`Refused` only; iterating again connects again. An exception that is no
    :class:`core.errors.ServerError` comes out of the iteration as it is. Close it (`async with`) when done.

    Attributes:
        skipped: frames left out so far because they were above the limit.
    """

    def __init__(
        self,
        connect: Callable[[], AsyncGenerator[bytes, None]],
        *,
        max_frame_bytes: int = 64 << 20,
        max_items: int = 4096,
        max_bytes: int = 16 << 20,
        pace: Pace | None = None,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`connect` opens the stream and gives its chunks, for example `client.events`; the rest is for tests."""
        self.skipped = 0
        self._connect = connect
        self._max_frame_bytes = max_frame_bytes
        self._pace = pace or Pace()
        self._chance = chance
        self._clock = clock
        self._sleep = sleep
        self._backlog: Backlog[Item | Exception | None] = Backlog(max_items=max_items, max_bytes=max_bytes)
        self._reader: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._awaited = False
        self._ended = False
        self._was_open = False
        self._last_turn = clock()

    @property
    def dropped(self) -> int:
        """Text deltas left out so far because the consumer was too slow."""
        return self._backlog.dropped

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection and forget what was read ahead; an iteration under way in another task ends."""
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.cancel()
            await asyncio.wait([reader])
        self._backlog.clear()
        if self._awaited:
            await self._backlog.put(None)

    def retry_now(self) -> None:
        """Cut the present wait for the next attempt short."""
        self._hurry.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        if self._ended:
            self._ended = False
            raise StopAsyncIteration
        if self._reader is None:
            self._reader = asyncio.create_task(self._run(), name="event-stream")
        self._awaited = True
        try:
            item = await self._backlog.get()
        finally:
            self._awaited = False
        if item is None:
            raise StopAsyncIteration
        if isinstance(item, Exception):
            await self.aclose()
            raise item
        if isinstance(item, Refused):
            await self.aclose()
            self._ended = True
        if self._clock() - self._last_turn > _TURN_SECONDS:
            await asyncio.sleep(0)
            self._last_turn = self._clock()
        return item

    async def _run(self) -> None:
        failures = 0
        short_lived = 0
        try:
            while True:
                failure, lasted = await self._read_once()
                if isinstance(failure, errors.Refused):
                    await self._backlog.put(Refused(reason=str(failure)))
                    return
                if lasted is None:
                    failures += 1
                else:
                    failures, short_lived = 0, 0 if lasted >= self._pace.steady else short_lived + 1
                await self._wait(failure, max(failures + short_lived, 1))
        except Exception as error:
            await self._backlog.put(error)

    async def _wait(self, failure: errors.ServerError, attempt: int) -> None:
        """Tell of the loss, then wait until the next attempt is due or wanted."""
        wrong = isinstance(failure, errors.WrongServer | errors.NotFound)
        delay = self._pace.wrong_server if wrong else self._pace.delay(attempt, self._chance())
        self._hurry.clear()
        await self._backlog.put(
            Lost(reason=str(failure), attempt=attempt, retry_in_ms=round(delay * 1000), wrong_server=wrong)
        )
        waits = [asyncio.ensure_future(self._sleep(delay)), asyncio.ensure_future(self._hurry.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _read_once(self) -> tuple[errors.ServerError, float | None]:
        """Read one connection to its end; gives the reason why it ended, and after how many seconds.

        The time counts from the first byte; None: there was none.
        """
        splitter = Splitter(self._max_frame_bytes)
        since: float | None = None
        patience = self._pace.opening if self._was_open else max(self._pace.opening, self._pace.first_opening)
        failure: errors.ServerError
        try:
            async with contextlib.aclosing(self._connect()) as chunks:
                while (chunk := await _next(chunks, patience)) is not None:
                    if since is None:
                        since, patience = self._clock(), self._pace.silence
                        self._was_open = True
                        await self._backlog.put(Connected())
                    await self._pass_on(splitter, chunk)
            failure = errors.Unreachable("The server closed the event stream")
        except TimeoutError:
            failure = errors.Unreachable(f"Nothing was heard from the server for {patience:g} s")
        except errors.ServerError as error:
            failure = error
        return failure, None if since is None else self._clock() - since

    async def _pass_on(self, splitter: Splitter, chunk: bytes) -> None:
        before = splitter.skipped
        for event in splitter.feed(chunk):
            frame = Frame(event=event)
            if not self._backlog.offer(frame, event):
                await self._backlog.put(frame, event)
        if splitter.skipped > before:
            self.skipped += splitter.skipped - before
            await self._backlog.put(Skipped(count=splitter.skipped - before, max_frame_bytes=self._max_frame_bytes))


async def _next(chunks: AsyncGenerator[bytes, None], patience: float) -> bytes | None:
    """The next chunk; None at the end. Raises `TimeoutError` after `patience` seconds."""
    async with asyncio.timeout(patience):
        return await anext(chunks, None)
