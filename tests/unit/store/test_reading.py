"""Dump files of every origin: what is good is read, what is not is skipped, counted and named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.store.dump import DumpContents, DumpEntry, read_dump
from core.store.entries import encode

SEED = [
    {
        "fact": "model.ckpt has no header",
        "topic": "file-format:model.ckpt",
        "establishedAt": 1760000000123,
        "sourceStep": 12,
    },
    {"fact": "little-endian", "topic": "file-format:model.ckpt", "establishedAt": 1760000000456, "sourceStep": 27},
]


def read(tmp_path: Path, content: object, **more: int) -> DumpContents:
    path = tmp_path / "dump.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_dump(path, **more)


def facts(contents: DumpContents) -> list[str]:
    return [entry.fact for entry in contents.entries]


def test_the_original_plugins_file_is_read(tmp_path: Path) -> None:
    contents = read(tmp_path, SEED)
    assert (contents.skipped, contents.problem) == (0, "")
    first = contents.entries[0]
    assert (first.fact, first.topic) == ("model.ckpt has no header", "file-format:model.ckpt")
    assert (first.established_at, first.source_step, first.session, first.pinned) == (1760000000123, 12, "", False)


def test_entries_without_an_id_get_the_same_one_at_each_reading(tmp_path: Path) -> None:
    ids = [entry.id for entry in read(tmp_path, SEED).entries]
    assert ids == [entry.id for entry in read(tmp_path, list(SEED)).entries]
    assert len(set(ids)) == 2
    assert all(ids)


def test_our_own_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    entries = (
        DumpEntry(
            fact="two\nlines\tof it — ü",
            topic="a:b.bin",
            established_at=1760000000123,
            source_step=4,
            session="ses_1",
            id="f1",
            pinned=True,
            source="user",
            origin="ses_2",
            call="call_9",
            title="Look",
            directory="/home/x",
        ),
    )
    assert read(tmp_path, encode(entries)) == DumpContents(entries=entries)


def test_the_first_keys_are_those_other_tools_read() -> None:
    [entry] = json.loads(encode([DumpEntry(fact="x", topic="t", session="s", id="f1")]))
    assert list(entry)[:5] == ["fact", "topic", "establishedAt", "sourceStep", "session"]


def test_an_object_of_topics_is_read(tmp_path: Path) -> None:
    contents = read(tmp_path, {"t:a": [{"fact": "one"}, "two"], "t:b": [], "t:c": [{"fact": "three", "topic": "own"}]})
    assert [(entry.topic, entry.fact) for entry in contents.entries] == [
        ("t:a", "one"),
        ("t:a", "two"),
        ("own", "three"),
    ]
    assert (contents.skipped, contents.problem) == (0, "")


def test_a_single_finding_is_read(tmp_path: Path) -> None:
    assert facts(read(tmp_path, SEED[0])) == ["model.ckpt has no header"]


@pytest.mark.parametrize("content", [b"[]", b" [ ] \n", b"{}", b"\xef\xbb\xbf[]"])
def test_an_empty_list_is_no_problem(tmp_path: Path, content: bytes) -> None:
    assert read(tmp_path, content) == DumpContents()


@pytest.mark.parametrize(
    "bad",
    [
        None,
        7,
        [],
        {},
        "a fact without a topic",
        {"fact": "x"},
        {"topic": "x"},
        {"fact": 3, "topic": "t"},
        {"fact": "x", "topic": ["t"]},
        {"fact": " \n\t", "topic": "t"},
        {"fact": "\x1b[31m\u200b", "topic": "t"},
        {"fact": "x", "topic": "t", "establishedAt": "yesterday"},
        {"fact": "x", "topic": "t", "establishedAt": [1]},
        {"fact": "x", "topic": "t", "establishedAt": True},
        {"fact": "x", "topic": "t", "establishedAt": -1},
        {"fact": "x", "topic": "t", "establishedAt": float("nan")},
        {"fact": "x", "topic": "t", "establishedAt": float("inf")},
        {"fact": "x", "topic": "t", "establishedAt": 10**400},
        {"fact": "x", "topic": "t", "sourceStep": "12"},
        {"fact": "x", "topic": "t", "sourceStep": 10**30},
    ],
)
def test_a_bad_entry_is_skipped_and_counted(tmp_path: Path, bad: object) -> None:
    contents = read(tmp_path, [SEED[0], bad, SEED[1]])
    assert (facts(contents), contents.skipped, contents.problem) == ([SEED[0]["fact"], SEED[1]["fact"]], 1, "")


def test_the_same_entry_twice_counts_once(tmp_path: Path) -> None:
    contents = read(tmp_path, [SEED[0], SEED[0]])
    assert (len(contents.entries), contents.skipped) == (1, 1)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (1760000000123, 1760000000123),
        (1760000000123.9, 1760000000123),
        (1760000000, 1760000000000),
        ("2025-10-09T08:53:20.123Z", 1760000000123),
        ("2025-10-09T08:53:20", 1760000000000),
        (None, 0),
        (0, 0),
    ],
)
def test_times_are_ms_whatever_they_were_written_as(tmp_path: Path, written: object, expected: int) -> None:
    [entry] = read(tmp_path, [{"fact": "x", "topic": "t", "establishedAt": written}]).entries
    assert entry.established_at == expected


def test_text_is_made_harmless(tmp_path: Path) -> None:
    hostile = {"fact": "a\x1b]52;c;ZXZpbA==\x07b\u202ec\ud800", "topic": "t\x00\nx\x9b2J", "title": "\x1b[2Jt"}
    content = json.dumps([hostile]).encode()
    [entry] = read(tmp_path, content).entries
    assert (entry.fact, entry.topic, entry.title) == ("abc\ufffd", "t x", "t")


def test_long_texts_are_clipped(tmp_path: Path) -> None:
    [entry] = read(tmp_path, [{"fact": "f" * 10**6, "topic": "t" * 10**6, "id": "i" * 10**6}]).entries
    assert (len(entry.fact), len(entry.topic), len(entry.id)) == (4000, 300, 1000)


def test_a_cut_file_gives_what_came_before_the_cut(tmp_path: Path) -> None:
    whole = json.dumps(SEED).encode()
    second = whole.index(b"little")
    for cut in range(second, len(whole)):
        contents = read(tmp_path, whole[:cut])
        assert contents.state == "damaged"
        assert contents.problem.startswith("It is cut off or damaged")
        assert facts(contents)[:1] == [SEED[0]["fact"]]


@pytest.mark.parametrize(
    "content",
    [
        b"no json at all",
        b"\x00\xff\xfe\x80",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"[{]",
        b'{"a" 1}',
        b"{1: 2}",
        b"7",
        b'"x"',
        b"null",
        b"[1,]",
        b"[,]",
        b"[] []",
        b"\x1f\x8b\x08\x00",
        "[]".encode("utf-16"),
    ],
    ids=lambda content: repr(content[:8]),
)
def test_garbage_is_named_as_such(tmp_path: Path, content: bytes) -> None:
    contents = read(tmp_path, content)
    assert (contents.entries, contents.state) == ((), "damaged")
    assert contents.problem.endswith(".")


@pytest.mark.parametrize("content", [b"", b" \n"])
def test_an_empty_file_is_named_as_such(tmp_path: Path, content: bytes) -> None:
    assert read(tmp_path, content).problem == "It is empty."


def test_a_file_over_the_cap_says_so_and_gives_its_beginning(tmp_path: Path) -> None:
    contents = read(tmp_path, [*SEED, {"fact": "x" * 5000, "topic": "t"}], max_bytes=2048)
    assert facts(contents) == [entry["fact"] for entry in SEED]
    assert contents.state == "partial"
    assert contents.problem.startswith("It is larger than 0.00195312 MiB")


def test_a_file_as_large_as_the_cap_is_whole(tmp_path: Path) -> None:
    size = len(json.dumps(SEED))
    assert read(tmp_path, SEED, max_bytes=size).problem == ""


def test_more_entries_than_anybody_needs_are_left_unread(tmp_path: Path) -> None:
    contents = read(tmp_path, b"[" + b"{}," * 15_000 + b"{}]")
    assert (contents.skipped, contents.state) == (10_000, "partial")
    assert "more than 10,000 entries" in contents.problem


def test_what_is_no_file_is_a_problem_not_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_dump(tmp_path / "absent").state == "missing"
    assert read_dump(tmp_path / "absent" / "below").state == "missing"
    assert "plain file" in read_dump(tmp_path / "pipe").problem
    assert "cannot be read" in read_dump(tmp_path).problem
    assert "cannot be read" in read_dump(tmp_path / "a\0b").problem


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text(json.dumps(SEED))
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    assert len(read_dump(tmp_path / "link.json").entries) == 2
    assert "cannot be read" in read_dump(tmp_path / "loop.json").problem


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["fact", "topic", "establishedAt", "id", "x"]), inner)
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(content=st.binary(max_size=300) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_content_is_read_without_an_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(content)
    contents = read_dump(path)
    json.loads(encode(contents.entries))
    assert contents == read_dump(path)
