"""Permissions and questions, on the real thing: the agent waits, the host shows it, the answer lets the turn go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from core.host import Host, HostOptions
from core.settings import Settings
from core.views import LedgerHost, PermissionView
from ledger_tui.app import LedgerApp
from ledger_tui.screens import request
from tests.e2e.scripts import plain
from tests.e2e.stage import Stage, eventually, stage

Press = Callable[..., Awaitable[None]]
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


@asynccontextmanager
async def dashboard(play: Stage) -> AsyncIterator[tuple[Host, Press]]:
    """The dashboard on such a host, and what presses its keys once it shows what the host knows."""
    options = HostOptions(directory=play.server.project, server=play.server.url, state_dir=play.base / "state")
    settings = Settings(dump_path=play.dump)
    host = Host(options, settings)
    app = LedgerApp(host, settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request, "SETTLE_SECONDS", 0.0)
        async with app.run_test(size=(80, 24)) as pilot:

            async def press(*keys: str) -> None:
                assert app.feed is not None
                app.feed.flush()
                await pilot.pause()
                await pilot.press(*keys)

            yield host, press


async def until(host: LedgerHost, holds: Callable[[], Any], seconds: float = 60) -> None:
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


def waiting(host: LedgerHost) -> list[PermissionView]:
    view = host.view()
    return list(view.permissions) if view is not None else []


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "ledger-home"))


async def is_asked(play: Stage, of: str = "/permission") -> bool:
    return bool((await play.client.get(of)).json())


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


async def test_a_question_is_answered_and_the_model_is_told(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, plain()) as play, hosting(play) as host:
        await until(host, lambda: host.server.state == "live")
        session = await play.session()
        turn = play.begin(session, "[ask] go")
        await until(host, lambda: waiting(host))
        (asked,) = waiting(host)
        first, second = asked.questions
        assert asked.kind == "question"
        assert (first.header, first.text) == ("Database", "Which database should the importer write to?")
        assert [(option.label, option.description) for option in first.options] == [
            ("SQLite", "one file"),
            ("Postgres", "a server"),
        ]
        assert (first.multiple, first.custom, second.multiple) == (False, True, True)
        assert [(item.root, item.state, item.waits_for) for item in host.sessions] == [(session, "waiting", "question")]
        host.reply_question(asked.id, (("a flat file, please",), ("Tests", "Docs")))
        assert (await turn).status_code == 200
        await until(host, lambda: not waiting(host) and host.sessions[0].state == "idle")
        (told,) = play.model.requests[-1].tool_messages.values()
        assert '"Which database should the importer write to?"="a flat file, please"' in told
        assert '"Which extras?"="Tests, Docs"' in told
        assert await tool_states(play, session) == ["completed"]
        view = host.view()
        assert view is not None
        details = [row.detail for row in view.log if row.text == "answered: question"]
        assert details == [
            "a flat file, please; Tests, Docs: Which database should the importer write to? Which extras?"
        ]


async def test_the_question_of_a_sub_agent_asked_before_the_ledger_came_is_answered_on_the_dashboard(
    binary: Path, tmp_path: Path
) -> None:
    allowed = {"general": {"permission": {"question": "allow"}}}
    async with stage(binary, tmp_path, plain(), agent=allowed) as play:
        session = await play.session()
        turn = play.begin(session, "[askagent] go")
        await eventually(lambda: is_asked(play, "/question"))
        async with dashboard(play) as (host, press):
            await until(host, lambda: waiting(host))
            (asked,) = waiting(host)
            assert asked.origin != session
            assert [(item.root, item.waits_for) for item in host.sessions] == [(session, "question")]
            await press("P", "2", "1", "enter", "enter")
            await until(host, lambda: not waiting(host))
            assert (await turn).status_code == 200
        told = [text for request in play.model.requests for text in request.tool_messages.values()]
        assert any('"="Postgres", "Which extras?"="Tests"' in text for text in told)


async def test_a_question_is_refused(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, plain()) as play, dashboard(play) as (host, press):
        await until(host, lambda: host.server.state == "live")
        session = await play.session()
        turn = play.begin(session, "[ask] go")
        await until(host, lambda: waiting(host))
        asked = len([request for request in play.model.requests if request.kind == "agent"])
        await press("P", "r")
        assert (await turn).status_code == 200
        await until(host, lambda: not waiting(host) and host.sessions[0].state == "idle")
        assert await tool_states(play, session) == ["error"]
        assert len([request for request in play.model.requests if request.kind == "agent"]) == asked
        view = host.view()
        assert view is not None
        assert [row.detail.split(":")[0] for row in view.log if row.text == "answered: question"] == ["refused"]


async def test_headless_says_that_the_agent_waits(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, plain(), permission=ASKING) as play, play.ledger() as ledger:
        await ledger.state("live")
        session = await play.session()
        turn = play.begin(session, "[outside] go")
        line = await ledger.until(lambda line: line.get("code") == "permission_asked")
        assert (line["type"], line["session"]) == ("warning", session)
        await play.client.post(f"/session/{session}/abort")
        await turn
