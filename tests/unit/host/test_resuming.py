"""A host that goes on from what an earlier process has kept."""

from __future__ import annotations

from pathlib import Path

from core.host.storing import Storing
from core.ledger import commands as ask
from tests.unit.host.test_host import Stage


async def test_files_and_dump_follow_facts_that_an_earlier_process_has_kept(tmp_path: Path) -> None:
    class Followed:
        times = 0

        def follow(self) -> None:
            self.times += 1

    async def with_store(stage: Stage) -> Followed:
        stage.host._storing = Storing(stage.host, tmp_path / "ledger.db")
        await stage.host._storing.open(90)
        stage.host._filing = followed = Followed()  # type: ignore[assignment]
        stage.root("ses_a")
        stage.busy("ses_a")
        return followed

    stage = Stage(tmp_path)
    assert (await with_store(stage)).times == 0
    stage.host.command(ask.Add(t=0, session="", fact="a", topic="t"))
    await stage.host._storing.close()  # type: ignore[union-attr]
    again = Stage(tmp_path)
    followed = await with_store(again)
    again.idle("ses_a")
    assert followed.times == 1
    await again.host._storing.close()  # type: ignore[union-attr]
