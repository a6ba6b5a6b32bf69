"""Waiting for an answer that may not come."""

from __future__ import annotations

import asyncio

import pytest

from core.errors import Unreachable
from core.extraction.waiting import Stuck, answer_of
from tests.unit.extraction.doubles import NOTHING, Info, Part, Reply, Server

COMPACTION = Reply(parts=(Part("compaction"),))
SUMMARY = Reply(Info(is_summary=True))


async def never() -> Reply:
    await asyncio.Event().wait()
    raise AssertionError


async def late() -> Reply:
    await asyncio.sleep(0.02)
    return NOTHING


async def test_the_answer_is_passed_on() -> None:
    server = Server(said=(NOTHING,))
    assert await answer_of(server, "ses_1", late(), look_seconds=0.005) is NOTHING


async def test_what_the_request_raises_is_passed_on() -> None:
    async def fails() -> Reply:
        raise Unreachable("gone")

    with pytest.raises(Unreachable):
        await answer_of(Server(), "ses_1", fails(), look_seconds=0.005)


@pytest.mark.parametrize("sign", [COMPACTION, SUMMARY])
async def test_a_session_that_is_compacted_will_not_answer(sign: Reply) -> None:
    with pytest.raises(Stuck, match="too long"):
        await answer_of(Server(said=(NOTHING, sign)), "ses_1", never(), look_seconds=0.005)


async def test_a_look_that_fails_changes_nothing() -> None:
    server = Server(said=(SUMMARY,), faults={"messages": Unreachable("gone")})
    assert await answer_of(server, "ses_1", late(), look_seconds=0.005) is NOTHING


async def test_nothing_is_left_running_when_it_is_cancelled() -> None:
    asking = asyncio.ensure_future(never())
    waiting = asyncio.ensure_future(answer_of(Server(), "ses_1", asking, look_seconds=0.005))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert asking.cancelled()
