"""The host without a server: what reaches it as a sink, and what a screen sees of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from core.host import Host, HostOptions
from core.ledger import commands as ask
from core.ledger import observations as seen
from core.ledger.effects import ConnectionReport, ExtractionReport, Report, SessionReport, StepReport
from core.settings import Settings


class Stage:
    """A host that was never started, and all it reported."""

    def __init__(self, tmp_path: Path, **settings: Any) -> None:
        self.now = 1_000_000
        options = HostOptions(directory=tmp_path, state_dir=tmp_path)
        self.host = Host(options, Settings(dump_path=tmp_path / "facts.json", **settings), clock=lambda: self.now)
        self.reports: list[Report] = []
        self.host.read_reports(self.reports.append)

    def root(self, id: str, updated: int = 0, **more: Any) -> None:
        self.host.root(seen.SessionInfo(t=self.now, session=id, title=f"title {id}", **more), updated)

    def step(self, id: str, n: int, origin: str = "") -> None:
        where: dict[str, Any] = {"t": self.now, "session": origin or id, "message": f"msg_{n}"}
        call: dict[str, Any] = {"part": f"prt_{id}{n}", "call": f"call_{id}{n}", "tool": "bash", "ok": True}
        self.host.observe(id, seen.ToolFinished(**where, **call, summary="ls", command="ls", output=str(n)))
        self.host.observe(id, seen.StepFinished(**where, part=f"fin_{n}"))

    def busy(self, id: str) -> None:
        self.host.observe(id, seen.StatusChanged(t=self.now, session=id, state="busy"))

    def idle(self, id: str) -> None:
        self.host.observe(id, seen.StatusChanged(t=self.now, session=id, state="idle"))


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_the_latest_session_is_shown_until_another_is_busy(stage: Stage) -> None:
    assert stage.host.view() is None and stage.host.selected is None
    stage.root("ses_a", 10)
    stage.root("ses_b", 20)
    assert stage.host.selected == "ses_b"
    stage.busy("ses_a")
    assert stage.host.selected == "ses_a"
    stage.busy("ses_b")
    assert stage.host.selected == "ses_a"
    stage.idle("ses_a")
    assert stage.host.selected == "ses_b"


def test_a_chosen_session_stays_until_the_choice_is_dropped(stage: Stage) -> None:
    stage.root("ses_a", 10)
    stage.root("ses_b", 20)
    stage.host.select("ses_a")
    stage.busy("ses_b")
    assert stage.host.selected == "ses_a"
    stage.host.select(None)
    assert stage.host.selected == "ses_b"


def test_each_session_has_its_own_ledger(stage: Stage) -> None:
    stage.root("ses_a")
    stage.root("ses_b")
    stage.step("ses_a", 1)
    stage.step("ses_b", 1, origin="ses_child")
    steps = [report for report in stage.reports if isinstance(report, StepReport)]
    assert [(report.session, report.n, report.origin) for report in steps] == [
        ("ses_a", 1, "ses_a"),
        ("ses_b", 1, "ses_child"),
    ]


def test_only_one_session_counts_when_asked_for(stage: Stage) -> None:
    stage.host.only = "ses_a"
    stage.root("ses_a")
    stage.root("ses_b")
    stage.step("ses_b", 1)
    assert [item.root for item in stage.host.sessions] == ["ses_a"]
    assert not [report for report in stage.reports if isinstance(report, StepReport)]


def test_attached_is_reported_once_and_titles_follow(stage: Stage) -> None:
    stage.root("ses_a", 10)
    stage.root("ses_a", 11)
    stage.host.root(seen.SessionInfo(t=1, session="ses_a", title="better"), 12)
    attached = [report for report in stage.reports if isinstance(report, SessionReport)]
    assert [report.state for report in attached] == ["attached"]
    view = stage.host.view()
    assert view is not None and view.title == "better"


def test_a_fork_starts_with_its_origins_findings(stage: Stage) -> None:
    stage.root("ses_a", 10)
    stage.host.select("ses_a")
    stage.host.command(ask.Add(t=0, session="", fact="a fact", topic="t"))
    info = seen.SessionInfo(t=5, session="ses_f", title="t (fork #1)", forked_from="ses_a")
    stage.host.observe("ses_f", info)
    stage.host.observe("ses_f", info)
    stage.host.select("ses_f")
    view = stage.host.view()
    assert view is not None and [f.fact for topic in view.topics for f in topic.findings] == ["a fact"]


def test_revisions_change_with_what_is_shown(stage: Stage) -> None:
    stage.root("ses_a", 10)
    before = stage.host.revision("findings"), stage.host.revision("steps")
    stage.host.command(ask.Add(t=0, session="", fact="a fact", topic="t"))
    assert stage.host.revision("findings") != before[0] and stage.host.revision("steps") == before[1]
    stage.root("ses_b", 20)
    assert stage.host.selected == "ses_b" and stage.host.revision("steps") != before[1]


def test_commands_answer_in_words(stage: Stage) -> None:
    assert stage.host.command(ask.Undo(t=0, session="")) == ("There is no session yet.", False)
    stage.root("ses_a")
    assert stage.host.command(ask.Undo(t=0, session="")) == ("Nothing to undo.", False)
    assert stage.host.command(ask.Add(t=0, session="", fact="x", topic="")) == ("Added.", True)


def test_connection_lines_and_logs_of_every_session(stage: Stage) -> None:
    stage.root("ses_a")
    stage.host.connection("live", "")
    stage.host.connection("reconnecting", "gone", 1, 2_000)
    stage.host.connection("reconnecting", "gone", 2, 3_000)
    states = [report.state for report in stage.reports if isinstance(report, ConnectionReport)]
    assert states == ["live", "reconnecting"]
    assert (stage.host.server.attempt, stage.host.server.retry_at) == (2, 3_000)
    view = stage.host.view()
    assert view is not None and [row.text for row in view.log if row.kind == "connection"] == ["live", "reconnecting"]


async def test_a_failed_extraction_is_tried_again_when_its_time_has_come(tmp_path: Path) -> None:
    stage = Stage(tmp_path, extraction_interval_steps=1)
    stage.root("ses_a")
    stage.step("ses_a", 1)
    stage.now += 1
    stage.host.tell("ses_a", seen.ExtractionFailed(t=stage.now, session="ses_a", id="x1", error="no"))
    stage.now += 15_000
    stage.host.tell("ses_a", seen.SessionFailed(t=stage.now, session="ses_a", error="anything happens"))
    await asyncio.sleep(0)
    states = [(report.id, report.state) for report in stage.reports if isinstance(report, ExtractionReport)]
    assert states == [("x1", "queued"), ("x1", "failed"), ("x2", "queued")]


def test_a_broken_listener_does_not_stop_the_others(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []

    def broken() -> None:
        raise RuntimeError("broken")

    stage.host.subscribe(broken)
    end = stage.host.subscribe(lambda: calls.append(1))
    stage.root("ses_a")
    assert calls
    end()
    count = len(calls)
    stage.root("ses_b")
    assert len(calls) == count
    assert "a listener failed" in caplog.text
