"""The dashboard in a second terminal beside plain `opencode`: what a user sees in both, and what the keys do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from core.host.toasts import WATCHING
from core.ledger.note import carries_note, strip
from ledger_tui.screens.request import SETTLE_SECONDS
from tests.e2e.chat import ChatRequest, Turn, bash, run, say
from tests.e2e.ledger import COMMAND, environment
from tests.e2e.model_server import ModelServer
from tests.e2e.scripts import NOTHING, Plans, Script, findings, plain, probe_commands
from tests.e2e.terminal import Terminal, need_tmux
from tests.e2e.test_permissions import ASKING
from tests.e2e.test_plain import door_is_open, plain_opencode, runtime

FULL, SMALL = (120, 40), (80, 24)
FIRST, LENGTH = "model.ckpt begins with the float -0.78125", "model.ckpt is 4096 bytes long"
UNTIL_GO = "until [ -e go ]; do sleep 0.05; done"
"""Runs until the test lets it end."""
ENDS = '"$@"; code=$?; echo $code > "$0"; [ $code = 0 ] || sleep 600'
"""For `sh -c`: runs the command and leaves its exit code in a file; what a failure printed stays on the screen."""
STOPPED = "ledger: told the agent to stop looking at model.ckpt"


def survey() -> Plans:
    """Five probes from which two facts come, a wait, five more probes; then short turns."""
    probes = [run(bash(command, description)) for command, description in probe_commands()[:10]]
    wait = run(bash(UNTIL_GO, "Wait"))
    facts = findings((FIRST, "file-format:model.ckpt"), (LENGTH, "file-format:model.ckpt"))
    plans = {
        "[survey]": [*probes[:5], wait, *probes[5:], say("Nothing more to see.")],
        "[more]": [run(bash("ls", "List the files")), say("Listed.")],
        "[after]": [say("On my own again.")],
    }
    return Plans(plans, (facts, NOTHING))


def three_tasks() -> Script:
    """A session per marker, each with a title of its own."""
    plans = Plans(
        {
            "[first]": [run(bash("ls", "List the files")), say("Listed.")],
            "[second]": [run(bash(UNTIL_GO, "Wait")), say("Waited.")],
            "[third]": plain().plans["[outside]"],
        }
    )

    def answer(request: ChatRequest) -> Turn:
        if request.kind != "title":
            return plans(request)
        (marker,) = [marker for marker in plans.plans if marker in "\n".join(request.users)]
        return say(f"Task {marker[1:-1]}")

    return answer


@asynccontextmanager
async def side_by_side(
    binary: Path, base: Path, script: Script, size: tuple[int, int], **config: Any
) -> AsyncIterator[tuple[Terminal, Terminal, ModelServer]]:
    """OpenCode in one terminal, the dashboard in another; neither is told anything of the other."""
    need_tmux()
    async with ModelServer(script) as model, plain_opencode(binary, base, model, **config) as opencode:
        await door_is_open(base)
        settings = ["--set", f"dump_path={base / 'facts.json'}", "--set", "extraction_interval_steps=5"]
        command = ["sh", "-c", ENDS, str(base / "code"), str(COMMAND), *settings]
        variables = environment(base / "ledger-home", TERM="xterm-256color")
        with Terminal(command, base / "project", variables, size) as dashboard:
            await dashboard.shows("live", "No session here yet")
            yield opencode, dashboard, model


def notes_in(model: ModelServer) -> dict[str, str]:
    """Call -> the note that the very next request carried with its output, and that no later one carried otherwise."""
    notes = {}
    for call in {call for request in model.of_kind("agent") for call in request.tool_messages}:
        first, *later = model.results(call)
        assert all(text == first for text in later), f"{call} reached the model late"
        if carries_note(first):
            notes[call] = first[len(strip(first)) :]
    return dict(sorted(notes.items()))


async def row(dashboard: Terminal, pattern: str) -> str:
    """Wait for a line that matches; the screen."""
    return await dashboard.until(lambda screen: re.search(pattern, screen) is not None, pattern)


def title(name: str) -> Callable[[str], bool]:
    """Whether the status line names this session."""
    return lambda screen: name in screen.partition("\n")[0]


@pytest.mark.parametrize("size", [FULL, SMALL], ids=["120x40", "80x24"])
async def test_a_session_is_followed_beside_plain_opencode(binary: Path, tmp_path: Path, size: tuple[int, int]) -> None:
    async with side_by_side(binary, tmp_path, survey(), size) as (opencode, dashboard, model):
        toasts = [asyncio.create_task(opencode.shows(text, seconds=120)) for text in (WATCHING, STOPPED)]
        await opencode.enter("[survey] How is model.ckpt laid out?")
        await watch_the_turn(dashboard, (tmp_path / "project" / "go").touch)
        for toast in toasts:
            await toast
        check_notes(model)
        await press_keys(opencode, dashboard, model)
        dashboard.press("q")
        await dashboard.ends()
        assert (tmp_path / "code").read_text() == "0\n"
        assert list(runtime(tmp_path).glob("*.ledger.json")) == []
        await opencode.enter("[after] Go on.")
        await opencode.shows("On my own again.")


async def watch_the_turn(dashboard: Terminal, go_on: Callable[[], None]) -> None:
    """The steps come while the agent works, the facts while it waits, the stop while it looks again."""
    await dashboard.shows("Probe model.ckpt", "busy", "stat -c", "xxd model.ckpt", "until [ -e go", "running")
    dashboard.press("2")
    await dashboard.shows(FIRST, LENGTH, "2 of 50")
    dashboard.press("4")
    await dashboard.shows("x1  done", "2 new", "running")
    go_on()
    dashboard.press("3")
    await dashboard.shows("went in circles", "5 looks", "STOP", "idle")
    if dashboard.size == FULL:
        await dashboard.shows("looked at 5 times", "told to stop", "notes in flight")
    dashboard.press("1")
    await dashboard.shows("wc -c < model.ckpt", "12 done")
    dashboard.press("5")
    await dashboard.shows("stop, 2 facts")
    dashboard.press("?")
    await dashboard.shows("Notes go in flight: 3 in flight")
    dashboard.press("q")
    await dashboard.until(lambda screen: "Help: Log" not in screen, "the end of the help")


def check_notes(model: ModelServer) -> None:
    """One reminder at the first look, silence, a stop from the fourth on; each was whole in the very next request."""
    notes = notes_in(model)
    calls = sorted({call for request in model.of_kind("agent") for call in request.tool_messages})
    assert [calls.index(call) for call in notes] == [6, 9, 10]
    assert ["STOP" in note for note in notes.values()] == [False, True, True]
    assert all(FIRST in note and LENGTH in note for note in notes.values())


async def press_keys(opencode: Terminal, dashboard: Terminal, model: ModelServer) -> None:
    """Extract, pin, delete, undo, tell: the screen says so, and what is told reaches the agent."""
    dashboard.press("4")
    await dashboard.shows("x2  done")
    dashboard.press("x")
    await dashboard.shows("x3  done", "nothing new")
    dashboard.press("2")
    dashboard.press("p")
    await dashboard.shows(FIRST, "pinned")
    dashboard.press("d")
    await dashboard.shows("Deleted. u brings it back.", "1 of 50")
    dashboard.press("u")
    await dashboard.shows("Undone", "2 of 50", FIRST, "pinned")
    dashboard.press("i")
    await dashboard.shows("The agent will be told it at its next call.")
    known = set(notes_in(model))
    await opencode.enter("[more] What else is there?")
    await opencode.shows("Listed.")
    notes = notes_in(model)
    (told,) = set(notes) - known
    assert "sent by the user" in notes[told]
    assert FIRST in notes[told]
    assert LENGTH not in notes[told]


async def test_a_new_session_is_followed_unless_one_was_chosen(binary: Path, tmp_path: Path) -> None:
    async with side_by_side(binary, tmp_path, three_tasks(), FULL, permission=ASKING) as (opencode, dashboard, model):
        await opencode.enter("[first] Look around.")
        await dashboard.until(lambda screen: title("Task first")(screen) and "idle" in screen, "the first session")
        await begin(opencode, "[second] Wait for me.")
        await dashboard.until(lambda screen: title("Task second")(screen) and "running" in screen, "the second session")
        dashboard.press("s")
        await row(dashboard, r"busy +Task second")
        await row(dashboard, r"idle +Task first")
        dashboard.press("G", "Enter")
        await dashboard.until(title("Task first"), "the session that was chosen")
        (tmp_path / "project" / "go").touch()
        await begin(opencode, "[third] Look outside.")
        await opencode.shows("Permission required")
        dashboard.press("s")
        await row(dashboard, r"idle +Task second")
        assert title("Task first")(await row(dashboard, r"waiting\b.*Task third"))
        dashboard.press("g", "Enter")
        await dashboard.until(title("Task third"), "the busy session")
        await dashboard.shows("waiting for you", "cat /etc/hostname")
        dashboard.press("P")
        await dashboard.shows("allow this, and ask again next time")
        await asyncio.sleep(2 * SETTLE_SECONDS)  # as somebody who reads it before answering
        dashboard.press("o")
        await dashboard.until(lambda screen: title("Task third")(screen) and "idle" in screen, "the end of the third")
        assert any("[third]" in text for request in model.of_kind("agent")[-1:] for text in request.users)


async def begin(opencode: Terminal, text: str) -> None:
    """A new session, begun in OpenCode with this message."""
    await opencode.enter("/new")
    await opencode.shows("Ask anything")
    await opencode.enter(text)
