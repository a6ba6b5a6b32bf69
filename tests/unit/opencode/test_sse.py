from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.opencode.sse import Splitter

LIMIT = 1 << 20


def split(stream: bytes, size: int | None = None, limit: int = LIMIT) -> list[bytes]:
    splitter = Splitter(limit)
    step = size or max(len(stream), 1)
    return [p for i in range(0, len(stream), step) for p in splitter.feed(stream[i : i + step])]


def reference(stream: bytes, limit: int = LIMIT) -> tuple[list[bytes], int]:
    """The standard's algorithm, line by line over the whole stream at once."""
    text = stream.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    complete = text.split(b"\n")[:-1]
    payloads: list[bytes] = []
    skipped = 0
    lines: list[bytes] = []
    for line in complete:
        if line:
            lines.append(line)
            continue
        if len(b"\n".join(lines)) > limit:
            skipped += 1
        else:
            data = []
            for kept in lines:
                field, _, value = kept.partition(b":")
                if field == b"data":
                    data.append(value.removeprefix(b" "))
            if data:
                payloads.append(b"\n".join(data))
        lines = []
    return payloads, skipped


TOKENS = st.sampled_from(
    [
        b"data: ",
        b"data:",
        b"data",
        b"database: x",
        b": comment",
        b"event: x",
        b"id: 1",
        b"retry",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\r\n\r\n",
        b" ",
        b":",
        b"\xef\xbb\xbf",
        b"\xef",
        "\u2028\u0085\x0b\x0c".encode(),
        b'{"type":"x"}',
        b"d",
        b"long" * 9,
    ]
)
STREAMS = st.lists(TOKENS, max_size=40).map(b"".join)


@st.composite
def chunked(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    stream = draw(STREAMS)
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    return stream, [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


@given(chunked(), st.sampled_from([LIMIT, 30, 7, 1]))
@example((b"data: a\r\r\n", [b"data: a\r", b"\r", b"\n"]), LIMIT)
@example((b"data: 12345\n\ndata: 1\n\n", [b"data: 12345", b"\n\nda", b"ta: 1\n\n"]), 7)
def test_any_chunking_gives_the_frames_of_the_standard(case: tuple[bytes, list[bytes]], limit: int) -> None:
    stream, chunks = case
    splitter = Splitter(limit)
    got = [payload for chunk in chunks for payload in splitter.feed(chunk)]
    assert (got, splitter.skipped) == reference(stream, limit)


@given(STREAMS)
def test_byte_by_byte_is_the_same_as_all_at_once(stream: bytes) -> None:
    assert split(stream, 1) == split(stream)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_line_ends(end: bytes, size: int) -> None:
    stream = b'data: {"a":1}\n\n: beat\n\nevent: x\ndata:one\ndata:  two\ndata\nid: 7\n\n'.replace(b"\n", end)
    assert split(stream, size) == [b'{"a":1}', b"one\n two\n"]


def test_a_cr_at_the_end_of_a_chunk_ends_the_frame_at_once() -> None:
    splitter = Splitter(LIMIT)
    assert splitter.feed(b"data: a\r\n\r") == [b"a"]
    assert splitter.feed(b"\ndata: b\r\n") == []
    assert splitter.feed(b"\r\n") == [b"b"]


def test_a_byte_order_mark_counts_only_at_the_start() -> None:
    bom = b"\xef\xbb\xbf"
    assert split(bom + b"data: a\n\n" + bom + b"data: b\n\n", 1) == [b"a"]


def test_characters_cut_between_chunks_and_line_separators_of_other_standards_survive() -> None:
    text = "é\u2028\u2029\u0085\x0b\x0c🙂"
    stream = b"data: " + json.dumps({"t": text}, ensure_ascii=False).encode() + b"\n\n"
    for size in range(1, 9):
        (payload,) = split(stream, size)
        assert payload.decode() == json.dumps({"t": text}, ensure_ascii=False)


def test_an_unfinished_frame_is_not_given() -> None:
    assert split(b"data: a\n\ndata: b\n") == [b"a"]


@pytest.mark.parametrize("size", [1, 4, 64, 100_000])
def test_a_frame_above_the_limit_is_skipped_and_the_stream_goes_on(size: int) -> None:
    splitter = Splitter(100)
    fits = b"x" * 94
    stream = b"data: a\n\ndata: " + fits + b"x\n\ndata: " + fits + b"\n\ndata: " + b"y" * 5000 + b"\n\ndata: z\n\n"
    got = [p for i in range(0, len(stream), size) for p in splitter.feed(stream[i : i + size])]
    assert got == [b"a", fits, b"z"]
    assert splitter.skipped == 2


def test_memory_stays_bounded_by_the_limit() -> None:
    splitter = Splitter(100_000)
    chunk = b"x" * 10_000
    splitter.feed(b"data: ")
    tracemalloc.start()
    for _ in range(500):
        splitter.feed(bytes(chunk[:-1]) + b"y")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 400_000
    assert splitter.feed(b"\n\ndata: z\n\n") == [b"z"]
    assert splitter.skipped == 1


def test_tiny_chunks_cost_no_more_memory_than_the_frame() -> None:
    splitter = Splitter(1 << 26)
    splitter.feed(b"data: ")
    tracemalloc.start()
    for number in range(200_000):
        splitter.feed(b"xy" if number % 2 else b"z")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 450_000
    (payload,) = splitter.feed(b"\n\n")
    assert payload == b"zxy" * 100_000
