"""A key that a command prints, on the real thing: the ledger neither sends, keeps, writes nor shows any piece of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.e2e.chat import bash, run, say
from tests.e2e.ledger import COMMAND, environment
from tests.e2e.model_server import ModelServer
from tests.e2e.oracle import of_type
from tests.e2e.planted import Planted
from tests.e2e.scripts import NOTHING, Plans, findings
from tests.e2e.stage import Stage, stage
from tests.e2e.terminal import Terminal, need_tmux

FACT = "deploy.txt sets region to eu-central-1"
TOPIC = "config:deploy.txt"
PRINTED = "region = eu-central-1"


def deploys(planted: Planted) -> Plans:
    """The file is printed whole, on one line, and so often that it is cut somewhere; keys stand in a command too, in
    the title, in the user's message and in the agent's."""
    turns = [
        run(bash("cat deploy.txt", "Read the settings")),
        run(bash("tr '\\n' ' ' < deploy.txt", "On one line")),
        run(bash('for n in $(seq 300); do sed "s/^/$n /" deploy.txt; done', "Many times")),
        run(bash(f"GITHUB_TOKEN={planted.github} sh -c 'wc -l deploy.txt'; echo {planted.url}", "Use the token")),
        run(bash("until [ -e known ]; do sleep 0.05; done; head -3 deploy.txt", "Wait")),
        say(f"The region is eu-central-1, the token {planted.github}."),
    ]
    plans = {"[deploy]": turns, "[more]": [run(bash("tail -2 deploy.txt", "The end")), say("Done.")]}
    title = f"Deploy with {planted.github}"
    return Plans(plans, (findings((FACT, TOPIC)), NOTHING), title=title)


async def work(on: Stage, planted: Planted) -> None:
    """The whole turn, once the ledger is there."""
    (on.server.project / "deploy.txt").write_text(planted.file)
    turn = on.begin(await on.session(), f"[deploy] Find the region; the database is {planted.url}.")
    await on.model.until(lambda request: request.kind == "extraction")
    (on.server.project / "known").touch()
    await turn


def check_requests(model: ModelServer, planted: Planted) -> None:
    """The agent has seen each secret; the extraction was asked about the same output, and has seen none."""
    agents = "\n".join(json.dumps(request.body) for request in model.of_kind("agent"))
    assert all(secret in agents for secret in planted.all)
    prompts = [json.dumps(request.body) for request in model.of_kind("extraction")]
    assert prompts and PRINTED in prompts[0] and "cat deploy.txt" in prompts[0]
    assert [planted.pieces_in(prompt) for prompt in prompts] == [[]] * len(prompts)


def check_files(on: Stage, planted: Planted) -> None:
    """What the ledger wrote, its database as it is on disk, knows the facts and no secret."""
    written = {path: path.read_bytes() for path in (on.base / "ledger-home").rglob("*") if path.is_file()}
    written[on.dump] = on.dump.read_bytes()
    database = b"".join(content for path, content in written.items() if path.name.startswith("ledger.db"))
    assert all(text.encode() in content for content in (database, written[on.dump]) for text in (FACT, TOPIC))
    assert PRINTED.encode() in database
    assert {str(path): found for path, content in written.items() if (found := planted.pieces_in(content))} == {}


async def test_no_piece_of_a_printed_key_leaves_the_ledger(binary: Path, tmp_path: Path) -> None:
    planted = Planted()
    async with stage(binary, tmp_path, deploys(planted), plugin=True) as on, on.ledger(interval=4) as ledger:
        await ledger.state("live")
        await work(on, planted)
        await ledger.until(lambda line: line["type"] == "extraction" and line["state"] == "done")
        check_files(on, planted)  # while it runs: with the part of the database that is written last
        await ledger.interrupt()
    assert [line["fact"] for line in of_type(ledger.lines, "finding")] == [FACT]
    assert len(of_type(ledger.lines, "step")) >= 5
    assert planted.pieces_in(ledger.raw) == []
    assert planted.pieces_in(ledger.errors) == []
    check_requests(on.model, planted)
    check_files(on, planted)


async def test_no_piece_of_a_printed_key_is_on_the_screen(binary: Path, tmp_path: Path) -> None:
    need_tmux()
    planted = Planted()
    async with stage(binary, tmp_path, deploys(planted), plugin=True) as on:
        place = ["--server", on.server.url, "--directory", str(on.server.project)]
        settings = ["--set", "extraction_interval_steps=4", "--set", f"dump_path={on.dump}"]
        variables = environment(tmp_path / "ledger-home", TERM="xterm-256color")
        with Terminal([str(COMMAND), *place, *settings], on.server.project, variables, (160, 60)) as dashboard:
            await dashboard.shows("live")
            screens = await watch(dashboard, asyncio.create_task(work(on, planted)))
            dashboard.press("q")
            await dashboard.ends()
    for opened in ("╭ Receipt", "╭ Step "):
        assert any(all(text in screen for text in (opened, PRINTED, "[masked:")) for screen in screens)
    assert all("Deploy with [masked:" in screen for screen in screens[-2:])
    assert [planted.pieces_in(screen) for screen in screens] == [[]] * len(screens)
    check_requests(on.model, planted)
    check_files(on, planted)


PANES = "x extract now"
"""In the footer of the panes, and of nothing that lies over them."""
LOOKS = [
    ("2", "▸● deploy.txt"),
    ("Enter", "╭ Receipt"),
    ("q", PANES),
    ("1", "▸ 6 "),
    ("g", "▸ 1 bash cat deploy.txt"),
    ("Enter", "╭ Step "),
    ("q", PANES),
    ("4", "▸● x1"),
    ("Enter", "╭ Extraction "),
    ("q", PANES),
    ("5", PANES),
    ("z", "╭ 1 Steps  2 Findings"),
    ("z", "╭ 1 Steps ─"),
    ("s", "╭ Sessions of"),
    ("Escape", PANES),
]
"""Every pane, the fact with its receipt, the first step with its output: keys, and what they bring."""


async def watch(dashboard: Terminal, working: asyncio.Task[None]) -> list[str]:
    """The screens while the agent works, and then those that a user can open."""
    screens = []
    while not working.done():
        screens.append(dashboard.screen)
        await asyncio.sleep(0.2)
    await working
    screens.append(await dashboard.shows("until [ -e known ]", "x1  done", "idle"))
    for key, text in LOOKS:
        dashboard.press(key)
        screens.append(await dashboard.shows(text))
    return screens
