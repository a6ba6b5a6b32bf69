"""Attaching to a session that is under way, to a server with leftovers, and to one without snapshots."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.chat import Turn, bash, run, say
from tests.e2e.oracle import OWN_TITLE, check_notes, of_type, steps_on_server, steps_reported
from tests.e2e.recorder import snapshot
from tests.e2e.scripts import NOTHING, OVERFLOW, Plans, findings, plain, probe_commands
from tests.e2e.stage import eventually, stage

FACT = findings(("model.ckpt is 4096 bytes long", "file-format:model.ckpt"))


def many(count: int, *extractions: Turn) -> Plans:
    """`[work]`: so many probes, one a step."""
    turns = [run(bash(command, description), delay=0.1) for command, description in probe_commands()[:count]]
    return Plans({"[work]": [*turns, say("Done.")]}, extractions or (NOTHING,))


async def test_earlier_steps_are_not_counted_again(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, plain()) as on:
        root = await on.session()
        await on.prompt(root, "[many] before the ledger is there")
        before = steps_on_server(await snapshot(on.client))
        async with on.ledger() as ledger:
            await ledger.state("live")
            await on.prompt(root, "[agent] while it watches")
            expected = steps_on_server(await snapshot(on.client)) - before
            await ledger.until(lambda _: steps_reported(ledger.lines) >= expected)
            await ledger.interrupt()
    steps = [step for step in of_type(ledger.lines, "step") if step["n"]]
    assert steps_reported(steps) == expected
    assert [step["n"] for step in steps] == list(range(1, 6))
    assert of_type(ledger.lines, "extraction")[0]["steps"] == 5


async def test_leftovers_of_a_killed_ledger_are_deleted(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, plain()) as on:
        await on.session(title=OWN_TITLE)
        kept = await on.session(title="the user's own")
        async with on.ledger() as ledger:
            await ledger.state("live")
            await eventually(lambda: on.without(OWN_TITLE))
            assert [s["id"] for s in (await on.client.get("/session")).json()] == [kept]


async def test_sessions_of_another_directory_do_not_count(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, plain()) as on:
        other = tmp_path / "other"
        other.mkdir()
        async with on.ledger() as ledger:
            await ledger.state("live")
            place = {"directory": str(other)}
            foreign = (await on.client.post("/session", params=place, json={})).json()["id"]
            body = {"parts": [{"type": "text", "text": "[many] elsewhere"}]}
            await on.client.post(f"/session/{foreign}/message", params=place, json=body)
            root = await on.session()
            await on.prompt(root, "[one] here")
            await ledger.until(lambda x: x["type"] == "step" and x["n"] == 2)
            await ledger.interrupt()
    assert {line["session"] for line in ledger.lines} == {"", root}


async def test_without_snapshots_notes_are_late_and_the_user_is_told(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, many(14, FACT, NOTHING), snapshot=False) as on, on.ledger() as ledger:
        await ledger.state("live")
        root = await on.session()
        await on.prompt(root, "[work] go")
        await ledger.until(lambda x: x["type"] == "step" and x["n"] == 15)
        await ledger.interrupt()
    notes = of_type(ledger.lines, "note")
    assert "late" in {note["arrived"] for note in notes}
    check_notes(ledger.lines, on.model.requests)
    assert any("late" in line["message"] for line in of_type(ledger.lines, "warning"))


async def test_an_extraction_that_overflows_fails_and_leaves_nothing_running(binary: Path, tmp_path: Path) -> None:
    """OpenCode answers this provider error with compactions without end: the ledger has to stop it."""
    async with stage(binary, tmp_path, many(6, Turn(status=400, error=OVERFLOW))) as on, on.ledger() as ledger:
        await ledger.state("live")
        root = await on.session()
        await on.prompt(root, "[work] go")
        failed = await ledger.until(lambda x: x["type"] == "extraction" and x["state"] == "failed")
        await eventually(lambda: on.without(OWN_TITLE))
        await ledger.interrupt()
        assert (await on.client.get("/session/status")).json() == {}
    assert "too long" in failed["error"]
    assert len(on.model.of_kind("summary")) < 30
    assert of_type(ledger.lines, "step")[-1]["buffered"] >= 5
