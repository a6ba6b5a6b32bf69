from __future__ import annotations

import asyncio
from typing import Any

import pytest

from core.files.due import Due


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the loop's clock, to be set; timers that wait for it never come."""
    now = [100.0]

    class Loop:
        def time(self) -> float:
            return now[0]

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

    real = asyncio.get_running_loop()
    monkeypatch.setattr("core.files.due.asyncio.get_running_loop", Loop)
    return now


async def test_signs_put_it_off_but_not_for_ever(clock: list[float]) -> None:
    due = Due(1.0, 3.0)
    due.soon("a")
    for _ in range(4):
        clock[0] += 0.9
        assert not due.impatient("a") or clock[0] >= 103.0
        due.soon("a")
    assert due.impatient("a")
    assert await due.next() == "a"


async def test_now_is_now(clock: list[float]) -> None:
    due = Due(1.0, 3.0)
    due.soon("a")
    due.now("b")
    assert await due.next() == "b"
    assert "a" in due
    assert "b" not in due


async def test_quiet_for_long_enough(clock: list[float]) -> None:
    due = Due(1.0, 3.0)
    due.soon("a")
    clock[0] += 1.0
    assert await due.next() == "a"
    due.done("a")
    assert not due
    assert not due.impatient("a")


async def test_what_is_forgotten_does_not_come(clock: list[float]) -> None:
    due = Due(1.0, 3.0)
    due.now("a")
    due.now("b")
    due.forget("a")
    assert await due.next() == "b"
    assert not due


async def test_a_sign_wakes_who_waits() -> None:
    due = Due(0.0, 3.0)
    waiting = asyncio.create_task(due.next())
    await asyncio.sleep(0)
    due.soon("a")
    assert await asyncio.wait_for(waiting, 30) == "a"
