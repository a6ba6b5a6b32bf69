"""A follower between a world and a sink that remembers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from core.errors import LedgerError, NotFound
from core.ledger.observations import (
    Observation,
    SessionInfo,
    StepFinished,
)
from core.opencode.client import Page
from core.opencode.follow import Follower, Timing
from core.opencode.requests import Request
from core.opencode.stream import Connected, Frame, Item, Lost
from core.opencode.wire import Session

from .world import World

T = TypeVar("T", bound=Observation)


class FakeClient:
    """Answers out of a world; the n-th call of a kind can be made to fail or to wait."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.calls: list[str] = []
        self.pending_now: list[Request] = []
        self.failures: dict[str, list[LedgerError]] = {}
        self.before: Callable[[str], Awaitable[None]] | None = None

    async def _called(self, name: str) -> None:
        self.calls.append(name)
        await asyncio.sleep(0)
        if self.before is not None:
            await self.before(name)
        if self.failures.get(name):
            raise self.failures[name].pop(0)

    async def sessions(self, *, roots: bool = False, limit: int = 1000) -> list[Session]:
        found = self.world.state.sessions()[:limit]
        await self._called("sessions")
        return found

    async def session(self, session: str) -> Session:
        await self._called(f"session {session}")
        for info in self.world.state.sessions():
            if info.id == session:
                return info
        raise NotFound("no such session")

    async def children(self, session: str) -> list[Session]:
        await self._called(f"children {session}")
        return [info for info in self.world.state.sessions() if info.parent == session]

    async def statuses(self) -> dict[str, str]:
        found = dict.fromkeys(self.world.state.busy, "busy")
        await self._called("statuses")
        return found

    async def pending(self) -> list[Request]:
        await self._called("pending")
        return list(self.pending_now)

    async def message_page(self, session: str, *, limit: int | None = None, before: str | None = None) -> Page:
        state = self.world.state
        await self._called(f"messages {session}")
        if session not in state.infos:
            raise NotFound("no such session")
        messages = state.messages(session)
        end = int(before) if before else len(messages)
        start = max(0, end - (limit or len(messages)))
        return Page(messages=messages[start:end], before=str(start) if start else "")


class FakeStream:
    """Gives what is put into it."""

    def __init__(self) -> None:
        self.items: asyncio.Queue[Item | None] = asyncio.Queue()
        self.closed = 0
        self.hurried = 0

    def __aiter__(self) -> AsyncIterator[Item]:
        return self

    async def __anext__(self) -> Item:
        item = await self.items.get()
        if item is None:
            raise StopAsyncIteration
        return item

    async def aclose(self) -> None:
        self.closed += 1

    def retry_now(self) -> None:
        self.hurried += 1


class FakeSink:
    def __init__(self) -> None:
        self.roots: list[tuple[str, str]] = []
        self.told: list[tuple[str, Observation]] = []
        self.states: list[tuple[str, str, int, int]] = []
        self.warnings: list[tuple[str, str, str]] = []
        self.loads: list[tuple[str, bool]] = []
        self.updates: dict[str, int] = {}
        self._changed = asyncio.Event()

    def root(self, info: SessionInfo, updated: int) -> None:
        self.roots.append((info.session, info.title))
        self.updates[info.session] = updated

    def activity(self, root: str, updated: int) -> None:
        self.updates[root] = updated

    def loading(self, root: str, on: bool) -> None:
        self.loads.append((root, on))

    def observe(self, root: str, observation: Observation) -> None:
        self.told.append((root, observation))
        self._changed.set()

    def connection(self, state: str, detail: str, attempt: int = 0, retry_at: int = 0) -> None:
        self.states.append((state, detail, attempt, retry_at))
        self._changed.set()

    def warn(self, code: str, message: str, root: str = "") -> None:
        self.warnings.append((code, message, root))

    async def until(self, wanted: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not wanted():
                self._changed.clear()
                await self._changed.wait()

    @property
    def state(self) -> tuple[str, str]:
        return self.states[-1][:2] if self.states else ("", "")

    def only(self, kind: type[T]) -> list[T]:
        return [observation for _, observation in self.told if isinstance(observation, kind)]

    @property
    def steps(self) -> list[str]:
        return [done.message for done in self.only(StepFinished)]

    @property
    def fresh(self) -> list[str]:
        return [done.message for done in self.only(StepFinished) if not done.backfill]


class Setup:
    """A follower with everything around it; frames go onto the stream when `send` is called."""

    def __init__(self, world: World, **options: Any) -> None:
        self.world = world
        self.client = FakeClient(world)
        self.stream = FakeStream()
        self.sink = FakeSink()
        self.slept: list[float] = []
        self.wake = asyncio.Event()
        timing = Timing(now=lambda: world.t, sleep=self._sleep, chance=lambda: 0.0)
        self.follower = Follower(self.client, self.stream, self.sink, timing=timing, **options)
        self._sent = 0

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self.wake.wait()
        self.wake.clear()

    async def settle(self) -> None:
        for _ in range(300):
            await asyncio.sleep(0)

    async def connect(self) -> None:
        self.world.t += 5
        self.skip()
        self.stream.items.put_nowait(Connected())
        await self.settle()

    def skip(self) -> None:
        """What happened so far is not seen on the stream."""
        self._sent = len(self.world.frames)

    def put(self) -> None:
        for frame in self.world.frames[self._sent :]:
            self.stream.items.put_nowait(Frame(event=frame))
        self.skip()

    async def send(self) -> None:
        self.put()
        await self.settle()

    async def lose(self) -> None:
        self.stream.items.put_nowait(Lost(reason="gone", attempt=1, retry_in_ms=500))
        await self.settle()


@asynccontextmanager
async def following(world: World, **options: Any) -> AsyncIterator[Setup]:
    setup = Setup(world, **options)
    task = asyncio.create_task(setup.follower.run())
    try:
        await setup.settle()
        yield setup
    finally:
        task.cancel()
        await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error
