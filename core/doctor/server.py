"""Checks of OpenCode itself: its program, the way to it, the password, what extracts, snapshots."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import Final

from core.doctor.installed import agent_is_there, plugin_is_there
from core.doctor.lines import Line, fail, ok, warn
from core.doctor.reach import Reach
from core.doctor.surroundings import Surroundings
from core.extraction.agents import AUTO, PREFERRED, NotThere, choose_agent, choose_model
from core.installing.marks import release
from core.text import clean_line

TESTED: Final = "1.18.33"
"""The version of OpenCode that the ledger is tested with."""
_START: Final = "Start `opencode` in the project."
_START_UNPREPARED: Final = "Start `opencode --port 4096` in the project, or plain `opencode` after `ledger-tui init`."


def opencode(surroundings: Surroundings, way: Reach) -> Iterable[Line]:
    """The program."""
    program = shutil.which("opencode", path=surroundings.environ.get("PATH", ""))
    where = f" ({clean_line(program, 300)})" if program else ""
    if way.answers:
        text = f"OpenCode {way.version}{where}"
        if release(way.version)[:1] != release(TESTED)[:1]:
            yield warn("opencode", text, f"The ledger is tested with {TESTED}; parts of it may not work.")
        else:
            yield ok("opencode", text)
    elif program:
        yield ok("opencode", f"installed{where}")
    elif way.here or way.way != "none":
        yield ok("opencode", "runs, though it is not in PATH")
    else:
        yield fail("opencode", "not in PATH, and none runs here", "Install it: https://opencode.ai/docs")


def way_in(surroundings: Surroundings, way: Reach) -> Iterable[Line]:
    """How it is reached, and which processes cannot be."""
    name = clean_line(way.url, 200)
    ways = {
        "named": f"{name}, named by {surroundings.named_by or 'you'}",
        "door": f"the door of process {way.pid} ({name})",
        "loopback": f"{name}, process {way.pid}, found on loopback",
    }
    if way.way != "none":
        if way.answers or way.wants_password or way.refused:
            yield ok("way in", ways[way.way])
        else:
            fix = "Check the address, or leave it away." if way.way == "named" else "Restart OpenCode."
            yield fail("way in", f"{ways[way.way]}: {clean_line(way.problem, 300) or 'it does not answer'}", fix)
    elif way.problem:
        yield fail("way in", f"could not be looked for: {clean_line(way.problem, 300)}", "Name a server with --server.")
    elif not way.here:
        fix = _START if plugin_is_there(surroundings) else _START_UNPREPARED
        yield warn("way in", f"no OpenCode runs for {clean_line(str(surroundings.directory), 200)}", fix)
    if way.way != "named":
        yield from _several(way)
        yield from _closed(surroundings, way)


def _several(way: Reach) -> Iterable[Line]:
    others = {door.pid for door in way.doors} | {server.pid for server in way.found}
    if len(others) > 1:
        pids = ", ".join(map(str, sorted(others)))
        yield ok("way in", f"several OpenCode work here (processes {pids}); the ledger follows all of them")


def _closed(surroundings: Surroundings, way: Reach) -> Iterable[Line]:
    """Processes that listen on nothing and opened no door: without the plugin, or started before it was there."""
    reachable = {door.pid for door in way.doors} | {server.pid for server in way.found}
    closed = [process.pid for process in way.here if process.pid not in reachable]
    if not closed:
        return
    pids = ", ".join(map(str, closed))
    text = f"OpenCode works here without a way in (process {pids})"
    if plugin_is_there(surroundings):
        fix = (
            "Restart it: it was started before the plugin was there. If that does not help, start it with --port 4096."
        )
    else:
        fix = "Run `ledger-tui init` and restart it, or start it with --port 4096."
    yield warn("way in", text, fix)


def auth(_: Surroundings, way: Reach) -> Iterable[Line]:
    """The password."""
    if way.wants_password:
        yield fail("auth", "OpenCode wants a password", "Set OPENCODE_SERVER_PASSWORD, or give --password-file.")
    elif way.refused:
        fix = "Restart OpenCode." if way.token else "Check OPENCODE_SERVER_PASSWORD and OPENCODE_SERVER_USERNAME."
        yield fail("auth", f"OpenCode does not take the {'token of its door' if way.token else 'password'}", fix)
    elif not way.answers:
        yield _unasked("auth", way)
    elif way.token:
        yield ok("auth", "by the token of the door")
    else:
        yield ok("auth", "the password is taken" if way.credentials else "OpenCode wants no password")


async def agent(surroundings: Surroundings, way: Reach) -> Iterable[Line]:
    """Which agent would extract."""
    if not way.answers:
        return [_unasked("agent", way)]
    async with way.client(str(surroundings.directory)) as client:
        names = [found.name for found in await client.agents()]
    try:
        chosen, why = choose_agent(surroundings.settings.agent, names)
    except NotThere as error:
        return [fail("agent", str(error))]
    text = f"{clean_line(chosen, 80)}, {why}"
    if surroundings.settings.agent == AUTO and chosen != PREFERRED[0]:
        do = "Restart OpenCode" if agent_is_there(surroundings) else "Run `ledger-tui init` and restart OpenCode"
        return [warn("agent", text, f"{do}: the ledger's own agent is cheaper and can do nothing else.")]
    return [ok("agent", text)]


async def model(surroundings: Surroundings, way: Reach) -> Iterable[Line]:
    """Which model would extract."""
    if not way.answers:
        return [_unasked("model", way)]
    async with way.client(str(surroundings.directory)) as client:
        agents, config, models = await client.agents(), await client.config(), await client.providers()
    settings = surroundings.settings
    try:
        name, _ = choose_agent(settings.agent, [found.name for found in agents])
    except NotThere:
        name = ""
    try:
        chosen = choose_model(
            settings.extraction_model,
            agent=name,
            agent_model=next((found.model for found in agents if found.name == name), ""),
            small_model=config.small_model,
            default_model=config.model,
            available=models.names,
        )
    except NotThere as error:
        return [fail("model", str(error))]
    if not models.names:
        return [fail("model", "OpenCode has no model at all", "Run `opencode auth login`.")]
    if not chosen:
        fix = "Set small_model in OpenCode's configuration, or `ledger-tui config set extraction_model PROVIDER/MODEL`."
        return [warn("model", "left to OpenCode, which may take a large one", fix)]
    return [ok("model", clean_line(chosen, 200))]


async def snapshot(surroundings: Surroundings, way: Reach) -> Iterable[Line]:
    """Whether a note that is patched into a call from outside comes in time."""
    if not way.answers:
        return [_unasked("snapshot", way)]
    async with way.client(str(surroundings.directory)) as client:
        is_on = (await client.config()).snapshot
    if is_on:
        return [ok("snapshot", "on")]
    if plugin_is_there(surroundings):
        return [ok("snapshot", "off; the plugin delivers notes in time all the same")]
    text = "off: without the plugin a note comes one request late"
    return [warn("snapshot", text, "Run `ledger-tui init` and restart OpenCode.")]


def _unasked(check: str, way: Reach) -> Line:
    closed = way.wants_password or way.refused
    return ok(check, f"not checked: {'OpenCode does not let it' if closed else 'no OpenCode can be asked'}")
