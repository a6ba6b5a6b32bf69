"""The output folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import FileError
from core.history.folder import PARTIAL, Folder, file_name


def test_it_is_made_private(tmp_path: Path) -> None:
    with Folder.open(tmp_path / "a" / "out") as folder:
        written = folder.write("notes/x.md", "text\n")
    assert written.read_text() == "text\n"
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert written.stat().st_mode & 0o777 == 0o600
    assert list((folder.path / PARTIAL).iterdir()) == []


def test_only_one_run_has_it(tmp_path: Path) -> None:
    with Folder.open(tmp_path), pytest.raises(FileError, match="another run is writing"):
        Folder.open(tmp_path)
    Folder.open(tmp_path).close()


def test_what_a_killed_run_left_is_swept_away(tmp_path: Path) -> None:
    (tmp_path / PARTIAL).mkdir()
    (tmp_path / PARTIAL / "deadbeef").write_text("half")
    with Folder.open(tmp_path):
        assert list((tmp_path / PARTIAL).iterdir()) == []


def test_a_file_that_cannot_be_replaced_is_told_and_nothing_stays(tmp_path: Path) -> None:
    with Folder.open(tmp_path) as folder:
        (tmp_path / "notes" / "x.md").mkdir()
        with pytest.raises(FileError, match="cannot write"):
            folder.write("notes/x.md", "text")
        assert list((tmp_path / PARTIAL).iterdir()) == []


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(FileError, match="--out"):
        Folder.open(tmp_path / "out")


def test_removing_twice_is_harmless(tmp_path: Path) -> None:
    with Folder.open(tmp_path) as folder:
        folder.write("notes/x.md", "text")
        folder.remove("notes/x.md")
        folder.remove("notes/x.md")
        assert not (tmp_path / "notes" / "x.md").exists()


@pytest.mark.parametrize("id", ["../../etc/passwd", "", ".hidden", "a/b", "x" * 500, "a b", "\ud800"])
def test_an_odd_id_names_no_other_place(id: str) -> None:
    name = file_name(id, "md")
    assert name.startswith("id-")
    assert len(name) == 38
    assert "/" not in name


def test_a_plain_id_is_the_name() -> None:
    assert file_name("ses_22bd6042c001qyrNtNKPYPAk0F", "md") == "ses_22bd6042c001qyrNtNKPYPAk0F.md"
