from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncGenerator, Collection
from pathlib import Path
from typing import Any

import pytest

from core.files import FileWatch
from core.files import watch as watch_module
from core.files.folders import happenings
from core.files.state import MAX_HASHED, stamp_of
from core.files.watch import MAX_FILES

from .watching import PATIENCE, Seen, checked, watching

SLOW = 3_600.0
"""A beat that does not come: what is noticed then, the system has told."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / "rows.csv"
    write(file, b"one\n")
    return file


@pytest.fixture
def other(file: Path) -> Path:
    other = file.with_name("other.csv")
    write(other, b"other\n")
    return other


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def move(path: Path, name: str) -> None:
    path.rename(path.with_name(name))


def remove(path: Path) -> None:
    path.unlink()


def restrict(path: Path) -> None:
    path.chmod(0o600)


def modified_ms(path: Path) -> int:
    return path.stat().st_mtime_ns // 1_000_000


def later(path: Path) -> None:
    """A new time, the same bytes."""
    os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns + 1_000_000_000))


async def armed(seen: Seen, file: Path) -> None:
    """Change a file until that is told: from then on, changes are."""
    before = seen.count(file)
    async with asyncio.timeout(PATIENCE):
        for n in range(PATIENCE * 4):
            write(file, b"armed %d %d" % (before, n))
            try:
                async with asyncio.timeout(1):
                    await seen.until(file, before + 1)
            except TimeoutError:
                continue
            return


async def test_a_write_is_told_by_the_system(file: Path, other: Path) -> None:
    async with watching(file, other, beat=SLOW) as (_, seen):
        await armed(seen, other)
        write(file, b"two\n")
        await seen.until(file)
        assert seen.count(file) == 1


async def test_a_save_by_renaming_is_one_change(file: Path, other: Path) -> None:
    async with watching(file, other, beat=SLOW) as (watch, seen):
        await armed(seen, other)
        new = file.with_name(".rows.csv.swp")
        write(new, b"two\n")
        new.replace(file)
        await seen.until(file)
        await checked(watch, file)
        assert seen.count(file) == 1


async def test_a_save_through_a_backup_is_one_change(file: Path, other: Path) -> None:
    async with watching(file, other, beat=SLOW) as (watch, seen):
        await armed(seen, other)
        move(file, "rows.csv~")
        write(file, b"two\n")
        await seen.until(file)
        await checked(watch, file)
        assert seen.count(file) == 1


@pytest.mark.parametrize("beat", [SLOW, 0.05], ids=["told", "polled"])
async def test_the_same_bytes_and_a_new_time_are_no_change(file: Path, other: Path, beat: float) -> None:
    async with watching(file, other, beat=beat) as (watch, seen):
        await armed(seen, other)
        write(file, b"one\n")
        later(file)
        new = file.with_name("new")
        write(new, b"one\n")
        new.replace(file)
        restrict(file)
        await checked(watch, file)
        await armed(seen, other)
        await checked(watch, file)
        assert seen.count(file) == 0


async def test_gone_is_one_change_and_there_again_another(file: Path) -> None:
    async with watching(file) as (watch, seen):
        remove(file)
        await seen.until(file)
        await checked(watch, file)
        assert seen.count(file) == 1
        assert not watch.vouches_for(str(file))
        write(file, b"one\n")
        await seen.until(file, 2)
        assert watch.vouches_for(str(file))


async def test_a_file_that_comes_to_be_is_a_change(file: Path) -> None:
    missing = file.parent / "sub" / "new.csv"
    async with watching(missing) as (_, seen):
        missing.parent.mkdir()
        write(missing, b"")
        await seen.until(missing)


async def test_large_files_are_compared_by_size_and_time(file: Path) -> None:
    with file.open("wb") as out:
        out.truncate(MAX_HASHED + 1024 * 1024)
    async with watching(file) as (watch, seen):
        await checked(watch, file)
        assert seen.count(file) == 0
        later(file)
        await seen.until(file)
        with file.open("r+b") as out:
            out.truncate(MAX_HASHED + 1)
        await seen.until(file, 2)


async def test_a_file_up_to_64_mib_is_read(file: Path) -> None:
    with file.open("wb") as out:
        out.truncate(MAX_HASHED)
    async with watching(file) as (watch, seen):
        later(file)
        await checked(watch, file)
        assert seen.count(file) == 0
        with file.open("r+b") as out:
            out.seek(-1, os.SEEK_END)
            out.write(b"x")
        await seen.until(file)


async def test_a_replaced_folder_is_noticed(file: Path) -> None:
    async with watching(file) as (watch, seen):
        move(file.parent, "old")
        file.parent.mkdir()
        write(file, b"one\n")
        await checked(watch, file)
        write(file, b"two\n")
        before = seen.count(file)
        await seen.until(file, before + 1)


async def test_a_replaced_folder_is_watched_anew(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: asyncio.Queue[Collection[str]] = asyncio.Queue()

    def noted(folders: Collection[str], *rest: Any) -> AsyncGenerator[set[str], None]:
        begun.put_nowait(folders)
        return happenings(folders, *rest)

    monkeypatch.setattr(watch_module, "happenings", noted)
    async with watching(file, beat=0.05) as (watch, seen):
        for _ in range(3):
            await armed(seen, file)
        await checked(watch, file)
        while not begun.empty():
            begun.get_nowait()
        move(file.parent, "old")
        file.parent.mkdir()
        assert await asyncio.wait_for(begun.get(), PATIENCE) == [str(file.parent)]


async def test_links_are_followed(file: Path, tmp_path: Path) -> None:
    link, beside = tmp_path / "link.csv", tmp_path / "beside.csv"
    link.symlink_to(file)
    write(beside, b"")
    async with watching(link, beside, beat=SLOW) as (_, seen):
        await armed(seen, beside)
        write(file, b"two\n")
        await seen.until(link)


async def test_a_link_led_elsewhere_is_a_change(file: Path, other: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.csv"
    link.symlink_to(file)
    async with watching(link) as (_, seen):
        link.unlink()
        link.symlink_to(other)
        await seen.until(link)


async def test_a_file_modified_after_it_was_read_has_changed_already(file: Path, other: Path) -> None:
    read_at = modified_ms(file) + 1
    async with watching(file, read_at=read_at) as (_, seen):
        assert seen.paths == []
    async with watching(file, read_at=read_at - 10_000) as (_, seen):
        assert seen.paths == [str(file)]
    os.utime(file, (0, time.time() + 86_400))
    async with watching(file, read_at=read_at) as (_, seen):
        assert seen.paths == []


async def test_what_is_no_longer_watched_is_told_no_more(file: Path, other: Path) -> None:
    async with watching(file, other) as (watch, seen):
        watch.watch({str(other): 0})
        write(file, b"two\n")
        write(other, b"two\n")
        await seen.until(other)
        await checked(watch, file, other)
        assert seen.paths == [str(other)]
        assert not watch.vouches_for(str(file))


async def test_files_watched_before_keep_what_they_are_compared_with(file: Path, other: Path) -> None:
    async with watching(file, beat=SLOW) as (watch, seen):
        write(file, b"two\n")
        watch.watch({str(file): 0, str(other): 0})
        await seen.until(file)


async def test_a_folder_is_watched_for_being_there(file: Path) -> None:
    async with watching(file.parent) as (watch, seen):
        write(file, b"two\n")
        await checked(watch, file.parent)
        assert seen.paths == []
        remove(file)
        file.parent.rmdir()
        await seen.until(file.parent)


async def test_pipes_are_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    async with watching(pipe) as (watch, seen):
        await checked(watch, pipe)
        assert seen.paths == []


async def test_bounded(tmp_path: Path) -> None:
    watch = FileWatch(Seen())
    watch.watch({str(tmp_path / f"{n}.csv"): 0 for n in range(MAX_FILES + 7)})
    assert watch.left_out == 7


@pytest.fixture
def no_watches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The system refuses; how often it was asked."""
    tried = []

    def refuse(*_: object, **__: object) -> object:
        tried.append(1)
        raise OSError(28, "OS file watch limit reached.")

    monkeypatch.setattr("watchfiles.awatch", refuse)
    return tried


async def test_without_watches_the_files_are_polled(file: Path, no_watches: list[int]) -> None:
    async with watching(file, beat=0.05) as (_, seen):
        write(file, b"two\n")
        await seen.until(file)
        assert no_watches


async def test_a_file_that_hangs_holds_up_no_other(file: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, back, hangs = threading.Event(), threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def hanging(path: str) -> object:
        if path == str(file):
            waiting.set()
            back.wait(PATIENCE)
        elif path == str(other) and waiting.is_set():
            loop.call_soon_threadsafe(hangs.set)
        return stamp_of(path)

    async with watching(file, other, beat=0.05, stamp_seconds=0.1) as (watch, seen):
        monkeypatch.setattr(watch_module, "stamp_of", hanging)
        try:
            await asyncio.wait_for(hangs.wait(), PATIENCE)  # the other file is looked at again
            assert not watch.vouches_for(str(file))
            write(other, b"two\n")
            await seen.until(other)
            assert watch.vouches_for(str(other))
        finally:
            back.set()
        write(file, b"two\n")
        await seen.until(file)
