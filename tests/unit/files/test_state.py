from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.files import state as module
from core.files.state import State, stamp_of, state_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "a.bin"
    file.write_bytes(b"one")
    return file


def test_nothing_there(tmp_path: Path, file: Path) -> None:
    for path in (str(tmp_path / "none"), f"{file}/below", "a\0b"):
        assert stamp_of(path) is None
        assert state_of(path) == State(None)


def test_contents_decide(file: Path) -> None:
    before = state_of(str(file))
    file.write_bytes(b"two")
    other = state_of(str(file))
    file.write_bytes(b"one")
    assert not before.same_contents(other)
    assert before.same_contents(state_of(str(file)))
    assert not before.same_contents(State(None))
    assert not State(None).same_contents(before)
    assert State(None).same_contents(State(None))


def test_an_equal_stamp_saves_the_reading(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = state_of(str(file))
    monkeypatch.delattr(module, "_digest")
    assert state_of(str(file), known) is known


def test_a_file_that_is_written_meanwhile_is_not_steady(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = module._digest

    def slowly(path: str) -> bytes:
        found = read(path)
        file.write_bytes(b"longer")
        return found

    monkeypatch.setattr(module, "_digest", slowly)
    assert not state_of(str(file)).steady


def test_what_may_not_be_read_is_compared_by_time(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = state_of(str(file))

    def refuse(_: str) -> bytes:
        raise PermissionError

    monkeypatch.setattr(module, "_digest", refuse)
    file.chmod(0o400)
    refused = state_of(str(file), known)
    assert refused.digest == b""
    assert refused.same_contents(known)
    os.utime(file, (1, 1))
    assert not refused.same_contents(state_of(str(file)))


def test_a_folder_in_its_place_is_another_thing(file: Path) -> None:
    before = state_of(str(file))
    file.unlink()
    file.mkdir()
    folder = state_of(str(file))
    assert not before.same_contents(folder)
    (file / "x").write_bytes(b"")
    assert folder.same_contents(state_of(str(file)))
