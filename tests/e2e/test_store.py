"""The ledger is killed in the middle of the work: the next one goes on from what was stored, as if nothing had been."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.e2e.chat import bash, run, say
from tests.e2e.ledger import COMMAND, Line, environment
from tests.e2e.oracle import of_type
from tests.e2e.scripts import NOTHING, Plans, findings
from tests.e2e.stage import Stage, stage

TOPIC = "file-format:model.ckpt"
SIZE = "model.ckpt is 4096 bytes long"


def plans() -> Plans:
    """`[one]`: five steps, a fact after four of them. `[two]`: while no ledger is there. `[three]`: the file again."""
    looks = [run(bash(command, "Look")) for command in ("stat -c %s model.ckpt", "ls", "pwd", "id -u", "date +%Y")]
    again = [run(bash(f"head -c {n} model.ckpt | wc -c", "Look again")) for n in (1, 2, 3)]
    turns = {
        "[one]": [*looks, say("Done.")],
        "[two]": [run(bash("echo meanwhile", "Meanwhile")), say("Done.")],
        "[three]": [*again, say("Done.")],
        "[other]": [run(bash("stat model.ckpt", "Look")), say("Done.")],
    }
    return Plans(turns, [findings((SIZE, TOPIC)), NOTHING, NOTHING])


def numbers(lines: list[Line]) -> list[int]:
    return [step["n"] for step in of_type(lines, "step")]


async def facts_of(on: Stage, root: str) -> list[dict[str, Any]]:
    """What `facts` gives of a session."""
    command = [str(COMMAND), "facts", "--session", root, "--json"]
    child = await asyncio.create_subprocess_exec(
        *command, env=environment(on.base / "ledger-home"), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await child.communicate()
    assert child.returncode == 0
    found: list[dict[str, Any]] = json.loads(out)
    return found


async def test_a_killed_ledger_goes_on(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, plans()) as on:
        (on.server.project / "model.ckpt").write_bytes(b"\1" * 4096)
        root = await on.session()
        async with on.ledger(interval=4) as first:
            await first.state("live")
            await on.prompt(root, "[one] Look at model.ckpt.")
            await first.until(lambda x: x["type"] == "finding" and x["change"] == "added")
            await first.until(lambda x: x["type"] == "step" and x["n"] == 6)
            first.kill()
            await first.ended()
        await on.prompt(root, "[two] Go on.")
        async with on.ledger(interval=4) as second:
            await second.state("live")
            await on.prompt(root, "[three] Look again.")
            await second.until(lambda x: x["type"] == "extraction" and x["state"] == "done")
            await second.until(lambda x: x["type"] == "step" and x["n"] == 10)
            assert await second.interrupt() == 130
        other = await on.session()
        async with on.ledger("--resume", root[:12], interval=4) as third:
            await third.state("live")
            await on.prompt(other, "[other] Look.")
            await third.until(lambda x: x["type"] == "note" and x["session"] == other)
            assert await third.interrupt() == 130
        (fact,) = await facts_of(on, root)
    assert (fact["fact"], fact["directory"]) == (SIZE, str(on.server.project))
    assert "4096" in fact["evidence"][0]["lines"][0]["text"]
    assert numbers(first.lines) == [1, 2, 3, 4, 5, 6]
    assert numbers(second.lines) == [7, 8, 9, 10]  # what was missed waits for the user's wish
    assert [x["fact"] for x in of_type(first.lines, "finding")] == [SIZE] and of_type(second.lines, "finding") == []
    touches = of_type(second.lines, "touch")
    assert [(x["topics"], x["counts"][TOPIC]) for x in touches] == [([TOPIC], 1), ([TOPIC], 2), ([TOPIC], 3)]
    assert [x["kind"] for x in of_type(second.lines, "note")] == ["gentle"]
    assert [x["id"] for x in of_type(second.lines, "extraction") if x["state"] == "done"] == ["x2"]
    inherited = [x for x in of_type(third.lines, "finding") if x["session"] == other]
    assert [(x["change"], x["fact"]) for x in inherited] == [("added", SIZE)]
