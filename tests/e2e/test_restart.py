"""The server is killed in the middle of the work and comes back: no step is lost, none is counted twice."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import httpx
import pytest

from tests.e2e.chat import Turn, bash, run, say
from tests.e2e.ledger import Ledger, Line
from tests.e2e.oracle import OWN_TITLE, check_notes, of_type, steps_on_server, steps_reported
from tests.e2e.recorder import snapshot
from tests.e2e.scripts import NOTHING, SUBAGENT_PLAN, SUBAGENT_TASK, Plans, findings, probe_commands
from tests.e2e.stage import Stage, stage

TOPIC = "file-format:model.ckpt"


def interrupted(last: Turn) -> Plans:
    """`[first]`: seven probes, the sixth of which waits for the first facts, and then `last`, in which the server dies.
    `[second]`: a sub-agent and twelve more."""
    commands = probe_commands()
    turns = [run(bash(command, description)) for command, description in commands]
    turns[5] = run(bash(f"until [ -e known ]; do sleep 0.05; done; {commands[5][0]}", commands[5][1]))
    second = [*turns[7:10], run(SUBAGENT_TASK), *turns[10:19], say("All probes made.")]
    facts = [
        findings(("model.ckpt is 4096 bytes long", TOPIC)),
        findings(("vocab.bpe has 12 lines", "tokenizer:vocab.bpe")),
        NOTHING,
    ]
    return Plans({"[first]": [*turns[:7], last], "[second]": second, "[vocab]": SUBAGENT_PLAN}, facts)


IN_A_CALL = run(bash("echo begin; sleep 60; stat model.ckpt", "Wait"))
IN_THE_MODEL = say("Too late.", delay=60)


async def die_and_come_back(on: Stage, ledger: Ledger, root: str) -> None:
    """Kill the server when the eighth request is under way, start it again, and let the agent go on at once."""
    first = on.begin(root, "[first] Look at model.ckpt.")
    await ledger.until(lambda x: x["type"] == "extraction" and x["state"] == "done")
    (on.server.project / "known").touch()
    await on.model.until(lambda r: r.kind == "agent" and r.turn == 7)
    await asyncio.sleep(1.5)
    await on.server.kill()
    with contextlib.suppress(httpx.HTTPError):
        await first
    await asyncio.sleep(1)
    await on.server.start()
    await on.prompt(root, "[second] Go on.")


@pytest.mark.parametrize("last", [IN_A_CALL, IN_THE_MODEL], ids=["in a call", "in the model"])
async def test_a_killed_server_loses_no_step_and_counts_none_twice(binary: Path, tmp_path: Path, last: Turn) -> None:
    async with stage(binary, tmp_path, interrupted(last)) as on:
        async with on.ledger() as ledger:
            await ledger.state("live")
            root = await on.session()
            await die_and_come_back(on, ledger, root)
            state = await snapshot(on.client)
            expected = steps_on_server(state)
            await ledger.until(lambda _: steps_reported(ledger.lines) >= expected)
            await ledger.until(lambda x: x["type"] == "extraction" and x["state"] == "done" and x["id"] == "x3")
            assert await ledger.interrupt() == 130
        titles = await on.titles()
    lines = ledger.lines
    assert sum(expected.values()) == 24  # seven, then twelve probes, the task, the answer, and three of the sub-agent
    assert steps_reported(lines) == expected
    assert [step["n"] for step in of_type(lines, "step")] == list(range(1, 25))
    assert any(line["state"] == "reconnecting" for line in of_type(lines, "connection"))
    check_notes(lines, on.model.requests)
    assert OWN_TITLE not in titles
    assert_touches_count_each_call_once(lines, root)


def assert_touches_count_each_call_once(lines: list[Line], root: str) -> None:
    touches = [x for x in of_type(lines, "touch") if TOPIC in x["topics"] and x["origin"] == root]
    calls = [touch["call"] for touch in touches]
    assert len(calls) == len(set(calls))
    counts = [touch["counts"][TOPIC] for touch in touches]
    again = counts.index(1, 1)  # the user's second message began a new count
    assert counts == [*range(1, again + 1), *range(1, len(counts) - again + 1)]
    assert_gentle_quiet_stop(lines, touches[again:])


def assert_gentle_quiet_stop(lines: list[Line], touches: list[Line]) -> None:
    """Calls that ended before the ledger was back are too old for a note: they count, and are quiet."""
    back = max(place for place, x in enumerate(lines) if x["type"] == "connection" and x["state"] == "live")
    marks = [(touch["counts"][TOPIC], touch["action"], lines.index(touch) < back) for touch in touches]
    first = next((place for place, (_, action, _) in enumerate(marks) if action != "quiet"), len(marks))
    assert all(read_back for _, _, read_back in marks[:first])
    for place, (count, action, _) in enumerate(marks[first:]):
        assert action == ("stop" if count >= 4 else "quiet" if place else "gentle")
