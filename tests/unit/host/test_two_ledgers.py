"""Two whole ledgers on one project and one server: the second shows what the first knows, and goes on from it."""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from core.demo.recording import timed
from core.demo.server import ReplayServer
from core.host import Host, HostOptions
from core.ledger.commands import Add, Delete, Pin
from core.settings import Settings
from core.views import FindingView
from tests.unit.demo.samples import DIRECTORY
from tests.unit.demo.test_host import tape

START = "model.ckpt starts with 0000 803f"
SECOND = "model.ckpt has 803f at 00000000"
ANSWER = json.dumps([{"fact": START, "topic": "file-format:model.ckpt"}, {"fact": SECOND, "topic": "t"}])
STEPS = 4


async def until(host: Host, wanted: Callable[[], object]) -> None:
    changed = asyncio.Event()
    unsubscribe = host.subscribe(changed.set)
    async with asyncio.timeout(30):
        while not wanted():
            changed.clear()
            await changed.wait()
    unsubscribe()


async def decides(host: Host) -> None:
    await until(host, lambda: not host.read_only)


def findings(host: Host) -> list[FindingView]:
    view = host.view()
    return [finding for topic in view.topics for finding in topic.findings] if view else []


def facts(host: Host) -> list[tuple[str, str, bool]]:
    return [(finding.id, finding.fact, finding.pinned) for finding in findings(host)]


class Room:
    """A server that plays a recording, and ledgers on it."""

    def __init__(self, folder: Path, server: ReplayServer) -> None:
        self.folder, self.server = folder, server
        self.hosts: list[Host] = []

    @property
    def dumped(self) -> list[str]:
        return [entry["fact"] for entry in json.loads((self.folder / "facts.json").read_text())]

    async def ledger(self) -> Host:
        options = HostOptions(directory=Path(DIRECTORY), server=self.server.url, state_dir=self.folder / "state")
        settings = Settings(extraction_interval_steps=3, dump_path=self.folder / "facts.json", toasts=False)
        host = Host(options, settings)
        self.hosts.append(host)
        await host.start()
        return host


@pytest.fixture
async def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Room]:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "home"))
    server = ReplayServer(timed(tape(STEPS).events), [ANSWER], math.inf)
    async with server:
        here = Room(tmp_path, server)
        yield here
        for host in here.hosts:
            await host.stop()


async def test_the_second_shows_what_the_first_knows_and_goes_on_from_it(room: Room) -> None:
    first = await room.ledger()
    await until(first, lambda: len(findings(first)) == 2)
    second = await room.ledger()
    await until(second, lambda: facts(second))
    assert facts(second) == facts(first) == [("f1", START, False), ("f2", SECOND, False)]
    there, here = first.view(), second.view()
    assert there is not None and here is not None
    assert [row.text for row in here.log] == [row.text for row in there.log]
    assert [(run.id, run.state, run.added) for run in here.extractions] == [("x1", "done", 2)]
    assert (here.completed, here.buffered, here.meters) == (there.completed, there.buffered, list(there.meters))
    assert [item.findings for item in second.sessions] == [2]

    assert second.server.host.startswith(f"process {os.getpid()}")
    said, done = second.command(Add(t=0, session="", fact="x", topic="t"))
    assert not done and f"the project is hosted by process {os.getpid()}" in said

    second.receipt("f1")
    await until(second, lambda: (found := second.receipt("f1")) and found.receipt)
    assert second.receipt("f1") == first.receipt("f1")

    first.command(Pin(t=0, session="", ids=("f1",)))
    first.command(Delete(t=0, session="", ids=("f2",)))
    await until(second, lambda: facts(second) == [("f1", START, True)])

    await first.stop()
    room.hosts.remove(first)
    await until(second, lambda: not second.read_only)
    assert facts(second) == [("f1", START, True)] and second.server.host == ""
    after = second.view()
    assert after is not None and after.completed == STEPS
    assert [(run.id, run.state, run.added) for run in after.extractions] == [("x1", "done", 2)]
    assert (after.ledger_tokens, after.ledger_cost) == (there.ledger_tokens, there.ledger_cost)
    assert not [row for row in after.log if row.level == "warn"]
    assert any("with 1 of its facts" in row.text + row.detail for row in after.log)
    receipt = second.receipt("f1")
    assert receipt is not None and [call.step for call in receipt.receipt] == [1, 3, 2]
    assert second.command(Add(t=0, session="", fact="mine", topic="t"))[1]
    assert facts(second)[-1] == ("f3", "mine", False)
    await second.stop()
    room.hosts.remove(second)
    assert room.dumped == [START, "mine"]


async def test_a_third_follows_the_second_when_that_takes_over(room: Room) -> None:
    first = await room.ledger()
    await until(first, lambda: len(findings(first)) == 2)
    second = await room.ledger()
    await until(second, lambda: facts(second))
    third = await room.ledger()
    await until(third, lambda: facts(third))
    await first.stop()
    room.hosts.remove(first)
    readers = [second, third]
    waits = [asyncio.create_task(decides(host)) for host in readers]
    _, pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in pending:
        wait.cancel()
    (host,) = [ledger for ledger in readers if not ledger.read_only]
    (other,) = [ledger for ledger in readers if ledger.read_only]
    host.command(Add(t=0, session="", fact="new", topic="t"))
    await until(other, lambda: ("f3", "new", False) in facts(other))
    assert facts(other) == facts(host)
