"""What is kept of a part."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import UsageError
from core.history.pieces import Bounds, Kind, Piece, bounded, pieces
from core.history.rows import PartRow
from tests.history_data import text, tool

_NOTE = "\n\n<ledger-note>\nKNOWN FACTS\n  - the file has 12 lines\n</ledger-note>"


def part(data: Any, role: str = "assistant", **more: Any) -> PartRow:
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    return PartRow(id="prt", message="msg", session="ses", owner="ses", role=role, data=body, **more)


def one(data: Any, bounds: Bounds = Bounds(), **more: Any) -> Piece:  # noqa: B008
    (piece,) = pieces([part(data, **more)], bounds)
    return piece


@pytest.mark.parametrize("length", [0, 1, 3_951, 3_999, 4_000, 4_001, 4_049, 50_000, 3_000_000])
def test_a_text_has_at_most_its_bound(length: int) -> None:
    words = ("word " * (length // 5 + 1))[:length].rstrip().ljust(length, "x")
    found = list(pieces([part(text(words))], Bounds()))
    assert not found if length == 0 else len(found[0].text) <= 4_000
    if 0 < length <= 4_000:
        assert found[0].text == words
    if length > 4_000:
        assert found[0].text.startswith("word word")
        assert found[0].text.endswith(words[-100:])
        assert "left out" in found[0].text


def test_reasoning_is_a_hint_of_one_line() -> None:
    piece = one({"type": "reasoning", "text": "First\nI think " + "so " * 500})
    assert piece.kind is Kind.REASONING
    assert len(piece.text) <= 200
    assert piece.text.startswith("First I think so so")


def test_a_tool_call_has_name_bounded_input_and_both_ends_of_its_output() -> None:
    output = "begin " + "m" * 100_000 + " end"
    piece = one(tool("bash", {"command": "ls -l 'a b'", "big": "y" * 9_000, "deep": {"n": [1]}}, output))
    assert (piece.kind, piece.name, piece.status) == (Kind.TOOL, "bash", "completed")
    assert piece.input.startswith("command: ls -l 'a b'\nbig: y")
    assert piece.input.endswith('deep: {"n":[1]}')
    assert len(piece.input) <= 1_000
    assert piece.text.startswith("begin ")
    assert piece.text.endswith(" end")
    assert len(piece.text) <= 1_500


def test_a_failed_and_a_running_call_have_what_they_put_out() -> None:
    assert one(tool("read", {"filePath": "a"}, "no such file", "error")).text == "no such file"
    running = {"type": "tool", "tool": "bash", "state": {"status": "running", "metadata": {"output": "so far"}}}
    assert one(running).text == "so far"


def test_a_file_has_name_and_type_and_never_its_content() -> None:
    piece = one({"type": "file", "mime": "image/png", "filename": "a.png", "url": "data:image/png;base64,AAAA"})
    assert (piece.kind, piece.name, piece.text) == (Kind.FILE, "a.png", "image/png")
    assert one({"type": "file", "url": "data:text/plain,secret"}).name == "unnamed"
    assert (
        one({"type": "file", "url": "file:///a/b.txt", "source": {"path": "b.txt", "text": {"value": "x"}}}).name
        == "b.txt"
    )


def test_a_patch_is_its_files() -> None:
    piece = one({"type": "patch", "hash": "h", "files": ["/a/b.py", "/a/c.py", 5]})
    assert (piece.kind, piece.text) == (Kind.PATCH, "/a/b.py\n/a/c.py")
    assert "(and 800 more)" in one({"type": "patch", "files": [f"f{n}" for n in range(1_000)]}).text
    assert list(pieces([part({"type": "patch", "files": []})], Bounds())) == []


def test_compactions_are_summaries() -> None:
    assert one({"type": "compaction", "summary": "so far"}).kind is Kind.SUMMARY
    assert one(text("so far"), summary=True).kind is Kind.SUMMARY
    assert list(pieces([part({"type": "compaction", "auto": True})], Bounds())) == []


@pytest.mark.parametrize("kind", ["step-start", "step-finish"])
def test_step_marks_are_nothing(kind: str) -> None:
    assert list(pieces([part({"type": kind})], Bounds())) == []


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"type": "snapshot"}, "snapshot"),
        ({"type": "agent", "name": "x"}, "agent"),
        ({"type": "a\x1b[31mb\n" + "c" * 100}, "ab " + "c" * 36 + "…"),
        (text("hidden", synthetic=True), "synthetic"),
        (b"{", "unreadable"),
        (b"[]", "unreadable"),
        (b'{"type":5}', "unreadable"),
        (b"\xff\xfe", "unreadable"),
        ({}, "unreadable"),
    ],
)
def test_others_are_dropped_with_a_reason(data: Any, why: str) -> None:
    piece = one(data)
    assert (piece.kind, piece.name, piece.text) == (Kind.DROPPED, why, "")


@pytest.mark.parametrize("state", [None, 5, [], {"input": 5, "output": 7, "status": {}}, {"input": [1, 2]}])
def test_a_tool_call_of_any_shape_does_no_harm(state: Any) -> None:
    assert one({"type": "tool", "tool": 5, "state": state}).name == "unknown"


def test_notes_of_the_ledger_are_taken_out() -> None:
    assert one(tool("bash", {"command": "wc"}, "12 a.txt" + _NOTE)).text == "12 a.txt"
    assert one(text("It says:" + _NOTE)).text == "It says:"
    assert list(pieces([part(text(_NOTE))], Bounds())) == []


def test_secrets_and_control_codes_are_taken_out_everywhere() -> None:
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    found = pieces(
        [
            part(text(f"token {secret}\x1b]52;c;x\x07")),
            part({"type": "reasoning", "text": f"use {secret}"}),
            part(tool("bash", {"command": f"curl -H 'Authorization: Bearer {secret}'"}, f"{secret}\x9b2J")),
            part({"type": "file", "filename": f"{secret}.txt"}),
        ],
        Bounds(),
    )
    for piece in found:
        everything = f"{piece.name}{piece.input}{piece.text}"
        assert secret not in everything
        assert "16C7e42F" not in everything
        assert not {"\x1b", "\x9b", "\x07"} & set(everything)


def test_a_secret_across_a_cut_leaves_no_half() -> None:
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    for before in range(2_340, 2_400, 7):
        assert "16C7e4" not in bounded("x " * (before // 2) + secret + " y" * 3_000, 4_000)


def test_bounds_are_settings() -> None:
    assert len(bounded("z " * 1_000, 50)) <= 50
    assert bounded("words", 0) == ""
    assert one(text("one two three four"), Bounds(text=10)).text == "one two t…"
    with pytest.raises(UsageError, match="tool_output is -1"):
        Bounds(tool_output=-1)


def test_half_a_character_costs_itself_alone() -> None:
    data = rb'{"type":"text","text":"cut \ud83d, whole \ud83d\ude00, \\ud83d, end \uDE00"}'
    assert one(data).text == "cut �, whole 😀, \\ud83d, end �"


def test_what_is_nested_too_deep_is_unreadable() -> None:
    data = b'{"type":"tool","state":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert (one(data).kind, one(data).name) == (Kind.DROPPED, "unreadable")
