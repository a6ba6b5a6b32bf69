from __future__ import annotations

from typing import Any

import pytest

from core.ledger.observations import (
    StepFinished,
    ToolFinished,
)
from core.opencode.facts import OUTPUT_EDGE
from core.text import MARKER_ROOM

from .told import only, told_of
from .world import World


def finished_call(world: World, tool: str, output: str = "", **arguments: Any) -> ToolFinished:
    world.call(world.assistant(world.session()), output, tool, **arguments)
    return only(ToolFinished, told_of(world))[-1]


def test_commands_and_paths(world: World) -> None:
    shell = finished_call(world, "bash", command="cat\ta\n| wc", description="x")
    assert (shell.command, shell.summary, shell.path) == ("cat\ta\n| wc", "cat a | wc", "")
    read = finished_call(world, "read", filePath="/a b/c.json", limit=3)
    assert (read.path, read.summary, read.command) == ("/a b/c.json", "/a b/c.json", "")


def test_files_of_a_patch(world: World) -> None:
    text = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: b\x1b[2J.rs\n@@\n-x\n+y\n*** End Patch"
    patch = finished_call(world, "apply_patch", patchText=text)
    assert patch.patched == ("src/a.rs", "b.rs")
    assert finished_call(world, "custom", patchText=text).patched == ()


@pytest.mark.parametrize(
    ("tool", "arguments", "summary"),
    [
        ("task", {"description": "Look around", "prompt": "p" * 500}, "Look around"),
        ("grep", {"pattern": "x.*y", "path": "/src", "context": None}, "pattern=x.*y path=/src"),
        ("todowrite", {"todos": [1, 2, 3]}, "todos=(3)"),
        ("custom", {"text": "a" * 300}, "text=" + "a" * 79 + "…"),
    ],
)
def test_other_tools_are_summed_up_in_one_line(
    world: World, tool: str, arguments: dict[str, Any], summary: str
) -> None:
    assert finished_call(world, tool, **arguments).summary == summary


def test_no_part_of_a_secret_is_left_where_an_argument_is_cut(world: World) -> None:
    password = "Zx9qLm2pRt7vKw4s" * 5
    assert "Zx9q" not in finished_call(world, "custom", url=f"postgres://app:{password}@db.example.com/x").summary


def test_commands_that_begin_alike_are_told_apart_by_their_description(world: World) -> None:
    long = 'python3 -c \'import struct; print(struct.unpack("<4f", open("model.ckpt", "rb").read(16)))\''
    assert finished_call(world, "bash", command=long, description="Decode it").summary.startswith("Decode it: python3")
    assert finished_call(world, "bash", command=long).summary.startswith("python3")
    assert finished_call(world, "bash", command="ls -l", description="List").summary == "ls -l"


def test_text_is_cleaned(world: World) -> None:
    finished = finished_call(world, "bash", "a\x1b]0;t\x07b\r\nc\x00\ud800", command="x\x1b[2Jy", description="\x9b2Jd")
    assert (finished.output, finished.command, finished.description) == ("ab\nc\ufffd", "xy", "d")


def test_secrets_are_masked_at_the_door(world: World) -> None:
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    output = f"{token}\n" + "step 3: loss 0.25\n" * 9_000 + f"{token[:9]}\x1b[0m{token[9:]}\n"
    command = f"curl -H 'Authorization: Bearer {token}' https://x.example -o data/rows.csv"
    finished = finished_call(world, "bash", output, command=command, description=f"use {token}")
    assert "[masked:" in finished.output and "[masked:" in finished.command
    assert finished.command.endswith("https://x.example -o data/rows.csv")
    told = (finished.output, finished.command, finished.description, finished.summary)
    assert not [text for text in told if token[:12] in text or token[-12:] in text]


def test_large_outputs_are_cut_in_the_middle(world: World) -> None:
    output = "H" * OUTPUT_EDGE + "\x1b[2J" * 100_000 + "T" * OUTPUT_EDGE
    finished = finished_call(world, "bash", output, command="x" * 1_000_000)
    assert len(finished.output) <= 2 * OUTPUT_EDGE + MARKER_ROOM
    assert finished.output.startswith("H" * OUTPUT_EDGE)
    assert finished.output.endswith("T" * OUTPUT_EDGE)
    assert "\x1b" not in finished.output
    assert len(finished.command) <= 2 * OUTPUT_EDGE + MARKER_ROOM
    assert len(finished.summary) <= 200


@pytest.mark.parametrize("value", [-5, 1e300, 10**18, "soon"])
def test_numbers_out_of_reason_are_zero(world: World, value: Any) -> None:
    message = world.assistant(world.session())
    part = world.begin(message)
    world.end(part, time={"start": value, "end": value})
    world.finish(message, tokens={"input": value, "output": 3}, cost=value if value != 10**18 else -1)
    told = told_of(world)
    (finished,) = only(ToolFinished, told)
    (done,) = only(StepFinished, told)
    assert (finished.started, finished.ended) == (0, 0)
    assert (done.tokens.input, done.tokens.output) == (0, 3)
    assert done.cost in {0.0, 1e300}
