"""Layouts."""

from __future__ import annotations

import gc
import sqlite3
import sys
from pathlib import Path

import pytest

from core.errors import FileError
from core.history.source import Layout, Source
from tests import history_data as data
from tests.history_data import Builder


def layout(path: Path) -> Layout:
    with Source.open(path) as source:
        return source.layout


def test_v1_with_an_empty_table_of_v2_is_v1(tmp_path: Path) -> None:
    assert layout(data.small_v1(tmp_path / "a.db")) is Layout.V1


def test_v2_alone(tmp_path: Path) -> None:
    assert layout(data.small_v2(tmp_path / "a.db")) is Layout.V2


def test_both(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db", (*data.V1, *data.V2)) as b:
        assert not b.session("ses_1").isspace()
        data.fill_v2(b, "ses_2")
    assert layout(tmp_path / "a.db") is Layout.BOTH


def test_tables_of_both_but_rows_of_one(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db", (*data.V1, *data.V2)) as b:
        b.session("ses_1")
    assert layout(tmp_path / "a.db") is Layout.V1


def test_a_folder_of_json_files(tmp_path: Path) -> None:
    assert layout(data.legacy(tmp_path)) is Layout.LEGACY


@pytest.mark.parametrize("tables", [(), ("CREATE TABLE notes (x)",), data.V1[:1]])
def test_without_the_tables_the_error_names_them(tmp_path: Path, tables: tuple[str, ...]) -> None:
    with Builder(tmp_path / "a.db", tables):
        pass
    with pytest.raises(FileError) as caught:
        Source.open(tmp_path / "a.db")
    for name in ("session", "message", "part", "session_v2", "session_message", "a.db"):
        assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_anything(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no storage/session in"):
        Source.open(tmp_path)


def test_renew_sees_what_is_new(tmp_path: Path) -> None:
    path = data.small_v1(tmp_path / "a.db")
    with Source.open(path) as source:
        before = source.all("SELECT count(*) FROM session")[0][0]
        with sqlite3.connect(path) as db:
            db.execute("DELETE FROM session WHERE id = 'ses_b'")
        db.close()
        source.settle()
        assert source.all("SELECT count(*) FROM session")[0][0] == before - 1


def test_a_statement_that_fails_is_an_error_of_the_file(tmp_path: Path) -> None:
    with Source.open(data.small_v1(tmp_path / "a.db")) as source, pytest.raises(FileError, match="no such table: nope"):
        source.all("SELECT * FROM nope")


def test_a_listing_that_is_abandoned_is_ended_without_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    source = Source.open(data.small_v1(tmp_path / "a.db"))
    with source:
        rows = source.rows("SELECT id FROM session ORDER BY id")
        assert next(iter(rows))
    del rows
    gc.collect()
    assert unraisable == []
