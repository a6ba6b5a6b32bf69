from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import httpx
import pytest

from core.opencode.discovery import Found, discover
from tests.unit.opencode.machines import Machine
from tests.unit.opencode.servers import http_answer, serving

HEALTH = {"healthy": True, "version": "1.18.33"}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


class Network:
    """Answers by port: a version, 401, or any response; other ports refuse the connection."""

    def __init__(self, **ports: str | int | httpx.Response) -> None:
        self.ports = {int(name.removeprefix("p")): answer for name, answer in ports.items()}
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.ports.get(request.url.port or 0)
        if answer is None:
            raise httpx.ConnectError("refused")
        if isinstance(answer, int):
            return httpx.Response(answer)
        if isinstance(answer, str):
            return httpx.Response(200, json={"healthy": True, "version": answer})
        return answer


async def find(machine: Machine, network: Network, directory: Path | str = "/nowhere") -> list[Found]:
    return await discover(directory, proc=machine.proc, platform="linux", transport=httpx.MockTransport(network))


async def test_a_server_is_confirmed_by_its_health(machine: Machine, tmp_path: Path) -> None:
    machine.process(7, machine.listen("127.0.0.1", 4096), cwd=str(tmp_path), started=5)
    network = Network(p4096="1.18.33")
    assert await find(machine, network, tmp_path) == [
        Found(
            url="http://127.0.0.1:4096",
            pid=7,
            version="1.18.33",
            cwd=str(tmp_path),
            directories=(str(tmp_path),),
            match="same",
            started=5,
        )
    ]
    assert [str(request.url) for request in network.requests] == ["http://127.0.0.1:4096/global/health"]


async def test_no_password_is_sent_and_a_server_that_wants_one_is_listed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCODE_SERVER_PASSWORD", "hunter2")
    machine.process(7, machine.listen("127.0.0.1", 4096))
    network = Network(p4096=401)
    (found,) = await find(machine, network)
    assert (found.needs_password, found.version) == (True, "")
    assert all("authorization" not in request.headers for request in network.requests)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, html="<html>"),
        httpx.Response(404, json={}),
        httpx.Response(200, json={"healthy": True}),
        httpx.Response(200, json={**HEALTH, "x": "y" * 100_000}),
        httpx.Response(302, headers={"location": "http://elsewhere/"}),
        httpx.Response(500),
    ],
    ids=["page", "404", "no version", "large", "redirect", "500"],
)
async def test_other_answers_are_no_server(machine: Machine, answer: httpx.Response) -> None:
    machine.process(7, machine.listen("127.0.0.1", 4096), machine.listen("127.0.0.1", 4097))
    assert await find(machine, Network(p4096=answer)) == []


async def test_ports_of_other_programs_are_not_asked(machine: Machine) -> None:
    machine.process(7, machine.listen("127.0.0.1", 8080), exe="/usr/bin/nginx", arguments=("nginx",))
    network = Network(p8080="1")
    assert await find(machine, network) == []
    assert not network.requests


async def test_one_address_a_process_rather_without_a_password(machine: Machine) -> None:
    inodes = [machine.listen("127.0.0.1", port) for port in (4001, 4002, 4003)]
    machine.process(7, *inodes)
    found = await find(machine, Network(p4001=401, p4002="1", p4003="1"))
    assert [server.url for server in found] == ["http://127.0.0.1:4002"]


async def test_the_nearest_folder_comes_first(machine: Machine, tmp_path: Path) -> None:
    project = tmp_path / "work" / "project"
    (project / "src" / "deep").mkdir(parents=True)
    (project / ".git").mkdir()
    (tmp_path / "link").symlink_to(project)
    folders = {
        1: tmp_path / "elsewhere",
        2: tmp_path / "work",
        3: project / "src" / "deep",
        4: project,
        5: project / "src",
        6: Path("/"),
    }
    for pid, folder in folders.items():
        machine.process(pid, machine.listen("127.0.0.1", 4000 + pid), cwd=str(folder), started=pid)
    network = Network(**{f"p{4000 + pid}": "1" for pid in folders})

    async def order(directory: Path) -> list[tuple[int, str]]:
        return [(found.pid, found.match) for found in await find(machine, network, directory)]

    assert await order(tmp_path / "link" / "src") == [
        (5, "same"),
        (4, "tree"),
        (3, "tree"),
        (2, "inside"),
        (6, "other"),
        (1, "other"),
    ]
    assert (await order(tmp_path / "link"))[0] == (4, "same")
    assert (await order(tmp_path / "work"))[:3] == [(2, "same"), (4, "around"), (5, "around")]
    by_pid = {found.pid: found for found in await find(machine, network, project)}
    assert by_pid[3].directories == (str(project / "src" / "deep"), str(project))


async def test_the_latest_started_comes_first_among_equals(machine: Machine, tmp_path: Path) -> None:
    for pid, started in ((1, 50), (2, 70), (3, 60)):
        machine.process(pid, machine.listen("127.0.0.1", 4000 + pid), cwd=str(tmp_path), started=started)
    network = Network(p4001="1", p4002="1", p4003="1")
    assert [found.pid for found in await find(machine, network, tmp_path)] == [2, 3, 1]


async def test_among_equals_a_server_without_a_password_comes_first(machine: Machine, tmp_path: Path) -> None:
    for pid in (1, 2):
        machine.process(pid, machine.listen("127.0.0.1", 4000 + pid), cwd=str(tmp_path), started=pid)
    machine.process(3, machine.listen("127.0.0.1", 4003), cwd="/elsewhere")
    network = Network(p4001="1", p4002=401, p4003="1")
    assert [found.pid for found in await find(machine, network, tmp_path)] == [1, 2, 3]


async def test_elsewhere_lsof_is_asked(tmp_path: Path) -> None:
    def run(command: list[str]) -> str:
        return "p9\ncopencode\nn127.0.0.1:4096\n" if "-iTCP" in command else f"p9\nn{tmp_path}\n"

    network = httpx.MockTransport(Network(p4096="2.0"))
    (found,) = await discover(tmp_path, platform="darwin", uid=1, run=run, transport=network)
    assert (found.pid, found.version, found.match) == (9, "2.0", "same")


async def test_a_port_that_never_answers_does_not_hold_up_the_others(machine: Machine) -> None:
    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        assert head.startswith(b"GET /global/health ")
        assert b"uthorization" not in head
        writer.write(http_answer(json.dumps(HEALTH).encode()))

    async def silent(_: bytes, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    def port(url: str) -> int:
        return int(url.rpartition(":")[2])

    async with serving(handler) as good, serving(silent) as bad:
        machine.process(1, machine.listen("127.0.0.1", port(bad)))
        machine.process(2, machine.listen("127.0.0.1", port(good)))
        found = await discover("/", proc=machine.proc, uid=os.getuid(), platform="linux", probe_seconds=1.0)
    assert [(server.pid, server.version) for server in found] == [(2, "1.18.33")]
