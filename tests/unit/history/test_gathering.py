"""Several databases opened as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import FileError, UsageError
from core.history.gathering import Gathering
from tests import history_data as data
from tests.history_data import BASE, V2, Builder


def test_all_of_a_folder_and_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    data.small_v1(tmp_path / "opencode.db")
    data.small_v2(tmp_path / "opencode-dev.db")
    (tmp_path / "opencode-bad.db").write_bytes(b"x" * 4_000)
    with Gathering.open(tmp_path) as gathering:
        assert [source.path.name for source in gathering.sources] == ["opencode.db", "opencode-dev.db"]
        (problem,) = gathering.problems
        assert problem.startswith("left out: ") and "opencode-bad.db" in problem
        assert gathering.find("ses_two")[0].path.name == "opencode-dev.db"


def test_only_useless_ones_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "opencode.db").write_bytes(b"x" * 4_000)
    with Builder(tmp_path / "opencode-dev.db", ["CREATE TABLE x (a)"]):
        pass
    with pytest.raises(FileError, match=r"opencode\.db"):
        Gathering.open(tmp_path)


def test_files_that_are_not_read_are_counted(tmp_path: Path) -> None:
    data.small_v1(tmp_path / "opencode.db")
    data.legacy(tmp_path, sessions=3)
    with Gathering.open(tmp_path) as gathering:
        assert gathering.unread() == 3
    with Gathering.open(tmp_path, legacy_json=True) as gathering:
        assert gathering.unread() == 0
        assert gathering.find("ses_old2")[1].title == "Old 2"


def test_the_start_of_an_id_will_do(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db", (*data.V1, *V2)) as b:
        b.session("ses_ab1", BASE)
        b.session("ses_ab", BASE)
        b.session("ses_b%_", BASE, parent_id="ses_ab")
        b.session("ses_c", BASE, table="session_v2")
        b.session("ses_c", BASE)
    with Gathering.open(tmp_path / "a.db") as gathering:
        found = {start: gathering.find(start)[1].id for start in ("ses_ab", "ses_ab1", "ses_b", "ses_b%", "ses_c")}
        assert found == {
            "ses_ab": "ses_ab",
            "ses_ab1": "ses_ab1",
            "ses_b": "ses_b%_",
            "ses_b%": "ses_b%_",
            "ses_c": "ses_c",
        }
        for start, words in (
            ("ses_a", "several sessions"),
            ("ses_%", "no session"),
            ("", "no session"),
            ("x\x1b[2J", "'x'"),
        ):
            with pytest.raises(UsageError, match=words):
                gathering.find(start)


def test_closing_twice_is_harmless(tmp_path: Path) -> None:
    gathering = Gathering.open(data.small_v1(tmp_path / "a.db"))
    gathering.close()
    gathering.close()
