"""The main job on the real thing: 20 probes of one file and a sub-agent, watched by `ledger-tui headless`."""

from __future__ import annotations

import asyncio
import json
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.chat import ChatRequest
from tests.e2e.ledger import Ledger, Line
from tests.e2e.model_server import ModelServer
from tests.e2e.opencode import OpenCode, provider_config
from tests.e2e.oracle import OWN_TITLE, check_notes, of_type, steps_on_server, steps_reported
from tests.e2e.recorder import snapshot
from tests.e2e.scripts import probes

TOPIC = "file-format:model.ckpt"


@dataclass
class Played:
    """A finished run, as plain data."""

    root: str
    lines: list[Line]
    raw: bytes
    errors: str
    code: int
    state: dict[str, Any]
    requests: list[ChatRequest]
    dump: Path

    def of(self, kind: str) -> list[Line]:
        return of_type(self.lines, kind)


async def play(binary: Path, base: Path) -> Played:
    """Attach to an empty project, let the agent work to its end, press Ctrl-C."""
    dump = base / "facts.json"
    async with ModelServer(probes()) as model, OpenCode(binary, base, provider_config(model.url)) as server:
        arguments = ["headless", "--server", server.url, "--directory", str(server.project)]
        settings = ["--set", "extraction_interval_steps=5", "--set", f"dump_path={dump}"]
        async with Ledger([*arguments, *settings], base / "ledger-home") as ledger, server.client() as client:
            await ledger.state("live")
            root = (await client.post("/session", json={})).json()["id"]
            prompt = {"parts": [{"type": "text", "text": "[probes] Find out how model.ckpt is laid out."}]}
            await client.post(f"/session/{root}/message", json=prompt)
            await ledger.until(lambda x: x["type"] == "session" and x["state"] == "idle" and bool(of_step(ledger)))
            await ledger.until(lambda x: x["type"] == "extraction" and x["state"] == "done" and x["id"] == "x5")
            code = await ledger.interrupt()
            state = await snapshot(client)
        return Played(root, ledger.lines, ledger.raw, ledger.errors, code, state, model.requests, dump)


def of_step(ledger: Ledger) -> list[Line]:
    return of_type(ledger.lines, "step")


@pytest.fixture(scope="module")
def played(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    return asyncio.run(play(binary, tmp_path_factory.mktemp("headless")))


def test_every_step_of_root_and_child_is_reported_once(played: Played) -> None:
    expected = steps_on_server(played.state)
    assert sum(expected.values()) == 25  # 20 probes, the task, the last answer, and three of the sub-agent
    assert len({origin for origin, _ in expected}) == 2
    assert steps_reported(played.lines) == expected


def test_steps_are_numbered_and_buffered_in_order(played: Played) -> None:
    steps = played.of("step")
    assert [step["n"] for step in steps] == list(range(1, 26))
    assert [step["buffered"] for step in steps] == [n % 5 for n in range(1, 26)]
    assert {step["session"] for step in steps} == {played.root}


def test_lines_keep_the_contract(played: Played) -> None:
    assert all(list(line)[:3] == ["t", "type", "session"] for line in played.lines)
    assert all(line["session"] == played.root for line in played.lines if line["type"] in ("step", "touch", "note"))
    assert b"\x1b" not in played.raw
    assert played.code == 130
    assert "Traceback" not in played.errors
    assert played.lines[-1]["type"] == "connection"
    assert played.lines[-1]["state"] == "closed"


def test_extractions_bring_findings(played: Played) -> None:
    done = [line for line in played.of("extraction") if line["state"] == "done"]
    assert len(done) >= 3
    assert [line["steps"] for line in done] == [5] * len(done)
    added = [(line["fact"], line["topic"]) for line in played.of("finding") if line["change"] == "added"]
    assert ("the first float of model.ckpt is -0.78125", TOPIC) in added
    assert ("vocab.bpe has 12 lines", "tokenizer:vocab.bpe") in added
    assert len(added) == len({fact for fact, _ in added}) == 4
    assert sum(line["added"] for line in done) == 4
    assert sum(line["duplicates"] for line in done) == 1


def test_extractions_are_the_ledgers_own_and_leave_nothing_behind(played: Played) -> None:
    asked = [r for r in played.requests if r.kind == "extraction"]
    assert len(asked) == len([line for line in played.of("extraction") if line["state"] == "running"])
    assert all(not r.tools for r in asked)
    assert all("model.ckpt" in r.users[-1] or "vocab.bpe" in r.users[-1] for r in asked)
    assert OWN_TITLE not in [session["title"] for session in played.state["sessions"]]
    assert {session["id"] for session in played.state["sessions"]} == {line["origin"] for line in played.of("step")}
    assert played.state["status"] == {}


def test_prompts_show_outputs_and_never_the_ledgers_own_notes(played: Played) -> None:
    texts = "\n".join(r.users[-1] for r in played.requests if r.kind == "extraction")
    assert "4096 bytes, mode 644" in texts
    for note in played.of("note"):
        assert note["text"].strip() not in texts


def test_first_touch_is_gentle_then_quiet_then_stop_from_the_fourth(played: Played) -> None:
    touches = [x for x in played.of("touch") if x["origin"] == played.root and TOPIC in x["topics"]]
    counts = [touch["counts"][TOPIC] for touch in touches]
    assert counts == list(range(1, len(touches) + 1))
    assert len(touches) >= 6
    assert [touch["action"] for touch in touches] == ["gentle", "quiet", "quiet"] + ["stop"] * (len(touches) - 3)


def test_each_note_is_whole_in_the_tool_message_of_its_call(played: Played) -> None:
    notes = played.of("note")
    check_notes(played.lines, played.requests)
    noted = [touch["call"] for touch in played.of("touch") if touch["action"] != "quiet"]
    assert sorted(note["call"] for note in notes) == sorted(noted)
    assert {note["delivery"] for note in notes} == {"patch"}
    assert {"gentle", "stop"} <= {note["kind"] for note in notes if note["arrived"] == "next"}
    assert all("KNOWN FACTS" in note["text"] for note in notes if note["kind"] == "gentle")
    assert all("LEDGER ESCALATION" in note["text"] for note in notes if note["kind"] == "stop")


def test_the_dump_holds_the_findings(played: Played) -> None:
    entries = json.loads(played.dump.read_text())
    assert stat.S_IMODE(played.dump.stat().st_mode) == 0o600
    added = [line["fact"] for line in played.of("finding") if line["change"] == "added"]
    assert sorted(entry["fact"] for entry in entries) == sorted(added)
    assert all(list(entry)[:5] == ["fact", "topic", "establishedAt", "sourceStep", "session"] for entry in entries)
    assert {entry["session"] for entry in entries} == {played.root}
