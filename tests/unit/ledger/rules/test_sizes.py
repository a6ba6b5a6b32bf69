"""Sizes from `ls -l` and `stat`."""

from __future__ import annotations

import pytest

from tests.unit.ledger.rules.builders import facts, found

ROW = "-rw-r--r-- 1 ml ml {} Nov 29 04:41 {}"


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("ls -lh a.bin", ROW.format("512M", "a.bin"), ["a.bin has a size of 512M (rounded by ls)."]),
        ("ls -la w", ROW.format(7, "a.bin"), ["w/a.bin has a size of 7 bytes."]),
        ("ls -l w/a.bin", ROW.format(7, "w/a.bin"), ["w/a.bin has a size of 7 bytes."]),
        ("ls -l", ROW.format(7, "my file.txt"), ["my file.txt has a size of 7 bytes."]),
        ("ls -l w | grep bin", ROW.format(7, "a.bin"), ["w/a.bin has a size of 7 bytes."]),
        (
            "ls -l x y",
            f"x:\n{ROW.format(1, 'a')}\n\ny:\n{ROW.format(2, 'a')}",
            ["x/a has a size of 1 byte.", "y/a has a size of 2 bytes."],
        ),
        (
            "ls -lR",
            f".:\n{ROW.format(1, 'a')}\n\n./y:\n{ROW.format(2, 'b')}",
            ["./a has a size of 1 byte.", "./y/b has a size of 2 bytes."],
        ),
        (
            "ls -l --time-style=long-iso a",
            "-rw-r--r-- 1 ml ml 7 2026-11-29 04:41 a",
            ["a has a size of 7 bytes."],
        ),
        (
            "ls -l --full-time a",
            "-rw-r--r-- 1 ml ml 7 2026-11-29 04:41:10.123456789 +0100 a",
            ["a has a size of 7 bytes."],
        ),
        ("ls -l a", "-rw-r--r--@ 1 ml  staff  7 29 Nov  2025 a", ["a has a size of 7 bytes."]),
        ("ls -lF run", "-rwxr-xr-x 1 ml ml 7 Nov 29  2025 run*", ["run has a size of 7 bytes."]),
        ("stat -c %s a.bin", "42", ["a.bin has a size of 42 bytes."]),
        (
            "stat -c '%n %s' a.bin b.bin",
            "a.bin 42\nb.bin 7",
            ["a.bin has a size of 42 bytes.", "b.bin has a size of 7 bytes."],
        ),
        ("stat --format='%n: %s bytes, %y' *.bin", "a.bin: 42 bytes, 2026-11-29", ["a.bin has a size of 42 bytes."]),
        ("stat -c %s a; stat -c %s b", "42\n7", ["a has a size of 42 bytes.", "b has a size of 7 bytes."]),
        ("stat -f '%z %N' a.bin", "42 a.bin", ["a.bin has a size of 42 bytes."]),
        (
            "stat a.bin | head -2",
            "  File: 'a.bin'\n  Size: 0   \tBlocks: 0  IO Block: 4096   regular empty file",
            ["a.bin has a size of 0 bytes."],
        ),
    ],
)
def test_sizes_of_files(command: str, output: str, expected: list[str]) -> None:
    assert facts(command, output) == expected


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("ls", ROW.format(7, "a")),
        ("cat listing", ROW.format(7, "a")),
        ("tar tvf a.tar", ROW.format(7, "a")),
        ("ssh host ls -l", ROW.format(7, "a")),
        ("ls -l", "drwxr-xr-x 2 ml ml 4096 Nov 29 04:41 src"),
        ("ls -l", "lrwxrwxrwx 1 ml ml 9 Nov 29 04:41 a -> b"),
        ("ls -ls", f"8 {ROW.format(7, 'a')}"),
        ("ls -lo", "-rw-r--r-- 1 ml 7 Nov 29 04:41 a"),
        ("ls -l --block-size=M", ROW.format(7, "a")),
        ("ls -l > l; cat l", ROW.format(7, "a")),
        ("stat src", "  File: src\n  Size: 4096  \tBlocks: 8  IO Block: 4096   directory"),
        ("stat -c '%s %F' src", "4096 directory"),
        ("stat -c %s src/", "4096"),
        ("stat -c %s a b", "42\n7"),
        ("stat -f /", '  File: "/"\n    ID: 1 Namelen: 255 Type: ext2/ext3'),
        ("stat -c %s a", "stat: cannot statx 'a': No such file or directory"),
        ("git ls-files -s", "100644 9f3c 0 a.py"),
    ],
)
def test_no_size_of_a_file(command: str, output: str) -> None:
    assert facts(command, output) == []


def test_a_long_listing_is_cut() -> None:
    output = "\n".join(ROW.format(n + 100, f"f{n}.bin") for n in range(500))
    assert len(facts("ls -l", output)) == 10


def test_receipt() -> None:
    [one] = found("ls -l w/", f"total 8\n{ROW.format(7, 'a.bin')}")
    assert (one.topic, one.lines, one.rule) == ("file-size:a.bin", (2,), "sizes")
