"""Work in the background: it ends with its owner, and its faults are told."""

from __future__ import annotations

import asyncio

from core.errors import Unreachable
from core.host.tasks import Tasks


async def test_faults_of_the_ledger_are_told_and_those_of_a_server_are_not() -> None:
    warned: list[tuple[str, str]] = []
    ended: list[BaseException] = []
    tasks = Tasks(lambda code, text: warned.append((code, text)))

    async def fail(error: Exception) -> None:
        raise error

    for error in (Unreachable("down"), ExceptionGroup("", [ExceptionGroup("", [KeyError("x")])])):
        tasks.spawn(fail(error), ended.append)
    await asyncio.sleep(0.01)
    assert warned == [("fault", "A fault of the ledger itself: KeyError: 'x'")]
    assert [type(error) for error in ended] == [Unreachable, KeyError]


async def test_the_end_waits_for_what_has_to_be_tidied_up_and_begins_nothing() -> None:
    tasks = Tasks(lambda code, text: None)
    done: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            done.append("tidied")

    tasks.spawn(work())
    await asyncio.sleep(0)
    stopping = asyncio.create_task(tasks.stop())
    await asyncio.sleep(0)
    stopping.cancel()
    await asyncio.wait([stopping])
    tasks.spawn(work())
    await asyncio.sleep(0.02)
    assert done == ["tidied"]
