"""Tool calls counted from the beginnings of parts, and what their messages spent."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.history.listing import find_session
from core.history.source import Source
from core.history.tools import Use, tool_calls
from tests import history_data as data
from tests.history_data import BASE, Builder, text, tool


def calls(path: Path, id: str) -> list[Use]:
    with Source.open(path) as source:
        row = find_session(source, id)
        assert row is not None
        return tool_calls(source, row)


def test_shares_of_a_message(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("s")
        b.message("s", "m1", "assistant", cost=0.5, tokens={"input": 6, "output": 2, "cache": {"read": 1, "write": 3}})
        for n, name in enumerate(("bash", "bash", "bash", "read")):
            b.part("m1", f"p{n}", tool(name, {"x": 1}, "y", "error" if n == 0 else "completed"))
        b.message("s", "m2", "assistant", cost=0.25, tokens={"input": 4})
        b.part("m2", "q1", tool("read", {}, "x" * 5_000))
    assert calls(tmp_path / "a.db", "s") == [
        Use(tool="bash", calls=3, errors=1, tokens=9.0, cost=0.375),
        Use(tool="read", calls=2, errors=0, tokens=7.0, cost=0.375),
    ]


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (tool("ba\x1b[2Jsh\n", {}, ""), "bash"),
        ('{"type":"tool","tool":"b\\x"}', ""),
        ({"callID": "c", "tool": "bash", "type": "tool", "state": {}}, "bash"),
        ('{ "type" : "tool", "tool" : "bash" }', "bash"),
        ('{"type":"tool"}', ""),
        (text('"type":"tool","tool":"bash"'), None),
        (b"\xff\xfe", None),
        ("[]", None),
    ],
    ids=str,
)
def test_which_parts_are_calls(tmp_path: Path, part: object, name: str | None) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("s")
        b.message("s", "m", "assistant")
        b.part("m", "p", part)
    assert [use.tool for use in calls(tmp_path / "a.db", "s")] == ([] if name is None else [name])


@pytest.mark.parametrize(
    "message", ["not json", '{"tokens":[1],"cost":"x"}', '{"tokens":{"input":"many"},"cost":1e400}']
)
def test_messages_that_do_not_say_what_they_spent(tmp_path: Path, message: str) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("s")
        b.message("s", "m", "assistant", BASE, raw=message)
        b.part("m", "p", tool("bash", {}, ""))
    assert calls(tmp_path / "a.db", "s") == [Use(tool="bash", calls=1)]


def test_files_of_old(tmp_path: Path) -> None:
    data.legacy(tmp_path)
    part = tmp_path / "storage" / "part" / "msg_old0_1" / "prt_x.json"
    part.write_text(
        data.dump({"id": "prt_x", "sessionID": "ses_old0", "messageID": "msg_old0_1"} | tool("bash", {}, ""))
    )
    assert calls(tmp_path, "ses_old0") == [Use(tool="bash", calls=1, tokens=4.0, cost=0.125)]
