"""Replays: the same bytes whatever the chunks, and the whole ledger survives a disturbed stream."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import FileError
from core.jsonlines import JsonLines, encode
from core.ledger.effects import FindingReport, Report, StepReport
from core.opencode.recorded import RecordedFrames
from core.replaying import Replay, read_answers, replay
from core.settings import Settings

DATA = Path(__file__).parents[1] / "data" / "opencode"
PROBES = gzip.decompress((DATA / "probes.jsonl.gz").read_bytes())
ANSWERS = [
    json.dumps([{"fact": "model.ckpt is 4096 bytes long", "topic": "file-format:model.ckpt"}]),
    "```json\n" + json.dumps([{"fact": "vocab.bpe has 12 lines", "topic": "tokenizer:vocab.bpe"}]) + "\n```",
    "[]",
    "I cannot help with that.",
]
SETTINGS = Settings(extraction_interval_steps=5)


def run(chunks: Iterable[bytes], answers: Sequence[str] = ANSWERS) -> list[Report]:
    return list(Replay(SETTINGS, answers).run(RecordedFrames(chunks, SETTINGS.max_frame_bytes)))


def as_bytes(reports: Iterable[Report]) -> bytes:
    return b"".join(map(encode, reports))


WHOLE = run([PROBES])
EXPECTED = as_bytes(WHOLE)


def test_the_recording_is_worth_replaying() -> None:
    steps = [report for report in WHOLE if isinstance(report, StepReport)]
    assert len(steps) == 25 and len({report.origin for report in steps}) == 2
    kinds = {json.loads(line)["type"] for line in EXPECTED.splitlines()}
    assert {"session", "step", "touch", "note", "extraction", "finding"} <= kinds
    states = [json.loads(line)["state"] for line in EXPECTED.splitlines() if b'"type":"extraction"' in line]
    assert {"queued", "running", "done", "failed"} <= set(states)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 70_000), min_size=1, max_size=8))
def test_same_bytes_at_any_chunking(sizes: list[int]) -> None:
    chunks, at, n = [], 0, 0
    while at < len(PROBES):
        chunks.append(PROBES[at : at + sizes[n % len(sizes)]])
        at, n = at + sizes[n % len(sizes)], n + 1
    assert as_bytes(run(chunks)) == EXPECTED


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 80)), max_size=25))
def test_repeats_and_late_copies_change_nothing(copies: list[tuple[int, int]]) -> None:
    frames = PROBES.splitlines(keepends=True)
    disturbed = list(frames)
    for at, distance in sorted(copies, reverse=True):
        source = at % len(frames)
        disturbed.insert(min(len(disturbed), source + distance), frames[source])
    found = run([b"".join(disturbed)])
    assert _steps(found) == _steps(WHOLE)
    assert _findings(found) == _findings(WHOLE)


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_interleaved_sessions_do_not_mix(data: st.DataObject) -> None:
    one = PROBES.splitlines(keepends=True)
    two = [line.replace(b"ses_", b"ses_b").replace(b"evt_", b"evt_b").replace(b"prt_", b"prt_b") for line in one]
    two = [line.replace(b"msg_", b"msg_b").replace(b"call_", b"call_b") for line in two]
    picks = data.draw(st.lists(st.booleans(), min_size=60, max_size=200))
    mixed: list[bytes] = []
    left, right = list(one), list(two)
    while left or right:
        first = picks[len(mixed) % len(picks)]
        mixed.append((left if (first and left) or not right else right).pop(0))
    found = run([b"".join(mixed)], answers=[])
    roots = {report.session for report in found if isinstance(report, StepReport)}
    assert len(roots) == 2
    for root in roots:
        own = [report for report in found if report.session == root]
        assert len(_steps(own)) == 25
        assert [report.n for report in own if isinstance(report, StepReport)] == list(range(1, 26))


def _steps(reports: Iterable[Report]) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (report.origin, tuple(tool.call for tool in report.tools))
        for report in reports
        if isinstance(report, StepReport)
    ]


def _findings(reports: Iterable[Report]) -> list[tuple[str, str, str]]:
    return [(report.change, report.fact, report.topic) for report in reports if isinstance(report, FindingReport)]


def test_what_the_user_broke_off_is_extracted_but_is_no_step() -> None:
    """In this recording the call ends after the session is idle, and its step never does."""
    replay = Replay(SETTINGS)
    frames = RecordedFrames([gzip.decompress((DATA / "abort.jsonl.gz").read_bytes())], SETTINGS.max_frame_bytes)
    found = list(replay.run(frames))
    assert _steps(found) == [(found[0].session, ("call_0002_bash",)), (found[0].session, ())]
    [desk] = replay.desks.values()
    left, *rest = desk.engine.extractions.schedule.waiting
    assert (left.broken_off, [step.broken_off for step in rest]) == (True, [False, False])
    assert [call.output.partition("\n")[0] for call in left.calls] == ["begin"]


def test_broken_lines_are_passed_over_and_counted() -> None:
    found = run([b"nonsense\n", PROBES, b'\n{"type": 7}\n{"half": \n'])
    assert as_bytes(found[:-1]) == EXPECTED
    assert b"broken_events" in encode(found[-1])


def test_no_event_is_an_error() -> None:
    for nothing in (b"", b"\n\n", b"hello\n"):
        with pytest.raises(FileError):
            run([nothing])


def test_files(tmp_path: Path) -> None:
    recording, answers, dump = tmp_path / "r.jsonl.gz", tmp_path / "a.jsonl", tmp_path / "facts.json"
    recording.write_bytes((DATA / "probes.jsonl.gz").read_bytes())
    answers.write_text("".join(json.dumps(answer) + "\n" for answer in ANSWERS))
    out = io.BytesIO()
    assert replay(recording, SETTINGS, answers, JsonLines(out)) == 0
    assert out.getvalue() == EXPECTED
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "r.jsonl.gz"]
    given_dump = Settings(extraction_interval_steps=5, dump_path=dump)
    replay(recording, given_dump, answers, JsonLines(io.BytesIO()))
    facts = [entry["fact"] for entry in json.loads(dump.read_text())]
    assert facts == ["model.ckpt is 4096 bytes long", "vocab.bpe has 12 lines"]


def test_an_answer_that_is_no_string_is_named_with_its_file(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('"[]"\n[{"fact": "a", "topic": "b:c"}]\n')
    with pytest.raises(FileError) as raised:
        replay(tmp_path / "unread.jsonl", SETTINGS, answers, JsonLines(io.BytesIO()))
    assert str(answers) in str(raised.value)
    assert "line 2 is an array, not a JSON string" in str(raised.value)


def test_bad_answer_files(tmp_path: Path) -> None:
    for content in (b"{", b"\xff\xfe"):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(FileError):
            read_answers(tmp_path / "a")
    with pytest.raises(FileError):
        read_answers(tmp_path / "missing")
