"""The follower on the real thing: connections that break, a server that is killed, attaching late, forks."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import httpx

from core.ledger.observations import (
    Observation,
    SessionInfo,
    StatusChanged,
    StepFinished,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from core.opencode.client import Client
from core.opencode.follow import Follower, Timing
from core.opencode.stream import EventStream, Pace
from tests.e2e.model_server import ModelServer
from tests.e2e.opencode import OpenCode, provider_config
from tests.e2e.oracle import StepKey, steps_on_server
from tests.e2e.recorder import snapshot
from tests.e2e.scripts import Script, plain, probes

T = TypeVar("T", bound=Observation)
Steps = Counter[StepKey]
PACE = Pace(first=0.1, longest=1.0)


class Witness:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.roots: dict[str, str] = {}
        self.told: list[tuple[str, Observation]] = []
        self.states: list[str] = []
        self.warnings: list[tuple[str, str]] = []
        self._changed = asyncio.Event()

    def root(self, info: SessionInfo, updated: int) -> None:
        self.roots[info.session] = info.title

    def activity(self, root: str, updated: int) -> None:
        pass

    def loading(self, root: str, on: bool) -> None:
        pass

    def observe(self, root: str, observation: Observation) -> None:
        self.told.append((root, observation))
        self._changed.set()

    def connection(self, state: str, detail: str, attempt: int = 0, retry_at: int = 0) -> None:
        self.states.append(state)
        self._changed.set()

    def warn(self, code: str, message: str, root: str = "") -> None:
        self.warnings.append((code, message))

    def only(self, kind: type[T]) -> list[T]:
        return [observation for _, observation in self.told if isinstance(observation, kind)]

    def steps(self, *, backfill: bool = False) -> Steps:
        """As :func:`tests.e2e.oracle.steps_on_server` has them."""
        calls: dict[str, list[tuple[str, str, str]]] = {}
        for call in self.only(ToolFinished):
            calls.setdefault(call.message, []).append((call.call, call.tool, "completed" if call.ok else "error"))
        steps = [step for step in self.only(StepFinished) if step.backfill == backfill]
        return Counter((step.session, tuple(sorted(calls.get(step.message, [])))) for step in steps)

    async def until(self, wanted: Callable[[], bool], seconds: float = 90) -> None:
        async with asyncio.timeout(seconds):
            while not wanted():
                self._changed.clear()
                await self._changed.wait()

    def is_idle(self, session: str) -> bool:
        states = [one.state for one in self.only(StatusChanged) if one.session == session]
        return bool(states) and states[-1] == "idle"


@asynccontextmanager
async def witnessing(
    server: OpenCode,
    events: Callable[[Client], AsyncGenerator[bytes, None]] | None = None,
    directory: Path | None = None,
) -> AsyncIterator[Witness]:
    """Follow until the block ends; `events` stands between the client and the stream."""
    witness = Witness()
    where = str(directory or server.project)
    async with Client(server.url, directory=where) as client:
        connect = client.events if events is None else lambda: events(client)
        stream = EventStream(connect, pace=PACE)
        follower = Follower(client, stream, witness, directory=where, timing=Timing(pace=PACE))
        task = asyncio.create_task(follower.run())
        try:
            await witness.until(lambda: "live" in witness.states)
            yield witness
        finally:
            task.cancel()
            await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error


@asynccontextmanager
async def served(binary: Path, base: Path, script: Script) -> AsyncIterator[OpenCode]:
    """A server whose model follows a script."""
    async with ModelServer(script) as model, OpenCode(binary, base, provider_config(model.url)) as server:
        yield server


async def prompt(client: httpx.AsyncClient, session: str, text: str) -> None:
    await client.post(f"/session/{session}/message", json={"parts": [{"type": "text", "text": text}]})


async def new_session(client: httpx.AsyncClient) -> str:
    return str((await client.post("/session", json={})).json()["id"])


async def server_steps(client: httpx.AsyncClient) -> Steps:
    return steps_on_server(await snapshot(client))


async def test_a_stream_that_breaks_again_and_again(binary: Path, tmp_path: Path) -> None:
    cuts = 0

    async def short(client: Client) -> AsyncGenerator[bytes, None]:
        """The first connections end after a few chunks."""
        nonlocal cuts
        count = 0
        async for chunk in client.events():
            yield chunk
            count += 1
            if cuts < 12 and count > 5 + cuts:
                cuts += 1
                return

    async with (
        served(binary, tmp_path, probes()) as server,
        witnessing(server, short) as witness,
        server.client() as client,
    ):
        root = await new_session(client)
        await prompt(client, root, "[probes] Find out how model.ckpt is laid out.")
        await witness.until(lambda: witness.states[-1] == "live" and witness.is_idle(root))
        expected = await server_steps(client)
    assert cuts == 12
    assert sum(expected.values()) == 25
    assert witness.steps() == expected
    assert not witness.steps(backfill=True)
    assert {root_id for root_id, _ in witness.told if root_id} == {root}
    assert not witness.warnings


async def test_a_server_that_is_killed_and_comes_back(binary: Path, tmp_path: Path) -> None:
    async with (
        served(binary, tmp_path, plain()) as server,
        witnessing(server) as witness,
        server.client() as client,
    ):
        root = await new_session(client)
        await prompt(client, root, "[one] go")
        slow = asyncio.create_task(prompt(client, root, "[slow] go"))
        await witness.until(lambda: any("sleep 30" in call.summary for call in witness.only(ToolStarted)))
        await server.kill()
        await asyncio.wait([slow])
        assert isinstance(slow.exception(), httpx.HTTPError)
        await witness.until(lambda: witness.states[-1] == "reconnecting")
        await server.start()
        await witness.until(lambda: witness.states[-1] == "live")
        assert witness.is_idle(root)
        await prompt(client, root, "[two] go")
        await witness.until(lambda: witness.is_idle(root) and len(witness.only(UserMessage)) == 3)
        expected = await server_steps(client)
    assert sum(expected.values()) == 4
    assert witness.steps() == expected
    assert list(witness.roots) == [root]


async def test_attaching_late_and_a_session_that_wakes(binary: Path, tmp_path: Path) -> None:
    async with served(binary, tmp_path, plain()) as server, server.client() as client:
        first, second = await new_session(client), await new_session(client)
        await prompt(client, first, "[agent] go")
        await prompt(client, second, "[one] go")
        before = await server_steps(client)
        async with witnessing(server) as witness:
            assert set(witness.roots) == {first, second}
            assert witness.steps(backfill=True) == Counter({key: n for key, n in before.items() if key[0] == second})
            await prompt(client, first, "[two] go")
            await witness.until(lambda: witness.is_idle(first))
            await prompt(client, second, "[many] go")
            await witness.until(lambda: witness.is_idle(second))
            everything = await server_steps(client)
    assert witness.steps(backfill=True) == before
    assert witness.steps() == everything - before
    assert sum(witness.steps().values()) == 2 + 6


async def test_a_fork_brings_backfill_and_names_its_origin(binary: Path, tmp_path: Path) -> None:
    async with (
        served(binary, tmp_path, plain()) as server,
        witnessing(server) as witness,
        server.client() as client,
    ):
        origin = await new_session(client)
        await prompt(client, origin, "[one] go")
        fork = str((await client.post(f"/session/{origin}/fork", json={})).json()["id"])
        await prompt(client, fork, "[two] go")
        await witness.until(lambda: witness.is_idle(fork))
    assert [info.forked_from for info in witness.only(SessionInfo) if info.session == fork][-1] == origin
    steps = Counter((step.session, step.backfill) for step in witness.only(StepFinished))
    assert steps == {(origin, False): 2, (fork, True): 2, (fork, False): 2}


async def test_a_directory_that_is_a_link(binary: Path, tmp_path: Path) -> None:
    async with served(binary, tmp_path / "real", plain()) as server:
        link = tmp_path / "link"
        link.symlink_to(server.project)
        async with server.client(params={"directory": str(link)}) as client, witnessing(server, directory=link) as seen:
            session = await new_session(client)
            await prompt(client, session, "[one] go")
            await seen.until(lambda: seen.is_idle(session))
            assert sum(seen.steps().values()) == 2
