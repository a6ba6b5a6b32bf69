"""Writing where others can write too: links, other users' files, lock files, full disks."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.store.guarded import FileTrouble, GuardedFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dump.json"


def trouble(file: GuardedFile) -> FileTrouble:
    with pytest.raises(FileTrouble) as caught:
        file.write(b"new")
    return caught.value


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def test_the_file_is_replaced_and_readable_by_its_owner_only(path: Path) -> None:
    path.write_bytes(b"old")
    path.chmod(0o644)
    before = path.stat().st_ino
    file = GuardedFile(path)
    file.write(b"new")
    file.release()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_ino != before
    assert names(path.parent) == {"dump.json"}


def test_the_mode_does_not_depend_on_the_umask(path: Path) -> None:
    before = os.umask(0o377)
    try:
        GuardedFile(path).write(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_is_refused_and_its_target_untouched(path: Path) -> None:
    target = path.with_name("precious")
    target.write_bytes(b"precious")
    path.symlink_to(target)
    caught = trouble(GuardedFile(path))
    assert caught.code == "symlink"
    assert str(path) in caught.message
    assert target.read_bytes() == b"precious"
    assert path.is_symlink()


def test_a_dangling_link_creates_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))
    assert trouble(GuardedFile(path)).code == "symlink"
    assert names(path.parent) == {"dump.json"}


def test_a_link_that_appears_at_the_last_moment_is_not_written_through(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = path.with_name("precious")
    target.write_bytes(b"precious")
    replace = os.replace

    def swap(*args: Any, **kwargs: Any) -> None:
        path.symlink_to(target)
        replace(*args, **kwargs)

    monkeypatch.setattr(os, "replace", swap)
    GuardedFile(path).write(b"new")
    assert target.read_bytes() == b"precious"
    assert not path.is_symlink()


def test_a_lock_file_that_is_a_link_is_refused_and_its_target_untouched(path: Path) -> None:
    file = GuardedFile(path)
    target = path.with_name("precious")
    file.lock_path.symlink_to(target)
    assert trouble(file).code == "symlink"
    assert not target.exists()
    target.write_bytes(b"precious")
    assert trouble(file).code == "symlink"
    assert target.read_bytes() == b"precious"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_is_no_plain_file_is_refused(path: Path, make: Callable[[Path], None]) -> None:
    make(path)
    assert trouble(GuardedFile(path)).code == "not_a_file"
    assert names(path.parent) == {"dump.json"}


def test_a_lock_file_that_is_a_pipe_neither_blocks_nor_passes(path: Path) -> None:
    file = GuardedFile(path)
    os.mkfifo(file.lock_path)
    assert trouble(file).code == "not_a_file"


@pytest.mark.parametrize("which", ["path", "lock_path"])
def test_another_users_file_is_refused(path: Path, which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = GuardedFile(path)
    getattr(file, which).write_bytes(b"theirs")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1 if which == "path" else 123_456)
    caught = trouble(file)
    assert caught.code == "foreign"
    assert str(getattr(file, which)) in caught.message
    assert getattr(file, which).read_bytes() == b"theirs"


def test_only_one_writes_until_it_lets_go(path: Path) -> None:
    first, second = GuardedFile(path), GuardedFile(path)
    first.write(b"first")
    assert trouble(second).code == "locked"
    first.write(b"again")
    assert trouble(second).code == "locked"
    first.release()
    second.write(b"second")
    assert path.read_bytes() == b"second"
    assert trouble(first).code == "locked"
    second.release()


def test_letting_go_without_the_lock_takes_it_from_nobody(path: Path) -> None:
    first, second = GuardedFile(path), GuardedFile(path)
    first.write(b"first")
    second.release()
    assert trouble(second).code == "locked"
    first.release()


def test_one_lock_whatever_way_leads_to_the_folder(path: Path) -> None:
    alias = path.parent.with_name("alias")
    alias.symlink_to(path.parent)
    first, second = GuardedFile(path), GuardedFile(alias / path.name)
    first.write(b"first")
    assert trouble(second).code == "locked"
    first.release()


def test_a_removed_lock_file_is_noticed(path: Path) -> None:
    first, second = GuardedFile(path), GuardedFile(path)
    first.write(b"first")
    first.lock_path.unlink()
    second.write(b"second")
    assert trouble(first).code == "locked"
    second.release()
    first.write(b"first again")
    assert path.read_bytes() == b"first again"
    first.release()


def test_a_folder_that_was_replaced_is_noticed(path: Path) -> None:
    file = GuardedFile(path)
    file.write(b"1")
    path.parent.rename(path.parent.with_name("moved"))
    path.parent.mkdir()
    file.write(b"2")
    assert path.read_bytes() == b"2"
    assert trouble(GuardedFile(path)).code == "locked"
    file.release()


def test_what_a_killed_writer_left_is_swept(path: Path) -> None:
    left = path.with_name(f".{path.name}.tmp-0123456789abcdef")
    other = path.with_name(f".{path.name}x.tmp-0")
    for name in (left, other):
        name.write_bytes(b"half")
    file = GuardedFile(path)
    file.write(b"new")
    file.release()
    assert names(path.parent) == {path.name, other.name}


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "full"),
        (errno.EDQUOT, "full"),
        (errno.EFBIG, "full"),
        (errno.EACCES, "denied"),
        (errno.EPERM, "denied"),
        (errno.EROFS, "denied"),
        (errno.EIO, "failed"),
    ],
)
@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
def test_an_error_leaves_the_old_contents_and_no_rubbish(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, code: str
) -> None:
    path.write_bytes(b"old")
    file = GuardedFile(path)

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        caught = trouble(file)
    assert caught.code == code
    assert os.strerror(number) in caught.message
    assert path.read_bytes() == b"old"
    file.write(b"new")
    file.release()
    assert path.read_bytes() == b"new"
    assert names(path.parent) == {path.name}


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    file = GuardedFile(tmp_path / "not" / "here.json")
    caught = trouble(file)
    assert caught.code == "no_folder"
    assert str(tmp_path / "not") in caught.message
    (tmp_path / "not").mkdir()
    file.write(b"x")
    file.release()


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert trouble(GuardedFile(tmp_path / "file" / "dump.json")).code == "no_folder"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files can be counted on Linux only")
def test_no_file_descriptor_is_leaked(path: Path) -> None:
    first, second = GuardedFile(path), GuardedFile(path)
    first.write(b"1")
    before = names(Path("/proc/self/fd"))
    for _ in range(20):
        first.write(b"2")
        trouble(second)
    assert len(names(Path("/proc/self/fd"))) == len(before)
    first.release()
