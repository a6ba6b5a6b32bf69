"""What was said and done as rows: nothing is lost at any width."""

from __future__ import annotations

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.history.pieces import Kind, Piece
from ledger_tui.format import width_of
from ledger_tui.rows.history import is_in, moment
from ledger_tui.rows.history_text import Folds, HeadingRow, TextRow, told, wrapped
from ledger_tui.rows.look import Look


def folds(*pieces: Piece) -> Folds:
    made = Folds(UTC)
    made.pieces += pieces
    return made


def call(given: str, output: str = "", **more: str) -> Piece:
    return Piece(kind=Kind.TOOL, role="assistant", name="bash", input=given, text=output, **more)  # type: ignore[arg-type]


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=200), st.integers(10, 60))
def test_prose_keeps_every_character_but_spaces_at_breaks(words: str, width: int) -> None:
    lines = ["".join(text for text, _ in line) for line in wrapped(words, width, "text")]
    assert all(width_of(line) <= width for line in lines)
    clean = ["".join(text for text, _ in line) for line in wrapped(words, 10_000, "text")]
    assert "".join("".join(lines).split()) == "".join("".join(clean).split())


def test_the_best_argument_tells_what_a_call_did() -> None:
    assert told(call("description: look\ncommand: make all")) == "make all"
    assert told(call("filePath: a.md\noffset: 3")) == "a.md"
    assert told(call("description: look: closer")) == "look: closer"
    assert told(call("odd")) == "odd"
    assert told(call("")) == ""


def test_speakers_have_headings_and_dropped_parts_are_counted() -> None:
    said = [Piece(kind=Kind.TEXT, role=role, text=words) for role, words in
            (("user", "a"), ("user", "b"), ("assistant", "c"))]  # fmt: skip
    made = folds(*said, *[Piece(kind=Kind.DROPPED, role="user", name="synthetic")] * 2)
    rows = made.rows(40)
    assert [row.text().split()[0] for row in rows if isinstance(row, HeadingRow)] == ["You", "Agent"]
    assert [row.text() for row in rows if row.selectable] == ["a", "b", "c"]
    assert made.left_out() == "2 parts not shown: 2 synthetic."


def test_rows_have_one_line_and_keys_of_their_own() -> None:
    made = folds(call("command: ls", "\n".join(f"line {n} {'x' * 70}" for n in range(5))), call("command: id"))
    assert len(made.rows(40)) == 3
    assert made.toggle(0) and not made.toggle(9)
    rows = made.rows(40)
    assert len({row.key for row in rows}) == len(rows) > 10
    look = Look(0, UTC)
    for row in rows:
        lines = row.lines(40, look)
        assert len(lines) == row.height(40)
        assert all(sum(width_of(text) for text, _ in line) <= 40 for line in lines)
    assert all(isinstance(row, TextRow) and row.piece in (0, 1) for row in rows[1:])


def test_all_are_unfolded_then_folded() -> None:
    made = folds(call("a: 1"), call("b: 2"))
    made.toggle(1)
    assert made.toggle_all() and made.opened == {0, 1}
    assert not made.toggle_all() and made.opened == set()


@pytest.mark.parametrize(
    ("directory", "inside"),
    [("/p", True), ("/p/deep", True), ("/px", False), ("/", False), ("", False)],
)
def test_a_project_holds_its_folder_and_those_below(directory: str, inside: bool) -> None:
    assert is_in(directory, "/p") is inside


def test_everything_lies_below_the_root_folder() -> None:
    assert is_in("/p", "/")


def test_moments() -> None:
    assert moment(1_780_000_000_000, UTC) == "2026-05-28 20:26"
    assert moment(1_780_000_000_000, UTC, year=False) == "05-28 20:26"
    assert moment(2**62, UTC) == ""
