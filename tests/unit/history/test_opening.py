"""Reading a database leaves no trace, whoever is writing it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import FileError
from core.history.opening import Reading

_DIES = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode = wal")
db.execute("CREATE TABLE IF NOT EXISTS t (x)")
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
for n in range(int(sys.argv[2])):
    db.execute("INSERT INTO t VALUES (?)", (n,))
if sys.argv[3] == "torn":
    db.execute("PRAGMA cache_size = 1")
    db.execute("BEGIN")
    for n in range(20):
        db.execute("INSERT INTO t VALUES (zeroblob(20000))")
os._exit(0)
"""


def state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    return {file.name: (file.stat().st_size, file.stat().st_mtime_ns, file.read_bytes()) for file in folder.iterdir()}


def abandoned(path: Path, rows: int, torn: str = "") -> Path:
    """A database whose writer died: its log and shared memory stay."""
    subprocess.run([sys.executable, "-c", _DIES, str(path), str(rows), torn], check=True)
    assert Path(f"{path}-wal").exists()
    return path


def count(path: Path) -> int:
    with Reading.open(path) as reading:
        return int(reading.connection.execute("SELECT count(*) FROM t").fetchone()[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "db"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("keep", ["-wal -shm", "-wal", ""])
@pytest.mark.parametrize(("rows", "torn"), [(5, ""), (5, "torn"), (0, "torn"), (0, "")])
def test_an_abandoned_database_is_read_whole_and_stays_as_it_is(folder: Path, keep: str, rows: int, torn: str) -> None:
    path = abandoned(folder / "a.db", rows, torn)
    for suffix in {"-wal", "-shm"} - set(keep.split()):
        Path(f"{path}{suffix}").unlink()
    before = state(folder)
    assert count(path) == (rows if keep else 0)
    assert state(folder) == before


@pytest.mark.parametrize("name", ["a b.db", "a#b.db", "a?b.db", "a%41.db", "ä&x=1.db"])
def test_any_name_is_read_and_no_other_file_made(folder: Path, name: str) -> None:
    path = folder / name
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = wal")
        db.execute("CREATE TABLE t (x)")
        db.execute("INSERT INTO t VALUES (1)")
    db.close()
    before = state(folder)
    assert count(path) == 1
    assert state(folder) == before


def test_a_writer_at_work_is_not_disturbed_and_its_commits_are_seen(folder: Path) -> None:
    path = abandoned(folder / "a.db", 3)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("INSERT INTO t VALUES (9)")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO t VALUES (10)")
    with Reading.open(path) as reading:
        seen = reading.connection.execute("SELECT count(*) FROM t").fetchone()[0]
        writer.execute("COMMIT")
        writer.execute("INSERT INTO t VALUES (11)")
        again = reading.connection.execute("SELECT count(*) FROM t").fetchone()[0]
    writer.close()
    assert (seen, again) == (4, 4)
    assert sorted(state(folder)) == ["a.db"]


def test_a_read_only_folder_is_read(folder: Path) -> None:
    path = abandoned(folder / "a.db", 4)
    Path(f"{path}-shm").unlink()
    for file in folder.iterdir():
        file.chmod(0o400)
    folder.chmod(0o500)
    before = state(folder)
    try:
        assert count(path) == 4
        assert state(folder) == before
    finally:
        folder.chmod(0o700)


def test_a_locked_database_is_waited_for_and_then_named(folder: Path) -> None:
    path = folder / "a.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("CREATE TABLE t (x)")
    writer.execute("BEGIN EXCLUSIVE")
    with pytest.raises(FileError, match=r"a\.db is locked by another process\. Wait until it is done") as caught:
        Reading.open(path, busy_seconds=0.05)
    writer.execute("ROLLBACK")
    writer.close()
    assert "\n" not in str(caught.value)
    assert count(path) == 0


def test_a_write_that_no_lock_kept_apart_is_told(folder: Path) -> None:
    path = folder / "a.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = wal")
    writer.execute("CREATE TABLE t (x)")
    writer.close()
    with Reading.open(path) as reading:
        reading.check()
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("INSERT INTO t VALUES (1)")
        with pytest.raises(FileError, match="was changed while it was read"):
            reading.check()
        writer.close()


@pytest.mark.parametrize("content", [b"hello, this is not a database at all", b"SQLite format 3\x00" + b"\xff" * 200])
def test_what_is_no_database_is_told_in_one_line(folder: Path, content: bytes) -> None:
    path = folder / "a.db"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"cannot read .*a\.db") as caught:
        Reading.open(path)
    assert "\n" not in str(caught.value)
    assert sorted(os.listdir(folder)) == ["a.db"]  # noqa: PTH208


def test_nothing_can_be_written(folder: Path) -> None:
    path = abandoned(folder / "a.db", 1)
    with Reading.open(path) as reading, pytest.raises(sqlite3.OperationalError, match="readonly"):
        reading.connection.execute("INSERT INTO t VALUES (1)")


_WRITES = """
import sqlite3, sys
path = sys.argv[1]
for round in range(12):
    db = sqlite3.connect(path, isolation_level=None, timeout=60)
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA wal_autocheckpoint = 5")
    for n in range(25):
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT INTO t VALUES (zeroblob(?))", [(n * 300,), (n,)])
        db.execute("COMMIT")
    db.execute("DELETE FROM t")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
"""


def test_a_writer_that_comes_and_goes_is_seen_between_its_transactions_only(folder: Path) -> None:
    """It begins new logs, brings them home and deletes them; each of its transactions writes two rows."""
    path = folder / "a.db"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = wal")
        db.execute("CREATE TABLE t (x)")
    db.close()
    writer = subprocess.Popen([sys.executable, "-c", _WRITES, str(path)])
    seen = []
    try:
        while writer.poll() is None:
            try:
                with Reading.open(path) as reading:
                    first, again = (reading.connection.execute("SELECT count(*) FROM t").fetchone()[0] for _ in "12")
                    reading.check()
            except (FileError, sqlite3.DatabaseError) as error:
                failure = error if isinstance(error, FileError) else reading.failure(error)
                assert "was changed while it was read" in str(failure)
            else:
                seen.append((first % 2, first == again))
    finally:
        writer.kill()
    assert writer.wait() == 0
    assert set(seen) == {(0, True)}
    before = state(folder)  # the writer leaves its log where a reader has the database open when it ends
    assert count(path) == 0
    assert state(folder) == before


def test_an_opencode_that_only_starts_is_no_change(folder: Path) -> None:
    path = abandoned(folder / "a.db", 0)
    Path(f"{path}-shm").unlink()
    Path(f"{path}-wal").unlink()
    with Reading.open(path) as reading:
        Path(f"{path}-wal").touch()
        reading.check()


def test_a_link_is_read_with_the_log_of_what_it_points_to(folder: Path, tmp_path: Path) -> None:
    abandoned(folder / "real.db", 3)
    link = tmp_path / "link.db"
    link.symlink_to(folder / "real.db")
    assert count(link) == 3
