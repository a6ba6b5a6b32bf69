"""Counts of `wc`."""

from __future__ import annotations

import pytest

from tests.unit.ledger.rules.builders import facts, found


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("wc -l rows.csv", "118 rows.csv\n", ["rows.csv has 118 lines."]),
        ("wc -l < rows.csv", "118\n", ["rows.csv has 118 lines."]),
        ("cat rows.csv | wc -l", "     118\n", ["rows.csv has 118 lines."]),
        ("wc README.md", " 1 19 120 README.md", ["README.md has 1 line, 19 words and 120 bytes."]),
        ("wc -cl x.bin", "  3 128 x.bin", ["x.bin has 3 lines and 128 bytes."]),
        ("wc -m a.txt", "9 a.txt", ["a.txt has 9 characters."]),
        ("wc -l 2024 report.txt", "7 2024 report.txt", []),
        ("wc -l '2024 report.txt'", "7 2024 report.txt", ["2024 report.txt has 7 lines."]),
        (
            "find . -name '*.py' | xargs wc -l",
            " 3 ./a.py\n 4 ./b.py\n 7 total",
            ["./a.py has 3 lines.", "./b.py has 4 lines."],
        ),
        ("wc -l *.py | sort -n | tail -2", " 9 b.py\n 12 total", ["b.py has 9 lines."]),
        ("cd data && wc -l a.csv", "10 a.csv", ["a.csv has 10 lines."]),
        ("wc -l a.csv no.csv", "10 a.csv\nwc: no.csv: No such file or directory\n10 total", ["a.csv has 10 lines."]),
        ("wc -l a.csv; wc -l b.csv", "1 a.csv\n2 b.csv", ["a.csv has 1 line.", "b.csv has 2 lines."]),
        ("wc -l total", "5 total", ["total has 5 lines."]),
    ],
)
def test_counts_of_files(command: str, output: str, expected: list[str]) -> None:
    assert facts(command, output) == expected


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("grep x rows.csv | wc -l", "12"),
        ("cat a.csv b.csv | wc -l", "12"),
        ("cat -s a.csv | wc -l", "12"),
        ("head -5 rows.csv | wc -l", "5"),
        ("sort -u < rows.csv | wc -l", "5"),
        ("ls | wc -l", "14"),
        ("wc -l $FILE", "3"),
        ("wc -l <<< 'a b'", "1"),
        ("cat counts.txt", "12 rows.csv"),
        ("git diff --stat | tail -1", "3 rows.csv"),
        ("wc -l rows.csv > n.txt", "3 rows.csv"),
        ("wc -L rows.csv", "80 rows.csv"),
        ("docker exec web wc -l /app/rows.csv", "80 /app/rows.csv"),
        ("make; wc -l rows.csv", "gcc a.c\n80 rows.csv"),
        ("for f in a b; do wc -l $f; done", "1 a\n2 b"),
        ("wc -l rows.csv", "80 other.csv"),
        ("wc -l rows.csv", "wc: rows.csv: Is a directory"),
    ],
)
def test_what_is_no_count_of_a_file(command: str, output: str) -> None:
    assert facts(command, output) == []


def test_topic_and_receipt() -> None:
    [one] = found("wc -l data/rows.csv", "\n118 data/rows.csv")
    assert (one.topic, one.lines, one.rule, one.part, one.call) == ("file-size:rows.csv", (2,), "wc", "prt_1", "call_1")
