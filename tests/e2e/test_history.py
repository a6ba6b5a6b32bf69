"""Past sessions of a real OpenCode: the same while it writes, after it has stopped, and in a read-only folder."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

from core.history.listing import OWN_TITLE, list_sessions
from core.history.parts import read_parts
from core.history.places import find_databases
from core.history.rows import SessionRow
from core.history.source import Layout, Source
from core.history.transcript import Transcript, transcript
from tests.e2e.scripts import plain
from tests.e2e.stage import Stage, stage

_PROMPTS = ["[one]", "[two]", "[many]", "[fail]", "[error]", "[overflow]", "[agent]", "[one]"]
Read = dict[str, tuple[SessionRow, Transcript]]


def read_all(database: Path) -> Read:
    """All sessions with their transcripts, in the order of the list."""
    with Source.open(database) as source:
        assert source.layout is Layout.V1
        rows = list(list_sessions(source, include_children=True))
        return {row.id: (row, transcript(read_parts(source, row.id))) for row in rows}


def state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Name, size, time and content of each file beside the database."""
    files = [file for file in folder.iterdir() if file.is_file()]
    return {file.name: (file.stat().st_size, file.stat().st_mtime_ns, file.read_bytes()) for file in files}


async def work(on: Stage) -> str:
    """Twenty sessions with sub-agents, errors and a compaction, and two more; returns the id of the deleted one."""
    sessions = [await on.session() for _ in range(20)]
    for first in range(0, len(sessions), 4):
        batch = sessions[first : first + 4]
        await asyncio.gather(
            *(on.prompt(id, f"{_PROMPTS[(first + n) % len(_PROMPTS)]} go on") for n, id in enumerate(batch))
        )
    await on.session(title=OWN_TITLE)
    gone = await on.session(title="To be deleted")
    await on.prompt(gone, "[one] in vain")
    await on.client.delete(f"/session/{gone}")
    return gone


def texts(messages: list[dict[str, Any]]) -> list[str]:
    """The texts that OpenCode's own API tells of a session, in order."""
    parts = [part for message in messages for part in message["parts"]]
    return [part["text"].strip() for part in parts if part["type"] == "text" and not part.get("synthetic")]


async def test_the_same_sessions_while_it_writes_after_it_and_where_nothing_can_be_written(
    binary: Path, tmp_path: Path
) -> None:
    async with stage(binary, tmp_path, plain()) as on:
        working = asyncio.create_task(work(on))
        (database,) = find_databases(None, {"XDG_DATA_HOME": str(tmp_path / "home" / "data")})
        counts = []
        while not working.done():
            counts.append(len(await asyncio.to_thread(read_all, database)))
            await asyncio.sleep(0.3)
        gone = await working
        assert counts == sorted(counts)
        assert len(set(counts)) > 2

        running = await asyncio.to_thread(read_all, database)
        listed = {session["id"]: session for session in (await on.client.get("/session")).json()}
        told = {id: (await on.client.get(f"/session/{id}/message")).json() for id in running}
    assert {id for id, session in listed.items() if session["title"] != OWN_TITLE} == set(running)
    assert gone not in running
    assert len(running) >= 22
    assert [row.parent for row, _ in running.values()].count("") == 20
    order = [(row.time_created, row.id) for row, _ in running.values()]
    assert order == sorted(order)
    for id, (row, made) in running.items():
        roles = [message["info"]["role"] for message in told[id]]
        assert (row.messages.all, row.messages.user) == (len(roles), roles.count("user"))
        assert row.tokens.total == 0 or row.model == "fake/m1"
        assert all(words[:200] in made.text for words in texts(told[id]))
        assert not set(made.skipped) - {"synthetic", "agent", "retry", "snapshot", "subtask"}
    whole = "\n".join(made.text for _, made in running.values())
    assert ", summary of what came before]" in whole
    assert ", tool read, error]" in whole

    before = state(database.parent)
    stopped = await asyncio.to_thread(read_all, database)
    assert stopped == running
    assert state(database.parent) == before
    fixed = shutil.copytree(database.parent, tmp_path / "fixed # 100% ?", ignore=shutil.ignore_patterns("*-shm"))
    fixed.chmod(0o500)
    try:
        assert read_all(fixed / database.name) == running
        assert sorted(state(fixed)) == sorted(name for name in before if not name.endswith("-shm"))
    finally:
        fixed.chmod(0o700)
