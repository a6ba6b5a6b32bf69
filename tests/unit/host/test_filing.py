"""Files on disk and the facts about them, in one host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from core.host.filing import Filing
from core.ledger import observations as seen
from core.ledger.commands import ExtractNow
from core.ledger.engine import Engine
from core.ledger.state import EngineSettings

ROOT = "ses_root"
FACT = ("model.ckpt has 4096 bytes", "file-format:model.ckpt")


class Project:
    """One ledger that knows a fact about a file of `folder`, and what it was told of files."""

    def __init__(self, folder: Path, t: int) -> None:
        self.engine = Engine(ROOT, EngineSettings())
        self.told: asyncio.Queue[str] = asyncio.Queue()
        self.now = t
        self.engine.observe(seen.SessionInfo(t=t, session=ROOT, title="t", directory=str(folder)))
        call = {"message": "m1", "part": "p1", "call": "c1", "tool": "bash", "ok": True, "summary": "stat"}
        output = "size of model.ckpt: 4096 bytes"
        self.engine.observe(
            seen.ToolFinished(t=t, session=ROOT, command="stat model.ckpt", output=output, ended=t, **call)  # type: ignore[arg-type]
        )
        self.engine.observe(seen.StepFinished(t=t, session=ROOT, message="m1", part="s1"))
        self.engine.observe(ExtractNow(t=t, session=ROOT))
        items = (seen.Candidate(*FACT),)
        self.engine.observe(seen.ExtractionAnswered(t=t, session=ROOT, id="x1", items=items))

    def clock(self) -> int:
        return self.now

    @property
    def engines(self) -> list[Engine]:
        return [self.engine]

    def file_changed(self, told: seen.FileChanged) -> None:
        self.engine.observe(told)
        self.told.put_nowait(told.path)

    @property
    def state(self) -> str:
        (finding,) = self.engine.state.ledger
        return finding.state


@asynccontextmanager
async def filing(project: Project) -> AsyncIterator[Filing]:
    watch = Filing(project)  # type: ignore[arg-type]
    watch.start()
    watch.follow()
    try:
        yield watch
    finally:
        await watch.stop()


def made(tmp_path: Path) -> tuple[Path, Project]:
    path = tmp_path / "model.ckpt"
    path.write_bytes(b"\0" * 4096)
    return path, Project(tmp_path, path.stat().st_mtime_ns // 1_000_000 + 1)


async def test_a_fact_is_doubtful_once_the_bytes_of_its_file_are_others(tmp_path: Path) -> None:
    path, project = made(tmp_path)
    (finding,) = project.engine.state.ledger
    assert finding.files == (str(path),)
    assert finding.read_at == project.now
    async with filing(project) as watch:
        await watch._watch.settled()
        path.write_bytes(b"\0" * 4096)
        watch.check([str(path)])
        await watch._watch.settled()
        assert project.state == "accepted"
        path.write_bytes(b"\1" * 10)
        async with asyncio.timeout(20):
            assert await project.told.get() == str(path)
    assert project.state == "doubtful"


async def test_a_file_that_changed_since_the_agent_read_it_is_noticed_at_the_start(tmp_path: Path) -> None:
    path, project = made(tmp_path)
    project = Project(tmp_path, project.now - 60_000)
    async with filing(project), asyncio.timeout(20):
        assert await project.told.get() == str(path)
    assert project.state == "doubtful"


async def test_what_cannot_be_looked_at_is_believed(tmp_path: Path) -> None:
    path, project = made(tmp_path)
    path.unlink()
    async with filing(project) as watch:
        await watch._watch.settled()
        assert not watch.edited(str(path))
        watch.check([str(path)])
    assert project.state == "doubtful"


async def test_the_disk_decides_over_what_opencode_says(tmp_path: Path) -> None:
    path, project = made(tmp_path)
    async with filing(project) as watch:
        await watch._watch.settled()
        assert watch.edited(str(path))
        await watch._watch.settled()
        assert project.state == "accepted"
        assert not watch.edited(str(tmp_path / "other"))
