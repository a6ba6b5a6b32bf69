"""The demo from end to end on a short recording: real host, client, extraction and delivery on the replay server."""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core import paths
from core.demo import demo_host
from core.demo.host import DemoHost
from core.demo.recording import timed
from core.demo.server import ReplayServer
from core.ledger.commands import ExtractNow, Pin
from core.settings import Settings
from core.views import LedgerHost
from tests.unit.demo.samples import ROOT, Tape, session

FACT = "model.ckpt starts with 0000 803f"
ANSWER = json.dumps([{"fact": FACT, "topic": "file-format:model.ckpt"}])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user's own files would be, and temporary ones."""
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "home"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path


@pytest.fixture
def settings(home: Path) -> Settings:
    return Settings(extraction_interval_steps=3, dump_path=home / "users-dump.json")


async def until(host: LedgerHost, wanted: Callable[[], bool]) -> None:
    changed = asyncio.Event()
    unsubscribe = host.subscribe(changed.set)
    async with asyncio.timeout(30):
        while not wanted():
            changed.clear()
            await changed.wait()
    unsubscribe()


def facts(host: LedgerHost) -> list[str]:
    view = host.view()
    return [finding.fact for topic in view.topics for finding in topic.findings] if view else []


def tape(steps: int) -> Tape:
    """So many looks at one file; the model thinks for three seconds after each."""
    made = Tape()
    made.events = session(steps=0)[:-2]
    made.t += 100
    for n in range(1, steps + 1):
        made.step(n, output="00000000: 0000 803f\n")
        made.t += 3_000
    made.message("msg_999")
    made.status("idle")
    made.add("session.idle", sessionID=ROOT)
    return made


async def test_extraction_notes_and_escalation_happen_as_on_a_live_server(home: Path, settings: Settings) -> None:
    replay = ReplayServer(timed(tape(9).events), [ANSWER], speed=8, lead_in=0.3)
    host = DemoHost(replay, settings)
    assert host.server.replay
    assert (host.view(), host.selected, list(host.sessions), host.read_only) == (None, None, [], False)
    await host.start()
    try:
        await until(host, lambda: facts(host) == [FACT])
        replay.set_speed(20)
        await until(host, lambda: (view := host.view()) is not None and view.state == "idle" and view.completed == 9)
        assert (host.server.state, host.server.delivery, host.selected) == ("live", "patch", ROOT)
        view = host.view()
        assert view is not None
        notes = [row.text for row in view.log if row.kind == "note"]
        assert notes, [(row.kind, row.text, row.detail) for row in view.log]
        assert all("read with the next request" in note for note in notes), notes
        assert notes[0].startswith("gentle")
        outputs = {part["callID"]: part["state"]["output"] for part in replay.patches}
        assert all(FACT in output for output in outputs.values())
        [finding] = view.topics[0].findings
        said, done = host.command(Pin(t=0, session="", ids=(finding.id,)))
        assert done, said
        receipt = host.receipt(finding.id)
        assert receipt is not None
        assert receipt.pinned
        assert receipt.receipt
        assert host.estimate().steps >= 0
    finally:
        await host.stop()
    assert list(replay.state.sessions) == [ROOT]
    assert list((home / "tmp").iterdir()) == []
    assert not settings.dump_path.exists()
    assert not paths.state_dir().exists()


async def test_the_speed_can_be_changed_and_is_shown(settings: Settings) -> None:
    replay = ReplayServer(timed(tape(3).events), [], speed=0, lead_in=0)
    host = DemoHost(replay, settings)
    host.set_speed(3)
    host.select(None)
    assert host.command(Pin(t=0, session="", ids=("f1",)))[1] is False
    await host.start()
    try:
        assert (host.server.speed, host.server.replay) == (0, True)
        before = host.revision("status")
        host.set_speed(50)
        assert (replay.speed, host.server.speed) == (50, 50)
        assert host.revision("status") != before
        await until(host, lambda: (view := host.view()) is not None and view.completed == 3)
    finally:
        await host.stop()


async def test_its_end_is_told(settings: Settings) -> None:
    replay = ReplayServer(timed(tape(1).events), [], speed=0, lead_in=0)
    host = DemoHost(replay, settings)
    await host.start()
    try:
        await until(host, lambda: host.server.state == "live")
        assert not host.server.ended
        host.set_speed(50)
        await until(host, lambda: host.server.ended)
        view = host.view()
        assert view is not None
        assert ("session", "The recording has ended.") in [(row.kind, row.text) for row in view.log]
    finally:
        await host.stop()


async def test_facts_can_be_extracted_while_it_is_paused(settings: Settings) -> None:
    replay = ReplayServer(timed(tape(3).events), [ANSWER], speed=50, lead_in=0)
    host = DemoHost(replay, settings.model_copy(update={"extraction_interval_steps": 100}))
    await host.start()
    try:
        await until(host, lambda: (view := host.view()) is not None and view.buffered > 0)
        host.set_speed(0)
        said, done = host.command(ExtractNow(t=0, session=""))
        assert done, said
        await until(host, lambda: facts(host) == [FACT])
        assert host.server.speed == 0
    finally:
        await host.stop()


async def test_stopping_early_leaves_nothing_behind(home: Path, settings: Settings) -> None:
    host = DemoHost(ReplayServer(timed(tape(4).events), [ANSWER], speed=30, lead_in=0.3), settings)
    await host.stop()
    await host.start()
    await until(host, lambda: (view := host.view()) is not None and bool(view.extractions))
    await host.stop()
    assert list((home / "tmp").iterdir()) == []
    assert len(asyncio.all_tasks()) == 1


def test_the_users_agent_and_model_are_not_asked_for(home: Path) -> None:
    host = demo_host(Settings(agent="mine", extraction_model="acme/big", max_findings=7), 2.5)
    assert (host.replay.speed, host.replay.directory) == (2.5, "/home/dev/shop")
    assert (host._settings.agent, host._settings.extraction_model, host._settings.max_findings) == ("auto", "", 7)


@pytest.mark.parametrize("speed", [-1, math.nan])
def test_a_speed_that_makes_no_sense_is_refused(home: Path, speed: float) -> None:
    with pytest.raises(ValueError, match="makes no sense"):
        demo_host(Settings(), speed)


def test_asking_for_the_demo_loads_no_more_than_needed() -> None:
    code = "import sys, core.demo; print({'httpx', 'h11', 'sqlite3', 'core.host.host'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"set()\n"
