"""Summaries of pytest, unittest, jest, vitest and mocha."""

from __future__ import annotations

import pytest

from tests.unit.ledger.rules.builders import facts, found

PYTEST = """\
FAILED tests/test_a.py::test_x[1-b] - AssertionError: assert 1 == 2
ERROR tests/test_b.py - ImportError: no module named x
============ 1 failed, 40 passed, 2 skipped, 1 error in 3.21s ============="""


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("pytest -q", "....\n4 passed in 0.01s", ["`pytest -q` ends with 4 passed."]),
        (
            "pytest",
            PYTEST,
            [
                "`pytest` ends with 1 failed, 40 passed, 2 skipped, 1 error.",
                "Test tests/test_a.py::test_x[1-b] fails: AssertionError: assert 1 == 2.",
                "Test tests/test_b.py ends with an error: ImportError: no module named x.",
            ],
        ),
        (
            "python -m pytest x/ | tail -1",
            "== 3 passed, 1 warning in 72.10s (0:01:12) ==",
            ["`python -m pytest x/ | tail -1` ends with 3 passed, 1 warning."],
        ),
        (
            "cd web && uv run pytest 2>&1 | grep passed",
            "3 passed in 1.0s",
            ["`cd web && uv run pytest 2>&1 | grep passed` ends with 3 passed."],
        ),
        ("pytest -q; echo exit: $?", "3 passed in 1.0s\nexit: 0", ["`pytest -q` ends with 3 passed."]),
        ("make test", "pytest\n== 3 passed in 1.0s ==", ["`make test` ends with 3 passed."]),
        (
            "npx vitest run",
            " Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 41 passed (43)",
            ["`npx vitest run` ends with these tests: 2 failed, 41 passed, 43 total."],
        ),
        (
            "npx mocha",
            "  41 passing (2s)\n  1 failing\n",
            ["`npx mocha` ends with these tests: 41 passing, 1 failing."],
        ),
        (
            "python -m unittest",
            "Ran 12 tests in 0.1s\n\nFAILED (failures=1)",
            ["`python -m unittest` ran 12 tests: FAILED (failures=1)."],
        ),
        (
            "npx jest",
            "FAIL src/a.test.ts\n  ● Cart › adds\nTests:       1 failed, 2 passed, 3 total",
            [
                "`npx jest` ends with these tests: 1 failed, 2 passed, 3 total.",
                "Test file src/a.test.ts has failing tests (`npx jest`).",
                "Test 'Cart › adds' fails (`npx jest`).",
            ],
        ),
    ],
)
def test_reports(command: str, output: str, expected: list[str]) -> None:
    assert facts(command, output, 1) == expected


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("grep passed log", "== 3 passed in 1.0s =="),
        ("pytest | grep passed log", "== 3 passed in 1.0s =="),
        ("man pytest", "== 3 passed in 1.0s =="),
        ("cat README.md", "== 3 passed in 1.0s ==\nTests: 19 passed, 19 total"),
        ("git log", "3 passed in 1.0s"),
        ("python app.py", "3 passed in 1.0s"),
        ("pytest -q", "no tests ran in 0.01s"),
        ("pytest -q", "!!!! KeyboardInterrupt !!!!\n2 passed in 1.0s"),
        ("pytest > log", "== 3 passed in 1.0s =="),
        ("pytest --co", "3 tests collected in 1.0s"),
        ("pytest", "5 apples, 3 passed in 1.0s"),
        ("pytest a; pytest b", "3 passed in 1.0s\n4 passed in 1.0s"),
        ("pytest | sed s/3/4/", "4 passed in 1.0s"),
        ("npm install", "Tests: 19 passed, 19 total"),
        ("npx jest", "Tests:       0 total"),
        ("python -m unittest", "Ran 0 tests in 0.0s\n\nOK"),
        ("echo '3 passed in 1.0s'", "3 passed in 1.0s"),
        ("jest --help", "Tests: 19 passed, 19 total"),
    ],
)
def test_no_report(command: str, output: str) -> None:
    assert facts(command, output) == []


def test_the_last_summary_counts() -> None:
    captured = "---- Captured stdout ----\n== 9 passed in 1.0s ==\n== 1 failed in 2.0s =="
    assert facts("pytest", captured, 1) == ["`pytest` ends with 1 failed."]


def test_topics_and_receipts() -> None:
    total, failed, _ = found("pytest", PYTEST, 1)
    assert (total.topic, total.lines, total.rule) == ("test:tests", (3,), "tests")
    assert (failed.topic, failed.lines) == ("test:test_a.py", (1,))
    [one] = found("pytest -q tests/test_a.py", "1 passed in 0.1s")
    assert one.topic == "test:test_a.py"
