"""Recordings of every form become events with pauses."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from core.demo import ANSWERS, RECORDING
from core.demo.recording import MAX_PAUSE_MS, Event, load, timed
from core.errors import FileError
from core.extraction.recorded import decode_answers
from tests.unit.demo.samples import ROOT, T, Tape, session


def kinds(recorded: list[Event]) -> list[str]:
    return [event["type"] for event in recorded]


def test_pauses_come_from_the_ids_and_are_cut() -> None:
    tape = Tape()
    tape.session(ROOT)
    tape.add("session.idle", 250, sessionID=ROOT)
    tape.add("session.idle", 0, sessionID=ROOT)
    tape.add("session.idle", 3_600_000, sessionID=ROOT)
    recorded = timed(tape.events)
    assert [event.pause for event in recorded] == [0, 250, 0, MAX_PAUSE_MS]
    assert [event.t - T for event in recorded] == [10, 260, 260, 3_600_260]


def test_times_survive_the_overflow_of_the_ids() -> None:
    tape = Tape()
    tape.t = (1 << 36) * 26 - 50
    for _ in range(10):
        tape.session(ROOT)
    recorded = timed(tape.events)
    assert [event.pause for event in recorded] == [0] + [10] * 9
    assert recorded[-1].t == tape.t


@pytest.mark.parametrize("id", ["", "x", "evt_", "evt_zzzzzzzzzzzz", None, 7])
def test_an_id_without_a_time_means_no_pause(id: object) -> None:
    tape = Tape()
    for _ in range(3):
        tape.session(ROOT)
    tape.events[1]["id"] = id
    assert [event.pause for event in timed(tape.events)] == [0, 0, 20]


def test_an_event_out_of_order_waits_for_nothing() -> None:
    tape = Tape()
    for _ in range(3):
        tape.session(ROOT)
    tape.events[0], tape.events[1] = tape.events[1], tape.events[0]
    assert [event.pause for event in timed(tape.events)] == [0, 0, 10]


def test_the_recorded_server_and_ledger_are_left_out() -> None:
    tape = Tape()
    tape.add("server.heartbeat")
    tape.session("ses_own", "ledger-extraction")
    tape.step(1, session="ses_own")
    tape.session("ses_own", "ledger-extraction", "deleted")
    tape.session(ROOT)
    tape.status("busy")
    assert kinds([event.event for event in timed(tape.events)]) == ["session.created", "session.status"]


@pytest.mark.parametrize("form", ["lines", "sse", "global", "gzip"])
def test_all_forms_of_a_recording_are_the_same(tmp_path: Path, form: str) -> None:
    events = session()
    wrapped = [{"directory": "/x", "payload": event} for event in events] if form == "global" else events
    lines = [json.dumps(event) for event in wrapped]
    if form == "global":
        lines.insert(1, json.dumps({"directory": "/x", "payload": {"type": "sync", "syncEvent": {}}}))
    data = ("".join(f"data: {line}\n\n" for line in lines) if form == "sse" else "\n".join(lines)).encode()
    path = tmp_path / "recording"
    path.write_bytes(gzip.compress(data) if form == "gzip" else data)
    assert load(path) == timed(events)


def test_lines_that_are_no_events_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    good = json.dumps(session()[2])
    path.write_text(
        f'{{"a": 1}}\n{good}\n{{broken}}\n[]\n{{"type": 7}}\n{{"type": "x", "properties": []}}\n' + "{" * 9999 + "}"
    )
    assert kinds([event.event for event in load(path)]) == ["session.created", "x"]


def test_a_missing_recording_is_an_error_for_the_user(tmp_path: Path) -> None:
    with pytest.raises(FileError):
        load(tmp_path / "none")


def test_the_demos_own_recording_is_whole() -> None:
    recorded = load(RECORDING)
    commands = [
        event.event["properties"]["part"]["state"]["input"].get("command", "")
        for event in recorded
        if event.event["properties"].get("part", {}).get("state", {}).get("status") == "completed"
    ]
    assert len(commands) >= 30
    assert sum("model.ckpt" in command for command in commands) >= 10
    assert any(event.event["properties"].get("info", {}).get("parentID", "").startswith("ses_") for event in recorded)
    assert 60_000 < sum(event.pause for event in recorded) < 300_000
    answers = decode_answers(ANSWERS.read_text(encoding="utf-8"))
    assert len(answers) >= 3
    assert all(json.loads(answer) for answer in answers)
    assert "/tmp/" not in json.dumps([event.event for event in recorded])
