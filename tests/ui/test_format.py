from __future__ import annotations

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ledger_tui import format as fmt
from tests.ui.hostile import HOSTILE, LONG_LINE

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(ANY_TEXT, st.integers(0, 30))
def test_fit_never_takes_more_than_its_width(text: str, width: int) -> None:
    assert cell_len(fmt.fit(text, width)) <= width


@given(ANY_TEXT, st.integers(0, 30))
def test_left_and_right_take_exactly_their_width(text: str, width: int) -> None:
    assert cell_len(fmt.left(text, width)) == width
    assert cell_len(fmt.right(text, width)) == width


@given(ANY_TEXT, st.integers(4, 30), st.integers(1, 4))
def test_wrap_keeps_to_its_room(text: str, width: int, lines: int) -> None:
    wrapped = fmt.wrap(text, width, lines)
    assert 1 <= len(wrapped) <= lines
    assert all(cell_len(line) <= width for line in wrapped)


@given(ANY_TEXT)
def test_tame_text_is_printable(text: str) -> None:
    assert all(character.isprintable() for character in fmt.tame(text))


def test_tame_leaves_plain_text_alone_and_takes_away_what_terminals_disagree_about() -> None:
    assert fmt.tame("plain text") == "plain text"
    assert fmt.tame("👩\u200d💻 👍🏽 ⚠\ufe0f 🇩🇪") == "👩💻 👍 ⚠ DE"
    assert fmt.tame("a\tb\nc\u2028d") == "a b c d"
    assert "\x1b" not in fmt.tame(HOSTILE)
    assert "\x9b" not in fmt.tame(HOSTILE)


def test_a_cut_is_marked() -> None:
    assert fmt.fit("model.ckpt has no header", 10) == "model.ckp…"
    assert fmt.fit("漢字漢字", 5) == "漢字…"
    assert fmt.wrap("one two three four", 8, 2) == ["one two", "three f…"]
    assert fmt.wrap("one two three four", 8, 2, rest=20) == ["one two", "three four"]


def test_a_long_line_is_not_measured_whole() -> None:
    assert fmt.fit(LONG_LINE, 20) == "x" * 19 + "…"
    assert fmt.wrap(LONG_LINE, 10, 2) == ["x" * 10, "x" * 9 + "…"]


@pytest.mark.parametrize(
    ("ms", "said"),
    [(0, "0 ms"), (31, "31 ms"), (4_100, "4.1 s"), (59_970, "59 s"), (67_000, "1m 07s"), (11_040_000, "3h 04m")],
)
def test_durations(ms: int, said: str) -> None:
    assert fmt.took(ms) == said


def test_elapsed_and_ago() -> None:
    assert fmt.elapsed(-5) == "0 s"
    assert fmt.elapsed(2_900) == "2 s"
    assert [fmt.ago(ms) for ms in (0, 300_000, 7_200_000, 200_000_000)] == [
        "just now",
        "5 min ago",
        "2 h ago",
        "2 d ago",
    ]


@pytest.mark.parametrize(
    ("number", "said"),
    [(999, "999"), (2_104, "2.1k"), (9_960, "10k"), (81_240, "81k"), (3_400_000, "3.4M"), (5 * 10**9, "5.0G")],
)
def test_counts(number: int, said: str) -> None:
    assert fmt.count(number) == said


def test_money() -> None:
    assert [fmt.money(x) for x in (0, 0.001, 0.42, 12.5)] == ["$0", "<$0.01", "$0.42", "$12.50"]


def test_clock() -> None:
    assert fmt.clock(1_790_426_470_000, UTC) == "12:41"
    assert fmt.clock(1_790_426_470_000, UTC, seconds=True) == "12:41:10"
    assert fmt.clock(0, UTC) == ""
    assert fmt.clock(10**20, UTC) == ""
