"""Which command printed which lines."""

from __future__ import annotations

import pytest

from core.ledger.rules.reading import shown_of
from tests.unit.ledger.rules.builders import call


def parts(command: str, output: str) -> list[tuple[str, list[int]]]:
    return [(one.program, [line.n for line in one.lines]) for one in shown_of(call(command, output))]


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("a", "x\ny", [("a", [1, 2])]),
        ("cd w && export X=1; a | head -3", "x", [("a", [1])]),
        ("sudo env X=1 timeout 5 a", "x", [("a", [1])]),
        ("python3 -m a.b c", "x", [("a.b", [1])]),
        ("bash -lc 'cd w && a'", "x", [("a", [1])]),
        ("(cd w; a)", "x", [("a", [1])]),
        ("a $(b)", "x", [("a", [1])]),
        ("a || true", "x", [("a", [1])]),
        ("a > f; b", "x", [("b", [1])]),
        ("a &> f; b", "x", [("b", [1])]),
        ("a 2>/dev/null", "x", [("a", [1])]),
        ("a; echo ---; b", "x\n---\ny\nz", [("a", [1]), ("b", [3, 4])]),
        ("echo A; a; echo B; b", "A\nx\nB", [("a", [2]), ("b", [])]),
        ("a; echo code $?", "x\ncode 1", [("a", [1])]),
        ("node -v; npm -v", "v1\n2", [("node", [1]), ("npm", [2])]),
    ],
)
def test_certain(command: str, output: str, expected: list[tuple[str, list[int]]]) -> None:
    assert parts(command, output) == expected


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("a; b", "x"),
        ("a && b", "x\ny"),
        ("(a; b) | head", "x"),
        ("a `b`", "x"),
        ("for x in 1 2; do a; done", "x"),
        ("{ a; }", "x"),
        ("f() { a; }; f", "x"),
        ("echo ---; a", "---\nx\n---"),
        ("a; echo $X; b", "x\ny"),
        ("echo B; a; echo A", "A\nx\nB"),
        ("a > f", "x"),
        ("a 1> f", "x"),
        ("a 'b", "x"),
        ("", "x"),
        ("a", ""),
        ("node -v; npm -v", "v1\nwarning\n2"),
        ("a " + "b" * 5_000, "x"),
    ],
)
def test_uncertain(command: str, output: str) -> None:
    assert parts(command, output) == []


def test_lines_next_to_a_cut_are_not_read() -> None:
    assert parts("a", "1\n2\n… [9 characters left out] …\n4\n5") == [("a", [1, 5])]


def test_notes_of_a_ledger_are_not_read() -> None:
    assert parts("a", "1\n\n<ledger-note>\nb.png: PNG\n</ledger-note>\n6") == [("a", [1, 2, 6])]


def test_calls_that_never_ended_are_not_read() -> None:
    assert shown_of(call("a", "x", None, ok=False)) == []


def test_the_exit_code_belongs_to_the_last_command() -> None:
    codes = [one.exit for one in shown_of(call("a; echo -; b", "x\n-\ny", 3))]
    assert codes == [None, 3]
    assert [one.exit for one in shown_of(call("a | head", "x", 3))] == [None]
