"""What the host does when the server is back."""

from __future__ import annotations

from pathlib import Path

from core.ledger import observations as seen
from tests.unit.host.test_host import Quiet, Stage


async def test_what_failed_while_the_server_was_away_is_tried_again_when_it_is_back(tmp_path: Path) -> None:
    wired = Stage(tmp_path, extraction_interval_steps=1)
    line = Quiet(wired.host)
    wired.host._line = line  # type: ignore[assignment]
    wired.host.connection("live", "")
    wired.root("ses_a")
    wired.step("ses_a", 1)
    wired.host.connection("reconnecting", "gone", 1, 2_000)
    for n in range(1, 5):
        wired.host.tell("ses_a", seen.ExtractionFailed(t=wired.now, session="ses_a", id=f"x{n}", error="away"))
        wired.now += 600_000 if n < 4 else 0
        wired.host.tell("ses_a", seen.Tick(t=wired.now, session="ses_a"))
    jobs = line.jobs
    assert [job.id for job in jobs] == ["x1", "x2", "x3", "x4"]
    wired.host.connection("resyncing", "")
    wired.host.connection("live", "")
    assert [job.id for job in jobs] == ["x1", "x2", "x3", "x4", "x5"]
    assert jobs[-1].steps == jobs[0].steps
    wired.host.tell("ses_a", seen.ExtractionFailed(t=wired.now, session="ses_a", id="x5", error="not yet"))
    view = wired.host.view()
    assert view is not None and view.extractions[-1].retry_at == wired.now + 15_000
    wired.host.connection("live", "")
    assert len(jobs) == 5
    await wired.host.stop()
