"""What a user does: `ledger-tui init` once, then plain `opencode`, and `ledger-tui` in the same folder."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.e2e.chat import ChatRequest
from tests.e2e.ledger import COMMAND, Ledger, environment
from tests.e2e.model_server import ModelServer
from tests.e2e.opencode import OpenCode, _environment, commit_all, make_project, provider_config
from tests.e2e.oracle import check_notes, of_type
from tests.e2e.scripts import probes
from tests.e2e.shim_server import LOCK, PLUGIN, prepared
from tests.e2e.stage import Stage, eventually, prepare_project
from tests.e2e.terminal import Terminal, need_tmux

OTHER_PLUGIN = """\
import fs from "node:fs"
export default {
  id: "counting",
  server: async ({ directory }) => ({
    "tool.execute.after": async ({ callID }) => fs.appendFileSync(`${directory}/../counted`, `${callID}\\n`),
  }),
}
"""
OTHER_AGENT = "---\ndescription: Reviews changes\nmode: subagent\n---\nReview the change.\n"
THEIRS = {".opencode/plugins/counting.js": OTHER_PLUGIN, ".opencode/agent/reviewer.md": OTHER_AGENT}
SCHEMA = "https://opencode.ai/config.json"
"""OpenCode writes this line into a configuration without one; that is no change of ours."""


@asynccontextmanager
async def ledger_of(base: Path) -> AsyncIterator[Ledger]:
    """`ledger-tui headless` in the project, told nothing else about where OpenCode is."""
    place = ["headless", "--directory", str(base / "project"), "--set", f"dump_path={base / 'facts.json'}"]
    async with Ledger([*place, "--set", "extraction_interval_steps=5"], base / "ledger-home") as ledger:
        yield ledger


def runtime(base: Path) -> Path:
    return Path(environment(base / "ledger-home")["LEDGER_HOME"]) / "runtime"


async def door_is_open(base: Path) -> None:
    """Wait until the plugin in OpenCode has announced its way in."""

    async def announced() -> bool:
        return any(runtime(base).glob("*.door.json"))

    await eventually(announced, 90)


@asynccontextmanager
async def plain_opencode(binary: Path, base: Path, model: ModelServer, **config: Any) -> AsyncIterator[Terminal]:
    """OpenCode's own screen, as one who types `opencode` gets it; it listens on nothing."""
    server = prepared(binary, base, model)
    server.config.update(config)
    server.prepare()
    (server.project / PLUGIN).unlink()
    await prepare_project(server.project, base / "ledger-home")
    home = environment(base / "ledger-home")["LEDGER_HOME"]
    variables = {**_environment(base / "home"), "TERM": "xterm-256color", "LEDGER_HOME": home}
    with Terminal([str(binary)], server.project, variables) as terminal:
        yield terminal


async def test_the_ledger_attaches_by_itself_and_delivers_in_flight(binary: Path, tmp_path: Path) -> None:
    need_tmux()
    async with ModelServer(probes()) as model, plain_opencode(binary, tmp_path, model) as terminal:
        await door_is_open(tmp_path)
        async with ledger_of(tmp_path) as ledger:
            await ledger.state("live")
            await terminal.enter("[probes] Find out how model.ckpt is laid out.")
            await ledger.until(lambda x: x["type"] == "step" and x["n"] == 1)
            await ledger.until(lambda x: x["type"] == "note")
            await ledger.until(lambda x: x["type"] == "session" and x["state"] == "idle" and bool(notes_of(ledger)))
            await ledger.until(lambda x: x["type"] == "extraction" and x["state"] == "done" and x["id"] == "x5")
            assert await ledger.interrupt() == 130
        assert "raw little-endian float32" in terminal.screen
    assert len(of_type(ledger.lines, "step")) >= 21
    notes = notes_of(ledger)
    assert {(note["delivery"], note["arrived"]) for note in notes} == {("hook", "next")}
    assert {"gentle", "stop"} <= {str(note["kind"]) for note in notes}
    check_notes(ledger.lines, model.requests)
    assert "hook_server" not in {warning["code"] for warning in of_type(ledger.lines, "warning")}


def notes_of(ledger: Ledger) -> list[dict[str, object]]:
    return of_type(ledger.lines, "note")


async def test_the_tree_is_as_it_was_after_uninit(binary: Path, tmp_path: Path) -> None:
    async with ModelServer(probes()) as model:
        config = {"$schema": SCHEMA, **provider_config(model.url)}
        server = OpenCode(binary, tmp_path, config, files=THEIRS)
        installed(tmp_path / "home" / "config" / "opencode")
        server.variables["LEDGER_HOME"] = environment(tmp_path / "ledger-home")["LEDGER_HOME"]
        make_project(server.project)
        server.prepare()
        shutil.rmtree(server.project / ".git")
        commit_all(server.project)
        assert changed(server.project) == []
        await prepare_project(server.project, tmp_path / "ledger-home")
        assert ".opencode/plugins/ledger.js" in changed(server.project)
        async with server, server.client() as client, ledger_of(tmp_path) as ledger:
            await ledger.state("live")
            on = Stage(model, server, client, tmp_path)
            await on.prompt(await on.session(), "[probes] Find out how model.ckpt is laid out.")
            await ledger.until(lambda x: x["type"] == "note")
            assert await ledger.interrupt() == 130
        await uninit(tmp_path)
    assert changed(server.project) == []
    assert {name: (server.project / name).read_text() for name in THEIRS} == THEIRS
    assert not (server.project / ".opencode/plugins/ledger.js").exists()
    assert {note["delivery"] for note in of_type(ledger.lines, "note")} == {"hook"}
    assert counted(tmp_path) == calls_of(model.requests)


def installed(settings: Path) -> None:
    """The user's own folder of OpenCode, with all that OpenCode would install there; in the project it does."""
    (settings / "node_modules").mkdir(parents=True)
    (settings / "package-lock.json").write_text(LOCK)


async def uninit(base: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        COMMAND, "uninit", "--directory", str(base / "project"), env=environment(base / "ledger-home"),
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert await process.wait() == 0


def changed(project: Path) -> list[str]:
    """What `git status` names, one path each."""
    command = ["git", "-C", str(project), "status", "--porcelain", "--untracked-files=all"]
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
    return [line[3:] for line in done.stdout.splitlines()]


def counted(base: Path) -> set[str]:
    """Calls the other plugin saw."""
    return set((base / "counted").read_text().split())


def calls_of(requests: list[ChatRequest]) -> set[str]:
    return {call for request in requests if request.kind == "agent" for call in request.tool_messages}
