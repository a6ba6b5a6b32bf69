"""A model server, an OpenCode that uses it, and the commands a test needs to drive and watch both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.ledger import COMMAND, Ledger, environment
from tests.e2e.model_server import ModelServer
from tests.e2e.opencode import OpenCode, provider_config
from tests.e2e.scripts import Script


async def eventually(holds: Callable[[], Awaitable[bool]], seconds: float = 30) -> None:
    """Ask ten times a second until it holds, for states nobody announces. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110 - the server gives no event to wait for
            await asyncio.sleep(0.1)


@dataclass
class Stage:
    """Everything that runs in one test."""

    model: ModelServer
    server: OpenCode
    client: httpx.AsyncClient
    base: Path

    @property
    def dump(self) -> Path:
        """Where the ledgers of this test write their dump."""
        return self.base / "facts.json"

    async def session(self, **body: Any) -> str:
        """A new session's id."""
        return str((await self.client.post("/session", json=body)).json()["id"])

    async def prompt(self, session: str, text: str) -> httpx.Response:
        """A user's message; returns when the turn has ended."""
        body = {"parts": [{"type": "text", "text": text}]}
        return await self.client.post(f"/session/{session}/message", json=body)

    def begin(self, session: str, text: str) -> asyncio.Task[httpx.Response]:
        """A user's message, not waited for."""
        return asyncio.create_task(self.prompt(session, text))

    async def titles(self) -> list[str]:
        """Titles of all sessions on the server."""
        return [session["title"] for session in (await self.client.get("/session")).json()]

    async def without(self, title: str) -> bool:
        """Whether no session of this title is there."""
        return title not in await self.titles()

    def ledger(self, *more: str, command: str = "headless", interval: int = 5, **variables: str) -> Ledger:
        """The command attached to this server and project, to be entered."""
        place = ["--server", self.server.url, "--directory", str(self.server.project)]
        settings = ["--set", f"extraction_interval_steps={interval}", "--set", f"dump_path={self.dump}"]
        return Ledger([command, *place, *settings, *more], self.base / "ledger-home", variables)


async def prepare_project(project: Path, home: Path) -> None:
    """What a user does once: `ledger-tui init`."""
    process = await asyncio.create_subprocess_exec(
        COMMAND, "init", "--directory", str(project), env=environment(home), stdout=asyncio.subprocess.DEVNULL
    )
    assert await process.wait() == 0


@asynccontextmanager
async def stage(
    binary: Path, base: Path, script: Script, *, password: str = "", plugin: bool = False, **config: Any
) -> AsyncIterator[Stage]:
    """Start both servers; they and all they started are gone afterwards. `plugin`: prepare the project by `init`."""
    async with ModelServer(script) as model:
        server = OpenCode(binary, base, provider_config(model.url, **config), password=password)
        if plugin:
            server.variables["LEDGER_HOME"] = environment(base / "ledger-home")["LEDGER_HOME"]
            server.prepare()
            await prepare_project(server.project, base / "ledger-home")
        async with server, server.client() as client:
            yield Stage(model, server, client, base)
