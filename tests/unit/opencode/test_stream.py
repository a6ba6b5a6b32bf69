from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from core import errors
from core.opencode.client import Client
from core.opencode.stream import Connected, EventStream, Frame, Item, Lost, Pace, Refused, Skipped
from tests.unit.opencode.servers import EVENT_STREAM, http_answer, http_chunk, serving

FOREVER = object()
"""In a connection's script: from here on, nothing more."""


class Connections:
    """Plays one script a connection (chunks, an exception to raise, or FOREVER); the last one is repeated."""

    def __init__(self, *scripts: list[Any]) -> None:
        self.scripts = scripts
        self.opened = 0
        self.closed = 0

    async def __call__(self) -> AsyncGenerator[bytes, None]:
        script = self.scripts[min(self.opened, len(self.scripts) - 1)]
        self.opened += 1
        try:
            for step in script:
                if isinstance(step, Exception):
                    raise step
                if step is FOREVER:
                    await asyncio.Event().wait()
                yield step
        finally:
            self.closed += 1


class Time:
    """A clock that moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def stream(connections: Connections, time: Time | None = None, **options: Any) -> EventStream:
    time = time or Time()
    options = {"chance": lambda: 0.0, "clock": time.clock, "sleep": time.sleep, **options}
    return EventStream(connections, **options)


async def take(source: EventStream, count: int) -> list[Item]:
    return [await anext(source) for _ in range(count)]


def sse(*events: bytes) -> bytes:
    return b"".join(b"data: " + event + b"\n\n" for event in events)


async def test_frames_between_connected_and_lost() -> None:
    connections = Connections([sse(b"1")[:4], sse(b"1")[4:] + sse(b"2", b"3")], [sse(b"4"), FOREVER])
    async with stream(connections) as source:
        items = await take(source, 7)
    assert items == [
        Connected(),
        Frame(event=b"1"),
        Frame(event=b"2"),
        Frame(event=b"3"),
        Lost(reason=items[4].reason if isinstance(items[4], Lost) else "", attempt=1, retry_in_ms=500),
        Connected(),
        Frame(event=b"4"),
    ]
    assert connections.opened == connections.closed == 2


async def test_an_unfinished_frame_does_not_leak_into_the_next_connection() -> None:
    connections = Connections([b"data: half"], [b'data: {"whole": 1}\n\n', FOREVER])
    async with stream(connections) as source:
        items = await take(source, 4)
    assert [item.event for item in items if isinstance(item, Frame)] == [b'{"whole": 1}']


async def test_delays_double_up_to_a_limit() -> None:
    time = Time()
    connections = Connections([errors.Unreachable("Nothing answers", "Start it.")])
    async with stream(connections, time) as source:
        items = await take(source, 8)
    assert all(isinstance(item, Lost) and not item.wrong_server for item in items)
    assert [item.attempt for item in items if isinstance(item, Lost)] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [item.retry_in_ms for item in items if isinstance(item, Lost)] == [
        500, 1000, 2000, 4000, 5000, 5000, 5000, 5000,
    ]  # fmt: skip
    assert time.slept[:7] == [0.5, 1, 2, 4, 5, 5, 5]
    assert isinstance(items[0], Lost)
    assert items[0].reason == "Nothing answers. Start it."


@pytest.mark.parametrize("chance", [0.0, 0.25, 0.999])
def test_chance_takes_off_up_to_half_of_a_delay(chance: float) -> None:
    pace = Pace()
    for attempt in range(1, 2000, 7):
        full = pace.delay(attempt, 0.0)
        assert full / 2 < pace.delay(attempt, chance) <= full <= pace.longest


async def test_a_connection_that_lasted_starts_the_count_again() -> None:
    time = Time()

    class Steady(Connections):
        async def __call__(self) -> AsyncGenerator[bytes, None]:
            yield sse(b"1")
            if self.opened == 2:
                time.now += 60
            self.opened += 1

    async with stream(Steady([]), time) as source:
        items = await take(source, 15)
    assert [item.attempt for item in items if isinstance(item, Lost)] == [1, 2, 1, 1, 2]


async def test_a_connection_after_failures_is_soon_made_again() -> None:
    connections = Connections(*[[errors.Unreachable("x")]] * 4, [sse(b"1")], [sse(b"2")], [errors.Unreachable("x")])
    async with stream(connections) as source:
        items = await take(source, 11)
    assert [item.attempt for item in items if isinstance(item, Lost)] == [1, 2, 3, 4, 1, 2, 3]


async def test_waiting_long_for_an_answer_that_never_comes_is_no_steady_connection() -> None:
    connections = Connections([FOREVER])
    async with stream(connections, pace=Pace(opening=0.001)) as source:
        items = await take(source, 3)
    assert [item.attempt for item in items if isinstance(item, Lost)] == [1, 2, 3]
    assert isinstance(items[0], Lost)
    assert "0.001 s" in items[0].reason


async def test_silence_is_noticed() -> None:
    connections = Connections([sse(b"1"), FOREVER])
    async with stream(connections, pace=Pace(silence=0.001)) as source:
        items = await take(source, 4)
    lost = items[2]
    assert isinstance(lost, Lost)
    assert "0.001 s" in lost.reason
    assert items[3] == Connected()
    assert connections.closed >= 1


async def test_a_refusal_ends_the_iteration_and_iterating_again_tries_again() -> None:
    connections = Connections(
        [errors.Refused("401", "Give the password.")], [errors.Refused("401")], [sse(b"1"), FOREVER]
    )
    async with stream(connections) as source:
        assert [item async for item in source] == [Refused(reason="401. Give the password.")]
        assert connections.opened == 1
        assert [item async for item in source] == [Refused(reason="401")]
        assert await take(source, 2) == [Connected(), Frame(event=b"1")]
    assert connections.opened == 3


@pytest.mark.parametrize("error", [errors.WrongServer("a web page"), errors.NotFound("no such route")])
async def test_a_wrong_server_is_asked_again_after_a_while(error: Exception) -> None:
    time = Time()
    async with stream(Connections([error], [sse(b"1"), FOREVER]), time) as source:
        lost, connected = await take(source, 2)
    assert isinstance(lost, Lost)
    assert (lost.wrong_server, lost.retry_in_ms) == (True, 30_000)
    assert connected == Connected()
    assert time.slept == [30.0]


async def test_retry_now_cuts_the_wait_short() -> None:
    async def sleep(_: float) -> None:
        await asyncio.Event().wait()

    connections = Connections([errors.Unreachable("x")], [sse(b"1"), FOREVER])
    async with stream(connections, sleep=sleep) as source:
        assert isinstance(await anext(source), Lost)
        source.retry_now()
        assert await anext(source) == Connected()


async def test_a_frame_above_the_limit_is_told_of_and_the_stream_goes_on() -> None:
    connections = Connections(
        [sse(b"1", b"x" * 200, b"y" * 300) + b"data: zz", b"z" * 200 + b"\n\n" + sse(b"2"), FOREVER]
    )
    async with stream(connections, max_frame_bytes=100) as source:
        assert await take(source, 5) == [
            Connected(),
            Frame(event=b"1"),
            Skipped(count=2, max_frame_bytes=100),
            Frame(event=b"2"),
            Skipped(count=1, max_frame_bytes=100),
        ]
        assert source.skipped == 3


def event(kind: str, number: int) -> bytes:
    return json.dumps(
        {"id": f"evt_{number}", "type": kind, "properties": {"n": number}}, separators=(",", ":")
    ).encode()


async def test_under_load_deltas_are_dropped_and_nothing_else() -> None:
    """The consumer stands still while 1,000 events come in one chunk each; then it takes all that is there."""
    kinds = ["message.part.delta", "message.part.updated", "message.part.delta", "session.status"]
    events = [event(kinds[n % 4], n) for n in range(1000)]
    connections = Connections([*[sse(item) for item in events], FOREVER])
    async with stream(connections, max_items=16) as source:
        assert await anext(source) == Connected()
        got: list[bytes] = []
        while not got or got[-1] != events[-1]:
            item = await anext(source)
            assert isinstance(item, Frame)
            got.append(item.event)
            if len(got) % 10 == 0:
                for _ in range(40):
                    await asyncio.sleep(0)
        wanted = [item for item in events if b"delta" not in item]
        assert [item for item in got if b"delta" not in item] == wanted
        assert source.dropped > 0
        assert len(got) + source.dropped == len(events)


async def test_a_slow_consumer_bounds_what_is_read_ahead() -> None:
    taken = 0

    class Endless(Connections):
        async def __call__(self) -> AsyncGenerator[bytes, None]:
            nonlocal taken
            while True:
                taken += 1
                yield sse(event("session.status", taken))

    async with stream(Endless([]), max_items=10) as source:
        await anext(source)
        for _ in range(200):
            await asyncio.sleep(0)
        assert taken <= 12


async def test_a_consumer_that_never_waits_still_lets_others_run() -> None:
    time = Time()
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    connections = Connections([sse(*[event("x", n) for n in range(400)]), FOREVER])
    async with stream(connections, time) as source:
        await anext(source)
        task = asyncio.create_task(other())
        for _ in range(400):
            await anext(source)
            time.now += 0.001
        task.cancel()
    assert 30 <= turns <= 60


async def test_an_unexpected_exception_comes_out_of_the_iteration() -> None:
    async with stream(Connections([sse(b"1"), ZeroDivisionError()])) as source:
        await take(source, 2)
        with pytest.raises(ZeroDivisionError):
            await anext(source)


async def test_closing_ends_the_connection_and_an_iteration_in_another_task() -> None:
    connections = Connections([FOREVER])
    source = stream(connections)

    async def consume() -> list[Item]:
        return [item async for item in source]

    consumer = asyncio.create_task(consume())
    for _ in range(5):
        await asyncio.sleep(0)
    await source.aclose()
    assert await consumer == []
    assert connections.closed == 1
    await source.aclose()


async def test_over_http_through_a_restart_and_a_refusal() -> None:
    """The whole way: client, socket, stream. First two events, then the connection breaks, then 401."""
    heads: list[bytes] = []

    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        heads.append(head)
        if len(heads) == 1:
            writer.write(EVENT_STREAM + http_chunk(sse(b'{"a":1}')[:5]))
            await writer.drain()
            writer.write(http_chunk(sse(b'{"a":1}')[5:] + sse(b'{"a":2}')))
        elif len(heads) == 2:
            writer.write(http_answer(b"<html>", kind="text/html"))
        else:
            writer.write(http_answer(b"", status="401 Unauthorized"))

    time = Time()
    async with serving(handler) as url, Client(url, directory="/p q") as client:
        source = EventStream(client.events, clock=time.clock, sleep=time.sleep)
        async with source:
            items = [item async for item in source]
    assert [type(item) for item in items] == [Connected, Frame, Frame, Lost, Lost, Refused]
    assert heads[0].startswith(b"GET /event?directory=/p%20q HTTP/1.1\r\n")
    assert isinstance(items[4], Lost)
    assert items[4].wrong_server
