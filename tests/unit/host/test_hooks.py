"""The hook server: its announcement, and that nothing on this machine keeps it from answering the plugin."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from core import rendezvous
from core.errors import FileError
from core.host import hooks
from core.host.hooks import Ack, After, Answer, Hello, HookServer

CALL = {"session": "ses_1", "call": "call_1", "tool": "bash"}
MIB = 1 << 20


class Ears:
    """Keeps what it is told; the answer names the call."""

    def __init__(self) -> None:
        self.told: list[Hello | After | Ack] = []

    def hello(self, told: Hello) -> None:
        self.told.append(told)

    def after(self, told: After) -> Answer:
        self.told.append(told)
        return Answer(append=f"about {told.call}", note="n1") if told.call else Answer()

    def ack(self, told: Ack) -> None:
        self.told.append(told)


class Served:
    """A running server as the plugin finds it."""

    def __init__(self, server: HookServer, ears: Ears, said: rendezvous.LedgerFile) -> None:
        self.server, self.ears, self.said = server, ears, said

    def client(self, **more: Any) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {self.said.token}"}
        return httpx.AsyncClient(base_url=self.said.url, headers=headers, trust_env=False, timeout=30, **more)

    async def answers(self, client: httpx.AsyncClient | None = None) -> None:
        """Ask as the plugin does."""
        async with self.client() as fresh:
            answer = await (client or fresh).post("/v1/after", json=CALL)
        assert (answer.status_code, answer.json()) == (200, {"append": "about call_1", "note": "n1"})

    async def dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.said.port)


@pytest.fixture
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "ledger"))
    project, ears = tmp_path / "project", Ears()
    project.mkdir()
    server = HookServer(project, 250, "0.1.0", ears)
    await server.start()
    said = rendezvous.ledger(project)
    assert said is not None
    yield Served(server, ears, said)
    await server.stop()


# ---- announced, and what it takes ----


async def test_it_is_announced_privately_as_long_as_it_listens(served: Served, tmp_path: Path) -> None:
    (file,) = (tmp_path / "ledger" / "runtime").iterdir()
    assert file.name == f"{rendezvous.project_key(tmp_path / 'project')}.ledger.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert (served.said.deadline_ms, served.said.version) == (250, "0.1.0")
    await served.server.stop()
    assert not file.exists()
    with pytest.raises(OSError):
        await served.dial()


async def test_the_announcement_of_a_later_ledger_is_left_alone(served: Served, tmp_path: Path) -> None:
    second = HookServer(tmp_path / "project", 250, "0.1.0", Ears())
    await second.start()
    await served.server.stop()
    said = rendezvous.ledger(tmp_path / "project")
    assert said is not None and said.token != served.said.token
    await second.stop()
    assert rendezvous.ledger(tmp_path / "project") is None


async def test_where_it_cannot_be_announced_it_does_not_listen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "file"))
    server = HookServer(tmp_path, 250, "0.1.0", Ears())
    with pytest.raises(FileError):
        await server.start()
    await server.stop()


async def test_each_message_is_told(served: Served) -> None:
    async with served.client() as client:
        hello = await client.post("/v1/hello", json={"pid": 7, "directory": "/p", "opencode": "1.18.33", "shim": "0.1"})
        asked = {**CALL, "call": "", "args": {"a": [1]}, "exit": None, "last_ms": 2}
        after = await client.post("/v1/after", json=asked)
        ack = await client.post("/v1/ack", json={"session": "ses_1", "call": "call_1", "appended": True, "ms": 1.25})
    assert [answer.json() for answer in (hello, after, ack)] == [{"ok": True}, {}, {"ok": True}]
    first, second, third = served.ears.told
    assert first == Hello(pid=7, directory="/p", opencode="1.18.33", shim="0.1")
    assert isinstance(second, After) and msgspec.json.decode(second.args) == {"a": [1]}
    assert second.last_ms == 2.0
    assert third == Ack(session="ses_1", call="call_1", appended=True, ms=1.25)


# ---- attacks ----


async def test_who_has_no_token_or_comes_from_a_web_page_is_refused(served: Served) -> None:
    port, token = served.said.port, served.said.token
    async with served.client() as client:
        for headers, status in (
            ({"authorization": f"Bearer {'0' * 64}"}, 401),
            ({"authorization": f"Bearer {token[:-1]}"}, 401),
            ({"authorization": f"Bearer {token}0"}, 401),
            ({"authorization": f"Basic {token}"}, 401),
            ({"authorization": token}, 401),
            ({"authorization": "Bearer é".encode()}, 401),
            ({"authorization": ""}, 401),
            ({"host": "evil.example"}, 403),
            ({"host": f"evil.example:{port}"}, 403),
            ({"host": f"127.0.0.1:{port + 1}"}, 403),
            ({"origin": f"http://127.0.0.1:{port}"}, 403),
            ({"origin": "null"}, 403),
        ):
            given: Any = headers
            answer = await client.post("/v1/after", json=CALL, headers=given)
            assert answer.status_code == status, headers
            assert token not in answer.text
        assert (await client.get("/v1/after")).status_code == 405
        assert (await client.post("/v1/notes", json={})).status_code == 404
    assert served.ears.told == []
    await served.answers()


async def test_a_hundred_megabytes_are_not_read(served: Served) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"x" * MIB

    for body in (b"x" * 100 * MIB, endless()):
        async with served.client() as client:
            with contextlib.suppress(httpx.WriteError, httpx.ReadError):
                assert (await client.post("/v1/after", content=body)).status_code == 413
    assert served.ears.told == []
    await served.answers()


BODIES: dict[str, bytes] = {
    "nothing": b"",
    "no json": b"\x00\xff{",
    "no text": b'{"session": "\xff", "call": "c", "tool": "t"}',
    "list": b"[1, 2]",
    "keys missing": b'{"session": "ses_1"}',
    "wrong types": b'{"session": 1, "call": [], "tool": {}}',
    "deep": b'{"session": "s", "call": "c", "tool": "t", "args": ' + b"[" * 200_000 + b"}",
    "infinite": b'{"session": "s", "call": "c", "tool": "t", "ms": NaN, "started": 1e999}',
    "enormous number": b'{"session": "s", "call": "c", "tool": "t", "started": 1' + b"0" * 5000 + b"}",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_a_body_that_makes_no_sense_is_refused(served: Served, body: bytes) -> None:
    async with served.client() as client:
        assert (await client.post("/v1/after", content=body)).status_code == 400
        await served.answers(client)
    assert len(served.ears.told) == 1


async def test_garbage_does_no_harm(served: Served) -> None:
    source = random.Random(3)  # a fixed seed: the same bytes each time
    for size in (1, 80, 5000, 100_000):
        reader, writer = await served.dial()
        with contextlib.suppress(ConnectionError):
            writer.write(source.randbytes(size) + b"\r\n\r\n")
            writer.write_eof()
            assert b" 200 " not in (await reader.read())[:20]
        writer.close()
    assert served.ears.told == []
    await served.answers()


async def test_requests_that_never_end_are_cut_off_and_meanwhile_the_plugin_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = msgspec.structs.replace(hooks.LIMITS, header_seconds=1.0, body_seconds=1.0)
    monkeypatch.setattr(hooks, "LIMITS", limits)
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path))
    ears = Ears()
    server = HookServer(tmp_path, 250, "0.1.0", ears)
    await server.start()
    said = rendezvous.ledger(tmp_path)
    assert said is not None
    here = Served(server, ears, said)
    head = f"POST /v1/after HTTP/1.1\r\nHost: 127.0.0.1:{said.port}\r\n".encode()
    async with here.client() as kept:
        await here.answers(kept)
        slow = [await here.dial() for _ in range(limits.connections + 20)]
        for n, (_, writer) in enumerate(slow):
            writer.write((b"P", head, head + b"Content-Length: 9\r\n\r\n{")[n % 3])
        await here.answers(kept)
        await here.answers()  # by a connection made meanwhile, too
        async with asyncio.timeout(30):
            await asyncio.gather(*(hung_up(reader) for reader, _ in slow))
        for _, writer in slow:
            writer.close()
    await here.answers()
    await server.stop()


async def test_nobody_without_the_token_can_take_all_places(served: Served) -> None:
    head = f"POST /v1/after HTTP/1.1\r\nHost: 127.0.0.1:{served.said.port}\r\nContent-Length: 2\r\n\r\n{{}}"
    async with served.client() as kept:
        await served.answers(kept)
        idle = [await served.dial() for _ in range(hooks.LIMITS.connections)]
        for reader, writer in idle[1:]:  # refused, and kept open by the client
            writer.write(head.encode())
            assert b" 401 " in await reader.readuntil(b"}")
        for _ in range(3):
            await served.answers()
        await served.answers(kept)
        for _, writer in idle:
            writer.close()


async def hung_up(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(ConnectionError):
        await reader.read()


async def test_two_hundred_at_once_are_all_answered(served: Served) -> None:
    answers = await asyncio.gather(*(in_a_row(served, f"call_{n}", 3) for n in range(200)))
    assert answers == [[f"about call_{n}"] * 3 for n in range(200)]
    await served.answers()


async def in_a_row(served: Served, call: str, count: int) -> list[str]:
    """What is to be appended, asked so often on one connection. (A client with 200 connections would be slower.)"""
    reader, writer = await served.dial()
    body = json.dumps({**CALL, "call": call})
    head = f"POST /v1/after HTTP/1.1\r\nHost: 127.0.0.1:{served.said.port}\r\nAuthorization: Bearer {served.said.token}"
    answers = []
    for _ in range(count):
        writer.write(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        answers.append(json.loads(await reader.readuntil(b"}"))["append"])
    writer.close()
    return answers
