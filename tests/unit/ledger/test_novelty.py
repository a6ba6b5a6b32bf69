"""Whether steps hold anything new."""

from __future__ import annotations

import subprocess
import sys

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from core.ledger.novelty import DIGEST_BYTES, Known, digest
from core.ledger.observations import Tokens
from core.ledger.steps import Call, Step
from tests.bench.novelty import judge, score
from tests.corpus.cases import CostCase
from tests.corpus.load import load_as


def call(command: str, output: str = "", **more: object) -> Call:
    fields: dict[str, object] = {
        "call": "c", "tool": "bash", "ok": True, "summary": command, "command": command, "path": "", "output": output,
        "exit": 0, "ended": 0, "ms": 0,
    }  # fmt: skip
    return msgspec.convert({**fields, **more}, Call)


def step(*calls: Call) -> Step:
    return Step(n=1, origin="ses", message="m", part="p", t=1, calls=calls, tokens=Tokens(), cost=0.0)


def knowing(*calls: Call) -> Known:
    known = Known()
    known.add(step(*calls))
    return known


def test_only_the_same_command_output_and_exit_code_are_known() -> None:
    known = knowing(call("wc -l a", "12 a"))
    assert not known.is_new(step(call("wc -l a", "12 a")))
    assert known.is_new(step(call("wc -l a", "13 a")))
    assert known.is_new(step(call("wc -l b", "12 a")))
    assert known.is_new(step(call("wc -l a", "12 a", exit=1)))
    assert known.is_new(step(call("wc -l a", "12 a"), call("wc -l b", "3 b")))


def test_a_changed_time_counts_as_new_so_that_no_value_is_lost() -> None:
    assert knowing(call("pytest", "1 passed in 0.84s")).is_new(step(call("pytest", "1 passed in 0.85s")))


def test_other_tools_are_told_apart_by_tool_and_arguments() -> None:
    read = call("", "x = 1", tool="read", path="/p/a.py", exit=None)
    known = knowing(read)
    assert not known.is_new(step(read))
    assert known.is_new(step(call("", "x = 1", tool="read", path="/p/b.py", exit=None)))
    assert known.is_new(step(call("", "x = 1", tool="edit", path="/p/a.py", exit=None)))
    assert known.is_new(step(call("", "x = 1", tool="read", path="/p/a.py", exit=None, ok=False)))
    listed = call("", "", tool="grep", summary="pattern=a", exit=None)
    assert knowing(listed).is_new(step(call("", "", tool="grep", summary="pattern=b", exit=None)))


def test_no_steps_and_steps_without_calls_hold_nothing_new() -> None:
    assert Known().nothing_new([])
    assert Known().nothing_new([step()])
    assert not Known().nothing_new([step(), step(call("ls"))])


def test_looking_does_not_make_known() -> None:
    known = Known()
    assert known.is_new(step(call("ls")))
    assert known.is_new(step(call("ls")))


def test_the_longest_not_seen_is_forgotten_first() -> None:
    known = Known(2)
    for command in ("a", "b", "a", "c"):
        known.add(step(call(command)))
    assert [known.is_new(step(call(command))) for command in "abc"] == [False, True, False]
    assert len(known) == 2


def test_what_was_exported_is_known_after_a_restart_in_the_same_order() -> None:
    known = knowing(call("a"), call("b"))
    saved = msgspec.json.decode(msgspec.json.encode(known.export()), type=tuple[bytes, ...])
    again = Known(2)
    again.restore((*saved, b"short"))
    assert again.export() == known.export()
    again.add(step(call("c")))
    assert again.is_new(step(call("a")))


def test_a_smaller_limit_keeps_the_latest() -> None:
    known = Known(1)
    known.restore(knowing(call("a"), call("b")).export())
    assert [known.is_new(step(call(command))) for command in "ab"] == [True, False]


def test_digests_are_the_same_in_another_process() -> None:
    script = "from core.ledger.novelty import digest; print(digest('städte', 'x\\ud800', 2).hex())"
    there = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    assert there == digest("städte", "x\ud800", 2).hex()
    assert len(bytes.fromhex(there)) == DIGEST_BYTES


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_only_equal_calls_have_equal_digests(a: str, b: str, c: str, d: str) -> None:
    assert (digest(a, b) == digest(c, d)) == ((a, b) == (c, d))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), max_size=30))
def test_new_is_what_was_not_added_before(told: list[tuple[str, str]]) -> None:
    known, seen = Known(), set()
    for command, output in told:
        assert known.is_new(step(call(command, output))) == ((command, output) not in seen)
        known.add(step(call(command, output)))
        seen.add((command, output))


def test_every_labelled_case_is_judged_right() -> None:
    assert score("open")[:2] == (1.0, 1.0)
    assert {judge(case) for case in load_as(CostCase)} == {"skip", "run"}
