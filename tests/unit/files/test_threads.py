from __future__ import annotations

import asyncio
import threading

import pytest

from core.files.threads import MAX_HANGING, Threads


async def test_results_and_errors_come_back() -> None:
    threads = Threads()
    assert await threads.call(30, divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await threads.call(30, divmod, 7, 0)


async def test_a_call_that_hangs_is_given_up() -> None:
    threads, back = Threads(), threading.Event()
    try:
        for _ in range(MAX_HANGING):
            with pytest.raises(TimeoutError):
                await threads.call(0.001, back.wait)
        with pytest.raises(TimeoutError):  # too many hang
            await threads.call(30, divmod, 7, 2)
    finally:
        back.set()
    async with asyncio.timeout(30):
        while True:
            try:
                assert await threads.call(30, divmod, 7, 2) == (3, 1)
            except TimeoutError:
                await asyncio.sleep(0.01)
            else:
                break


async def test_threads_do_not_keep_the_process() -> None:
    assert await Threads().call(30, lambda: threading.current_thread().daemon)
