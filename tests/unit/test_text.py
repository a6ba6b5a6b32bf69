from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text import MARKER_ROOM, clean, clean_line, clip, clip_middle

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
CONTROLS = [chr(code) for code in (*range(32), *range(127, 160), 0xD83D, 0xDE00, 0x202E, 0x200B, 0xFEFF, 0xFFFE)]
HOSTILE = st.text(alphabet=st.sampled_from([*CONTROLS, *"[]P^_X\\;?0123mKHJ(BAé語😀", "\x1b", "\x9b", "\x9c", "\x07"]))
ANY = st.one_of(st.text(alphabet=st.characters(exclude_categories=[])), HOSTILE)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", ""),
        ("plain\n\ttext", "plain\n\ttext"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b1;31mred\x9b0m", "red"),
        ("\x1b[38:2::255:0:0mcolon form\x1b[m", "colon form"),
        ("\x1b[?25l\x1b[2J\x1b[Hhome", "home"),
        ("\x1b[ qcursor", "cursor"),
        ("\x1b]0;title\x07shown", "shown"),
        ("\x1b]52;c;cm0gLXJm\x07", ""),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9d0;title\x9cshown", "shown"),
        ("\x1bPq#0\n#1\x1b\\sixel", "sixel"),
        ("\x1b_apc\x1b\\a\x1b^pm\x1b\\b\x1bXsos\x1b\\c", "abc"),
        ("\x90dcs\x9cok", "ok"),
        ("\x1b(B\x1b)0\x1b=\x1b>\x1b7\x1b8text", "text"),
        ("\x1bcreset", "reset"),
        ("end\x1b", "end"),
        ("end\x1b[1;3", "end"),
        ("\x1b\x1b[0m[31mx", "[31mx"),
        ("\x1b[3\x1b[1m1mx", "1mx"),
        ("bell\x07 back\x08 nul\x00 del\x7f", "bell back nul del"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("10 %\r\n\r20 %", "10 %\n\n20 %"),
        ("a\u2028b\u2029c", "a\nb\nc"),
        ("evil\u202egnp.exe", "evilgnp.exe"),
        ("\u2066a\u2069\u200eb\u200fc\u061cd", "abcd"),
        ("zero\u200bwidth\ufeff\u2060", "zerowidth"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("non\ufdd0\ufffe\U0001fffecharacter", "noncharacter"),
        ("lone \ud800 and \udc00", "lone � and �"),
        ("pair \ud83d\ude00", "pair 😀"),
        ("\ud83d\x1b[0m\ude00", "��"),
        ("\udb40\udc41", ""),
        ("👨\u200d👩\u200d👧 ❤\ufe0f", "👨\u200d👩\u200d👧 ❤\ufe0f"),
        ("[bold]markup[/bold] {x}", "[bold]markup[/bold] {x}"),
        ("Ġthe ĊĊ é ü 漢字", "Ġthe ĊĊ é ü 漢字"),
    ],
)
def test_clean(raw: str, expected: str) -> None:
    assert clean(raw) == expected


@pytest.mark.parametrize("introducer", ["\x1b]", "\x1bP", "\x9d", "\x90", "\x1b_"])
def test_a_control_string_without_an_end_hides_no_output(introducer: str) -> None:
    assert clean(f"before {introducer}text\nafter") == "before text\nafter"


def test_a_title_sequence_does_not_swallow_the_lines_up_to_a_later_bell() -> None:
    assert clean("\x1b]0;title\nsecond line\x07third") == "0;title\nsecond linethird"


@given(ANY)
def test_cleaned_text_has_no_control_left(text: str) -> None:
    result = clean(text)
    assert not FORBIDDEN.search(result)
    assert all(unicodedata.category(char) not in ("Cc", "Cs") or char in "\n\t" for char in result)
    result.encode()


@given(ANY)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean(text)
    assert clean(once) == once


@given(st.text(alphabet=st.one_of(st.characters(categories=["L", "N", "P", "S"]), st.sampled_from(" \n\t"))))
def test_plain_text_is_unchanged(text: str) -> None:
    assert clean(text) == text


@given(st.lists(st.sampled_from(["\x1b[31m", "\x1b[0K", "\x1b]0;t\x07", "\x9b1m", "\x1b(B", "\x00"])), st.data())
def test_the_text_between_whole_sequences_survives(sequences: list[str], data: st.DataObject) -> None:
    words = [data.draw(st.text(alphabet="xyz \n", max_size=4)) for _ in sequences]
    assert clean("".join(a + b for a, b in zip(sequences, words, strict=True))) == "".join(words)


@pytest.mark.parametrize(
    "unit", ["\x1b]", "\x90\n", "\x1b[1;", "\x1b[", "\x9d", "\x1bP", "\x1b ", "\x9b ", "\ud800", "\r", "\x1b]a\x07"]
)
def test_a_long_hostile_run_is_taken_in_one_pass(unit: str) -> None:
    assert len(clean(unit * 200_000)) <= 200_000


@given(ANY, st.integers(min_value=-1, max_value=30))
def test_clean_line_is_one_bounded_line(text: str, limit: int) -> None:
    line = clean_line(text, limit)
    assert len(line) <= max(limit, 0)
    assert line == line.strip()
    assert not re.search(r"\s(?<! )|  ", line)


def test_clean_line_joins_lines() -> None:
    assert clean_line("  ls -l\n\t\x1b[1m| wc\u00a0 -l \n", 40) == "ls -l | wc -l"
    assert clean_line("one two three", 8) == "one two…"


@pytest.mark.parametrize(("limit", "expected"), [(-1, ""), (0, ""), (1, "…"), (4, "abc…"), (5, "abcde"), (6, "abcde")])
def test_clip(limit: int, expected: str) -> None:
    assert clip("abcde", limit) == expected


def test_clip_middle_keeps_both_ends_and_counts_what_is_left_out() -> None:
    text = "a" * 100 + "b" * 800 + "c" * 100
    assert clip_middle(text, 100, 100) == "a" * 100 + "\n… [800 characters left out] …\n" + "c" * 100
    assert clip_middle(text, 100, 0).endswith("[900 characters left out] …\n")
    assert clip_middle(text, 0, 1) == "\n… [999 characters left out] …\nc"


def test_clip_middle_leaves_text_that_is_hardly_longer() -> None:
    text = "x" * (20 + MARKER_ROOM)
    assert clip_middle(text, 10, 10) == text
    assert clip_middle(text + "x", 10, 10) != text + "x"


@given(st.text(), st.integers(min_value=0, max_value=40), st.integers(min_value=0, max_value=40))
def test_clip_middle_is_bounded_and_idempotent(text: str, head: int, tail: int) -> None:
    long = text * 20
    result = clip_middle(long, head, tail)
    assert len(result) <= head + tail + MARKER_ROOM
    assert result.startswith(long[:head])
    assert result.endswith(long[len(long) - min(tail, len(long)) :])
    assert clip_middle(result, head, tail) == result


def test_the_marker_never_takes_more_than_its_room() -> None:
    assert len("\n… [999999999999 characters left out] …\n") <= MARKER_ROOM
