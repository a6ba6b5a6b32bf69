"""Pauses that follow the speed. Real time is only ever a lower bound here."""

from __future__ import annotations

import asyncio
import math

import pytest

from core.demo.pace import Pace


async def test_a_pause_takes_its_time() -> None:
    begun = asyncio.get_running_loop().time()
    await Pace(1).sleep(0.05)
    assert asyncio.get_running_loop().time() - begun >= 0.049


async def test_speed_divides_it() -> None:
    async with asyncio.timeout(20):
        await Pace(1e6).sleep(3600)


async def test_infinite_speed_never_waits() -> None:
    async with asyncio.timeout(20):
        await Pace(math.inf).sleep(1e9)


async def test_a_change_of_speed_takes_effect_at_once() -> None:
    pace = Pace(1)
    pause = asyncio.create_task(pace.sleep(3600))
    await asyncio.sleep(0.01)
    assert not pause.done()
    pace.speed = math.inf
    async with asyncio.timeout(20):
        await pause


async def test_speed_0_stands_still_until_it_goes_on() -> None:
    pace = Pace(0)
    pause = asyncio.create_task(pace.sleep(0.001))
    await asyncio.sleep(0.05)
    assert not pause.done()
    pace.speed = 1000
    async with asyncio.timeout(20):
        await pause


async def test_what_was_waited_for_counts_when_the_speed_changes() -> None:
    pace = Pace(1)
    pause = asyncio.create_task(pace.sleep(0.2))
    async with asyncio.timeout(20):
        while not pause.done():
            await asyncio.sleep(0.005)
            pace.speed = 1.5 - pace.speed % 1
    await pause


@pytest.mark.parametrize("speed", [-1, -math.inf, math.nan])
def test_nonsense_is_refused(speed: float) -> None:
    pace = Pace(1)
    with pytest.raises(ValueError, match="makes no sense"):
        pace.speed = speed
    assert pace.speed == 1
