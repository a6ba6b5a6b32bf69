"""Reading recordings back."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FileError
from core.opencode.recorded import RecordedFrames, open_recording

EVENTS = [b'{"type":"a","n":1}', b'{"type":"b\xe2\x80\xa8c"}', b'{"type":"server.heartbeat"}']
FORMS = {
    "lines": b"\n".join(EVENTS) + b"\n",
    "no end": b"\n".join(EVENTS),
    "crlf": b"\r\n".join(EVENTS) + b"\r\n",
    "cr": b"\r".join(EVENTS),
    "bom and blanks": b"\xef\xbb\xbf\n\n" + b"\n\n".join(EVENTS),
    "bom at the event": b"\xef\xbb\xbf" + b"\n".join(EVENTS),
    "sse": b"".join(b"data: " + event + b"\n\n" for event in EVENTS),
    "sse crlf": b"".join(b"data:" + event + b"\r\n\r\n" for event in EVENTS),
    "sse with fields": b": hi\n\n" + b"".join(b"event: x\nid: 1\ndata: " + event + b"\n\n" for event in EVENTS),
    "data lines only": b"\n".join(b"data: " + event for event in EVENTS),
}


@pytest.mark.parametrize("form", FORMS)
@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_every_form_at_any_chunking(form: str, sizes: list[int]) -> None:
    data, chunks, at, n = FORMS[form], [], 0, 0
    while at < len(data):
        chunks.append(data[at : at + sizes[n % len(sizes)]])
        at, n = at + sizes[n % len(sizes)], n + 1
    assert list(RecordedFrames(chunks, 1_000)) == EVENTS


def test_a_frame_over_several_data_lines() -> None:
    assert list(RecordedFrames([b'data: {"type":\ndata: "a"}\n\n'], 1_000)) == [b'{"type":\n"a"}']


def test_garbage_and_long_lines_are_counted() -> None:
    frames = RecordedFrames([b"nonsense\n{}\ndata: 1\n\n", b"{" + b"x" * 500, b"x" * 600 + b"}\n{}\n"], 1_000)
    assert list(frames) == [b"{}", b"{}"]
    assert (frames.broken, frames.skipped) == (2, 1)


def test_gzip(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(gzip.compress(FORMS["lines"]))
    assert list(RecordedFrames(open_recording(path), 1_000)) == EVENTS


def test_damaged_gzip_and_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "r.gz"
    path.write_bytes(gzip.compress(FORMS["lines"])[:-10])
    for bad in (path, tmp_path / "missing", tmp_path):
        with pytest.raises(FileError):
            list(open_recording(bad))
