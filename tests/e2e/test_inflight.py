"""The real ledger with the real plugin in the real OpenCode: notes in flight, and both ways around each other."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.e2e.ledger import Line
from tests.e2e.oracle import check_notes, of_type
from tests.e2e.scripts import probes
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
