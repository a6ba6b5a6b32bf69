"""Several OpenCode processes on one project: one database (a world), each with events and a state of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from core.host.junction import Junction, Side
from core.ledger import observations as seen
from core.opencode.follow import Follower
from core.opencode.sink import Timing
from core.opencode.stream import Connected, Frame, Lost
from tests.unit.opencode.following import FakeClient, FakeSink, FakeStream
from tests.unit.opencode.world import World


class OneOfMany(FakeClient):
    """Knows all sessions, but the state only of those its own process works in."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.busy: set[str] = set()

    async def statuses(self) -> dict[str, str]:
        await self._called("statuses")
        return dict.fromkeys(self.busy, "busy")


class Process:
    """An OpenCode process and the line that follows it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.client = OneOfMany(project.world)
        self.stream = FakeStream()
        self.state = "connecting"
        side = Side(project.junction, self, project.sink, self._said)
        timing = Timing(now=lambda: project.world.t, sleep=self._sleep, chance=lambda: 0.0)
        peers = side.peers(lambda: project.attached_at)
        self.follower = Follower(self.client, self.stream, side, timing=timing, peers=peers)
        self.task = asyncio.create_task(self.follower.run())

    @property
    def is_live(self) -> bool:
        return self.state == "live"

    def root_of(self, session: str) -> str | None:
        return self.follower.root_of(session)

    def read_anew(self, root: str) -> None:
        self.follower.read_anew(root)

    def _said(self, line: Any, state: str, *_: object) -> None:
        assert line is self
        self.state = state

    async def _sleep(self, seconds: float) -> None:
        await asyncio.Event().wait()

    async def connect(self) -> None:
        self.stream.items.put_nowait(Connected())
        await self.project.settle()

    async def lose(self) -> None:
        self.stream.items.put_nowait(Lost(reason="gone", attempt=1, retry_in_ms=500))
        await self.project.settle()

    async def end(self) -> None:
        """The process is gone, which is noticed."""
        await self.lose()
        self.project.junction.drop(self)
        self.task.cancel()
        await asyncio.wait([self.task])
        await self.project.settle()

    @contextmanager
    def at_work(self, *, seen: bool = True) -> Iterator[World]:
        """What happens in the world meanwhile is done, and told, by this process; `seen`: it reaches the ledger."""
        world = self.project.world
        begun = len(world.frames)
        yield world
        for frame in world.frames[begun:]:
            event = json.loads(frame)
            if event["type"] == "session.status":
                busy = event["properties"]["status"]["type"] != "idle"
                (self.client.busy.add if busy else self.client.busy.discard)(event["properties"]["sessionID"])
            if seen:
                self.stream.items.put_nowait(Frame(event=frame))


class Project:
    """The world, the junction, and what the host was told."""

    def __init__(self) -> None:
        self.world = World()
        self.sink: Any = FakeSink()
        self.attached_at = 0
        self.junction = Junction(self.sink, lambda: self.world.t)
        self.processes: list[Process] = []

    async def process(self) -> Process:
        """One more process, which the ledger follows at once."""
        process = Process(self)
        self.processes.append(process)
        self.junction.add(process)
        await process.connect()
        self.attached_at = self.attached_at or process.follower.attached_at
        return process

    async def settle(self) -> None:
        for _ in range(400):
            await asyncio.sleep(0)

    def told(self, kind: type[seen.Observation], root: str = "") -> list[Any]:
        return [told for of, told in self.sink.told if isinstance(told, kind) and root in ("", of)]

    def steps(self, root: str = "") -> list[str]:
        """Messages of the steps that count."""
        return [step.message for step in self.told(seen.StepFinished, root) if not step.backfill]

    def calls(self, root: str = "") -> list[str]:
        """Parts of the calls that count."""
        return [call.part for call in self.told(seen.ToolFinished, root) if not call.backfill]

    def states(self, session: str) -> list[str]:
        """What the session was told to be doing."""
        return [told.state for told in self.told(seen.StatusChanged) if told.session == session]


@asynccontextmanager
async def project(processes: int) -> AsyncIterator[tuple[Project, list[Process]]]:
    """A project with so many processes, all of them followed."""
    stage = Project()
    try:
        yield stage, [await stage.process() for _ in range(processes)]
    finally:
        for process in stage.processes:
            process.task.cancel()
        await asyncio.wait([process.task for process in stage.processes])
    for process in stage.processes:
        if not process.task.cancelled() and (error := process.task.exception()) is not None:
            raise error


def turn(world: World, session: str, *outputs: str) -> str:
    """A whole turn of one step; gives the step's message."""
    world.user(session)
    world.status(session, "busy")
    message = world.step(session, *outputs)
    world.idle(session)
    return message
