"""Reports of go and cargo."""

from __future__ import annotations

import pytest

from tests.unit.ledger.rules.builders import facts, found

END = "test result: {}; {} ignored; 0 measured; 0 filtered out; finished in 0.31s"


def test_go() -> None:
    output = "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/empty (0.00s)\nFAIL\nFAIL\tx/a\t0.1s\n"
    output += "ok  \tx/b\t0.2s\n?   \tx/c\t[no test files]\nFAIL\tx/d [build failed]"
    assert facts("go test ./...", output, 1) == [
        "Go package x/a fails its tests (`go test ./...`).",
        "Go test TestA fails in package x/a.",
        "Go test TestA/empty fails in package x/a.",
        "Go package x/b passes its tests (`go test ./...`).",
        "Go package x/d fails: build failed (`go test ./...`).",
    ]


def test_cargo() -> None:
    output = "\n".join(
        [
            "     Running unittests src/lib.rs (target/debug/deps/a-1)",
            "test p::q ... FAILED",
            END.format("FAILED. 40 passed; 1 failed", 0),
            "     Running tests/it.rs (target/debug/deps/it-1)",
            END.format("ok. 3 passed; 0 failed", 1),
            "   Doc-tests a",
            END.format("ok. 0 passed; 0 failed", 0),
        ]
    )
    assert facts("cargo test", output, 101) == [
        "Rust test p::q fails (`cargo test`).",
        "`cargo test` ends for src/lib.rs with FAILED: 40 passed, 1 failed, 0 ignored.",
        "`cargo test` ends for tests/it.rs with ok: 3 passed, 0 failed, 1 ignored.",
    ]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("go build ./...", "ok  \tx/b\t0.2s"),
        ("go test ./a", "ok  \tx/a\t0.1s [no tests to run]"),
        ("cat ci.log", "ok  \tx/b\t0.2s"),
        ("grep -h result ci.log", END.format("ok. 3 passed; 0 failed", 1)),
        ("cargo build", END.format("ok. 3 passed; 0 failed", 1)),
        ("cargo test --no-run", END.format("ok. 3 passed; 0 failed", 1)),
        ("cargo test", "running 3 tests\ntest a ... ok"),
    ],
)
def test_no_report(command: str, output: str) -> None:
    assert facts(command, output) == []


def test_receipts() -> None:
    package, test = found("go test ./...", "\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx/a\t0.1s", 1)
    assert (package.topic, package.lines, package.rule) == ("test:a", (4,), "tests")
    assert test.lines == (2, 4)
