"""The replay server as its clients see it: the ledger's own client, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from core.demo import hub, player
from core.demo.recording import Event, Recorded, timed
from core.demo.server import ReplayServer
from core.errors import NotFound, ServerError
from core.opencode.client import Client
from tests.unit.demo.samples import CHILD, DIRECTORY, ROOT, T, Tape, session

ANSWERS = ['[{"fact": "no header", "topic": "t:model.ckpt"}]', "[]"]


class Listener:
    """Reads one event stream in the background."""

    def __init__(self, client: Client) -> None:
        self.events: list[Event] = []
        self._come = asyncio.Condition()
        self._task = asyncio.create_task(self._read(client))

    async def until(self, kind: str, count: int = 1, **properties: object) -> list[Event]:
        """Wait for so many events of the kind with these properties; all of them."""

        def found() -> list[Event]:
            wanted = properties.items()
            return [e for e in self.events if e["type"] == kind and wanted <= e["properties"].items()]

        async with asyncio.timeout(20), self._come:
            await self._come.wait_for(lambda: len(found()) >= count)
        return found()

    @property
    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events]

    async def stop(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _read(self, client: Client) -> None:
        rest = b""
        async with contextlib.aclosing(client.events()) as chunks:
            async for chunk in chunks:
                *frames, rest = (rest + chunk).split(b"\n\n")
                async with self._come:
                    self.events += [json.loads(frame.removeprefix(b"data: ")) for frame in frames]
                    self._come.notify_all()


@contextlib.asynccontextmanager
async def replaying(
    events: list[Event] | None = None, *, directory: str = DIRECTORY, speed: float = math.inf, **more: Any
) -> AsyncIterator[tuple[ReplayServer, Client, Listener]]:
    recorded = timed(session() if events is None else events)
    server = ReplayServer(recorded, more.pop("answers", ANSWERS), speed, lead_in=more.pop("lead_in", 0), **more)
    async with server, Client(server.url, directory=directory) as client:
        listener = Listener(client)
        try:
            await listener.until("server.connected")
            yield server, client, listener
        finally:
            await listener.stop()


async def finished(server: ReplayServer) -> None:
    async with asyncio.timeout(20):
        await server.finished.wait()


async def test_it_says_what_a_stock_opencode_says_of_itself() -> None:
    async with replaying() as (_, client, _listener):
        assert await client.health() == "1.18.33"
        agents = await client.agents()
        assert "general" in [agent.name for agent in agents]
        assert not {"momus", "ledger-extractor"} & {agent.name for agent in agents}
        config = await client.config()
        assert (config.model, config.small_model, config.snapshot) == ("acme/m1", "acme/m1", True)
        assert (await client.providers()).names == ("acme/m1",)


async def test_nothing_is_played_before_somebody_listens() -> None:
    async with ReplayServer(timed(session()), speed=math.inf, lead_in=0) as server, Client(server.url) as client:
        await asyncio.sleep(0.05)
        assert await client.sessions() == []
        listener = Listener(client)
        await listener.until("session.idle")
        assert [info.id for info in await client.sessions()] == [ROOT]
        await listener.stop()


async def test_the_stream_is_the_recording_at_the_present_time() -> None:
    events = [event for event in session() if not event["type"].startswith(("server.", "plugin."))]
    begun = time.time_ns() // 1_000_000
    async with replaying() as (_, _client, listener):
        await listener.until("session.idle")
    ended = time.time_ns() // 1_000_000
    assert listener.kinds == ["server.connected", *(event["type"] for event in events)]
    assert [event["id"] for event in listener.events[1:]] == [event["id"] for event in events]
    times = [event["properties"]["time"] for event in listener.events if "time" in event["properties"]]
    assert times == sorted(times)
    assert begun <= times[0]
    assert times[-1] <= ended
    infos = [event["properties"]["info"] for event in listener.events if event["type"] == "message.updated"]
    assert len({info["time"]["created"] for info in infos if info["id"] == "msg_002"}) == 1


async def test_times_can_be_left_as_recorded() -> None:
    async with replaying(move_times=False) as (_, _client, listener):
        [event] = await listener.until("session.created")
    assert event["properties"]["info"]["time"] == {"created": T, "updated": T}


async def test_what_was_played_can_be_read_back() -> None:
    tape = Tape()
    tape.session(ROOT)
    tape.session(CHILD, "Look (@general subagent)", parentID=ROOT)
    tape.status("busy")
    tape.message("msg_000", role="user")
    for n in range(1, 8):
        tape.step(n)
    async with replaying(tape.events) as (server, client, _):
        await finished(server)
        assert {info.id for info in await client.sessions()} == {ROOT, CHILD}
        assert [info.id for info in await client.sessions(roots=True)] == [ROOT]
        assert (await client.session(CHILD)).parent == ROOT
        assert [info.id for info in await client.children(ROOT)] == [CHILD]
        assert await client.statuses() == {ROOT: "busy"}
        page = await client.message_page(ROOT, limit=5)
        earlier = await client.message_page(ROOT, limit=5, before=page.before)
        ids = [message.info.id for message in (*earlier.messages, *page.messages)]
        assert ids == [f"msg_{n:03}" for n in range(8)]
        assert earlier.before == ""
        part = await client.raw_part(ROOT, "msg_003", "prt_003b")
        assert part["state"]["output"] == "output 3\n"


async def test_another_project_sees_nothing() -> None:
    async with replaying(directory="/home/dev/other") as (server, client, listener):
        here = Listener(Client(server.url, directory=DIRECTORY))
        await here.until("session.idle")
        assert listener.kinds == ["server.connected"]
        assert await client.sessions() == []
        await here.stop()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/session/none", 404),
        ("GET", "/session/none/message", 404),
        ("GET", f"/session/{ROOT}/message/none", 404),
        ("PATCH", f"/session/{ROOT}/message/msg_001/part/none", 404),
        ("PATCH", f"/session/{ROOT}/message/none/part/prt_001b", 404),
        ("PATCH", f"/session/{ROOT}/message/msg_001/part/prt_001b", 400),
        ("DELETE", "/session/none", 404),
        ("POST", "/session/none/message", 404),
        ("GET", "/", 404),
        ("GET", "/nowhere/at/all", 404),
        ("DELETE", "/event", 404),
    ],
)
async def test_what_is_not_there_is_refused(method: str, path: str, status: int) -> None:
    async with replaying() as (server, _, _listener), httpx.AsyncClient(base_url=server.url) as http:
        await finished(server)
        assert (await http.request(method, path, json={"id": "x"} if method != "GET" else None)).status_code == status
        assert (await http.post("/session", content=b"[1]")).status_code == 400
        assert (await http.post("/session", content=b"{")).status_code == 400


async def test_prompts_get_the_recorded_answers_in_order() -> None:
    async with replaying() as (_, client, listener):
        for expected in (*ANSWERS, "[]"):
            opened = await client.create_session("ledger-extraction")
            reply = await client.prompt(opened.id, "x" * 400, agent="general", system="s", tools={"*": False})
            assert [part.text for part in reply.parts if part.type == "text"] == [expected]
            assert (reply.info.tokens.input, reply.info.tokens.output) == (100, len(expected) // 4)
            await client.abort(opened.id)
            await client.delete_session(opened.id)
            with pytest.raises(NotFound):
                await client.session(opened.id)
            await listener.until("session.deleted", sessionID=opened.id)
        kinds = [e["type"] for e in listener.events if e["properties"].get("sessionID") == opened.id]
        assert kinds == [
            "session.created",
            "message.updated",
            "message.part.updated",
            "session.status",
            "message.updated",
            "message.part.updated",
            "message.part.updated",
            "message.part.updated",
            "message.part.updated",
            "message.updated",
            "message.updated",
            "session.status",
            "session.idle",
            "session.deleted",
        ]


async def test_ids_of_own_messages_sort_by_time() -> None:
    async with replaying() as (server, client, _listener):
        opened = await client.create_session("ledger-extraction")
        for _ in range(5):
            await client.prompt(opened.id, "x", no_reply=True)
        ids = list(server.state.messages[opened.id])
        assert ids == sorted(ids)
        later = await client.create_session("ledger-extraction")
        assert later.id < opened.id


async def test_an_unknown_agent_fails_as_on_a_real_server() -> None:
    async with replaying() as (_, client, listener):
        opened = await client.create_session("ledger-extraction")
        with pytest.raises(ServerError):
            await client.prompt(opened.id, "x", agent="momus")
        [event] = await listener.until("session.error")
        assert event["properties"]["error"]["name"] == "UnknownError"


@pytest.mark.parametrize("end", ["abort", "delete_session"])
async def test_an_answer_can_be_cut_short(end: str) -> None:
    async with replaying(speed=0) as (_, client, listener):
        opened = await client.create_session("ledger-extraction")
        asked = asyncio.create_task(client.prompt(opened.id, "x"))
        await listener.until("message.updated", 2)
        assert opened.id in await client.statuses()
        await getattr(client, end)(opened.id)
        async with asyncio.timeout(20):
            reply = await asked
        assert [part for part in reply.parts if part.type == "text" and part.text] == []
        assert await client.statuses() == {}
        await client.abort(opened.id)


async def test_a_changed_part_is_kept_told_and_not_forgotten() -> None:
    tape = Tape()
    tape.session(ROOT)
    tape.step(1)
    tape.t += 2_000
    done = next(e for e in tape.events if e["properties"].get("part", {}).get("state", {}).get("status") == "completed")
    tape.add("message.part.updated", **done["properties"])
    async with replaying(tape.events, speed=1, lead_in=0) as (server, client, listener):
        await listener.until("message.updated", 2)
        part = await client.raw_part(ROOT, "msg_001", "prt_001b")
        part["state"]["output"] += "\nKNOWN FACTS"
        await client.patch_part(ROOT, "msg_001", "prt_001b", part)
        server.set_speed(math.inf)
        await finished(server)
        assert (await client.raw_part(ROOT, "msg_001", "prt_001b"))["state"]["output"] == "output 1\n\nKNOWN FACTS"
        outputs = [
            event["properties"]["part"]["state"]["output"]
            for event in await listener.until("message.part.updated", 7)
            if event["properties"]["part"].get("state", {}).get("status") == "completed"
        ]
        assert outputs == ["output 1\n", "output 1\n\nKNOWN FACTS", "output 1\n\nKNOWN FACTS"]
        assert [patched["id"] for patched in server.patches] == ["prt_001b"]


async def test_the_next_turn_waits_for_a_note_on_the_last_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "PATCH_SECONDS", 30)
    async with replaying(session(steps=2, pause=0), speed=100, lead_in=0) as (server, client, listener):
        await listener.until("message.part.updated", 5)
        part = await client.raw_part(ROOT, "msg_001", "prt_001b")
        await asyncio.sleep(player.GRACE_SECONDS * 3)
        assert not any(event["properties"].get("info", {}).get("id") == "msg_002" for event in listener.events)
        await client.patch_part(ROOT, "msg_001", "prt_001b", part)
        await finished(server)
        await listener.until("session.idle")
        order = [
            event["properties"].get("info", event["properties"].get("part", {})).get("id") for event in listener.events
        ]
        assert order.index("msg_002") > max(n for n, id in enumerate(order) if id == "prt_001b")


async def test_a_message_that_is_only_read_does_not_hold_it_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "PATCH_SECONDS", 0.2)
    async with replaying(session(steps=2, pause=0), speed=100, lead_in=0) as (server, client, listener):
        await listener.until("message.part.updated", 5)
        await client.raw_part(ROOT, "msg_001", "prt_001b")
        await finished(server)


async def test_speed_0_pauses_and_a_change_takes_effect_at_once() -> None:
    async with replaying(session(steps=2, pause=100_000), speed=0) as (server, _, listener):
        await asyncio.sleep(0.05)
        assert "session.idle" not in listener.kinds
        server.set_speed(1e-6)
        await asyncio.sleep(0.05)
        server.set_speed(1e6)
        assert server.speed == 1e6
        await listener.until("session.idle")
        with pytest.raises(ValueError, match="makes no sense"):
            server.set_speed(-1)


async def test_at_the_end_it_stays_and_sends_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "HEARTBEAT_SECONDS", 0.02)
    async with replaying() as (server, client, listener):
        await finished(server)
        before = listener.kinds.count("server.heartbeat")
        await listener.until("server.heartbeat", before + 3)
        assert await client.health()


async def test_toasts_are_taken() -> None:
    async with replaying() as (server, client, _):
        await client.toast("hello", title="t")
        assert server.toasts == [{"message": "hello", "variant": "info", "title": "t"}]


async def test_a_generator_is_not_read_ahead_of_a_slow_listener(monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0

    def endless() -> Iterator[Recorded]:
        nonlocal made
        while True:
            made += 1
            event = {"id": f"evt_{made}", "type": "session.status", "properties": {"sessionID": "x" * 10_000}}
            yield Recorded(0, T, event)

    async with ReplayServer(endless(), speed=math.inf, lead_in=0, directory="") as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rsplit(":", 1)[1]))
        writer.write(b"GET /event HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        settled = -1
        async with asyncio.timeout(20):
            while settled != made:
                settled = made
                await asyncio.sleep(0.2)
        assert made < 20_000
        await reader.readexactly(3_000_000)
        async with asyncio.timeout(20):
            while made == settled:  # noqa: ASYNC110 - the generator has no event to wait for
                await asyncio.sleep(0.01)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def test_a_listener_that_is_stuck_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "_STUCK_SECONDS", 0.1)
    events = [Recorded(0, T, {"id": f"evt_{n}", "type": "x", "properties": {"a": "x" * 5_000}}) for n in range(10_000)]
    async with ReplayServer(events, speed=math.inf, lead_in=0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rsplit(":", 1)[1]))
        writer.write(b"GET /event HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        await finished(server)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
