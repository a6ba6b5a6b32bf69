"""The head of a note."""

from __future__ import annotations

import json

import pytest

from core.history.frontmatter import document, front_matter, utc
from core.history.transcript import Bounds
from tests.unit.history.notemaking import row


def test_the_keys_are_always_these_in_this_order() -> None:
    assert front_matter(row(), Bounds()) == (
        '---\nsource: "opencode"\nschema: "v1"\nsession: "ses_a"\nstarted: "2026-01-31T23:59:59Z"\n'
        'directory: "/home/u/project"\n'
        "bounds: {text: 4000, reasoning: 200, tool_input: 1000, tool_output: 1500, head: 6000, tail: 12000}\n---\n"
    )


@pytest.mark.parametrize(
    "nasty", ['/a\n---\nsource: "x"', "/a: b # c", '/"quoted"\\', "\u2028---\u2028", "/é/😀", "{x}"]
)
def test_no_directory_breaks_out_of_its_line(nasty: str) -> None:
    lines = front_matter(row(directory=nasty), Bounds()).split("\n")
    assert [line.partition(":")[0] for line in lines] == [
        "---", "source", "schema", "session", "started", "directory", "bounds", "---", "",
    ]  # fmt: skip
    assert json.loads(lines[5].removeprefix("directory: ")) == " ".join(nasty.split())


def test_a_title_stays_a_heading_of_one_line() -> None:
    text = document(row(title="a\n---\nb"), Bounds(), "## Follow-ups\n\nx\n")
    assert text.split("---\n")[2] == "\n# a --- b\n\n## Follow-ups\n\nx\n"


@pytest.mark.parametrize(
    ("ms", "shown"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (-5, "1970-01-01T00:00:00Z"),
        (10**18, "9999-12-31T23:59:59Z"),
        (1_999, "1970-01-01T00:00:01Z"),
    ],
)
def test_times_are_utc(ms: int, shown: str) -> None:
    assert utc(ms) == shown
