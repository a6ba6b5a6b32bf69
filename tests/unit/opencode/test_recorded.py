"""Reading recordings back."""

from __future__ import annotations

import gzip
import io
import os
import threading
from pathlib import Path
from types import SimpleNamespace

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


def test_damaged_data_within_gzip(tmp_path: Path) -> None:
    path = tmp_path / "r.gz"
    whole = bytearray(gzip.compress(os.urandom(50_000)))
    whole[20_000:20_100] = bytes(100)
    path.write_bytes(whole)
    with pytest.raises(FileError, match="cannot read"):
        list(open_recording(path))


@pytest.mark.parametrize("form", ["lines", "sse"])
@pytest.mark.parametrize("piece", [1, 7, 1_000])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_pipe_that_gives_little_at_a_time(tmp_path: Path, form: str, piece: int, packed: bool) -> None:
    data = gzip.compress(FORMS[form]) + gzip.compress(FORMS[form]) if packed else FORMS[form]
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def fill() -> None:
        with path.open("wb", buffering=0) as pipe:
            for at in range(0, len(data), piece):
                pipe.write(data[at : at + piece])

    writer = threading.Thread(target=fill)
    writer.start()
    found = list(RecordedFrames(open_recording(path), 1_000))
    writer.join()
    assert found == EVENTS * (2 if packed else 1)


@pytest.mark.parametrize("data", [b"", b"{", b"\x1f"])
def test_a_short_pipe(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "short"
    path.write_bytes(data)
    assert b"".join(open_recording(path)) == data


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO(gzip.compress(FORMS["lines"]))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=data))
    assert list(RecordedFrames(open_recording(None), 1_000)) == EVENTS
    assert not data.closed


def test_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(FileError, match="standard input is closed"):
        list(open_recording(None))
