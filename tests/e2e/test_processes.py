"""Several OpenCode processes on one project, and several projects on one OpenCode process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.chat import ChatRequest, Turn, bash, run, say
from tests.e2e.ledger import Ledger, environment
from tests.e2e.model_server import ModelServer
from tests.e2e.opencode import OpenCode, _environment, make_project, provider_config
from tests.e2e.oracle import check_notes, of_type, steps_on_server, steps_reported
from tests.e2e.recorder import snapshot
from tests.e2e.scripts import Fact, Plans, distil, probe_commands
from tests.e2e.shim_server import PLUGIN, doors, prepared, through
from tests.e2e.stage import eventually, prepare_project
from tests.e2e.terminal import Terminal, need_tmux

FACTS = {word: f"{word}-seen: model.ckpt is 4096 bytes long" for word in ("alpha", "beta")}
"""What the extraction learns of the same file, by the word that only the one session's outputs have."""


def two_tasks() -> Plans:
    """`[alpha]` and `[beta]`: ten looks at the same file, told apart by a word in their outputs."""

    def turns(word: str) -> list[Turn]:
        looks = [run(bash(f"{look}; echo {word}-seen", what), delay=0.2) for look, what in probe_commands()[:10]]
        return [*looks, say("Done.")]

    facts = [Fact(fact, "file-format:model.ckpt", f"{word}-seen") for word, fact in FACTS.items()]
    return Plans({f"[{word}]": turns(word) for word in FACTS}, distil(facts))


def headless(base: Path, directory: Path, dump: str, *more: str) -> Ledger:
    settings = ["--set", f"dump_path={base / dump}", "--set", "extraction_interval_steps=3"]
    return Ledger(["headless", "--directory", str(directory), *settings, *more], base / "ledger-home")


def notes_in(ledger: Ledger, root: str) -> list[dict[str, Any]]:
    return [note for note in of_type(ledger.lines, "note") if note["session"] == root]


def steps_in(ledger: Ledger, root: str) -> int:
    return sum(line["session"] == root for line in of_type(ledger.lines, "step"))


async def finished(ledger: Ledger, root: str, steps: int) -> None:
    """Wait until so many steps of a root session are reported, and it rests."""

    def done(_: object) -> bool:
        states = [line["state"] for line in of_type(ledger.lines, "session") if line["session"] == root]
        return steps_in(ledger, root) >= steps and states[-1:] == ["idle"]

    await ledger.until(done, 90)


async def prompt(client: httpx.AsyncClient, session: str, text: str) -> None:
    body = {"parts": [{"type": "text", "text": text}]}
    assert (await client.post(f"/session/{session}/message", json=body)).status_code == 200


def assert_facts_stay(requests: list[ChatRequest], word: str, other: str) -> None:
    """No request of the one task ever carries a fact of the other."""
    mine = [
        text for r in requests if r.kind == "agent" and f"[{word}]" in r.users[-1] for text in r.tool_messages.values()
    ]
    assert any(FACTS[word] in text for text in mine)
    assert not any(FACTS[other] in text for text in mine)


async def test_two_processes_of_a_project_are_followed_at_once_and_one_goes(binary: Path, tmp_path: Path) -> None:
    need_tmux()
    async with ModelServer(two_tasks()) as model:
        server = prepared(binary, tmp_path, model)
        (server.project / PLUGIN).unlink()
        await prepare_project(server.project, tmp_path / "ledger-home")
        home = environment(tmp_path / "ledger-home")["LEDGER_HOME"]
        server.variables["LEDGER_HOME"] = home
        variables = {**_environment(tmp_path / "home"), "TERM": "xterm-256color", "LEDGER_HOME": home}
        with Terminal([str(binary)], server.project, variables) as terminal:
            door = await opened_door(Path(home) / "runtime")
            async with server, server.client() as client, headless(tmp_path, server.project, "facts.json") as ledger:
                await ledger.state("live")
                one = str((await client.post("/session", json={})).json()["id"])
                await terminal.enter("[beta] Find out how model.ckpt is laid out.")
                await prompt(client, one, "[alpha] Find out how model.ckpt is laid out.")
                await ledger.until(lambda x: x["type"] == "note" and x["session"] != one)
                other = next(n["session"] for n in of_type(ledger.lines, "note") if n["session"] != one)
                for root in (one, other):
                    await finished(ledger, root, 11)
                    assert notes_in(ledger, root)
                await server.kill()
                before = len(notes_in(ledger, one)), len(notes_in(ledger, other))
                async with through(door, params={"directory": str(server.project)}) as screen:
                    await prompt(screen, other, "[beta] Once more.")
                    await prompt(screen, one, "[alpha] Once more, in the other process.")
                    for root in (one, other):
                        await finished(ledger, root, 22)
                    there = steps_on_server(await snapshot(screen))
                assert await ledger.interrupt() == 130
    assert steps_reported(ledger.lines) == there
    assert sum(there.values()) == 44
    assert len(notes_in(ledger, one)) > before[0]
    assert len(notes_in(ledger, other)) > before[1]
    check_notes(ledger.lines, model.requests)
    assert {FACTS["alpha"] in n["text"] for n in notes_in(ledger, one)} == {True}
    assert {FACTS["beta"] in n["text"] for n in notes_in(ledger, other)} == {True}
    assert_facts_stay(model.requests, "alpha", "beta")
    assert_facts_stay(model.requests, "beta", "alpha")
    states = [line["state"] for line in of_type(ledger.lines, "connection")]
    assert (states.count("live"), states[-1]) == (1, "closed")
    assert not {"fault", "resync_failed", "patch_failed"} & {w["code"] for w in of_type(ledger.lines, "warning")}


async def opened_door(runtime: Path) -> dict[str, Any]:
    """What the screen's OpenCode announced."""

    async def is_there() -> bool:
        return bool(doors(runtime))

    await eventually(is_there, 90)
    said: dict[str, Any] = json.loads(doors(runtime)[0].read_text())
    return said


async def test_two_projects_on_one_process_keep_their_facts_to_themselves(binary: Path, tmp_path: Path) -> None:
    async with ModelServer(two_tasks()) as model:
        config = provider_config(model.url)
        server = OpenCode(binary, tmp_path, config)
        second = tmp_path / "second"
        make_project(second)
        (second / "opencode.json").write_text(json.dumps(config))
        place = ["--server", server.url]
        async with (
            server,
            server.client() as here,
            server.client(params={"directory": str(second)}) as there,
            headless(tmp_path, server.project, "first.json", *place) as first_ledger,
            headless(tmp_path, second, "second.json", *place) as second_ledger,
        ):
            work = ((here, first_ledger, "alpha"), (there, second_ledger, "beta"))
            roots = []
            for client, ledger, _ in work:
                await ledger.state("live")
                roots.append(str((await client.post("/session", json={})).json()["id"]))
            for (client, _, word), root in zip(work, roots, strict=True):
                await prompt(client, root, f"[{word}] Find out how model.ckpt is laid out.")
            for (_, ledger, _), root in zip(work, roots, strict=True):
                await finished(ledger, root, 11)
                await ledger.until(lambda x: x["type"] == "note")
                assert await ledger.interrupt() == 130
    for (_, ledger, word), root, dump in zip(work, roots, ("first.json", "second.json"), strict=True):
        assert {line["session"] for line in ledger.lines} == {"", root}
        assert {finding["fact"] for finding in of_type(ledger.lines, "finding")} == {FACTS[word]}
        assert {entry["fact"] for entry in json.loads((tmp_path / dump).read_text())} == {FACTS[word]}
    assert_facts_stay(model.requests, "alpha", "beta")
    assert_facts_stay(model.requests, "beta", "alpha")
