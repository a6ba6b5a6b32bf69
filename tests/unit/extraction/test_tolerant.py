from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.extraction.tolerant import MAX_DEPTH, OTHER, RETRIES, Finder, Object, unescape

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
ODD = st.text(alphabet="\"'\\,:{}[]/*#“” \n\tnu0kx=")
JSON = st.recursive(
    SCALARS | ODD,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6) | ODD, inner, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.lists(JSON, max_size=4) | st.dictionaries(ODD, JSON, max_size=4)
HOSTILE = st.text(alphabet="\"'\\,:{}[]/*#“” \n`abnu0x-\ud83d<>") | st.text(
    alphabet=st.characters(exclude_categories=[])
)


def plain(value: Any) -> Any:
    """`value` with every scalar but strings and null as the reader gives it."""
    if isinstance(value, dict):
        return {key: plain(content) for key, content in value.items()}
    if isinstance(value, list):
        return [plain(content) for content in value]
    return value if isinstance(value, str) or value is None else OTHER


def depth(value: object) -> int:
    if isinstance(value, dict | list):
        return 1 + max((depth(inner) for inner in (value.values() if isinstance(value, dict) else value)), default=0)
    return 0


@given(DOCUMENTS, st.booleans(), st.sampled_from([None, 0, 2]))
def test_strict_json_is_read_as_json_reads_it(document: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    if text.startswith("["):
        text = f"[[], {text[1:]}" if document else "[[]]"  # A bracket before a bare number may be prose.
        document = [[], *document]
    (found,) = Finder(text).all()
    assert json.dumps(found.value) == json.dumps(plain(document))
    assert (found.start, found.end) == (0, len(text))
    assert found.exact
    assert found.closed


@given(st.lists(st.dictionaries(st.text(max_size=5), st.text() | ODD, min_size=1, max_size=3), min_size=1, max_size=3))
def test_python_literals_are_read_as_python_reads_them(items: list[dict[str, str]]) -> None:
    (found,) = Finder(repr(items)).all()
    assert found.value == items


@given(st.lists(st.dictionaries(st.text(), st.text(), min_size=1, max_size=3), min_size=1, max_size=3), st.data())
def test_a_cut_document_gives_a_beginning_of_it(items: list[dict[str, str]], data: st.DataObject) -> None:
    text = json.dumps(items, ensure_ascii=False)
    cut = text[: data.draw(st.integers(min_value=0, max_value=len(text) - 1))]
    for found in Finder(cut).all():
        for expected, item in zip(items, found.value, strict=False):
            assert isinstance(item, Object)
            assert item == expected or (item.cut and item.items() <= expected.items())


@given(HOSTILE)
def test_any_text_is_read_to_its_end_in_order(text: str) -> None:
    end = 0
    for found in Finder(text).all():
        assert end <= found.start < found.end <= len(text)
        assert text[found.start] in "[{"
        assert depth(found.value) <= MAX_DEPTH
        end = found.end


@pytest.mark.parametrize(
    "unit", ["[", "{", '{"a":', "[{", '["', "[{'", '["\\', "[/*", "[#\n", "[1,", "{“", '{"a" ', "]}", "[ "]
)
def test_a_long_hostile_text_ends_without_recursion(unit: str) -> None:
    for found in Finder(unit * (200_000 // len(unit))).all():
        assert depth(found.value) <= MAX_DEPTH


def test_deeper_brackets_are_skipped_and_what_follows_is_read() -> None:
    deep = "[" * (MAX_DEPTH + 5)
    (found,) = Finder(deep + '"x"').all()
    assert not found.closed
    innermost: Any = found.value
    while isinstance(innermost, list) and innermost:
        innermost = innermost[0]
    assert innermost == "x"


@pytest.mark.parametrize(
    "text", ["[x]", "{x}", "[a link](b)", "f() { return }", "${HOME}", "[-x]"[:1] + "ERROR] y", "[.]", "[^1]", "a[i]"]
)
def test_prose_is_no_value(text: str) -> None:
    assert Finder(text).all() == []


def test_a_quote_that_never_closes_hides_only_so_many_values() -> None:
    text = "a['x " * RETRIES + '[{"fact": "a"}]'
    assert [found.value for found in Finder(text).all()] == [[{"fact": "a"}]]


def test_values_are_marked_where_something_had_to_be_guessed() -> None:
    assert [found.exact for found in Finder('[1] [{"a": "b"}] [{"a": "b"] [{"a": "b"c"}]').all()] == [
        True,
        True,
        False,
        False,
    ]
    (found,) = Finder('[{"a": "b"}, {"a": "b"').all()
    assert not found.closed
    assert [item.cut for item in found.value if isinstance(item, Object)] == [False, True]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (r"\"\\\/\b\f\n\r\t\'", "\"\\/\b\f\n\r\t'"),
        (r"\u00e9\x41\U0001F600", "éA😀"),
        (r"\d \u12 \x4 \U00110000 \0", r"\d \u12 \x4 \U00110000 \0"),
        ("a\\\nb", "ab"),
        ("\\", "\\"),
        (r"\\n", r"\n"),
    ],
)
def test_unescape(raw: str, expected: str) -> None:
    assert unescape(raw) == expected
