"""`ledger-tui history` on the database of a real OpenCode that runs, and notes made through it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.e2e.chat import ChatRequest, Turn, say
from tests.e2e.ledger import COMMAND, environment
from tests.e2e.scripts import plain
from tests.e2e.stage import Stage, stage


def note(request: ChatRequest) -> Turn:
    """JUNK about the session that only thinks, a note about the others."""
    return say("JUNK" if "[think]" in request.users[-1] else "## Findings & Learnings\n\n- 4096 bytes\n")


async def history(on: Stage, *arguments: str) -> tuple[Any, str]:
    """JSON on standard output, and standard error."""
    process = await asyncio.create_subprocess_exec(
        COMMAND,
        *("history", *arguments, "--json"),
        env=environment(on.base / "ledger-home", XDG_DATA_HOME=str(on.base / "home" / "data")),
        cwd=on.server.project,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return json.loads(out), err.decode()


async def test_list_show_search_stats_and_notes(binary: Path, tmp_path: Path) -> None:
    script = plain()
    script.extractions = note
    async with stage(binary, tmp_path, script) as on:
        ids = [await on.session() for _ in range(4)]
        for id, marker in zip(ids, ("[one]", "[fail]", "[think]", "[agent]"), strict=True):
            await on.prompt(id, f"{marker} go on")
        told = {session["id"]: session for session in (await on.client.get("/session")).json()}

        listed, err = await history(on, "list")
        assert [row["id"] for row in listed] == ids and err == ""
        assert all(row["title"] == told[row["id"]]["title"] for row in listed)
        assert all(row["tokens"] > 0 and row["messages"]["user"] == 1 for row in listed)
        children = [row for row in (await history(on, "list", "--include-children"))[0] if row["parent"]]
        assert [row["parent"] for row in children] == [ids[3]]

        shown, _ = await history(on, "show", ids[0])
        assert "[assistant, tool bash, completed]" in shown["transcript"] and "4096 bytes." in shown["transcript"]
        found, _ = await history(on, "search", '"4096 bytes"')
        assert [hit["id"] for hit in found] == [ids[0]]

        stats, _ = await history(on, "stats")
        assert stats["total"]["sessions"] == 4 and stats["total"]["children"] == 1
        assert stats["total"]["tokens"] == sum(row["tokens"] for row in [*listed, *children])
        tools = {row["tool"]: row for row in stats["by_tool"]}
        assert (tools["read"]["calls"], tools["read"]["errors"], tools["task"]["calls"]) == (1, 1, 1)
        assert all(row["tokens"] > 0 for row in tools.values())
        assert [row["model"] for row in stats["by_model"]] == ["fake/m1"]

        made, err = await history(on, "distil", "--server", on.server.url, "--jobs", "2")
        assert (made["sessions"], made["note"], made["junk"], made["failed"], err) == (4, 3, 1, 0, "")
        assert len(list((Path(made["out"]) / "notes").iterdir())) == 3
        kept, _ = await history(on, "distil", "--server", on.server.url)
        assert (kept["kept"], kept["requests"]) == (4, 0)
        assert [row["id"] for row in (await history(on, "list"))[0]] == ids
        assert set(told) == {session["id"] for session in (await on.client.get("/session")).json()}
