"""Files and folders."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from core import rendezvous
from core.doctor import disk
from core.doctor.lines import Line
from core.store.database import DATABASE, MIGRATIONS, open_database
from core.store.guarded import GuardedFile

from .stage import Stage

IS_ROOT = os.geteuid() == 0


def only(lines: list[Line]) -> Line:
    (line,) = lines
    return line


class TestRuntime:
    def line(self, stage: Stage) -> Line:
        return only(stage.lines(disk.runtime))

    def test_there(self, stage: Stage) -> None:
        (stage.root / "run" / "ledger-tui").mkdir(mode=0o700)
        assert self.line(stage).status == "ok"

    def test_not_made_by_looking(self, stage: Stage) -> None:
        assert self.line(stage).status == "ok"
        assert list((stage.root / "run").iterdir()) == []

    def test_cannot_be_made(self, stage: Stage) -> None:
        stage.environ["XDG_RUNTIME_DIR"] = str(stage.root / "none")
        assert self.line(stage).status == "fail"

    def test_in_ledger_home_all_above_it_is_made(self, stage: Stage) -> None:
        stage.environ["LEDGER_HOME"] = str(stage.root / "a" / "b")
        assert self.line(stage).status == "ok"

    def test_somebody_elses(self, stage: Stage) -> None:
        (stage.root / "run" / "ledger-tui").symlink_to(stage.root)
        line = self.line(stage)
        assert (line.status, "symbolic link" in line.text, bool(line.fix)) == ("fail", True, True)


class TestDump:
    def line(self, stage: Stage) -> Line:
        return only(stage.lines(disk.dump))

    @pytest.fixture
    def path(self, stage: Stage) -> Path:
        return stage.root / "facts.json"

    def test_new_or_there(self, stage: Stage, path: Path) -> None:
        assert self.line(stage).status == "ok"
        assert not path.exists()
        path.write_text("[]")
        assert self.line(stage).status == "ok"
        assert path.read_text() == "[]"

    @pytest.mark.parametrize("name", ["facts.json", ".facts.json.lock"])
    def test_a_link(self, stage: Stage, name: str) -> None:
        (stage.root / name).symlink_to("/no/such")
        line = self.line(stage)
        assert (line.status, f"{name} is a symbolic link" in line.text) == ("fail", True)

    def test_a_folder(self, stage: Stage, path: Path) -> None:
        path.mkdir()
        assert "not a plain file" in self.line(stage).text

    def test_no_folder(self, stage: Stage) -> None:
        stage.sets = [f"dump_path={stage.root}/none/facts.json"]
        assert (self.line(stage).status, "no folder" in self.line(stage).text) == ("fail", True)

    @pytest.mark.skipif(not IS_ROOT, reason="only root can give a file away")
    def test_of_another_user(self, stage: Stage, path: Path) -> None:
        path.write_text("")
        os.chown(path, 65_534, 65_534)
        assert (self.line(stage).status, "another user" in self.line(stage).text) == ("fail", True)

    def test_a_folder_that_cannot_be_written_to(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert (self.line(stage).status, "cannot be written to" in self.line(stage).text) == ("fail", True)


class TestState:
    def line(self, stage: Stage) -> Line:
        return only(stage.lines(disk.state))

    def database(self, stage: Stage) -> sqlite3.Connection:
        return open_database(stage.root / "state" / DATABASE)

    def test_not_made_by_looking(self, stage: Stage) -> None:
        line = self.line(stage)
        assert (line.status, "first start" in line.text) == ("ok", True)
        assert not (stage.root / "state").exists()

    def test_there_and_in_use(self, stage: Stage) -> None:
        database = self.database(stage)
        assert self.line(stage).status == "ok"
        database.close()
        assert self.line(stage).status == "ok"

    def test_of_a_later_version(self, stage: Stage) -> None:
        database = self.database(stage)
        database.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
        database.close()
        assert (self.line(stage).status, "later version" in self.line(stage).text) == ("fail", True)

    def test_no_database(self, stage: Stage) -> None:
        (stage.root / "state").mkdir()
        (stage.root / "state" / DATABASE).write_text("x" * 5000)
        assert (self.line(stage).status, "Move the file away" in self.line(stage).fix) == ("fail", True)

    def test_a_name_that_means_something_in_a_url(self, stage: Stage) -> None:
        folder = stage.root / "a#b?c%41"
        open_database(folder / DATABASE).close()
        before = sorted(path.name for path in stage.root.iterdir())
        line = only(stage.lines(disk.state, state_dir=folder))
        assert line.status == "ok"
        assert sorted(path.name for path in stage.root.iterdir()) == before


class TestSessions:
    @pytest.mark.parametrize(("variable", "base"), [("HOME", ".local/share"), ("XDG_DATA_HOME", "")])
    def test_where_it_is(self, stage: Stage, variable: str, base: str) -> None:
        stage.environ[variable] = str(stage.root / "there")
        assert only(stage.lines(disk.sessions)).status == "warn"
        path = stage.root / "there" / base / "opencode" / "opencode.db"
        path.parent.mkdir(parents=True)
        path.write_text("x" * 250_000)
        line = only(stage.lines(disk.sessions))
        assert (line.status, line.text) == ("ok", f"{path}, 0.2 MB")


class TestWriterOfTheDump:
    """The system's table of locks tells who writes the dump."""

    def line(self, stage: Stage, kind: str = "FLOCK", pid: str = "4711") -> Line:
        lock = stage.root / ".facts.json.lock"
        lock.touch()
        row = f"1: {kind}  ADVISORY  WRITE {pid} fe:00:{lock.stat().st_ino} 0 EOF\n"
        (stage.root / "proc" / "locks").write_text(f"1: POSIX  ADVISORY  READ 7 fe:00:1 128 128\n{row}")
        return only(stage.lines(disk.dump))

    def test_another_ledger(self, stage: Stage) -> None:
        line = self.line(stage)
        assert (line.status, "process 4711" in line.text, "dump_path" in line.fix) == ("warn", True, True)

    def test_the_one_that_hosts_the_project(self, stage: Stage) -> None:
        payload = {"port": 1, "token": "a" * 64}
        rendezvous.announce("ledger", stage.project, payload, environ=stage.environ)
        line = self.line(stage, pid=str(os.getpid()))
        assert (line.status, f"process {os.getpid()}" in line.text) == ("ok", True)

    @pytest.mark.parametrize(("kind", "pid"), [("POSIX", "7"), ("FLOCK", "-1"), ("FLOCK", "x")])
    def test_nothing_that_is_told(self, stage: Stage, kind: str, pid: str) -> None:
        line = self.line(stage, kind, pid)
        assert (line.status, line.text) == ("ok", str(stage.root / "facts.json"))

    @pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the system has no /proc")
    def test_a_real_lock(self, stage: Stage) -> None:
        file = GuardedFile(stage.root / "facts.json")
        assert only(stage.lines(disk.dump, proc=Path("/proc"))).status == "ok"
        file.write(b"[]")
        try:
            line = only(stage.lines(disk.dump, proc=Path("/proc")))
        finally:
            file.release()
        assert (line.status, f"process {os.getpid()}" in line.text) == ("warn", True)
