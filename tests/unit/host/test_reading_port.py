"""What a second ledger may read: its answers, and that no viewer keeps the plugin from being answered."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from core import rendezvous
from core.host import reading_port
from core.host.desk import Desk
from core.host.desks import Desks
from core.host.hooks import HookServer
from core.host.reading_port import VIEWERS, Count, ReadingPort, ViewAnswer, tail
from core.ledger import observations as seen
from core.ledger.handover import Handover
from core.ledger.state import EngineSettings
from core.ledger.steps import Call, Step
from core.views import FindingView
from tests.unit.host.test_hooks import CALL, Ears

ROOT = "ses_root"


class Port:
    """A hook server with the port behind it, and the ledgers that are read."""

    def __init__(self, project: Path) -> None:
        self.desks = Desks(lambda root: Desk(root, EngineSettings(extraction_interval_steps=1, review="off")), None)
        self.listeners: list[Callable[[], None]] = []
        self.moved = asyncio.Event()
        self.server = HookServer(project, 250, "0.1.0", Ears(), ReadingPort(self.desks, self.subscribe).routes)
        self.project = project
        self.steps = 0

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        def unsubscribe() -> None:
            self.listeners.remove(listener)
            self.moved.set()

        self.listeners.append(listener)
        self.moved.set()
        return unsubscribe

    def tell(self, told: seen.Observation, root: str = ROOT) -> None:
        self.desks.open(root).observe(told)
        for listener in list(self.listeners):
            listener()

    def step(self, command: str = "ls", output: str = "", root: str = ROOT) -> None:
        """A step of one call; by default each prints something new."""
        self.steps += 1
        output = output or f"out {self.steps}"
        where: dict[str, Any] = {"t": self.steps, "session": root, "message": f"msg_{self.steps}"}
        call: dict[str, Any] = {"part": f"prt_{self.steps}", "call": f"call_{self.steps}", "tool": "bash", "ok": True}
        self.tell(seen.ToolFinished(**where, **call, summary=command, command=command, output=output), root)
        self.tell(seen.StepFinished(**where, part=f"fin_{self.steps}"), root)

    def learn(self, *facts: str, root: str = ROOT) -> None:
        running = self.desks.open(root).engine.extractions.schedule.running
        assert running is not None
        items = tuple(seen.Candidate(fact, "file:a.json") for fact in facts)
        self.tell(seen.ExtractionAnswered(t=9, session=root, id=running.id, items=items), root)

    @property
    def said(self) -> rendezvous.LedgerFile:
        found = rendezvous.ledger(self.project)
        assert found is not None
        return found

    def client(self) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {self.said.token}"}
        return httpx.AsyncClient(base_url=self.said.url, headers=headers, trust_env=False, timeout=30)

    async def post(self, path: str, **asked: Any) -> httpx.Response:
        async with self.client() as client:
            return await client.post(path, json=asked)

    async def view(self, **asked: Any) -> ViewAnswer:
        answer = await self.post("/v1/view", **{"session": ROOT, **asked})
        assert answer.status_code == 200, answer.text
        return msgspec.json.decode(answer.content, type=ViewAnswer)

    async def until_waiting(self, count: int) -> None:
        async with asyncio.timeout(10):
            while len(self.listeners) != count:
                self.moved.clear()
                await self.moved.wait()

    async def plugin_is_answered(self) -> None:
        answer = await self.post("/v1/after", **CALL)
        assert answer.json() == {"append": "about call_1", "note": "n1"}


@pytest.fixture
async def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Port]:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "ledger"))
    (tmp_path / "project").mkdir()
    here = Port(tmp_path / "project")
    await here.server.start()
    yield here
    await here.server.stop()


# ---- answers ----


async def test_the_first_answer_is_the_whole_view(port: Port) -> None:
    port.step("cat a.json", "1")
    port.learn("a.json has one line", "it is a 1")
    answer = await port.view()
    own = port.desks.open(ROOT).view()
    assert answer.view is not None and not answer.resumed
    assert msgspec.json.encode(answer.view) == msgspec.json.encode(
        msgspec.structs.replace(own, steps=tuple(own.steps), log=tuple(own.log))
    )
    assert answer.counts[ROOT].findings == 2
    assert answer.handover is not None and [kept.steps for kept in answer.handover.kept] == [("fin_1",)] * 2
    assert answer.handover.kept[0].finding.receipt.steps == ()


async def test_only_the_steps_that_are_new_are_sent(port: Port) -> None:
    for n in range(5):
        port.step(f"cat {n}")
    first = await port.view()
    port.step("cat 5")
    assert first.view is not None
    second = await port.view(revision=first.revision, last_step=first.view.steps[-1].part)
    assert second.view is not None and second.resumed
    assert [step.calls[0].command for step in second.view.steps] == ["cat 5"]
    third = await port.view(last_step="fin_gone")
    assert third.view is not None and not third.resumed and len(third.view.steps) == 6


async def test_a_viewer_waits_for_a_change(port: Port) -> None:
    port.step()
    first = await port.view()
    waiting = asyncio.create_task(port.view(revision=first.revision, wait_ms=20_000))
    await port.until_waiting(1)
    for listener in port.listeners:
        listener()  # something that is not shown
    await asyncio.sleep(2 * reading_port.PACE_SECONDS)
    assert not waiting.done()
    port.step("cat b")
    second = await waiting
    assert second.revision != first.revision and second.view is not None and second.view.completed == 2
    assert port.listeners == []


async def test_where_nothing_changes_the_answer_is_short(port: Port) -> None:
    port.step()
    first = await port.view()
    assert await port.view(revision=first.revision, wait_ms=50) == ViewAnswer(revision=first.revision)


async def test_findings_of_other_sessions_are_counted_and_handed_over(port: Port) -> None:
    first = await port.view()
    assert first == ViewAnswer(revision=first.revision)  # the session is not known here
    waiting = asyncio.create_task(port.view(revision=first.revision, wait_ms=20_000))
    await port.until_waiting(1)
    port.step(root="ses_other")
    port.learn("a fact", root="ses_other")
    answer = await waiting
    assert answer.view is None and list(answer.counts) == ["ses_other"]
    assert answer.counts["ses_other"] == Count(findings=1, revision=answer.counts["ses_other"].revision)
    found = msgspec.json.decode((await port.post("/v1/handover", session="ses_other")).content, type=Handover)
    assert [kept.finding.fact for kept in found.kept] == ["a fact"]
    assert (await port.post("/v1/handover", session="ses_none")).status_code == 404


async def test_a_receipt(port: Port) -> None:
    port.step("cat a.json", "one line")
    port.learn("a.json has one line")
    answer = await port.post("/v1/receipt", session=ROOT, finding="f1")
    found = msgspec.json.decode(answer.content, type=FindingView)
    assert [(call.command, call.output) for call in found.receipt] == [("cat a.json", "one line")]
    for session, finding in ((ROOT, "f9"), ("ses_none", "f1")):
        assert (await port.post("/v1/receipt", session=session, finding=finding)).status_code == 404


async def test_an_answer_has_a_largest_size(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    port.step()
    monkeypatch.setattr(reading_port, "MAX_BYTES", 100)
    for _ in range(2 * VIEWERS):  # none keeps its place
        assert (await port.post("/v1/view", session=ROOT)).status_code == 507


def step_of(part: str, chars: int) -> Step:
    fields: dict[str, Any] = {"tool": "bash", "ok": True, "summary": "", "path": "", "exit": 0, "ended": 0, "ms": 0}
    call = Call(call="c", command="x" * (chars // 2), output="x" * (chars // 2), **fields)
    return Step(n=1, origin=ROOT, message="m", part=part, t=0, calls=(call,), tokens=seen.Tokens(), cost=0)


def test_older_steps_are_left_out_when_all_would_be_too_much() -> None:
    steps = tuple(step_of(f"fin_{n}", reading_port.STEP_CHARS // 3) for n in range(6))
    assert tail(steps, "") == (steps[-2:], False)
    assert tail(steps, "fin_4") == (steps[-1:], True)
    assert tail(steps, "fin_3") == (steps[-2:], True)
    assert tail(steps, "fin_2") == (steps[-2:], False)
    assert tail(steps, "fin_5") == ((), True)
    assert tail((), "fin_5") == ((), False)


# ---- attacks ----

PATHS = ("/v1/view", "/v1/receipt", "/v1/handover")


@pytest.mark.parametrize("path", PATHS)
async def test_who_has_no_token_or_comes_from_a_web_page_is_refused(port: Port, path: str) -> None:
    port.step()
    token, body = port.said.token, {"session": ROOT, "finding": "f1"}
    async with port.client() as client:
        for headers, status in (
            ({"authorization": f"Bearer {'0' * 64}"}, 401),
            ({"authorization": ""}, 401),
            ({"authorization": token}, 401),
            ({"host": "evil.example"}, 403),
            ({"origin": "null"}, 403),
            ({"origin": port.said.url}, 403),
        ):
            answer = await client.post(path, json=body, headers=headers)
            assert answer.status_code == status, headers
            assert "steps" not in answer.text and token not in answer.text
        assert (await client.get(path)).status_code == 405
    assert port.listeners == []
    await port.plugin_is_answered()


BODIES = {
    "nothing": b"",
    "no json": b"\x00\xff{",
    "list": b"[]",
    "wrong types": b'{"session": 1, "finding": []}',
    "deep": b'{"session": ' + b"[" * 200_000,
    "enormous number": b'{"session": "s", "finding": "f", "revision": 1' + b"0" * 5000 + b'", "wait_ms": 1e999}',
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_a_body_that_makes_no_sense_is_refused(port: Port, path: str, body: bytes) -> None:
    async with port.client() as client:
        for _ in range(2 * VIEWERS):
            assert (await client.post(path, content=body)).status_code == 400
    await port.plugin_is_answered()


async def test_a_wait_has_bounds(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_port, "MAX_WAIT_MS", 50)
    first = await port.view()
    for wait in (10**15, -5, 2**62):
        async with asyncio.timeout(10):
            await port.view(revision=first.revision, wait_ms=wait)


async def test_one_viewer_too_many_is_told_so_and_a_place_is_free_when_one_leaves(port: Port) -> None:
    first = await port.view()
    wait: dict[str, Any] = {"revision": first.revision, "wait_ms": 30_000}
    waiting = [asyncio.create_task(port.view(**wait)) for _ in range(VIEWERS)]
    await port.until_waiting(VIEWERS)
    assert (await port.post("/v1/view", session=ROOT, **wait)).status_code == 429
    await asyncio.gather(*(port.plugin_is_answered() for _ in range(20)))
    waiting[0].cancel()
    await port.until_waiting(VIEWERS - 1)
    waiting[0] = asyncio.create_task(port.view(**wait))
    await port.until_waiting(VIEWERS)
    port.step()
    assert len({answer.revision for answer in await asyncio.gather(*waiting)}) == 1
    assert (await port.view()).view is not None


async def test_viewers_that_do_not_read_keep_the_plugin_from_nothing(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.host.sending.SEND_SECONDS", 1.0)
    monkeypatch.setattr(reading_port, "STEP_CHARS", 16 << 20)
    for n in range(500):  # more than the system keeps for a socket
        port.step(f"{n}" + "x" * 7_900, "x" * 8_000)
    short: dict[str, Any] = {"session": ROOT, "revision": (await port.view(revision=0)).revision}
    slow = [await stuck(port) for _ in range(VIEWERS)]
    async with asyncio.timeout(10):
        while (await port.post("/v1/view", **short)).status_code != 429:
            pass
    await port.plugin_is_answered()
    await asyncio.sleep(1.1)
    async with asyncio.timeout(20):
        sizes = await asyncio.gather(*map(taken, slow))
        assert max(sizes) < 8_000_000
        assert (await port.post("/v1/view", **short)).status_code == 200


async def stuck(port: Port) -> socket.socket:
    """A viewer that has asked and does not read."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    line.setblocking(False)
    await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", port.said.port))
    body = b'{"session": "ses_root"}'
    head = f"POST /v1/view HTTP/1.1\r\nHost: 127.0.0.1:{port.said.port}\r\nAuthorization: Bearer {port.said.token}"
    await asyncio.get_running_loop().sock_sendall(line, f"{head}\r\nContent-Length: 23\r\n\r\n".encode() + body)
    return line


async def taken(line: socket.socket) -> int:
    """Read what there is to its end; how many bytes it was."""
    size = 0
    with contextlib.suppress(ConnectionError):
        while piece := await asyncio.get_running_loop().sock_recv(line, 1 << 20):
            size += len(piece)
    line.close()
    return size


async def test_the_end_of_the_server_ends_all_waiting(port: Port) -> None:
    first = await port.view()
    waiting = asyncio.create_task(port.view(revision=first.revision, wait_ms=30_000))
    await port.until_waiting(1)
    await port.server.stop()
    with pytest.raises(httpx.TransportError):
        await waiting
    assert port.listeners == []
