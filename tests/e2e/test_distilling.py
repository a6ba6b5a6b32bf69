"""Notes made through a real OpenCode of its own sessions: asked without tools, in sessions that leave no trace."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from core.history.distil import Options, Run
from core.history.fates import Fate, Progress
from core.history.folder import STATE, Folder
from core.history.listing import OWN_TITLE, list_sessions
from core.history.material import Work
from core.history.opencode import OpenCodeDistiller
from core.history.places import find_databases
from core.history.sinks import FilesSink
from core.history.source import Source
from core.history.state import Book
from core.opencode.client import Client
from core.store.own import OwnSessions
from tests.e2e.chat import ChatRequest, Turn, say
from tests.e2e.scripts import plain
from tests.e2e.stage import Stage, stage


def note(request: ChatRequest) -> Turn:
    """JUNK about the session that only thinks, an unusable answer at first about [two], a note about the others."""
    asked = request.users[-1]
    if "[think]" in asked:
        return say("JUNK.")
    if "[two]" in asked and "could not be used" not in asked:
        return say("I am not sure.")
    return say("## What Was Worked On\n\nThe checkpoint.\n\n## Follow-ups\n\nNone\n", reasoning="Let me see.")


async def distil(on: Stage, out: Path, own: OwnSessions) -> Progress:
    """One run over all sessions."""
    (database,) = find_databases(None, {"XDG_DATA_HOME": str(on.base / "home" / "data")})
    with Source.open(database) as source:
        works = [Work(row=row, database=database) for row in list_sessions(source)]
    async with Client(on.server.url, directory=str(on.server.project)) as client:
        with Folder.open(out) as folder, closing(Book.open(folder.path / STATE)) as book:
            distiller = OpenCodeDistiller(client, own)
            return await Run(folder, book, distiller, [FilesSink(folder)], Options(jobs=2)).run(works)


async def test_a_run_through_opencode_leaves_notes_and_nothing_else(binary: Path, tmp_path: Path) -> None:
    script = plain()
    script.extractions = note
    async with stage(binary, tmp_path, script) as on:
        for marker in ("[one]", "[two]", "[think]", "[fail]"):
            await on.prompt(await on.session(), f"{marker} go on")
        before = sorted(session["id"] for session in (await on.client.get("/session")).json())
        with closing(OwnSessions(tmp_path / "own.db")) as own:
            done = await distil(on, tmp_path / "out", own)
            again = await distil(on, tmp_path / "out", own)
            assert own.leftovers() == []
        assert sorted(session["id"] for session in (await on.client.get("/session")).json()) == before
        assert OWN_TITLE not in await on.titles()
        asked = on.model.of_kind("extraction")
    assert (done.total, done.count(Fate.NOTE), done.count(Fate.JUNK)) == (4, 3, 1)
    assert (done.spent.requests, len(asked)) == (5, 5)
    assert done.spent.tokens.total > 0
    assert again.count(Fate.KEPT) == 4
    assert all(request.tools == () for request in asked)
    assert all("You write the note" in request.system for request in asked)
    notes = [path.read_text() for path in (tmp_path / "out" / "notes").iterdir()]
    assert len(notes) == 3
    assert all(text.endswith("\n\n## What Was Worked On\n\nThe checkpoint.\n") for text in notes)
