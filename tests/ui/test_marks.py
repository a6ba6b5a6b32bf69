from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledger_tui.marks import pattern_of, supported, telling_words


def marked(fact: str, line: str) -> list[str]:
    return [line[start:end] for start, end in supported(line, pattern_of(fact)).marks]


def test_numbers_names_and_telling_words_are_found() -> None:
    fact = "model.ckpt has no header: raw float32 from byte 0"
    assert marked(fact, "read MODEL.ckpt as raw float32, header none") == ["MODEL.ckpt", "raw", "float32", "header"]


def test_quoted_text_is_found_without_its_quotes() -> None:
    assert marked("token 46107 decodes to ' Damien'", "46107 -> ' Damien'") == ["46107", "Damien"]


def test_only_whole_words_count() -> None:
    assert marked("rows has 128 entries", "1280 rows, 128") == ["rows", "128"]
    assert marked("a.bin is small", "data.bin small") == ["small"]


def test_common_words_do_not_count() -> None:
    assert telling_words("this is not what they have") == ()
    assert supported("what they have", pattern_of("this is not what they have")).marks == ()


@given(st.text(max_size=200), st.text(max_size=200))
def test_marks_lie_inside_the_line_in_order(fact: str, line: str) -> None:
    marks = supported(line, pattern_of(fact)).marks
    flat = [edge for mark in marks for edge in mark]
    assert flat == sorted(flat)
    assert all(0 <= edge <= len(line) for edge in flat)
