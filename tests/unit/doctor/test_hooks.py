"""The round trip to the ledger that hosts the project, over a real connection."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from core import rendezvous
from core.doctor.hooks import TRIES, hook
from core.doctor.lines import Line
from core.loopback.messages import Refusal, Request, Response
from core.loopback.server import LoopbackServer

from .stage import NO_WAY, Stage

TOKEN = "a" * 64


class Ledger:
    """Answers as told; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.answer: Response | Refusal = Response.of({"ok": True})

    async def __call__(self, request: Request) -> Response:
        self.asked.append(request)
        if isinstance(self.answer, Refusal):
            raise self.answer
        return self.answer


async def line(stage: Stage, ledger: Ledger, **payload: Any) -> Line:
    async with LoopbackServer(ledger) as server:
        said = {"port": server.port, "token": TOKEN, **payload}
        announcement = rendezvous.announce("ledger", stage.project, said, environ=stage.environ)
        try:
            (found,) = await asyncio.to_thread(lambda: list(hook(stage.surroundings(), NO_WAY)))
        finally:
            announcement.remove()
    return found


async def test_no_ledger(stage: Stage) -> None:
    (found,) = hook(stage.surroundings(), NO_WAY)
    assert (found.status, "not tried" in found.text) == ("ok", True)


async def test_it_asks_as_the_plugin_does(stage: Stage) -> None:
    ledger = Ledger()
    found = await line(stage, ledger)
    assert (found.status, " ms" in found.text) == ("ok", True)
    assert len(ledger.asked) == TRIES
    first = ledger.asked[0]
    assert (first.method, first.path, first.headers["authorization"]) == ("POST", "/v1/hello", f"Bearer {TOKEN}")
    said = json.loads(first.body)
    assert (said["directory"], said["opencode"], said["shim"]) == (str(stage.project.resolve()), "", "")


async def test_slower_than_the_plugin_waits(stage: Stage) -> None:
    found = await line(stage, Ledger(), deadline_ms=0)
    assert (found.status, "waits 0 ms" in found.fix) == ("warn", True)


@pytest.mark.parametrize(
    "answer",
    [Refusal(401, "no"), Response.of({"ok": False}), Response(body=b"<html>"), Response.of({"ok": True}, status=201)],
    ids=["refused", "not ok", "no JSON", "another status"],
)
async def test_another_answer(stage: Stage, answer: Response | Refusal) -> None:
    ledger = Ledger()
    ledger.answer = answer
    found = await line(stage, ledger)
    assert (found.status, "does not answer" in found.text, TOKEN in found.text) == ("fail", True, False)


async def test_nobody_at_the_port(stage: Stage) -> None:
    server = LoopbackServer(Ledger())
    await server.start()
    await server.stop()
    rendezvous.announce("ledger", stage.project, {"port": server.port, "token": TOKEN}, environ=stage.environ)
    (found,) = await asyncio.to_thread(lambda: list(hook(stage.surroundings(), NO_WAY)))
    assert found.status == "fail"
