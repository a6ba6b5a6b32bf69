"""The shim inside the real OpenCode: notes in flight, a ledger that is absent, hangs or dies, and the door."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.e2e.model_server import ModelServer
from tests.e2e.opencode import _environment, free_port
from tests.e2e.oracle import OWN_TITLE
from tests.e2e.scripts import plain, probes
from tests.e2e.shim_server import (
    SHIM,
    Body,
    ShimServer,
    calls,
    door_of,
    doors,
    megabytes,
    no_door,
    prepared,
    shimmed,
    through,
    tui,
    watch,
)
from tests.e2e.stage import Stage, eventually

# ---- notes ----


async def test_each_note_is_in_the_very_next_request(binary: Path, tmp_path: Path, runtime: Path) -> None:
    async with ShimServer(runtime, tmp_path / "project") as ledger, shimmed(binary, tmp_path, probes()) as on:
        root = await on.session()
        await on.prompt(root, "[probes] go")
        await ledger.acked(24)
    assert len(ledger.after) == 24  # twenty probes, the task, and three calls of the sub-agent
    assert {body["session"] for body in ledger.after} > {root}
    for call, text in ledger.notes.items():
        given = on.model.results(call)
        assert given
        assert all(text in result for result in given)
        assert ledger.acks[call]["appended"]
    assert [body["shim"] for body in ledger.seen["/v1/hello"]] == ["0.1.0"]
    first = ledger.after[0]
    assert first["exit"] == 0
    assert first["output"] == "4096 bytes, mode 644\n"
    assert first["args"]["description"] == "Size of the checkpoint"
    assert 0 < first["started"] <= first["ended"]
    await assert_ids_are_those_of_the_parts(on, root, ledger)


async def assert_ids_are_those_of_the_parts(on: Stage, root: str, ledger: ShimServer) -> None:
    async with on.server, on.server.client() as client:
        messages = (await client.get(f"/session/{root}/message")).json()
    parts = {p["callID"]: (p["messageID"], p["id"]) for m in messages for p in m["parts"] if p["type"] == "tool"}
    reported = {b["call"]: (b["message"], b["part"]) for b in ledger.after if b["session"] == root}
    assert reported == parts


async def test_without_a_ledger_the_turn_is_as_ever(binary: Path, tmp_path: Path, runtime: Path) -> None:
    async with shimmed(binary, tmp_path, calls(3)) as on:
        await on.prompt(await on.session(), "[calls] go")
        assert set(on.model.requests[-1].tool_messages.values()) == {"4096\n"}
    assert doors(runtime) == []


async def test_a_ledger_that_never_answers_is_waited_for_no_longer_than_its_deadline(
    binary: Path, tmp_path: Path, runtime: Path
) -> None:
    async with ShimServer(runtime, tmp_path / "project") as ledger, shimmed(binary, tmp_path, calls(5)) as on:
        ledger.answers.clear()
        await on.prompt(await on.session(), "[calls] go")
        assert set(on.model.requests[-1].tool_messages.values()) == {"4096\n"}
        await ledger.acked(3)
        assert len(ledger.after) == 3  # after three misses in a row the shim pauses
        for ack in ledger.acks.values():
            assert not ack["appended"]
            assert 245 <= ack["ms"] < 2000


async def test_a_ledger_that_dies_and_comes_back_on_another_port(binary: Path, tmp_path: Path, runtime: Path) -> None:
    project = tmp_path / "project"
    async with shimmed(binary, tmp_path, plain()) as on, ShimServer(runtime, project) as first:
        root = await on.session()
        await on.prompt(root, "[one] with the first ledger")
        await first.crash()
        async with ShimServer(runtime, project) as second:
            await on.prompt(root, "[two] with the second")
            assert len(first.notes) == len(second.notes) == 1
            (call, text) = next(iter(second.notes.items()))
            assert text in on.model.results(call)[0]
            await second.crash()
            await on.prompt(root, "[one] with none, which begins a pause")
            async with ShimServer(runtime, project) as third:
                await asyncio.sleep(2.1)  # a new announcement ends the pause
                await on.prompt(root, "[one] with the third")
                assert len(third.notes) == 1
    assert len(first.after) == len(second.after) == 1


async def test_sessions_of_the_ledger_itself_are_not_reported(binary: Path, tmp_path: Path, runtime: Path) -> None:
    async with ShimServer(runtime, tmp_path / "project") as ledger, shimmed(binary, tmp_path, plain()) as on:
        await on.prompt(await on.session(title=OWN_TITLE), "[many] by the ledger")
        root = await on.session()
        await on.prompt(root, "[one] by the user")
    assert len(on.model.of_kind("agent")) == 8
    assert [body["session"] for body in ledger.after] == [root]


async def test_the_shim_in_two_places_reports_a_call_once(binary: Path, tmp_path: Path, runtime: Path) -> None:
    twice = {".opencode/plugins/ledger-copy.js": SHIM}
    async with (
        ShimServer(runtime, tmp_path / "project") as ledger,
        shimmed(binary, tmp_path, plain(), **twice) as on,
    ):
        await on.prompt(await on.session(), "[many] go")
    assert len(ledger.seen["/v1/hello"]) == 2  # both are loaded
    assert len(ledger.after) == 5


# ---- the door ----


@pytest.fixture
def terminals() -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")


@pytest.mark.usefixtures("terminals")
async def test_plain_opencode_is_reached_through_the_door(binary: Path, tmp_path: Path, runtime: Path) -> None:
    async with tui(binary, tmp_path, calls(3)) as (terminal, model):
        door = await door_of(runtime)
        assert (door["opencode"], door["shim"]) == ("1.18.33", "0.1.0")
        async with through(door) as client:
            types: list[str] = []
            watching = asyncio.create_task(watch(client, types))
            assert (await client.get("/global/health")).json()["healthy"]
            session = (await client.post("/session", json={"title": "by the door"})).json()
            assert session["directory"] == str(tmp_path / "project")
            body = {"parts": [{"type": "text", "text": "[calls] go"}]}
            await client.post(f"/session/{session['id']}/message", json=body)
            await patch_one(client, session["id"])
            await asyncio.sleep(0.2)
            watching.cancel()
            assert {"session.created", "message.part.updated", "session.idle"} <= set(types)
            toast = {"title": "From the ledger", "message": "seen?", "variant": "info"}
            await client.post("/tui/show-toast", json=toast)

            async def shown() -> bool:
                return "From the ledger" in terminal.tmux("capture-pane", "-p")

            await eventually(shown, 10)
        assert "patched" in json.dumps(model.requests[-1].body)
        os.kill(door["pid"], signal.SIGTERM)
        await eventually(lambda: no_door(runtime))


async def patch_one(client: httpx.AsyncClient, session: str) -> None:
    """Change the first call's output, and see to it that the model is given the change."""
    messages = (await client.get(f"/session/{session}/message")).json()
    part = next(p for m in messages for p in m["parts"] if p["type"] == "tool")
    part["state"]["output"] += "patched"
    path = f"/session/{session}/message/{part['messageID']}/part/{part['id']}"
    assert (await client.patch(path, json=part)).status_code == 200
    await client.post(f"/session/{session}/message", json={"parts": [{"type": "text", "text": "[one] again"}]})


async def test_run_has_a_door_as_long_as_it_runs(binary: Path, tmp_path: Path, runtime: Path) -> None:
    async with ModelServer(calls(1, "sleep 4")) as model:
        prepared(binary, tmp_path, model)
        process = await asyncio.create_subprocess_exec(
            binary, "run", "[calls] go", cwd=tmp_path / "project", env=_environment(tmp_path / "home"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        door = await door_of(runtime)
        async with through(door) as client:
            assert len((await client.get("/session")).json()) == 1
            await refused(client, door)
        out, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0
    assert b"ledger" not in out
    assert doors(runtime) == []


async def refused(client: httpx.AsyncClient, door: Body) -> None:
    """What the door must not let in, and that it still answers afterwards."""
    for headers, status in (
        ({"authorization": "Bearer " + "0" * 64}, 401),
        ({"authorization": ""}, 401),
        ({"host": "evil.example"}, 403),
        ({"host": f"evil.example:{door['port']}"}, 403),
        ({"origin": f"http://127.0.0.1:{door['port']}"}, 403),
        ({"origin": "null"}, 403),
    ):
        assert (await client.get("/session", headers=headers)).status_code == status, headers
    async with through(door) as large:
        with contextlib.suppress(httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
            assert (await large.post("/session", content=b"x" * 100_000_000)).status_code == 413
    async with through(door) as chunked:
        with contextlib.suppress(httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
            assert (await chunked.post("/session", content=megabytes(100))).status_code in (413, 502)
    assert (await client.get("/global/health")).status_code == 200


@pytest.mark.usefixtures("terminals")
async def test_the_door_survives_a_crowd(binary: Path, tmp_path: Path, runtime: Path) -> None:
    async with tui(binary, tmp_path, calls(3)):
        door = await door_of(runtime)
        async with through(door) as first:
            await crowd(door, first)
            for _ in range(3):  # streams that were given up leave room again
                watchers = [asyncio.create_task(watch(first, [])) for _ in range(40)]
                await asyncio.sleep(1)
                for task in watchers:
                    task.cancel()
                await asyncio.gather(*watchers, return_exceptions=True)
            assert (await first.get("/global/health")).status_code == 200


async def crowd(door: Body, client: httpx.AsyncClient) -> None:
    """200 at once and 50 half-sent requests beside them: each whole one is answered, by the API or by 503."""
    slow = [await asyncio.open_connection("127.0.0.1", door["port"]) for _ in range(50)]
    for _, writer in slow:
        writer.write(b"GET /session HTTP/1.1\r\nHost: 127")
    async with through(door, limits=httpx.Limits(max_connections=200)) as many:
        answers = await asyncio.gather(*(many.get("/session") for _ in range(200)))
    assert {answer.status_code for answer in answers} <= {200, 503}
    assert sum(answer.status_code == 200 for answer in answers) >= 64
    for _, writer in slow:
        writer.write(b"\x00\xff\x00garbage\r\n\r\n")
        writer.close()
    assert (await client.get("/global/health")).status_code == 200


@pytest.mark.usefixtures("terminals")
async def test_opencode_that_listens_has_no_door(binary: Path, tmp_path: Path, runtime: Path) -> None:
    async with ShimServer(runtime, tmp_path / "project") as ledger:

        async def loaded() -> bool:
            return bool(ledger.seen["/v1/hello"])

        async with tui(binary, tmp_path, calls(3), "--port", str(free_port())):
            await eventually(loaded)
            await asyncio.sleep(1)
            assert doors(runtime) == []
        ledger.seen["/v1/hello"].clear()
        async with shimmed(binary, tmp_path, plain()) as on:
            await on.prompt(await on.session(), "[one] go")
            await eventually(loaded)
            await asyncio.sleep(1)
            assert doors(runtime) == []
    assert len(ledger.after) == 1
