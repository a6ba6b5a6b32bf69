"""Sessions in JSON files."""

from __future__ import annotations

import json
from pathlib import Path

from core.history import legacy
from core.history.listing import find_session, list_sessions
from core.history.parts import read_parts
from core.history.rows import Counts, Schema
from core.history.source import Source
from core.ledger.observations import Tokens
from tests import history_data as data


def test_they_are_counted_but_not_read_unless_asked_for(tmp_path: Path) -> None:
    data.legacy(tmp_path, 3)
    with Source.open(data.small_v1(tmp_path / "opencode.db")) as source:
        assert legacy.unread([source]) == 3
        assert [row.id for row in list_sessions(source)] == ["ses_a", "ses_b"]
        assert list(read_parts(source, "ses_old0")) == []
        assert find_session(source, "ses_old0") is None


def test_asked_for_they_are_in_the_list_in_their_place(tmp_path: Path) -> None:
    data.legacy(tmp_path, 2)
    with Source.open(data.small_v1(tmp_path / "opencode.db"), legacy_json=True) as source:
        assert legacy.unread([source]) == 0
        assert [row.id for row in list_sessions(source)] == ["ses_old0", "ses_old1", "ses_a", "ses_b"]
        assert [row.id for row in list_sessions(source, limit=2, offset=1)] == ["ses_old1", "ses_a"]
        row = find_session(source, "ses_old1")
        parts = list(read_parts(source, "ses_old1"))
    assert row is not None
    assert (row.schema, row.title, row.directory) == (Schema.LEGACY, "Old 1", "/home/u/old")
    assert (row.messages, row.tokens) == (Counts(all=2, user=1, assistant=1), Tokens(input=6, output=2))
    assert (row.cost, row.model) == (0.25, "fake/m0")
    assert [(part.role, json.loads(part.data or b"")["text"]) for part in parts] == [
        ("user", "What is in it?"), ("assistant", "A lot."),
    ]  # fmt: skip


def test_what_the_database_has_is_not_counted_again(tmp_path: Path) -> None:
    data.legacy(tmp_path, 2)
    with data.Builder(tmp_path / "opencode.db") as b:
        b.session("ses_old1", title="moved")
    with Source.open(tmp_path / "opencode.db") as source:
        assert legacy.unread([source]) == 1
    with Source.open(tmp_path / "opencode.db", legacy_json=True) as source:
        assert [row.title for row in list_sessions(source)] == ["Old 0", "moved"]


def test_without_a_database_they_are_read(tmp_path: Path) -> None:
    with Source.open(data.legacy(tmp_path, 2)) as source:
        assert [row.id for row in list_sessions(source)] == ["ses_old0", "ses_old1"]


def test_files_of_any_content_do_no_harm(tmp_path: Path) -> None:
    data.legacy(tmp_path)
    storage = tmp_path / "storage"
    (storage / "session/proj/ses_bad.json").write_text("{")
    (storage / "session/stray.txt").write_text("")
    (storage / "message/ses_old0/msg_bad.json").write_bytes(b"\xff")
    (storage / "message/ses_old0/msg_odd.json").write_text('{"role": [], "time": 3, "tokens": [], "cost": "x"}')
    (storage / "part/msg_old0_0/prt_bad.json").write_text("[")
    with Source.open(tmp_path) as source:
        (row,) = list_sessions(source)
        parts = list(read_parts(source, row.id))
    assert row.messages == Counts(all=4, user=1, assistant=1)
    assert len(parts) == 3


def test_what_one_of_several_databases_has_is_not_counted(tmp_path: Path) -> None:
    data.legacy(tmp_path, 3)
    with data.Builder(tmp_path / "opencode.db") as b:
        b.session("ses_old1", title="moved")
    data.small_v1(tmp_path / "opencode-dev.db")
    with Source.open(tmp_path / "opencode.db") as one, Source.open(tmp_path / "opencode-dev.db") as two:
        assert legacy.unread([one, two]) == 2
