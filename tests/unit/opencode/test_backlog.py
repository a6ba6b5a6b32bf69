from __future__ import annotations

import asyncio

import pytest

from core.opencode.backlog import Backlog, is_delta

DELTA = b'{"id":"e","type":"message.part.delta","properties":{"delta":"x"}}'
TOOL = b'{"id":"e","type":"message.part.updated","properties":{}}'


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (DELTA, True),
        (b'{"directory":"/x","project":"p","payload":' + DELTA + b"}", True),
        (TOOL, False),
        (b'{"type":"message.part.updated","properties":{"input":{"type":"message.part.delta"}}}', False),
        (b'{"type":"x","properties":{"text":"\\"message.part.delta\\""}}', False),
        (b'{"type":["message.part.delta"]}', False),
        (b'"message.part.delta" {', False),
        (b"", False),
    ],
)
def test_only_an_event_of_that_type_is_a_delta(frame: bytes, expected: bool) -> None:
    assert is_delta(frame) is expected


async def settled(task: asyncio.Task[None]) -> bool:
    for _ in range(5):
        await asyncio.sleep(0)
    return task.done()


async def test_deltas_are_dropped_only_when_there_is_no_room() -> None:
    backlog: Backlog[bytes] = Backlog(max_items=2, max_bytes=1 << 20)
    for _ in range(5):
        await backlog.put(DELTA, DELTA)
    assert (len(backlog), backlog.dropped) == (2, 3)


async def test_what_must_arrive_waits_for_room_and_keeps_its_place() -> None:
    backlog: Backlog[int] = Backlog(max_items=2, max_bytes=1 << 20)
    await backlog.put(1, TOOL)
    await backlog.put(2, TOOL)
    waiting = asyncio.create_task(backlog.put(3, TOOL))
    assert not await settled(waiting)
    assert await backlog.get() == 1
    assert await settled(waiting)
    assert [await backlog.get(), await backlog.get()] == [2, 3]
    assert backlog.dropped == 0


async def test_bytes_are_bounded_too_but_one_large_item_is_let_in() -> None:
    backlog: Backlog[int] = Backlog(max_items=100, max_bytes=10)
    await backlog.put(1, b"x" * 50)
    waiting = asyncio.create_task(backlog.put(2, b"y"))
    assert not await settled(waiting)
    assert await backlog.get() == 1
    assert await settled(waiting)
    assert await backlog.get() == 2


async def test_get_waits_for_an_item() -> None:
    backlog: Backlog[int] = Backlog(max_items=1, max_bytes=1)
    getting = asyncio.create_task(backlog.get())
    await asyncio.sleep(0)
    assert not getting.done()
    await backlog.put(7)
    assert await getting == 7


async def test_clear_makes_room() -> None:
    backlog: Backlog[int] = Backlog(max_items=1, max_bytes=100)
    await backlog.put(1, TOOL)
    waiting = asyncio.create_task(backlog.put(2, TOOL))
    await asyncio.sleep(0)
    backlog.clear()
    await waiting
    assert await backlog.get() == 2
