"""Opening the database: rights, migrations, several processes, files that are none."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from core.errors import FileError
from core.store.database import MIGRATIONS, is_busy, open_database


def version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


@pytest.mark.parametrize("name", ["plain.db", "a#b?c%20d e.db", "ünï.db"])
def test_a_new_database_is_for_its_owner_only(tmp_path: Path, name: str) -> None:
    path = tmp_path / "below" / name
    connection = open_database(path)
    connection.execute("INSERT INTO own_session VALUES ('s', 'u', 1, '', 0)")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {entry.name for entry in path.parent.iterdir()} == {name, f"{name}-wal", f"{name}-shm"}
    assert {stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()} == {0o600}
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_too_wide_rights_are_narrowed(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.touch(0o666)
    open_database(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_each_migration_runs_once_in_order(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    first = (("CREATE TABLE a (x)", "INSERT INTO a VALUES (1)"),)
    second = (*first, ("CREATE TABLE b (x)", "UPDATE a SET x = x + 1"))
    open_database(path, migrations=first).close()
    for _ in range(2):
        connection = open_database(path, migrations=second)
        assert (version(connection), tables(connection)) == (2, {"a", "b"})
        assert connection.execute("SELECT x FROM a").fetchall() == [(2,)]
        connection.close()


def test_a_migration_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with pytest.raises(FileError):
        open_database(path, migrations=(("CREATE TABLE a (x)",), ("CREATE TABLE b (x)", "NO SQL")))
    connection = open_database(path, migrations=())
    assert (version(connection), tables(connection)) == (0, set())
    connection.close()


def test_a_later_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    open_database(path, migrations=(*MIGRATIONS, ("CREATE TABLE later (x)",))).close()
    with pytest.raises(FileError, match="later version"):
        open_database(path)
    connection = sqlite3.connect(path)
    assert "later" in tables(connection)
    connection.close()


def test_what_is_no_database_is_an_error_for_the_user(tmp_path: Path) -> None:
    garbage = tmp_path / "garbage.db"
    garbage.write_bytes(b"no database at all, but long enough to be taken for one" * 100)
    before = garbage.read_bytes()
    for path in (garbage, tmp_path, garbage / "below", Path("/proc/none/x.db")):
        with pytest.raises(FileError) as caught:
            open_database(path)
        assert str(path) in caught.value.message
        assert caught.value.hint
    assert garbage.read_bytes() == before


def test_a_busy_database_is_told_from_a_broken_one(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    first, second = open_database(path), open_database(path, busy_seconds=0)
    first.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError) as caught:
        second.execute("BEGIN IMMEDIATE")
    assert is_busy(caught.value)
    with pytest.raises(sqlite3.OperationalError) as caught:
        second.execute("NO SQL")
    assert not is_busy(caught.value)
    first.close()
    second.close()


CHILD = """
import sys
from pathlib import Path
from core.store.database import open_database
sys.stdin.readline()
for n in range(50):
    connection = open_database(Path(sys.argv[1]))
    connection.execute("INSERT INTO own_session VALUES (?, 'u', 1, '', 0)", (f"{sys.argv[2]}-{n}",))
    connection.close()
"""


def test_many_processes_create_it_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    children = [
        subprocess.Popen([sys.executable, "-c", CHILD, str(path), str(n)], stdin=subprocess.PIPE) for n in range(4)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write(b"go\n")
        child.stdin.close()
    assert [child.wait() for child in children] == [0, 0, 0, 0]
    connection = open_database(path)
    assert connection.execute("SELECT count(*) FROM own_session").fetchone() == (200,)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_the_database_of_another_program_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE message (id TEXT)")
        other.commit()
    path.chmod(0o644)
    before = path.read_bytes()
    with pytest.raises(FileError, match="another program's database"):
        open_database(path)
    assert path.read_bytes() == before
    assert path.stat().st_mode & 0o777 == 0o644
    assert [found.name for found in tmp_path.iterdir()] == ["opencode.db"]


def test_a_file_that_is_no_database_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing to do with a database\n" * 100)
    path.chmod(0o644)
    with pytest.raises(FileError, match="not a database"):
        open_database(path)
    assert path.stat().st_mode & 0o777 == 0o644
