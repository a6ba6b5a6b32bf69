"""The real ledger with the real plugin in the real OpenCode: notes in flight, and both ways around each other."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.e2e.ledger import Line
from tests.e2e.oracle import check_notes, given, of_type
from tests.e2e.scripts import Plans, findings, probes
from tests.e2e.shim_server import PLUGIN, calls
from tests.e2e.stage import Stage, stage

TOPIC = "file-format:model.ckpt"


async def work(on: Stage) -> str:
    root = await on.session()
    await on.prompt(root, "[probes] Find out how model.ckpt is laid out.")
    return root


async def test_notes_are_in_the_very_next_request_without_snapshots(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, probes(), plugin=True, snapshot=False) as on, on.ledger() as ledger:
        await ledger.state("live")
        root = await work(on)
        await ledger.until(lambda x: x["type"] == "session" and x["state"] == "idle" and x["session"] == root)
        await ledger.until(lambda x: x["type"] == "extraction" and x["state"] == "done" and x["id"] == "x5")
        assert await ledger.interrupt() == 130
    notes = of_type(ledger.lines, "note")
    assert len(notes) >= 4
    assert {note["delivery"] for note in notes} == {"hook"}
    assert {note["arrived"] for note in notes} == {"next"}
    assert {"gentle", "stop"} <= {note["kind"] for note in notes}
    check_notes(ledger.lines, on.model.requests)
    assert_each_call_once(ledger.lines)
    assert not [x for x in of_type(ledger.lines, "warning") if x["code"] in ("hook_deadline", "plugin_silent")]


async def test_a_killed_ledger_costs_the_agent_nothing_and_the_next_one_goes_on(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, probes(), plugin=True) as on:
        async with on.ledger() as first:
            await first.state("live")
            root = await on.session()
            turn = on.begin(root, "[probes] Find out how model.ckpt is laid out.")
            await first.until(lambda x: x["type"] == "note")
            first.kill()
            await first.ended()
        async with on.ledger() as second:
            await second.state("live")
            response = await turn
            assert response.status_code == 200
            await asyncio.sleep(1)
            await second.interrupt()
    noted = [note["call"] for note in of_type(first.lines, "note")]
    assert noted and "error" not in response.json()["info"]
    for call in noted:
        assert on.model.results(call)[-1].count("<ledger-note>") == 1


async def test_the_plugin_goes_and_comes_back(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, looks(), plugin=True) as on, on.ledger(interval=2) as ledger:
        await ledger.state("live")
        root = await on.session()
        await on.prompt(root, "[calls] look")
        await ledger.until(lambda x: x["type"] == "note" and x["delivery"] == "hook")
        plugin = on.server.project / PLUGIN
        for nth, file in enumerate((tmp_path / "kept.js", plugin), 2):
            await on.server.stop()
            (plugin if plugin.exists() else tmp_path / "kept.js").rename(file)
            await on.server.start()
            await ledger.state("live", nth)
            await on.prompt(root, "[calls] look again")
            code = "plugin_back" if file == plugin else "plugin_silent"
            told = await ledger.until(lambda x, code=code: x["type"] == "warning" and x["code"] == code)  # type: ignore[misc]
            assert told["session"] == root
        await ledger.interrupt()
    ways = [line["delivery"] if line["type"] == "note" else line["code"] for line in ledger.lines if is_about_way(line)]
    silent, back = ways.index("plugin_silent"), ways.index("plugin_back")
    assert set(ways[:silent]) == {"hook"} and set(ways[silent + 1 : back]) == {"patch"}
    assert set(ways[back + 1 :]) == {"hook"}
    for note in of_type(ledger.lines, "note"):
        assert given(on.model.requests, note["call"])[-1].count("<ledger-note>") == 1


def is_about_way(line: Line) -> bool:
    return bool(line["type"] == "note" or (line["type"] == "warning" and line["code"].startswith("plugin_")))


def looks() -> Plans:
    """Ten times the same look at model.ckpt; what is extracted is in its output."""
    return Plans(calls(10).plans, extractions=(findings(("model.ckpt is 4096 bytes long", TOPIC)),))


async def test_missed_deadlines_are_listed_and_their_notes_go_the_other_way(binary: Path, tmp_path: Path) -> None:
    hasty = ("--set", "hook_deadline_ms=1")
    async with stage(binary, tmp_path, looks(), plugin=True) as on, on.ledger(*hasty, interval=2) as ledger:
        await ledger.state("live")
        root = await on.session()
        await on.prompt(root, "[calls] look")
        told = await ledger.until(lambda x: x["type"] == "warning" and x["code"] == "hook_deadline")
        await ledger.until(lambda x: x["type"] == "note")
        await ledger.interrupt()
    assert told["session"] == root
    assert "the plugin waited" in told["message"] and "1 at most" in told["message"]
    for note in of_type(ledger.lines, "note"):  # the last one may have come after the turn's last request
        assert given(on.model.requests, note["call"])[-1].count("<ledger-note>") <= 1


async def test_a_second_ledger_watches_and_takes_over(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, probes(), plugin=True) as on, on.ledger() as first:
        await first.state("live")
        async with on.ledger() as second:
            await second.until(lambda x: x["type"] == "warning" and x["code"] == "hosted_elsewhere")
            await second.state("live")
            await work(on)
            await first.until(lambda x: x["type"] == "note")
            assert not of_type(second.lines, "note") and not of_type(second.lines, "extraction")
            await first.interrupt()
            await second.until(lambda x: x["type"] == "warning" and x["code"] == "took_over")
            await second.until(lambda x: x["type"] == "extraction" and x["state"] == "done")
            await second.interrupt()


def assert_each_call_once(lines: list[Line]) -> None:
    calls = [touch["call"] for touch in of_type(lines, "touch")]
    assert calls and len(calls) == len(set(calls))
