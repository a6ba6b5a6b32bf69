"""The host without a server: what reaches it as a sink, and what a screen sees of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from core.delivery.patch import PatchDelivery
from core.delivery.receipts import Outcome
from core.host import Host, HostOptions
from core.host.dumping import Dump
from core.installing.install import install
from core.installing.places import project_place
from core.installing.texts import plugin_text
from core.ledger import commands as ask
from core.ledger import observations as seen
from core.ledger.effects import (
    ConnectionReport,
    Extract,
    ExtractionReport,
    Note,
    NoteReport,
    Report,
    SessionReport,
    StepReport,
    WarningReport,
)
from core.settings import Settings
from core.views import DeliveryView, LogRow


class Stage:
    """A host that was never started, and all it reported."""

    def __init__(self, tmp_path: Path, *, latest: bool = False, **settings: Any) -> None:
        self.now = 1_000_000
        options = HostOptions(directory=tmp_path, state_dir=tmp_path, latest=latest)
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


def test_latest_chooses_the_session_that_was_active_last_when_the_server_is_there(tmp_path: Path) -> None:
    stage = Stage(tmp_path, latest=True)
    stage.root("ses_a", 10)
    stage.root("ses_b", 20)
    stage.busy("ses_a")
    stage.host.connection("live", "")
    assert stage.host.selected == "ses_b"
    stage.host.select("ses_a")
    stage.host.connection("reconnecting", "")
    stage.host.connection("live", "")
    assert stage.host.selected == "ses_a"


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


def test_how_notes_go_is_shown_and_leaves_other_words_alone(stage: Stage) -> None:
    notes = DeliveryView(late=1)
    stage.host.set_server(delivery="patch", delivery_detail="late here")
    stage.host.delivers(notes, in_flight=False)
    assert (stage.host.server.delivery_detail, stage.host.server.notes) == ("late here", notes)
    stage.host.delivers(notes, in_flight=True)
    assert (stage.host.server.delivery, stage.host.server.delivery_detail) == ("hook", "")
    stage.host.delivers(notes, in_flight=False)
    assert (stage.host.server.delivery, stage.host.server.delivery_detail) == ("patch", "")


def test_notes_that_are_off_stay_off(tmp_path: Path) -> None:
    host = Stage(tmp_path, injection_enabled=False).host
    host.set_server(delivery="off", delivery_detail="off")
    host.delivers(DeliveryView(missed=1), in_flight=True)
    assert (host.server.delivery, host.server.delivery_detail, host.server.notes.missed) == ("off", "off", 1)


def test_a_row_about_a_call_has_its_command_beside_it(stage: Stage) -> None:
    stage.root("ses_a")
    stage.step("ses_a", 1)
    revision = stage.host.revision("log")
    stage.host.log_call("ses_a", "call_ses_a1", LogRow(t=1, kind="warning", text="late"))
    stage.host.log_call("ses_gone", "call_1", LogRow(t=1, kind="warning", text="late"))
    view = stage.host.view()
    assert view is not None and (view.log[-1].text, view.log[-1].detail) == ("late", "ls")
    assert stage.host.revision("log") > revision


def test_a_report_for_readers_only_is_no_row(stage: Stage) -> None:
    stage.root("ses_a")
    warning = WarningReport(t=1, session="ses_a", code="hook_deadline", message="late")
    stage.host.tell_readers(warning)
    view = stage.host.view()
    assert stage.reports[-1] is warning
    assert view is not None and all(row.kind != "warning" for row in view.log)


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


class Quiet:
    """A line that carries nothing and remembers what it was asked for."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.jobs: list[Extract] = []
        self.notes: list[Note] = []

    def delivery_for(self, root: str) -> PatchDelivery:
        return PatchDelivery(Parts(), lambda outcome: self.settle(root, outcome), lambda code, text: None)

    def settle(self, root: str, outcome: Outcome) -> None:
        told = seen.NoteOutcome(t=9, session=root, note=outcome.note.id, delivery="patch", arrived=outcome.arrived)
        self.host.tell(root, told)

    def deliver(self, delivery: PatchDelivery, note: Note) -> None:
        self.notes.append(note)
        delivery.receipts.sending(note)

    def extract(self, job: Extract) -> None:
        self.jobs.append(job)

    async def stop(self) -> None:
        pass


class Parts:
    async def raw_part(self, session: str, message: str, part: str) -> dict[str, Any]:
        return {}

    async def patch_part(self, session: str, message: str, part: str, body: dict[str, Any]) -> None:
        pass


@pytest.fixture
def wired(tmp_path: Path) -> Stage:
    """A stage whose host has a line."""
    stage = Stage(tmp_path, extraction_interval_steps=1)
    stage.host._line = Quiet(stage.host)  # type: ignore[assignment]
    return stage


def look(stage: Stage, origin: str = "ses_a") -> None:
    """A call that is noted: the one known fact is about the file."""
    stage.root("ses_a")
    stage.host.command(ask.Add(t=0, session="", fact="a fact", topic="file:a.bin"))
    where: dict[str, Any] = {"t": stage.now, "session": origin, "message": "msg_1"}
    call: dict[str, Any] = {"part": "prt_1", "call": "call_1", "tool": "bash", "ok": True}
    stage.host.observe("ses_a", seen.ToolFinished(**where, **call, summary="", command="xxd a.bin", output="1"))


def fates(stage: Stage) -> list[tuple[str, str]]:
    return [(report.delivery, report.arrived) for report in stage.reports if isinstance(report, NoteReport)]


async def test_a_note_under_way_at_the_end_was_sent_by_patch(wired: Stage) -> None:
    look(wired)
    assert fates(wired) == []
    await wired.host.stop()
    assert fates(wired) == [("patch", "unknown")]


@pytest.mark.parametrize(
    ("origin", "deleted"), [("ses_a", "ses_a"), ("ses_child", "ses_child"), ("ses_child", "ses_a")]
)
def test_a_note_is_reported_when_its_session_is_deleted(wired: Stage, origin: str, deleted: str) -> None:
    look(wired, origin)
    wired.host.observe("ses_a", seen.SessionDeleted(t=1, session=deleted))
    assert fates(wired) == [("patch", "unknown")]


async def test_nothing_is_planned_while_a_retry_runs_nor_after_the_end(wired: Stage) -> None:
    wired.root("ses_a")
    wired.step("ses_a", 1)
    wired.host.tell("ses_a", seen.ExtractionFailed(t=wired.now, session="ses_a", id="x1", error="no"))
    assert wired.host._alarm.is_set
    wired.now += 15_000
    wired.host._alarm.ring()
    assert [job.id for job in wired.host._line.jobs] == ["x1", "x2"]  # type: ignore[union-attr]
    assert not wired.host._alarm.is_set
    await wired.host.stop()
    wired.host.tell("ses_a", seen.ExtractionFailed(t=wired.now, session="ses_a", id="x2", error="stopped"))
    assert not wired.host._alarm.is_set


def test_the_reason_is_told_when_the_line_was_closed_already(stage: Stage) -> None:
    stage.host.connection("closed", "")
    stage.host.failed(RuntimeError("broken"))
    told = [(report.state, report.detail) for report in stage.reports if isinstance(report, ConnectionReport)]
    assert told == [("closed", ""), ("closed", "RuntimeError: broken")]
    assert stage.host.server.detail == "RuntimeError: broken"


def test_many_changes_are_one_change_of_the_dump(stage: Stage) -> None:
    class Dump:
        changes = 0

        def changed(self, engines: object) -> None:
            self.changes += 1

    stage.root("ses_a")
    stage.step("ses_a", 1)
    stage.host._dump = dump = Dump()  # type: ignore[assignment]
    stage.host.command(ask.ExtractNow(t=0, session=""))
    items = (seen.Candidate("a", "t"), seen.Candidate("b", "t"))
    stage.host.tell("ses_a", seen.ExtractionAnswered(t=1, session="ses_a", id="x1", items=items))
    assert dump.changes == 1


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


async def test_a_new_session_alone_leaves_the_former_dump_alone(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    dump = tmp_path / "facts.json"
    dump.write_text("[]\n")
    before = dump.stat().st_mtime_ns
    stage.host._dump = Dump(dump, lambda code, text: None)
    stage.root("ses_a")
    await stage.host._dump.close()
    assert dump.stat().st_mtime_ns == before


def test_what_the_user_does_to_meters_is_in_the_log(stage: Stage) -> None:
    stage.root("ses_a")
    stage.host.command(ask.Add(t=0, session="", fact="x", topic="t:a.bin"))
    stage.host.command(ask.Mute(t=0, session="", topic="t:a.bin"))
    stage.host.observe("ses_a", seen.UserMessage(t=1, session="ses_a", message="msg_1"))
    view = stage.host.view()
    assert view is not None
    assert [row.kind for row in view.log if row.kind == "user"] == ["user", "user"]


def test_notes_are_said_to_be_late_only_where_they_will_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("OPENCODE_CONFIG_DIR", raising=False)

    def warnings(project: Path, *, snapshots: bool) -> list[str]:
        project.mkdir()
        stage = Stage(project)
        if project.name == "with":
            place = project_place(project)
            install(place, plugin=plugin_text("0.1.0"), version="0.1.0", model=None, dry_run=False)
        for _ in range(2):
            stage.host.takes_snapshots(snapshots)
        return [report.code for report in stage.reports if isinstance(report, WarningReport)]

    assert warnings(tmp_path / "without", snapshots=False) == ["notes_late"]
    assert warnings(tmp_path / "with", snapshots=False) == []
    assert warnings(tmp_path / "snapshots", snapshots=True) == []
