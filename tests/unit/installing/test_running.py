"""Finding OpenCode processes, also those that listen on nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.installing.running import Running, running
from tests.unit.opencode.machines import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def find(machine: Machine, folder: Path | None = None, uid: int | None = None) -> list[Running]:
    return running(folder, proc=machine.proc, platform="linux", uid=uid)


def test_those_at_or_below_the_folder(machine: Machine, tmp_path: Path) -> None:
    machine.process(7, cwd=str(tmp_path))
    machine.process(8, cwd=str(tmp_path / "src"))
    machine.process(9, cwd="/")
    machine.process(10, exe="/usr/bin/vim", arguments=("vim", "opencode.json"), cwd=str(tmp_path))
    machine.process(11, exe="/usr/bin/node", arguments=("node", "/usr/bin/opencode"), cwd=str(tmp_path))
    assert [process.pid for process in find(machine, tmp_path)] == [7, 8, 11]
    assert [process.pid for process in find(machine)] == [7, 8, 9, 11]


def test_a_link_to_the_folder(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    machine.process(7, cwd=str(tmp_path / "real"))
    assert [process.pid for process in find(machine, tmp_path / "link")] == [7]


def test_other_users_and_what_cannot_be_read_are_passed_over(machine: Machine, tmp_path: Path) -> None:
    machine.process(7, cwd=str(tmp_path))
    (machine.proc / "8").mkdir()
    assert find(machine, uid=12345) == []
    assert [process.pid for process in find(machine)] == [7]


def test_elsewhere_those_that_listen(tmp_path: Path) -> None:
    def lsof(command: list[str]) -> str:
        return f"p7\nn{tmp_path}\n" if "cwd" in command else "p7\ncopencode\nn127.0.0.1:4096\n"

    assert running(tmp_path, platform="darwin", uid=1, run=lsof) == [Running(pid=7, cwd=str(tmp_path))]


@pytest.mark.parametrize(
    ("stat", "expected"),
    [("cpu 1\nbtime 1700000000\n", 1_700_000_005.0), ("cpu 1\n", 0.0), ("btime soon\n", 0.0), (None, 0.0)],
)
def test_when_it_was_started(machine: Machine, stat: str | None, expected: float) -> None:
    machine.process(7, started=5 * os.sysconf("SC_CLK_TCK"))
    if stat is not None:
        (machine.proc / "stat").write_text(stat)
    assert [process.started for process in find(machine)] == [expected]
