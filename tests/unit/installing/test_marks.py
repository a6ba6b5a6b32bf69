"""Telling a file as it was written from one that was edited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.installing.marks import Mark, marked, read_mark, release

TEXT = "---\nmode: subagent\n---\nOne line.\n"
WRITTEN = marked(TEXT, version="0.1.0", folders=2, comment="#", line=1)


def test_the_mark_is_one_line_where_it_was_asked_for() -> None:
    lines = WRITTEN.splitlines(keepends=True)
    assert lines[1].startswith("# ledger-tui 0.1.0 sha256:")
    assert "".join([lines[0], *lines[2:]]) == TEXT


def test_as_written() -> None:
    assert read_mark(WRITTEN) == Mark(version="0.1.0", edited=False, folders=2)
    assert read_mark(marked("a\n", version="1.2.3", folders=0, comment="//")) == Mark(
        version="1.2.3", edited=False, folders=0
    )


def test_converted_line_ends_are_no_edit() -> None:
    assert read_mark(WRITTEN.replace("\n", "\r\n")) == Mark(version="0.1.0", edited=False, folders=2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("subagent", "primary"),
        ("One line.\n", "One line."),
        ("One line.\n", "One line.\n\n"),
        ("---\n#", "--- \n#"),
        ("tui 0.1.0", "tui 0.1.1"),
        ("folders:2", "folders:3"),
    ],
)
def test_edited(old: str, new: str) -> None:
    assert old in WRITTEN
    mark = read_mark(WRITTEN.replace(old, new, 1))
    assert mark is not None
    assert mark.edited


@pytest.mark.parametrize(
    "text",
    [
        "",
        TEXT,
        "\n\n" + WRITTEN,
        WRITTEN.replace("# ledger", "#ledger"),
        WRITTEN.replace("sha256:", "sha256:0"),
        "x" * 100_000,
    ],
)
def test_no_mark(text: str) -> None:
    assert read_mark(text) is None


def test_more_folders_than_fit_are_counted_as_the_most() -> None:
    assert read_mark(marked("a\n", version="1", folders=30, comment="//")) == Mark(version="1", edited=False, folders=9)


@given(st.text(), st.integers(0, 1))
def test_any_text_is_recognised_as_it_was_written(text: str, line: int) -> None:
    """Unless its own first line is a mark already."""
    normal = text.replace("\r\n", "\n").replace("\r", "\n").encode(errors="replace").decode()
    body = "".join(f"{part}\n" for part in normal.split("\n"))
    mark = read_mark(marked(body, version="0.1.0", folders=1, comment="//", line=line))
    assert mark == Mark(version="0.1.0", edited=False, folders=1)


def test_versions_compare_by_their_numbers() -> None:
    assert release("0.10.0") > release("0.9.9")
    assert release("0.1.0") == release("0.1.0+local") == release("0.1.0-rc1")
    assert release("nonsense") == ()
