"""Which databases are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import FileError
from core.history.places import find_databases


def touch(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()
    return folder


def test_the_data_folder_has_the_released_database_first_then_the_channels(tmp_path: Path) -> None:
    data = touch(tmp_path / "opencode", "opencode-next.db", "opencode-dev.db", "opencode.db", "other.db",
                 "opencode.db-wal", "opencode-dev.db-wal")  # fmt: skip
    found = find_databases(None, {"XDG_DATA_HOME": str(tmp_path)})
    assert found == [data / "opencode.db", data / "opencode-dev.db", data / "opencode-next.db"]


def test_without_xdg_the_home_folder_counts(tmp_path: Path) -> None:
    data = touch(tmp_path / ".local/share/opencode", "opencode.db")
    assert find_databases(None, {"HOME": str(tmp_path)}) == [data / "opencode.db"]


def test_explicit_goes_before_the_variable_and_that_before_the_folder(tmp_path: Path) -> None:
    data = touch(tmp_path / "opencode", "opencode.db", "named.db")
    mine = touch(tmp_path / "mine", "a.db")
    environ = {"XDG_DATA_HOME": str(tmp_path), "OPENCODE_DB": "named.db"}
    assert find_databases(mine / "a.db", environ) == [mine / "a.db"]
    assert find_databases(None, environ) == [data / "named.db"]
    assert find_databases(None, environ | {"OPENCODE_DB": str(mine / "a.db")}) == [mine / "a.db"]
    assert find_databases(None, environ | {"OPENCODE_DB": ":memory:"}) == [data / "opencode.db"]


def test_a_folder_may_be_named(tmp_path: Path) -> None:
    mine = touch(tmp_path / "mine", "opencode.db")
    assert find_databases(mine, {}) == [mine / "opencode.db"]


def test_json_files_alone_make_the_folder_the_place(tmp_path: Path) -> None:
    (tmp_path / "opencode/storage/session").mkdir(parents=True)
    assert find_databases(None, {"XDG_DATA_HOME": str(tmp_path)}) == [tmp_path / "opencode"]


@pytest.mark.parametrize("place", ["missing.db", "missing\x1b[31m.db"])
def test_what_is_not_there_is_named(tmp_path: Path, place: str) -> None:
    with pytest.raises(FileError, match=r"missing\.db does not exist\. Name OpenCode's database with --db"):
        find_databases(tmp_path / place, {})


def test_an_empty_folder_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "opencode").mkdir()
    with pytest.raises(FileError, match=r"no opencode\.db, opencode-\*\.db or storage/session in .*opencode"):
        find_databases(None, {"XDG_DATA_HOME": str(tmp_path)})
