"""Errors of compilers."""

from __future__ import annotations

import pytest

from tests.unit.ledger.rules.builders import facts, found


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        (
            "cargo build",
            "error[E0308]: mismatched types\n  --> src/a.rs:2:4",
            "src/a.rs:2 has error E0308: mismatched types",
        ),
        ("cargo check", "error: expected `;`\n --> src/a.rs:2:4", "src/a.rs:2 has an error: expected `;`"),
        ("g++-13 -c a.cpp", "a.cpp:2:1: error: 'x' was not declared", "a.cpp:2 has an error: 'x' was not declared"),
        ("make -j4 2>&1 | grep error", "src/a.c:2:1: error: bad", "src/a.c:2 has an error: bad"),
        ("javac A.java", "A.java:3: error: ';' expected", "A.java:3 has an error: ';' expected"),
        ("npx tsc", "src/a.ts:3:7 - error TS2345: Bad", "src/a.ts:3 has error TS2345: Bad"),
        ("npm run build", "src/a.ts(3,7): error TS2345: Bad", "src/a.ts:3 has error TS2345: Bad"),
        (
            "dotnet build",
            "/p/A.cs(5,9): error CS1002: ; expected [/p/x.csproj]",
            "/p/A.cs:5 has error CS1002: ; expected",
        ),
        ("go vet ./...", "vet: ./a.go:3:2: undefined: x", "./a.go:3 has an error: undefined: x"),
        (
            "cmake --build build",
            "/p/a.cc:3:1: fatal error: x.h: No such file",
            "/p/a.cc:3 has an error: x.h: No such file",
        ),
        ("mypy src", "src/a.py:3: error: Bad type  [arg-type]", "src/a.py:3 has an error: Bad type [arg-type]"),
    ],
)
def test_errors(command: str, output: str, expected: str) -> None:
    assert [one.partition(" (`" + command)[0] for one in facts(command, output, 1)] == [expected]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("cat build.log", "a.c:2:1: error: bad"),
        ("grep -rn 'error:' src", "src/a.c:2:1: error: bad"),
        ("man gcc", "a.c:2:1: error: bad"),
        ("rustc --explain E0308", "error[E0308]: mismatched types\n --> a.rs:2:4"),
        ("cargo build", "warning: unused\n --> a.rs:2:4"),
        ("cargo build", "error: could not compile `a` (lib) due to 1 previous error\nwarning: x"),
        ("cargo build 2>&1 | grep -e error -e '-->'", "error: aborting\n --> a.rs:2:4"),
        ("cargo build 2>&1 | grep 'error\\|-->'", "error: aborting\n --> a.rs:2:4"),
        ("gcc a.c", "a.c:2:1: warning: unused\na.c:2:1: note: error: here"),
        ("python a.py", "a.py:2: error: bad"),
        ("./configure", "a.c:2:1: error: bad"),
        ("make", "make: *** [Makefile:4: a.o] Error 1"),
        ("gcc a.c 2> log; cat log", "a.c:2:1: error: bad"),
        ("gcc -c no.c", "gcc: error: no.c: No such file or directory"),
        ("go run ./cmd/lint", "a.go:2:1: line too long"),
        ("git show", "a.c:2:1: error: bad"),
        ("vim a.c && gcc a.c", "a.c:2:1: error: bad"),
    ],
)
def test_no_error(command: str, output: str) -> None:
    assert facts(command, output, 1) == []


def test_repeated_and_many_errors() -> None:
    line = "a.c:2:1: error: bad"
    assert len(facts("make", f"{line}\n{line}", 2)) == 1
    assert len(facts("make", "\n".join(f"a.c:{n}:1: error: bad" for n in range(1, 90)), 2)) == 8


def test_receipt() -> None:
    [one] = found("cargo build", "x\nerror[E0308]: mismatched types\n  --> src/a.rs:2:4", 101)
    assert (one.topic, one.lines, one.rule) == ("error:a.rs", (2, 3), "compiler")
