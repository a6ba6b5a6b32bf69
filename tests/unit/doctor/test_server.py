"""Finding OpenCode and asking it, against a small server on loopback and a made-up process table."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core import rendezvous
from core.doctor import server as checks
from core.doctor.lines import Line
from core.doctor.reach import Reach, reach
from core.installing.install import install
from core.installing.places import project_place
from core.installing.running import Running
from core.loopback.messages import Refusal, Request, Response
from core.loopback.server import LoopbackServer
from tests.unit.opencode.machines import Machine

from .stage import VERSION, Stage

MODELS = {"providers": [{"id": "a", "models": {"small": {}, "large": {}}}], "default": {}}


class OpenCode:
    """Answers the routes that the checks ask."""

    def __init__(self) -> None:
        self.version = "1.18.33"
        self.wants = ""
        """The authorization header it insists on."""
        self.routes: dict[str, Any] = {
            "/agent": [{"name": "build"}, {"name": "general"}, {"name": "ledger-extractor"}],
            "/config": {"model": "a/large", "small_model": "a/small"},
            "/config/providers": MODELS,
        }
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Response:
        self.asked.append(request)
        if self.wants and request.headers.get("authorization") != self.wants:
            raise Refusal(401, "no")
        if request.path == "/global/health":
            return Response.of({"healthy": True, "version": self.version})
        if request.path not in self.routes:
            raise Refusal(404, "no")
        return Response.of(self.routes[request.path])


@pytest.fixture
def opencode() -> OpenCode:
    return OpenCode()


@pytest.fixture
async def listening(opencode: OpenCode) -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(opencode) as server:
        yield server


@pytest.fixture
def machine(stage: Stage) -> Machine:
    (stage.root / "proc").rmdir()
    return Machine(stage.root)


@pytest.fixture
def way(listening: LoopbackServer) -> Reach:
    return Reach(way="named", url=listening.url, version="1.18.33")


def basic(password: str) -> str:
    return f"Basic {b64encode(f'opencode:{password}'.encode()).decode()}"


def only(lines: list[Line], check: str) -> Line:
    (line,) = (line for line in lines if line.check == check)
    return line


class TestReach:
    async def test_nothing(self, stage: Stage, machine: Machine) -> None:
        assert await reach(stage.surroundings()) == Reach()

    async def test_named(self, stage: Stage, machine: Machine, listening: LoopbackServer) -> None:
        stage.options["server"] = listening.url
        way = await reach(stage.surroundings())
        assert (way.way, way.version, way.answers) == ("named", "1.18.33", True)

    async def test_on_loopback(self, stage: Stage, machine: Machine, listening: LoopbackServer) -> None:
        machine.process(7, machine.listen("127.0.0.1", listening.port), cwd=str(stage.project))
        way = await reach(stage.surroundings())
        assert (way.way, way.url, way.pid, way.version) == ("loopback", listening.url, 7, "1.18.33")
        assert way.here == (Running(pid=7, cwd=str(stage.project)),)

    async def test_one_for_another_folder_is_not_taken(
        self, stage: Stage, machine: Machine, listening: LoopbackServer, tmp_path: Path
    ) -> None:
        (tmp_path / "other").mkdir()
        machine.process(7, machine.listen("127.0.0.1", listening.port), cwd=str(tmp_path / "other"))
        assert await reach(stage.surroundings()) == Reach()

    @pytest.mark.parametrize(
        ("given", "expected"), [(None, (True, False)), ("wrong", (False, True)), ("right", (False, False))]
    )
    async def test_password(
        self,
        stage: Stage,
        machine: Machine,
        opencode: OpenCode,
        listening: LoopbackServer,
        given: str | None,
        expected: tuple[bool, bool],
    ) -> None:
        opencode.wants = basic("right")
        stage.options["password"] = given
        machine.process(7, machine.listen("127.0.0.1", listening.port), cwd=str(stage.project))
        way = await reach(stage.surroundings())
        assert (way.wants_password, way.refused) == expected
        line = only(list(checks.auth(stage.surroundings(), way)), "auth")
        assert line.status == ("ok" if given == "right" else "fail")

    async def test_a_password_is_sent_to_none_that_did_not_ask(
        self, stage: Stage, machine: Machine, opencode: OpenCode, listening: LoopbackServer
    ) -> None:
        stage.options["password"] = "right"
        machine.process(7, machine.listen("127.0.0.1", listening.port), cwd=str(stage.project))
        assert (await reach(stage.surroundings())).answers
        assert all("authorization" not in request.headers for request in opencode.asked)

    async def test_a_door_comes_before_loopback(
        self, stage: Stage, machine: Machine, opencode: OpenCode, listening: LoopbackServer
    ) -> None:
        token = "b" * 64
        opencode.wants = f"Bearer {token}"
        payload = {"port": listening.port, "token": token, "opencode": "1.18.33", "shim": VERSION}
        rendezvous.announce("door", stage.project, payload, environ=stage.environ)
        machine.process(7, machine.listen("127.0.0.1", 1), cwd=str(stage.project))
        way = await reach(stage.surroundings())
        assert (way.way, way.pid, way.version) == ("door", os.getpid(), "1.18.33")
        assert only(list(checks.auth(stage.surroundings(), way)), "auth").status == "ok"
        assert token not in repr(way)


class TestOpenCode:
    def line(self, stage: Stage, way: Reach) -> Line:
        return only(stage.lines(checks.opencode, way), "opencode")

    def test_not_there(self, stage: Stage) -> None:
        assert self.line(stage, Reach()).status == "fail"

    def test_installed(self, stage: Stage) -> None:
        program = stage.root / "bin" / "opencode"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        line = self.line(stage, Reach())
        assert (line.status, str(program) in line.text) == ("ok", True)

    @pytest.mark.parametrize(("version", "status"), [("1.18.33", "ok"), ("1.20.0", "ok"), ("2.0.1", "warn")])
    def test_version(self, stage: Stage, version: str, status: str) -> None:
        line = self.line(stage, Reach(way="named", url="u", version=version))
        assert (line.status, f"OpenCode {version}" in line.text) == (status, True)


class TestWayIn:
    def lines(self, stage: Stage, way: Reach, **changes: Any) -> list[Line]:
        return stage.lines(checks.way_in, way, **changes)

    def test_none(self, stage: Stage) -> None:
        (line,) = self.lines(stage, Reach())
        assert (line.status, str(stage.project) in line.text) == ("warn", True)
        assert "--port" in line.fix and "ledger-tui init" in line.fix
        install(project_place(stage.project), plugin="x\n", version=VERSION)
        (line,) = self.lines(stage, Reach())
        assert line.fix == "Start `opencode` in the project."

    def test_could_not_be_looked_for(self, stage: Stage) -> None:
        (line,) = self.lines(stage, Reach(problem="OSError: x"))
        assert (line.status, "OSError: x" in line.text) == ("fail", True)

    @pytest.mark.parametrize("name", ["--server", "OPENCODE_SERVER"])
    def test_named(self, stage: Stage, name: str) -> None:
        way = Reach(way="named", url="http://h:1", version="1")
        (line,) = self.lines(stage, way, named_by=name)
        assert (line.status, line.text) == ("ok", f"http://h:1, named by {name}")

    def test_named_but_silent(self, stage: Stage) -> None:
        (line,) = self.lines(stage, Reach(way="named", url="http://h:1", problem="refused"))
        assert (line.status, "refused" in line.text) == ("fail", True)

    @pytest.mark.parametrize(("prepared", "part"), [(False, "ledger-tui init"), (True, "was started before")])
    def test_a_process_that_cannot_be_reached(self, stage: Stage, prepared: bool, part: str) -> None:
        if prepared:
            install(project_place(stage.project), plugin="x\n", version=VERSION)
        here = (Running(pid=7, cwd=str(stage.project)),)
        (line,) = self.lines(stage, Reach(here=here))
        assert (line.status, "process 7" in line.text, part in line.fix) == ("warn", True, True)

    async def test_a_process_that_can_be_reached(
        self, stage: Stage, machine: Machine, listening: LoopbackServer
    ) -> None:
        machine.process(7, machine.listen("127.0.0.1", listening.port), cwd=str(stage.project))
        (line,) = self.lines(stage, await reach(stage.surroundings()))
        assert (line.status, "process 7, found on loopback" in line.text) == ("ok", True)

    async def test_several(self, stage: Stage, machine: Machine, listening: LoopbackServer, opencode: OpenCode) -> None:
        async with LoopbackServer(opencode) as other:
            for pid, port in ((7, listening.port), (8, other.port)):
                machine.process(pid, machine.listen("127.0.0.1", port), cwd=str(stage.project))
            first, second = self.lines(stage, await reach(stage.surroundings()))
        assert (first.status, second.status, second.fix) == ("ok", "ok", "")
        assert "(processes 7, 8); the ledger follows all of them" in second.text


class TestExtraction:
    async def agent(self, stage: Stage, way: Reach) -> Line:
        return only(list(await checks.agent(stage.surroundings(), way)), "agent")

    async def model(self, stage: Stage, way: Reach) -> Line:
        return only(list(await checks.model(stage.surroundings(), way)), "model")

    async def test_all_is_well(self, stage: Stage, way: Reach, opencode: OpenCode) -> None:
        assert (await self.agent(stage, way)).status == "ok"
        line = await self.model(stage, way)
        assert (line.status, line.text) == ("ok", "a/small")
        assert {request.query["directory"] for request in opencode.asked} == {str(stage.project)}

    async def test_another_agent_than_the_ledgers_own(self, stage: Stage, way: Reach, opencode: OpenCode) -> None:
        opencode.routes["/agent"] = [{"name": "general"}]
        line = await self.agent(stage, way)
        assert (line.status, "general" in line.text, "init" in line.fix) == ("warn", True, True)
        install(project_place(stage.project), plugin="x\n", version=VERSION)
        line = await self.agent(stage, way)
        assert (line.status, "init" in line.fix, "Restart" in line.fix) == ("warn", False, True)
        stage.sets.append("agent=general")
        assert (await self.agent(stage, way)).status == "ok"

    async def test_one_that_is_not_there(self, stage: Stage, way: Reach) -> None:
        stage.sets.append("agent=momus")
        line = await self.agent(stage, way)
        assert (line.status, "momus" in line.text) == ("fail", True)

    @pytest.mark.parametrize(
        ("setting", "config", "providers", "status"),
        [
            ("a/large", {}, MODELS, "ok"),
            ("a/none", {}, MODELS, "fail"),
            ("", {}, MODELS, "warn"),
            ("", {}, {"providers": []}, "fail"),
        ],
    )
    async def test_model(
        self,
        stage: Stage,
        way: Reach,
        opencode: OpenCode,
        setting: str,
        config: dict[str, str],
        providers: dict[str, Any],
        status: str,
    ) -> None:
        stage.sets.append(f"extraction_model={setting}")
        opencode.routes.update({"/config": config, "/config/providers": providers})
        assert (await self.model(stage, way)).status == status

    @pytest.mark.parametrize(
        ("snapshot", "prepared", "status"),
        [(True, False, "ok"), (None, False, "ok"), (False, False, "warn"), (False, True, "ok")],
    )
    async def test_snapshot(
        self, stage: Stage, way: Reach, opencode: OpenCode, snapshot: bool | None, prepared: bool, status: str
    ) -> None:
        opencode.routes["/config"] = {"snapshot": snapshot}
        if prepared:
            install(project_place(stage.project), plugin="x\n", version=VERSION)
        (line,) = await checks.snapshot(stage.surroundings(), way)
        assert line.status == status

    async def test_nobody_to_ask(self, stage: Stage, way: Reach) -> None:
        silent = msgspec.structs.replace(way, version="")
        for check in (checks.agent, checks.model, checks.snapshot):
            (line,) = await check(stage.surroundings(), silent)
            assert (line.status, "not checked" in line.text) == ("ok", True)
