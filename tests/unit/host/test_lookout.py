"""Which OpenCode processes a project has: doors and ports, one way to each, and no question while nothing changes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from core import rendezvous
from core.errors import Unreachable
from core.host import finding_server
from core.host.finding_server import find_server
from core.host.lookout import Lookout
from core.host.options import HostOptions
from core.installing.install import install
from core.installing.places import project_place
from core.installing.running import Running
from core.opencode import discovery, sockets
from core.opencode.discovery import Found, Match


class Machine:
    """Doors and servers there are, and how often the servers were asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.doors: list[rendezvous.Door] = []
        self.found: list[Found] = []
        self.sockets = frozenset({"socket:[1]"})
        self.processes: list[object] = []
        self.asked = 0
        monkeypatch.setattr(rendezvous, "doors", lambda directory: self.doors)
        monkeypatch.setattr(finding_server, "discover", self._discover)
        monkeypatch.setattr(finding_server, "running", lambda folder: [])
        monkeypatch.setattr(sockets, "listening", lambda proc: self.sockets)
        monkeypatch.setattr(discovery, "listeners", lambda: list(self.processes))
        monkeypatch.setattr(sys, "platform", "linux")

    async def _discover(self, directory: Path) -> list[Found]:
        self.asked += 1
        return self.found

    def door(self, pid: int) -> None:
        self.doors.append(rendezvous.Door(v=1, port=pid, token="0" * 64, pid=pid, directory="/p"))

    def listener(self, pid: int, match: Match = "same", **more: Any) -> None:
        self.found.append(Found(url=f"http://127.0.0.1:{pid}", pid=pid, match=match, **more))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


async def look(of: Lookout, *, eagerly: bool = False) -> list[int]:
    return [target.pid for target in await of.targets(await of.doors(), eagerly=eagerly)]


def options(**more: Any) -> HostOptions:
    return HostOptions(directory=Path("/p"), **more)


async def test_all_doors_and_all_that_listen_in_the_folder_are_there_once_each(machine: Machine) -> None:
    for pid in (11, 12):
        machine.door(pid)
    for pid in (12, 13, 14):
        machine.listener(pid)
    machine.listener(15, "tree")
    of = Lookout(options())
    assert await look(of) == [12, 11, 13, 14]
    found = await of.targets(await of.doors(), eagerly=False)
    assert [bool(target.token) for target in found] == [True, True, False, False]


async def test_without_one_in_the_folder_the_best_other_one_is_taken(machine: Machine) -> None:
    for pid, match in ((20, "tree"), (21, "inside"), (22, "around"), (23, "other")):
        machine.listener(pid, match)  # type: ignore[arg-type]
    assert await look(Lookout(options())) == [20]
    machine.door(10)
    assert await look(Lookout(options())) == [10]


async def test_nothing_for_the_folder_is_said(machine: Machine) -> None:
    machine.listener(22, "around", cwd="/p/below")
    of = Lookout(options())
    assert await look(of) == []
    assert isinstance(of.problem, Unreachable)
    assert of.problem.others == ("http://127.0.0.1:22 (/p/below)",)
    assert "Start `opencode --port 4096` in this folder" in str(of.problem)
    machine.door(10)
    assert await look(of, eagerly=True) == [10]
    assert of.problem is None


@pytest.mark.parametrize(
    ("installed", "said"),
    [
        (None, "Run `ledger-tui init` and restart OpenCode, or start it with `opencode --port 4096`."),
        (900.0, "It is found as soon as it has loaded the plugin"),
        (1_100.0, "Restart it: the plugin is installed"),
    ],
)
async def test_one_that_lets_nobody_in_is_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, installed: float | None, said: str
) -> None:
    plain = Running(pid=7, cwd=str(tmp_path), started=1_000.0)
    elsewhere = Running(pid=8, cwd=str(tmp_path / "below"), started=1_000.0)
    monkeypatch.setattr(finding_server, "running", lambda folder: [plain, elsewhere])
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    if installed is not None:
        plugin = project_place(tmp_path).plugin
        install(project_place(tmp_path), plugin="x\n", version="1")
        os.utime(plugin, (installed, installed))
    machine.listener(22, "other", cwd="/q")
    of = Lookout(HostOptions(directory=tmp_path))
    assert await look(of) == []
    assert of.problem is not None
    assert (of.problem.closed, of.problem.others) == ((7,), ("http://127.0.0.1:22 (/q)",))
    assert f"OpenCode runs here without a way in (process 7). {said}" in str(of.problem)
    assert "4096" not in str(of.problem) or installed != 1_100.0


async def test_one_that_wants_a_password_is_taken_where_there_is_one_or_nothing_else(machine: Machine) -> None:
    machine.listener(30)
    machine.listener(31, needs_password=True)
    assert await look(Lookout(options())) == [30]
    of = Lookout(options(password="secret"))
    found = await of.targets(await of.doors(), eagerly=True)
    assert [(target.pid, target.credentials is not None) for target in found] == [(30, False), (31, True)]
    del machine.found[0]
    assert await look(Lookout(options())) == [31]


async def test_nobody_is_asked_while_no_process_comes_or_goes(machine: Machine) -> None:
    machine.listener(40)
    of = Lookout(options())
    for _ in range(10):
        assert await look(of) == [40]
    asked = machine.asked
    machine.sockets = frozenset({"socket:[1]", "socket:[2]"})  # of some other program
    assert await look(of) == [40]
    assert (asked, machine.asked) == (3, 3)
    machine.listener(41)
    machine.processes.append("opencode")
    machine.sockets = frozenset({"socket:[1]", "socket:[3]"})
    assert await look(of) == [40, 41]
    assert await look(of, eagerly=True) == [40, 41]
    assert machine.asked == 5


async def test_doors_need_no_look_at_ports(machine: Machine) -> None:
    of = Lookout(options())
    await look(of)
    machine.door(50)
    assert [target.pid for target in await of.doors()] == [50]


async def test_one_is_found_for_who_needs_only_one(machine: Machine) -> None:
    assert (await find_server(options(server="http://127.0.0.1:1"))).named
    with pytest.raises(Unreachable, match="No OpenCode found for /p"):
        await find_server(options())
    machine.listener(61)
    assert (await find_server(options())).pid == 61
    for pid in (51, 52):
        machine.door(pid)
    assert (await find_server(options())).pid == 52
