"""The dump writer: bursts, failures, a second process, sudden death."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.store.dump import DumpEntry, DumpWriter, read_dump
from core.store.guarded import FileTrouble, GuardedFile


class Warnings(list[tuple[str, str]]):
    def __call__(self, code: str, message: str) -> None:
        self.append((code, message))

    @property
    def codes(self) -> list[str]:
        return [code for code, _ in self]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dump.json"


@pytest.fixture
def warnings() -> Warnings:
    return Warnings()


def entries(*facts: str) -> list[DumpEntry]:
    return [DumpEntry(fact=fact, topic="t:x", session="ses", id=f"f{n}") for n, fact in enumerate(facts)]


def facts(path: Path) -> list[str]:
    return [entry["fact"] for entry in json.loads(path.read_bytes())]


async def test_a_change_is_written_without_being_asked(path: Path, warnings: Warnings) -> None:
    writer = DumpWriter(path, warnings, delay=0)
    writer.changed(entries("a"))
    async with asyncio.timeout(10):
        while not os.access(path, os.R_OK):  # noqa: ASYNC110 - the file system has no event to wait for
            await asyncio.sleep(0.005)
    assert facts(path) == ["a"]
    await writer.close()


async def test_flush_writes_at_once_what_is_waiting(path: Path, warnings: Warnings) -> None:
    writer = DumpWriter(path, warnings, delay=3600)
    writer.changed(entries("a"))
    await writer.flush()
    assert facts(path) == ["a"]
    writer.changed([])
    await writer.close()
    assert facts(path) == []
    assert warnings == []


async def test_a_burst_is_few_writes_and_the_last_state_wins(
    path: Path, warnings: Warnings, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[bytes] = []
    write = GuardedFile.write

    def counted(self: GuardedFile, data: bytes) -> None:
        written.append(data)
        write(self, data)

    monkeypatch.setattr(GuardedFile, "write", counted)
    writer = DumpWriter(path, warnings)
    for number in range(1000):
        writer.changed(entries(*map(str, range(number % 7)), f"n{number}"))
        if number % 100 == 0:
            await asyncio.sleep(0)
    await writer.close()
    assert facts(path)[-1] == "n999"
    assert len(written) <= 3


async def test_without_a_change_nothing_is_created(path: Path, warnings: Warnings) -> None:
    writer = DumpWriter(path, warnings)
    await writer.flush()
    await writer.close()
    assert list(path.parent.iterdir()) == []


async def test_changes_after_the_end_are_ignored(path: Path, warnings: Warnings) -> None:
    writer = DumpWriter(path, warnings)
    writer.changed(entries("a"))
    await writer.close()
    writer.changed(entries("b"))
    await writer.close()
    assert facts(path) == ["a"]


async def test_an_error_is_told_once_and_tried_again_at_the_next_change(tmp_path: Path, warnings: Warnings) -> None:
    path = tmp_path / "later" / "dump.json"
    writer = DumpWriter(path, warnings, delay=0)
    for fact in ("a", "b", "c"):
        writer.changed(entries(fact))
        await writer.flush()
    assert warnings.codes == ["dump_no_folder"]
    path.parent.mkdir()
    writer.changed(entries("d"))
    await writer.flush()
    assert facts(path) == ["d"]
    path.unlink()
    path.symlink_to(tmp_path / "x")
    writer.changed(entries("e"))
    await writer.flush()
    assert warnings.codes == ["dump_no_folder", "dump_symlink"]
    await writer.close()
    assert not (tmp_path / "x").exists()


async def test_what_failed_is_tried_once_more_at_the_end(tmp_path: Path, warnings: Warnings) -> None:
    path = tmp_path / "later" / "dump.json"
    writer = DumpWriter(path, warnings, delay=0)
    writer.changed(entries("a"))
    await writer.flush()
    path.parent.mkdir()
    await writer.close()
    assert facts(path) == ["a"]


async def test_an_unforeseen_error_stops_nothing(
    path: Path, warnings: Warnings, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = DumpWriter(path, warnings, delay=0)
    with monkeypatch.context() as patch:
        patch.setattr(GuardedFile, "write", lambda self, data: 1 / 0)
        writer.changed(entries("a"))
        await writer.flush()
    assert warnings.codes == ["dump_failed"]
    writer.changed(entries("b"))
    await writer.close()
    assert facts(path) == ["b"]


async def test_a_second_writer_waits_for_the_first_to_end(path: Path, warnings: Warnings) -> None:
    first, second = DumpWriter(path, Warnings(), delay=0), DumpWriter(path, warnings, delay=0)
    first.changed(entries("first"))
    await first.flush()
    for number in range(3):
        second.changed(entries(f"second {number}"))
        await second.flush()
    assert facts(path) == ["first"]
    assert warnings.codes == ["dump_locked"]
    await first.close()
    second.changed(entries("second"))
    await second.flush()
    assert facts(path) == ["second"]
    await second.close()


CHILD = """
import asyncio, sys
from pathlib import Path
from core.store.dump import DumpEntry, DumpWriter

async def main():
    writer = DumpWriter(Path(sys.argv[1]), lambda code, message: print(code, flush=True), delay=0)
    number = 0
    while True:
        number += 1
        writer.changed([DumpEntry(fact="x" * 20_000, topic="t", id=f"f{n}", source_step=number) for n in range(50)])
        await writer.flush()
        print(number, flush=True)

asyncio.run(main())
"""


def spawn(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True)


def kill(child: subprocess.Popen[str]) -> None:
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert child.stdout is not None
    child.stdout.close()


def test_a_killed_writer_leaves_a_whole_file_and_no_lock(path: Path) -> None:
    for written in range(1, 6):
        child = spawn(path)
        assert child.stdout is not None
        for _ in range(written):
            assert child.stdout.readline().strip().isdigit()
        with pytest.raises(FileTrouble, match="another ledger"):
            GuardedFile(path).write(b"[]")
        kill(child)
        contents = read_dump(path)
        assert contents.problem == ""
        assert len(contents.entries) == 50
        assert len({entry.source_step for entry in contents.entries}) == 1
        assert contents.entries[0].source_step >= written
    file = GuardedFile(path)
    file.write(b"[]")
    file.release()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_another_process_takes_over_when_the_first_is_killed(path: Path) -> None:
    first = spawn(path)
    assert first.stdout is not None
    assert first.stdout.readline().strip().isdigit()
    second = spawn(path)
    assert second.stdout is not None
    assert second.stdout.readline().strip() == "dump_locked"
    kill(first)
    before = path.stat().st_mtime_ns
    while path.stat().st_mtime_ns == before:
        assert second.stdout.readline().strip().isdigit()
    kill(second)
    assert len(read_dump(path).entries) == 50
