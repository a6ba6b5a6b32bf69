"""`record` of a live session, then `replay` of the file: the same bytes each time, the same steps as on the server."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path

from tests.e2e.chat import bash, run, say
from tests.e2e.ledger import Ledger, once
from tests.e2e.opencode import ROOT
from tests.e2e.oracle import of_type, steps_on_server, steps_reported
from tests.e2e.recorder import snapshot
from tests.e2e.scripts import SUBAGENT_PLAN, SUBAGENT_TASK, Plans, probe_commands
from tests.e2e.stage import Stage, eventually, stage

DEMO = ROOT / "core" / "demo"
ANSWER = '[{"fact": "model.ckpt is 4096 bytes long", "topic": "file-format:model.ckpt"}]'


def work() -> Plans:
    """`[early]`: six probes; `[late]`: a sub-agent and ten more."""
    turns = [run(bash(command, description)) for command, description in probe_commands()]
    late = [run(SUBAGENT_TASK), *turns[6:16], say("Done.")]
    return Plans({"[early]": [*turns[:6], say("A start.")], "[late]": late, "[vocab]": SUBAGENT_PLAN})


async def record(on: Stage, out: Path) -> None:
    """Record from the middle of a session to its end."""
    root = await on.session()
    await on.prompt(root, "[early] go")
    place = ["--server", on.server.url, "--directory", str(on.server.project)]
    async with Ledger(["record", str(out), *place], on.base / "home") as recording:
        await eventually(lambda: written(out, b'"message.part.updated"'))
        await on.prompt(root, "[late] go on")
        await on.model.until(lambda r: r.kind == "agent" and "[late]" in r.users[-1] and r.turn == 11)
        await eventually(lambda: written(out, b'"session.idle"'))
        assert await recording.interrupt() == 130
    assert recording.lines == []


async def written(out: Path, word: bytes) -> bool:
    """Whether the recording so far holds this word."""
    try:
        return word in await asyncio.to_thread(out.read_bytes)
    except FileNotFoundError:
        return False


async def test_a_recording_replays_to_the_same_bytes_and_all_steps(binary: Path, tmp_path: Path) -> None:
    out = tmp_path / "session.jsonl"
    async with stage(binary, tmp_path, work()) as on:
        await record(on, out)
        expected = steps_on_server(await snapshot(on.client))
    events = [json.loads(line) for line in out.read_text().splitlines()]
    assert all({"type", "properties"} <= event.keys() for event in events)
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps(ANSWER) + "\n")
    arguments = ["replay", str(out), "--answers", str(answers), "--set", "extraction_interval_steps=5"]
    first, second = [await once(arguments, tmp_path / f"home{i}") for i in (1, 2)]
    assert first.code == second.code == 0, first.errors
    assert first.raw == second.raw
    assert steps_reported(first.lines) == expected
    assert [step["n"] for step in of_type(first.lines, "step")] == list(range(1, sum(expected.values()) + 1))
    packed = tmp_path / "session.jsonl.gz"
    packed.write_bytes(gzip.compress(out.read_bytes()))
    arguments[1] = str(packed)
    assert (await once(arguments, tmp_path / "home3")).raw == first.raw


async def test_answers_are_used_in_order_and_then_extractions_fail(tmp_path: Path) -> None:
    """On the demo's recording: three extractions, an answer for the first one only."""
    answers = tmp_path / "answers.jsonl"
    answers.write_text((DEMO / "answers.jsonl").read_text().splitlines()[0] + "\n")
    run = await once(["replay", str(DEMO / "recording.jsonl.gz"), "--answers", str(answers)], tmp_path / "home")
    assert run.code == 0, run.errors
    states = [x["state"] for x in of_type(run.lines, "extraction") if x["state"] in ("done", "failed")]
    assert states[0] == "done"
    assert set(states[1:]) == {"failed"}


async def test_the_demo_recording_tells_its_story(tmp_path: Path) -> None:
    """Three extractions, and for the file a gentle note, quiet looks, then stop, twice over."""
    story = ["replay", str(DEMO / "recording.jsonl.gz"), "--answers", str(DEMO / "answers.jsonl")]
    run = await once(story, tmp_path / "home")
    assert run.code == 0, run.errors
    steps = of_type(run.lines, "step")
    assert len(steps) == 47
    assert len({step["origin"] for step in steps}) == 2
    assert [x["state"] for x in of_type(run.lines, "extraction")].count("done") == 3
    topic = "file-format:model.ckpt"
    actions = [x["action"] for x in of_type(run.lines, "touch") if topic in x["topics"]]
    assert actions[:4] == ["gentle", "quiet", "quiet", "stop"]
    assert actions.count("gentle") == 2
    assert actions[actions.index("gentle", 1) :][:4] == ["gentle", "quiet", "quiet", "stop"]
    names = gzip.decompress((DEMO / "recording.jsonl.gz").read_bytes())
    assert b"/tmp/" not in names
    assert b"/home/dev/shop" in names
