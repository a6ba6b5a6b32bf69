"""What `file` says."""

from __future__ import annotations

import pytest

from tests.unit.ledger.rules.builders import facts, found


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("file a.png", "a.png: PNG image data, 8 x 9", ["a.png is, according to `file`: PNG image data, 8 x 9"]),
        ("file -b a.bin", "data", ["a.bin is, according to `file`: data"]),
        ("file --mime-type -b a.js", "text/plain", ["a.js is, according to `file`: text/plain"]),
        ("file *", "a.c:   C source\nlib:   directory", ["a.c is, according to `file`: C source"]),
        ("file 'odd: name.txt'", "odd: name.txt: ASCII text", ["odd: name.txt is, according to `file`: ASCII text"]),
        ("find . -type f | xargs file | head -1", "./a: empty", ["./a is, according to `file`: empty"]),
        ("file current", "current: symbolic link to v2", ["current is, according to `file`: symbolic link to v2"]),
        ("ls; echo ---; file a.c", "a.c\n---\na.c: C source", ["a.c is, according to `file`: C source"]),
    ],
)
def test_types(command: str, output: str, expected: list[str]) -> None:
    assert facts(command, output) == expected


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("file x", "x: cannot open `x' (No such file or directory)"),
        ("file lib", "lib: directory"),
        ("grep 'image data' notes.txt", "a.png: PNG image data, 8 x 9"),
        ("cat notes.txt", "a.png: PNG image data, 8 x 9"),
        ("man file", "a.png: PNG image data, 8 x 9"),
        ("file a.png | awk '{print $2}'", "PNG"),
        ("file a.png", "b.png: PNG image data"),
        ("file a.png > kinds.txt", "a.png: PNG image data"),
        ("file -F = a.png", "a.png= PNG image data"),
        ("if true; then file a.png; fi", "a.png: PNG image data"),
        ("cat log; file a.png", "a.png: GIF image data\na.png: PNG image data"),
        ("echo ---; file a.png", "---\na.png: PNG\n---"),
    ],
)
def test_look_alikes(command: str, output: str) -> None:
    assert facts(command, output) == []


def test_receipt() -> None:
    [one] = found("file out/a.png", "out/a.png: PNG image data")
    assert (one.topic, one.lines, one.rule) == ("file-format:a.png", (1,), "file")
