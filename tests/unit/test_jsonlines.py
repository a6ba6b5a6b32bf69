from __future__ import annotations

import io
import json
import os
import threading
import unicodedata
from pathlib import Path
from typing import BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FileError, OutputClosed
from core.jsonlines import BackgroundJsonLines, JsonLines, encode
from core.ledger.effects import (
    ConnectionReport,
    ExtractionReport,
    FindingReport,
    NoteReport,
    SessionReport,
    StepReport,
    StepTool,
    TouchReport,
    WarningReport,
)
from core.ledger.observations import Tokens


def finding(fact: str) -> FindingReport:
    return FindingReport(
        t=5, session="ses_1", change="added", id="f1", fact=fact, topic="a:b", step=3, origin="ses_1", call="c1"
    )


def warning(message: str = "m") -> WarningReport:
    return WarningReport(t=1, session="ses_1", code="c", message=message)


EXTRACTION = [
    *("id", "state", "steps", "agent", "model", "found", "added", "duplicates", "rejected", "error", "ms"),
    *("prompt_chars", "tokens", "cost", "held"),
]
HEAD = ["t", "type", "session"]
ROWS = [
    (ConnectionReport(t=1, session="", state="live"), ["state", "detail"]),
    (
        SessionReport(t=1, session="s", title="t", directory="/d", state="busy"),
        ["title", "directory", "state", "detail"],
    ),
    (
        StepReport(t=1, session="s", n=1, origin="s", tools=(StepTool("c", "bash", "error"),), buffered=1),
        ["n", "origin", "tools", "buffered"],
    ),
    (
        TouchReport(
            t=1, session="s", call="c", origin="s", names=("a",), topics=("b",), counts={"b": 1}, action="gentle"
        ),
        ["call", "origin", "names", "topics", "counts", "action", "why"],
    ),
    (
        NoteReport(
            t=1, session="s", call="c", kind="stop", findings=("f",), text="x", delivery="none", arrived="unknown"
        ),
        ["call", "kind", "findings", "text", "delivery", "arrived"],
    ),
    (
        ExtractionReport(t=1, session="s", id="x", state="done", steps=2, tokens=Tokens(input=3)),
        EXTRACTION,
    ),
    (finding("f"), ["change", "id", "fact", "topic", "step", "origin", "call", "reason"]),
    (warning(), ["code", "message"]),
]


@pytest.mark.parametrize(("report", "keys"), ROWS, ids=[type(report).type for report, _ in ROWS])
def test_keys_and_their_order(report: WarningReport, keys: list[str]) -> None:
    line = json.loads(encode(report))
    assert list(line) == HEAD + keys
    assert line["type"] == type(report).type


def test_parts_of_a_report_are_objects() -> None:
    assert json.loads(encode(ROWS[2][0]))["tools"] == [{"call": "c", "tool": "bash", "status": "error"}]
    assert json.loads(encode(ROWS[5][0]))["tokens"]["input"] == 3


@given(st.text(st.characters(), max_size=40) | st.text("\ud800\udfff\x1b\x9b\x7f\u2028\u0085\n\r\0é", max_size=20))
def test_one_line_whatever_the_text(text: str) -> None:
    line = encode(finding(text)).decode()
    assert line.splitlines(keepends=True) == [line]
    assert {unicodedata.category(char) for char in line[:-1]}.isdisjoint({"Cc", "Cs", "Zl", "Zp"})
    mended = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    assert json.loads(line)["fact"] == mended


def test_lone_surrogates_in_keys_and_lists() -> None:
    report = TouchReport(
        t=1, session="s", call="c", origin="s", names=("\ud800",), topics=(), counts={"\udc00": 1}, action="stop"
    )
    line = json.loads(encode(report))
    assert (line["names"], line["counts"]) == (["\ufffd"], {"\ufffd": 1})


def unread() -> BinaryIO:
    """The end of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    return cast("BinaryIO", os.fdopen(writing, "wb", buffering=0))


class Dribble(io.RawIOBase):
    """Takes three bytes at a time."""

    def __init__(self) -> None:
        self.taken = b""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)[:3]  # type: ignore[call-overload]
        self.taken += piece
        return len(piece)


def test_partial_writes_are_continued() -> None:
    stream = Dribble()
    JsonLines(stream).write(warning())  # type: ignore[arg-type]
    assert stream.taken == encode(warning())


def test_each_line_is_out_at_once(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as stream:
        JsonLines(stream).write(warning())
        assert (tmp_path / "out").read_bytes() == encode(warning())


def test_reader_who_left_is_told_apart_from_a_failure() -> None:
    with unread() as stream, pytest.raises(OutputClosed):
        JsonLines(stream).write(warning("x" * 100_000))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_a_failure_with_a_reason() -> None:
    with Path("/dev/full").open("wb") as stream, pytest.raises(FileError, match="standard output"):
        JsonLines(stream).write(warning())


def test_background_keeps_order_and_all(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as stream:
        out = BackgroundJsonLines(stream)
        for number in range(500):
            out.write(warning(str(number)))
        out.close()
    lines = (tmp_path / "out").read_text().splitlines()
    assert [json.loads(line)["message"] for line in lines] == [str(number) for number in range(500)]


def test_slow_reader_does_not_hold_up_the_writer() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb", buffering=0) as stream:
        out = BackgroundJsonLines(stream)
        expected = [warning(f"{number} {'x' * 10_000}") for number in range(50)]
        for report in expected:  # far more than a pipe holds, and nobody has read yet
            out.write(report)
        collected: list[bytes] = []

        def read() -> None:
            with os.fdopen(reading, "rb") as stream:
                collected.extend(stream)

        reader = threading.Thread(target=read)
        reader.start()
        out.close(timeout=30)
    reader.join()
    assert collected == [encode(report) for report in expected]


def test_background_passes_on_that_the_reader_left() -> None:
    with unread() as stream:
        out = BackgroundJsonLines(stream)
        out.write(warning())
        with pytest.raises(OutputClosed):
            out.close()
        with pytest.raises(OutputClosed):
            out.write(warning())


def test_leaving_the_block_writes_what_waits_and_hides_no_failure(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as stream:
        with pytest.raises(LookupError), BackgroundJsonLines(stream) as out:
            out.write(warning())
            raise LookupError
        assert (tmp_path / "out").read_bytes() == encode(warning())
    with unread() as pipe, pytest.raises(LookupError), BackgroundJsonLines(pipe) as out:
        out.write(warning())
        raise LookupError
    with unread() as pipe, pytest.raises(OutputClosed), BackgroundJsonLines(pipe) as out:
        out.write(warning())


def test_a_reader_who_left_is_noticed_without_a_line_to_write() -> None:
    read, write = os.pipe()
    with os.fdopen(write, "wb", buffering=0) as stream, BackgroundJsonLines(stream) as out:
        out.check()
        os.close(read)
        with pytest.raises(OutputClosed):
            out.check()


def test_a_file_is_never_taken_for_closed(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as stream:
        JsonLines(stream).check()
    JsonLines(io.BytesIO()).check()
