"""All rules together: bounds, hostile input, receipts, and the labelled cases."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ledger.rules import MOST_PER_CALL, MOST_PER_JOB, facts_of
from core.ledger.rules.shown import LONGEST_LINE
from core.text import clean
from tests.bench.rulefacts import Score, holds, scores
from tests.corpus.cases import RuleCase
from tests.corpus.load import load_as
from tests.unit.ledger.rules.builders import call, facts, found, step

CASES = load_as(RuleCase)
STEPS = [one for case in CASES for one in case.steps]
COMMANDS = sorted({one.command for one in STEPS})
LINES = sorted({line for one in STEPS for line in one.output.splitlines()})

some_command = st.one_of(
    st.sampled_from(COMMANDS),
    st.lists(st.sampled_from([*COMMANDS, "echo ---", "cd w"]), min_size=2, max_size=3).map("; ".join),
    st.tuples(st.sampled_from(COMMANDS), st.sampled_from(["head -3", "tail -2", "grep a", "cat", "wc -l"])).map(
        " | ".join
    ),
    st.text(max_size=40),
)
some_output = st.one_of(
    st.sampled_from([one.output for one in STEPS]),
    st.lists(st.one_of(st.sampled_from([*LINES, "---"]), st.text(max_size=60)), max_size=12).map("\n".join),
)
some_calls = st.lists(
    st.tuples(some_command, some_output, st.sampled_from([None, 0, 0, 1, 2, 127])), min_size=1, max_size=5
)
NUMBER = re.compile(r"\d+")
COUNTED = re.compile(r"array of length \d+|after \d+ redirects?|and \d+ more|test binary \d+|\(rounded by ls\)")


@settings(max_examples=300)
@given(some_calls)
def test_never_raises_and_each_fact_stands_in_its_lines(calls: list[tuple[str, str, int | None]]) -> None:
    steps = [step(call(command, output, exit, id=f"c{n}"), n=n) for n, (command, output, exit) in enumerate(calls)]
    told = facts_of(steps)
    assert told == facts_of(steps)
    for one in told:
        command, output, _ = calls[int(one.call[1:])]
        lines = output.splitlines()
        assert one.fact == clean(one.fact).strip()
        assert one.topic.partition(":")[2]
        if one.rule == "exit_codes":
            assert one.lines == (0,)
            continue
        assert one.lines
        assert all(1 <= n <= len(lines) for n in one.lines)
        text = "\n".join(lines[n - 1] for n in one.lines)
        values = NUMBER.findall(COUNTED.sub("", re.sub(r"`[^`]*`", "", one.fact)))
        assert all(value in text or value in command for value in values)


@settings(max_examples=50)
@given(some_command, st.text(min_size=1, max_size=30), st.integers(1, 2_000))
def test_huge_lines(command: str, piece: str, times: int) -> None:
    assert len(found(command, piece * times)) <= MOST_PER_CALL


@pytest.mark.parametrize("command", COMMANDS)
def test_lines_that_are_data_give_nothing(command: str) -> None:
    assert facts(command, "x: 1 " * LONGEST_LINE) == []


def test_facts_are_bounded() -> None:
    row = "-rw-r--r-- 1 a a {} Nov 29 04:41 f{}"
    steps = [
        step(call(f"ls -l d{n}", "\n".join(row.format(i, i) for i in range(200)), id=f"c{n}"), n=n) for n in range(20)
    ]
    told = facts_of(steps)
    assert len(told) == MOST_PER_JOB
    assert told[-1].call == "c19"
    assert max(sum(one.call == f"c{n}" for one in told) for n in range(20)) == MOST_PER_CALL


def test_only_the_last_run_of_a_command_counts() -> None:
    broken = call("cargo build", "error: expected `;`\n --> src/a.rs:2:4", 101, id="a")
    mended = call("cargo build", "Finished", 0, id="b")
    assert facts_of([step(broken, mended)]) == ()
    assert len(facts_of([step(mended, broken)])) == 1


def test_the_same_fact_is_told_once() -> None:
    told = facts_of([step(call("wc -l a.csv", "3 a.csv", id="a"), call("wc -l < a.csv", "3", id="b"))])
    assert [one.fact for one in told] == ["a.csv has 3 lines."]


def test_secrets_are_masked() -> None:
    token = "ghp_" + "Zk3vQ9xLr2" + "Tn8WcY5bHd" + "7Jm4PsG6uE" + "1fRaXo"
    told = facts(f"curl -si https://x.example/{token}", "HTTP/1.1 200 OK\n\n")
    assert told
    assert not any(token in fact for fact in told)


def test_nothing_from_no_steps() -> None:
    assert facts_of([]) == ()
    assert facts_of([step()]) == ()


def test_the_open_labelled_cases() -> None:
    total = Score()
    for score in scores(CASES).values():
        total.add(score)
    assert total.right > 60
    assert total.precision >= 0.97, total.bad
    assert total.recall >= 0.85, total.bad


def test_other_families_are_silent_on_negative_cases() -> None:
    wrong = [
        (case.id, one.fact)
        for case in CASES
        if case.label == "none"
        for one in facts_of([step(call(s.command, s.output, s.exit, id=f"c{n}")) for n, s in enumerate(case.steps)])
        if one.rule != "versions"
    ]
    assert wrong == []


def test_how_a_label_is_compared() -> None:
    assert holds("starts with 4C47 4452 0200", "4c474452")
    assert holds("a.csv has 1,234 lines.", "1234")
    assert not holds("a.csv has 12345 lines.", "1234")
    assert not holds("188 passed", "88 passed")
