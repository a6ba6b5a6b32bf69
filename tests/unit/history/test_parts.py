"""The parts of a session and their order."""

from __future__ import annotations

import json
from pathlib import Path

from core.history.parts import read_parts
from core.history.rows import PartRow
from core.history.source import Source
from tests import history_data as data
from tests.history_data import BASE, Builder, text


def read(path: Path, session: str, *, legacy_json: bool = False) -> list[PartRow]:
    with Source.open(path, legacy_json=legacy_json) as source:
        return list(read_parts(source, session))


def test_order_is_message_time_message_id_part_time_part_id(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_1")
        b.message("ses_1", "msg_b", "assistant", BASE + 5)
        b.message("ses_1", "msg_a", "user", BASE + 5)
        b.message("ses_1", "msg_z", "user", BASE)
        b.part("msg_b", "prt_1", text("4"), BASE + 6)
        b.part("msg_a", "prt_9", text("3"), BASE + 9)
        b.part("msg_a", "prt_3", text("2"), BASE + 8)
        b.part("msg_a", "prt_2", text("1"), BASE + 8)
        b.part("msg_z", "prt_8", text("0"), BASE + 99)
    rows = read(tmp_path / "a.db", "ses_1")
    assert [(row.message, row.id) for row in rows] == [
        ("msg_z", "prt_8"), ("msg_a", "prt_2"), ("msg_a", "prt_3"), ("msg_a", "prt_9"), ("msg_b", "prt_1"),
    ]  # fmt: skip
    assert [row.role for row in rows] == ["user", "user", "user", "user", "assistant"]


def test_a_part_follows_its_message(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_1")
        b.session("ses_2")
        b.message("ses_1", "msg_1")
        b.part("msg_1", "prt_1", text("mine"), session="ses_2")
    assert [(row.owner, row.session) for row in read(tmp_path / "a.db", "ses_1")] == [("ses_1", "ses_2")]
    assert read(tmp_path / "a.db", "ses_2") == []


def test_what_cannot_be_read_has_a_problem(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_1")
        b.message("ses_1", "msg_1", raw="{broken")
        b.part("msg_1", "prt_1", text("kept"))
        b.part("msg_gone", "prt_2", text("orphan"), session="ses_1")
    rows = read(tmp_path / "a.db", "ses_1")
    assert [(row.id, row.role, row.problem) for row in rows] == [("prt_1", "", ""), ("prt_2", "", "no message")]


def test_a_large_message_has_its_role(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_1")
        b.message("ses_1", "msg_1", "user", summary={"diffs": ["x" * 100_000]})
        b.part("msg_1", "prt_1", text("kept"))
    assert read(tmp_path / "a.db", "ses_1")[0].role == "user"


def test_a_session_that_does_not_exist_has_none(tmp_path: Path) -> None:
    assert read(data.small_v1(tmp_path / "a.db"), "ses_x' OR 1=1 --") == []
    assert read(data.legacy(tmp_path), "../message/ses_old0") == []


def test_v2_gives_the_shapes_of_v1(tmp_path: Path) -> None:
    rows = read(data.small_v2(tmp_path / "a.db"), "ses_two")
    parts = [(row.role, json.loads(row.data or b"")) for row in rows]
    kinds = [part["type"] for _, part in parts]
    assert " ".join(kinds) == ("text file model-switched synthetic reasoning tool tool text tool compaction idle")
    assert parts[0] == ("user", {"type": "text", "text": "Count the lines"})
    assert parts[1][1]["url"] == "file:///home/u/a.txt"
    shell, failed, own = (part for _, part in parts if part["type"] == "tool")
    assert (shell["tool"], shell["state"]["output"]) == ("shell", "12 a.txt")
    assert (failed["state"]["status"], failed["state"]["error"]) == ("error", "no b.txt")
    assert (own["state"]["input"], own["state"]["output"]) == ({"command": "ls"}, "a.txt")
    assert rows[9].summary


def test_v2_rows_of_any_content_do_no_harm(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db", data.V2) as b:
        b.session("ses_1", table="session_v2")
        items = '[5,{"type":"tool","state":7},{"type":"tool","state":{"content":[1],"error":{"message":9}}}]'
        odd = ["{", "[]", '{"content":5}', f'{{"content":{items},"files":{{}},"snapshot":3}}', b"\xff"]
        for n, raw in enumerate(odd):
            b.message_v2("ses_1", f"msg_{n}", "assistant", n, raw=raw)
    rows = read(tmp_path / "a.db", "ses_1")
    assert [row.problem for row in rows] == ["unreadable", "unreadable", "", "", "", "unreadable"]


def test_v2_of_another_build_is_read_by_what_its_rows_say(tmp_path: Path) -> None:
    """Neither a type nor a sequence column, roles and parts in the data, a text as the content."""
    tables = (
        data.V2[0],
        "CREATE TABLE session_message (id text PRIMARY KEY, session_id text, time_created integer, data text)",
    )
    with Builder(tmp_path / "a.db", tables) as b:
        b.session("ses_1", table="session_v2")
        b.insert("session_message", id="msg_1", session_id="ses_1", time_created=BASE,
                 data='{"role":"user","content":"hello"}')  # fmt: skip
        b.insert("session_message", id="msg_2", session_id="ses_1", time_created=BASE,
                 data='{"role":"assistant","parts":[{"type":"text","text":"hi"}]}')  # fmt: skip
    rows = read(tmp_path / "a.db", "ses_1")
    assert [(row.role, json.loads(row.data or b"")["text"]) for row in rows] == [("user", "hello"), ("assistant", "hi")]


def test_v2_messages_of_one_moment_are_in_sequence(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db", data.V2) as b:
        b.session("ses_1", table="session_v2")
        for seq, id in enumerate(["msg_c", "msg_a", "msg_b"]):
            b.message_v2("ses_1", id, "user", seq, text=id)
    assert [row.message for row in read(tmp_path / "a.db", "ses_1")] == ["msg_c", "msg_a", "msg_b"]
