"""A command that needs a permission, on the real thing: it waits, the host shows it, the answer lets the turn go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from core.host import Host, HostOptions
from core.settings import Settings
from core.views import PermissionView
from tests.e2e.scripts import plain
from tests.e2e.stage import Stage, eventually, stage

ASKING = {"bash": "allow", "edit": "allow", "external_directory": "ask"}


@asynccontextmanager
async def hosting(play: Stage) -> AsyncIterator[Host]:
    """A host on the stage's server, until the block ends."""
    options = HostOptions(directory=play.server.project, server=play.server.url, state_dir=play.base / "state")
    host = Host(options, Settings(dump_path=play.dump))
    await host.start()
    try:
        yield host
    finally:
        await host.stop()


async def until(host: Host, holds: Callable[[], Any], seconds: float = 60) -> None:
    """Wait until it holds, looking after each change of the host."""
    changed = asyncio.Event()
    unsubscribe = host.subscribe(changed.set)
    try:
        async with asyncio.timeout(seconds):
            while not holds():
                changed.clear()
                await changed.wait()
    finally:
        unsubscribe()


def waiting(host: Host) -> list[PermissionView]:
    view = host.view()
    return list(view.permissions) if view is not None else []


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "ledger-home"))


async def is_asked(play: Stage) -> bool:
    return bool((await play.client.get("/permission")).json())


async def tool_states(play: Stage, session: str) -> list[str]:
    messages = (await play.client.get(f"/session/{session}/message")).json()
    parts = [part for message in messages for part in message["parts"] if part["type"] == "tool"]
    return [part["state"]["status"] for part in parts]


async def test_a_permission_waits_until_it_is_given_once(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, plain(), permission=ASKING) as play, hosting(play) as host:
        await until(host, lambda: host.server.state == "live")
        session = await play.session()
        turn = play.begin(session, "[outside] go")
        await until(host, lambda: waiting(host))
        (asked,) = waiting(host)
        assert (asked.kind, asked.title, asked.text) == ("permission", "external_directory", "cat /etc/hostname")
        assert asked.patterns == "/etc/*"
        assert [(item.root, item.state) for item in host.sessions] == [(session, "waiting")]
        assert not turn.done()
        host.reply_permission(asked.id, "once")
        assert (await turn).status_code == 200
        await until(host, lambda: not waiting(host) and host.sessions[0].state == "idle")
        assert await tool_states(play, session) == ["completed"]
        view = host.view()
        assert view is not None
        rows = [row.text for row in view.log]
        assert "The agent waits for an answer: external_directory cat /etc/hostname" in rows
        assert "answered: external_directory" in rows


async def test_a_permission_asked_before_the_ledger_came_can_be_refused(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, plain(), permission=ASKING) as play:
        session = await play.session()
        turn = play.begin(session, "[outside] go")
        await eventually(lambda: is_asked(play))
        async with hosting(play) as host:
            await until(host, lambda: waiting(host))
            host.reply_permission(waiting(host)[0].id, "reject")
            assert (await turn).status_code == 200
            await until(host, lambda: not waiting(host))
        assert await tool_states(play, session) == ["error"]


async def test_headless_says_that_the_agent_waits(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, plain(), permission=ASKING) as play, play.ledger() as ledger:
        await ledger.state("live")
        session = await play.session()
        turn = play.begin(session, "[outside] go")
        line = await ledger.until(lambda line: line.get("code") == "permission_asked")
        assert (line["type"], line["session"]) == ("warning", session)
        await play.client.post(f"/session/{session}/abort")
        await turn
