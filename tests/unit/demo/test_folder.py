from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.demo.folder import make_folder, remove_stale


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def left_by_a_killed_demo(parent: Path) -> Path:
    """Made by a process of its own, which then ends without a word."""
    code = (
        "import os, sys, tempfile; tempfile.tempdir = sys.argv[1]; from core.demo.folder import make_folder;"
        "folder = make_folder(); (folder / 'state').mkdir(); (folder / 'state' / 'x').touch();"
        "print(folder, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(parent)], capture_output=True, text=True, check=False)
    assert done.returncode == -9
    return Path(done.stdout.strip())


def test_the_folder_of_a_killed_demo_is_removed_at_the_next_start(parent: Path) -> None:
    stale = left_by_a_killed_demo(parent)
    assert stale.is_dir()
    own = make_folder()
    assert [own] == list(parent.iterdir())
    assert own.stat().st_mode & 0o777 == 0o700


def test_those_of_living_demos_and_of_others_stay(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = make_folder()
    dead = left_by_a_killed_demo(parent).name
    (parent / dead).rename(parent / "elsewhere")
    (parent / dead).symlink_to(parent / "elsewhere")
    strangers = [parent / "ledger-demo-abc12345", parent / "ledger-demo-notes.1.txt", parent / f"my-{dead}"]
    for stranger in strangers:
        stranger.mkdir()
    file = parent / f"{dead}x"
    file.touch()
    remove_stale(parent)
    assert set(parent.iterdir()) == {own, parent / dead, parent / "elsewhere", file, *strangers}
    assert (parent / "elsewhere" / "state" / "x").exists()
    (parent / dead).unlink()
    (parent / "elsewhere").rename(parent / dead)
    with monkeypatch.context() as patch:
        patch.setattr("os.geteuid", lambda: 4_294_967_000)
        remove_stale(parent)
        assert (parent / dead).is_dir()
    remove_stale(parent)
    assert not (parent / dead).exists()


def test_a_parent_that_is_not_there_is_no_fault(tmp_path: Path) -> None:
    remove_stale(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []
