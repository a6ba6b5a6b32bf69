"""Exit codes that repeat."""

from __future__ import annotations

from core.ledger.rules import facts_of
from tests.unit.ledger.rules.builders import call, step


def runs(*calls: tuple[str, int | None]) -> list[str]:
    steps = [step(call(command, "", code, id=f"call_{n}"), n=n) for n, (command, code) in enumerate(calls, 1)]
    return [one.fact for one in facts_of(steps) if one.rule == "exit_codes"]


def test_the_same_code_again_is_a_fact() -> None:
    assert runs(("./d.sh", 13), ("ls", 0), ("./d.sh ", 13)) == [
        "`./d.sh` exited with code 13 each of the 2 times it was run."
    ]


def test_what_changes_is_none() -> None:
    assert runs(("make", 2), ("make", 2), ("make", 0)) == []
    assert runs(("make", 0), ("make", 0)) == []
    assert runs(("make", 1), ("make", 2)) == []
    assert runs(("make a", 1), ("make b", 1)) == []
    assert runs(("make", 2)) == []
    assert runs(("\x1b", 2), ("\x1b", 2)) == []
    assert runs(("make", None), ("make", None)) == []
    assert runs(("sleep 90", 130), ("sleep 90", 130)) == []


def test_the_receipt_is_the_last_run() -> None:
    [one] = facts_of([step(call("x", "", 3, id="a"), n=1), step(call("x", "", 3, id="b"), n=2)])
    assert (one.call, one.part, one.lines, one.topic) == ("b", "prt_2", (0,), "exit-code:x")


def test_a_quoted_backquote_does_not_end_the_command() -> None:
    [fact] = runs(("x '`'", 3), ("x '`'", 3))
    assert fact.count("`") == 2
