"""Announcements: what is written, what is believed, and what is done about somebody else's things in the way."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core import paths, rendezvous
from core.errors import FileError
from core.privatefolder import PrivateFolder, opened

TOKEN = "5" * 64
NOBODY = 65_534
LEDGER = {"port": 4097, "token": TOKEN, "version": "0.1.0", "deadline_ms": 250}
DOOR = {"port": 4098, "token": TOKEN, "opencode": "1.18.33", "shim": "0.1.0"}


class Place:
    """A project and a runtime folder of its own."""

    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        self.project.mkdir()
        self.environ = {"XDG_RUNTIME_DIR": str(root / "run")}
        (root / "run").mkdir()
        self.folder = root / "run" / "ledger-tui"

    @property
    def key(self) -> str:
        return rendezvous.project_key(self.project)

    def announce(self, kind: rendezvous.Kind, **payload: Any) -> rendezvous.Announcement:
        whole = {**(LEDGER if kind == "ledger" else DOOR), **payload}
        return rendezvous.announce(kind, self.project, whole, environ=self.environ)

    def doors(self, directory: Path | None = None) -> list[rendezvous.Door]:
        return rendezvous.doors(directory or self.project, environ=self.environ)

    def ledger(self) -> rendezvous.LedgerFile | None:
        return rendezvous.ledger(self.project, environ=self.environ)

    def names(self) -> list[str]:
        return sorted(entry.name for entry in self.folder.iterdir())

    def put(self, name: str, content: str | bytes, mode: int = 0o600) -> Path:
        rendezvous.ensure_runtime_folder(self.environ)
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        return path

    def said(self, **changes: Any) -> str:
        whole = {"v": 1, "pid": os.getpid(), "directory": str(self.project), **DOOR, **changes}
        return json.dumps({key: value for key, value in whole.items() if value is not None})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def gone() -> int:
    """Id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    return child.pid


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"LEDGER_HOME": "/l", "XDG_RUNTIME_DIR": "/r", "TMPDIR": "/t"}, "/l/runtime"),
        ({"LEDGER_HOME": "", "XDG_RUNTIME_DIR": "/r", "TMPDIR": "/t"}, "/r/ledger-tui"),
        ({"XDG_RUNTIME_DIR": "", "TMPDIR": "/t/", "TMP": "/u"}, f"/t/ledger-tui-{os.getuid()}"),
        ({"TMPDIR": "", "TMP": "/u", "TEMP": "/v"}, f"/u/ledger-tui-{os.getuid()}"),
        ({"TEMP": "/v"}, f"/v/ledger-tui-{os.getuid()}"),
        ({}, f"/tmp/ledger-tui-{os.getuid()}"),
    ],
)
def test_the_folder_is_found_by_the_same_rule_as_in_the_plugin(environ: dict[str, str], expected: str) -> None:
    assert paths.runtime_dir(environ) == Path(expected)


def test_the_key_is_that_of_the_real_path(place: Place, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(place.project)
    expected = hashlib.sha256(str(place.project.resolve()).encode()).hexdigest()[:32]
    assert rendezvous.project_key(tmp_path / "link") == expected
    assert rendezvous.project_key(str(place.project)) == expected


class TestAnnouncing:
    def test_a_ledger(self, place: Place) -> None:
        place.announce("ledger")
        assert place.names() == [f"{place.key}.ledger.json"]
        path = place.folder / place.names()[0]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(place.folder.stat().st_mode) == 0o700
        directory = str(place.project.resolve())
        assert json.loads(path.read_text()) == {"v": 1, "pid": os.getpid(), "directory": directory, **LEDGER}

    def test_a_ledger_is_found(self, place: Place) -> None:
        place.announce("ledger", deadline_ms=100)
        found = place.ledger()
        assert found is not None
        assert (found.url, found.token, found.pid) == ("http://127.0.0.1:4097", TOKEN, os.getpid())
        assert (found.version, found.deadline_ms) == ("0.1.0", 100)

    def test_a_door_is_found_for_its_project_only(self, place: Place, tmp_path: Path) -> None:
        place.announce("door")
        assert place.names() == [f"{place.key}.{os.getpid()}.door.json"]
        (door,) = place.doors()
        assert (door.port, door.opencode, door.shim) == (4098, "1.18.33", "0.1.0")
        assert place.doors(tmp_path) == []
        assert rendezvous.doors(environ=place.environ) == [door]

    def test_fields_of_later_versions_are_passed_over(self, place: Place) -> None:
        place.announce("door", colour="blue")
        assert len(place.doors()) == 1

    def test_the_token_does_not_show(self, place: Place) -> None:
        place.announce("door")
        assert TOKEN not in repr(place.doors())

    @pytest.mark.parametrize("payload", [{"port": 0}, {"port": "4097"}, {"token": "secret"}, {"pid": -1}])
    def test_what_no_reader_takes_is_not_written(self, place: Place, payload: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match="announcement of a ledger") as caught:
            place.announce("ledger", **payload)
        assert "secret" not in str(caught.value)
        assert not place.folder.exists()

    def test_removed_once_and_again(self, place: Place) -> None:
        announcement = place.announce("ledger")
        assert announcement.is_current
        announcement.remove()
        announcement.remove()
        assert place.names() == []
        assert not announcement.is_current

    def test_another_ones_file_under_the_same_name_stays(self, place: Place) -> None:
        first = place.announce("ledger")
        second = place.announce("ledger", port=5000)
        assert (first.is_current, second.is_current) == (False, True)
        first.remove()
        found = place.ledger()
        assert found is not None
        assert found.port == 5000

    def test_a_file_that_comes_in_between_is_put_back(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        """The name changes hands after the look and before the removal."""
        first = place.announce("ledger")
        rename = os.rename

        def late(*arguments: Any, **options: Any) -> None:
            monkeypatch.setattr(os, "rename", rename)
            place.announce("ledger", port=5000)
            rename(*arguments, **options)

        monkeypatch.setattr(os, "rename", late)
        first.remove()
        found = place.ledger()
        assert found is not None
        assert found.port == 5000
        assert place.names() == [f"{place.key}.ledger.json"]

    def test_a_full_disk_leaves_the_old_file(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        place.announce("ledger")

        def full(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "replace", full)
        with pytest.raises(FileError, match="No space left"):
            place.announce("ledger", port=5000)
        assert place.names() == [f"{place.key}.ledger.json"]
        assert (found := place.ledger()) is not None
        assert found.port == 4097


class TestFolder:
    def refused(self, place: Place) -> str:
        with pytest.raises(FileError) as caught:
            place.announce("ledger")
        assert rendezvous.runtime_folder(place.environ) is None
        assert place.doors() == []
        assert place.ledger() is None
        return str(caught.value)

    def test_made_when_needed_only(self, place: Place) -> None:
        assert rendezvous.runtime_folder(place.environ) is None
        assert place.doors() == []
        assert not place.folder.exists()
        assert rendezvous.ensure_runtime_folder(place.environ) == place.folder
        assert rendezvous.runtime_folder(place.environ) == place.folder

    def test_ledger_home_is_made_with_all_above_it(self, tmp_path: Path) -> None:
        environ = {"LEDGER_HOME": str(tmp_path / "a" / "b")}
        assert rendezvous.ensure_runtime_folder(environ) == tmp_path / "a" / "b" / "runtime"

    def test_a_runtime_folder_of_the_system_is_not_made_up(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match="cannot be created"):
            rendezvous.ensure_runtime_folder({"XDG_RUNTIME_DIR": str(tmp_path / "run" / "user" / "1")})
        assert list(tmp_path.iterdir()) == []

    def test_somebody_elses_link(self, place: Place, tmp_path: Path) -> None:
        (tmp_path / "trap").mkdir(mode=0o700)
        place.folder.symlink_to(tmp_path / "trap")
        assert "symbolic link" in self.refused(place)
        assert list((tmp_path / "trap").iterdir()) == []

    def test_open_to_others(self, place: Place) -> None:
        place.folder.mkdir()
        place.folder.chmod(0o750)
        assert "lets other users in" in self.refused(place)

    def test_a_file_in_its_place(self, place: Place) -> None:
        place.folder.write_text("")
        assert "cannot be opened" in self.refused(place)

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
    def test_of_another_user(self, place: Place) -> None:
        place.folder.mkdir(mode=0o700)
        os.chown(place.folder, NOBODY, NOBODY)
        assert "another user" in self.refused(place)


class TestReading:
    def test_a_gone_process_leaves_nothing(self, place: Place, gone: int) -> None:
        place.announce("door", pid=gone)
        place.announce("ledger", pid=gone)
        place.announce("door")
        assert place.ledger() is None
        assert [door.pid for door in place.doors()] == [os.getpid()]
        assert place.names() == [f"{place.key}.{os.getpid()}.door.json"]

    def test_a_process_that_nobody_collected_is_gone_too(self, place: Place) -> None:
        child = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
        try:
            assert child.stdout is not None
            child.stdout.read()  # ends when the process does
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            place.announce("door", pid=child.pid)
            assert place.doors() == []
            assert place.names() == []
        finally:
            child.communicate()

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process of another user")
    def test_a_process_of_another_user_is_not_the_one(self, place: Place) -> None:
        program = f"import os, time; os.setuid({NOBODY}); print(flush=True); time.sleep(600)"
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            place.announce("door", pid=child.pid)
            assert place.doors() == []
            child.kill()

    def test_the_file_of_a_process_that_cannot_be_is_stale(self, place: Place) -> None:
        place.put(f"{place.key}.9999999999.door.json", "garbage")
        assert place.doors() == []
        assert place.names() == []

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"garbage",
            b"\xff\xfe",
            b"[]",
            b"null",
            b"[" * 10_000,
            b'{"v":1}',
        ],
        ids=str,
    )
    def test_garbage(self, place: Place, content: bytes) -> None:
        for name in (f"{place.key}.{os.getpid()}.door.json", f"{place.key}.ledger.json"):
            place.put(name, content)
        assert place.doors() == []
        assert place.ledger() is None
        assert len(place.names()) == 2

    @pytest.mark.parametrize(
        "changes",
        [
            {"v": 2},
            {"v": None},
            {"port": 0},
            {"port": 65_536},
            {"port": "4098"},
            {"port": True},
            {"token": None},
            {"token": ""},
            {"token": TOKEN + "\n"},
            {"token": TOKEN.replace("5", "G")},
            {"pid": 1},
            {"pid": "x"},
            {"directory": "/"},
            {"directory": "a\0b"},
            {"directory": None},
            {"shim": 1},
            {"shim": "x" * rendezvous.MAX_BYTES},
        ],
        ids=lambda changes: str(changes)[:40],
    )
    def test_what_is_not_as_agreed(self, place: Place, changes: dict[str, Any]) -> None:
        name = f"{place.key}.{os.getpid()}.door.json"
        place.put(name, place.said())
        assert len(place.doors()) == 1
        place.put(name, place.said(**changes))
        assert place.doors() == []

    def test_versions_are_safe_to_show(self, place: Place) -> None:
        place.put(f"{place.key}.{os.getpid()}.door.json", place.said(opencode="1\x1b[2J.2", shim="y" * 100))
        (door,) = place.doors()
        assert door.opencode == "1.2"
        assert len(door.shim) == 40

    def test_links_pipes_folders_and_readable_files(self, place: Place, tmp_path: Path) -> None:
        (tmp_path / "said").write_text(place.said())
        (tmp_path / "said").chmod(0o600)
        name = f"{place.key}.{os.getpid()}.door.json"
        place.put(name, place.said(), mode=0o644)
        assert place.doors() == []
        (place.folder / name).unlink()
        (place.folder / name).symlink_to(tmp_path / "said")
        (place.folder / f"{place.key}.ledger.json").mkdir()
        os.mkfifo(place.folder / f"{'0' * 32}.{os.getpid()}.door.json", 0o600)
        assert rendezvous.doors(environ=place.environ) == []
        assert place.ledger() is None

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
    def test_a_file_of_another_user(self, place: Place) -> None:
        path = place.put(f"{place.key}.ledger.json", place.said())
        assert place.ledger() is not None
        os.chown(path, NOBODY, NOBODY)
        assert place.ledger() is None

    def test_other_names_are_let_be(self, place: Place) -> None:
        names = [f"{place.key}.door.json", f".{place.key}.1.door.json", "notes.txt", f"{place.key}.01.door.json"]
        for name in names:
            place.put(name, place.said())
        assert rendezvous.doors(environ=place.environ) == []
        assert place.names() == sorted(names)


def test_a_folder_is_read_within_bounds(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.privatefolder.MAX_FILES", 3)
    for number in range(5):
        place.put(f"n{number}", "")
    with opened(place.folder) as folder:
        assert isinstance(folder, PrivateFolder)
        assert len(folder.names()) == 3
