"""Numbers by value, quoted strings, booleans."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ledger.values import number_key, number_keys, tokens_of, values_of
from core.ledger.wording import words_of


def keys(text: str, kind: str = "number") -> list[str]:
    return [value.key for value in values_of(text) if value.kind == kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0x80", ["128"]),
        ("0b1010 and 0o17", ["10", "15"]),
        ("1,234 tensors", ["1234"]),
        ("1_000_000 and 2'500", ["1000000", "2500"]),
        ("12\u202f345", ["12345"]),
        ("127.0.0.1:7071", ["127.0.0.1", "7071"]),
        ("timeout after 2500ms", ["2500"]),
        ("97% of 1.8T", ["97", "1.8"]),
        ("3e-4 or 1E3", ["0.0003", "1000"]),
        ("(4096,1024) and (512,512)", ["4096", "1024", "512", "512"]),
        ("1024x512", ["1024", "512"]),
        ("v22.11.0", ["22.11.0"]),
        ("lexer.rs:212", ["212"]),
        ("a 512-byte header", ["512"]),
        ("-5 but 3-4", ["-5", "3", "4"]),
        ("on 2027-01-05 at 03:30", ["2027-01-05", "03:30"]),
        ("007", ["7"]),
        ('it says "0x80"', ["128"]),
    ],
)
def test_numbers_of_a_statement(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    "text", ["float32", "E_POOL_17", "layers.8.attn", "9f3c2ab", "A100-SXM4-40GB", "step_2000.ckpt"]
)
def test_digits_inside_a_word_are_no_number(text: str) -> None:
    assert keys(text) == []
    assert number_keys(text) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:7071", {"127.0.0.1", "7071"}),
        ("1,234", {"1234", "1", "234"}),
        ("Python 3.12.7", {"3.12.7", "3.12"}),
        ("2026-11-30T08:01:07Z", {"2026-11-30T08:01:07Z", "2026-11-30", "08:01:07", "2026", "11", "30", "8", "1", "7"}),
        ("HTTP/1.1 503", {"1.1", "503"}),
        ("2.5.1+cpu", {"2.5.1+cpu", "2.5.1", "2.5"}),
    ],
)
def test_numbers_an_output_contains(text: str, expected: set[str]) -> None:
    assert number_keys(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sets \"info\" and 'x' and `main`", ["info", "x", "main"]),
        ("nennt „make start“ und «oui»", ["make start", "oui"]),
        ("it doesn't, they're", []),
        ("the separator ';'", [";"]),
        ('open " only', []),
    ],
)
def test_quoted_strings(text: str, expected: list[str]) -> None:
    assert keys(text, "quoted") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("debug is TRUE", ["true"]), ("enabled = no", ["false"]), ("rows.csv has no header", []), ("log: on", ["true"])],
)
def test_booleans(text: str, expected: list[str]) -> None:
    assert keys(text, "boolean") == expected


def test_words_are_stems_without_function_words() -> None:
    assert words_of("The tests are failing in Köln") == ("test", "fail", "köln")


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=10**12))
def test_ways_to_write_a_number_are_one_value(number: int) -> None:
    forms = [
        str(number),
        hex(number),
        f"{number:,}",
        f"{number:_}",
        f"0{number}",
        f"{number:#o}",
        hex(number).upper().replace("X", "x"),
    ]
    assert {tuple(keys(f"x is {form} y")) for form in forms} == {(str(number),)}
    assert all(str(number) in number_keys(f"x={form};") for form in forms)


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=10**12))
def test_one_more_is_another_value(number: int) -> None:
    assert keys(f"x is {number:,}") != keys(f"x is {hex(number + 1)}")
    assert str(number + 1) not in number_keys(f"x={number}")


@settings(deadline=None)
@given(st.decimals(min_value=0, max_value=10**6, places=3))
def test_decimals_keep_their_point(number: object) -> None:
    text = str(number)
    assert number_key(text).rstrip("0").rstrip(".") == (
        text.lstrip("0") if text.lstrip("0")[0] != "." else "0" + text.lstrip("0")
    ).rstrip("0").rstrip(".")


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_taken_apart_in_order(text: str) -> None:
    tokens = tokens_of(text)
    length = len(unicodedata.normalize("NFC", text))
    assert all(0 <= token.start < token.end <= length for token in tokens)
    assert all(a.end <= b.start for a, b in itertools.pairwise(tokens))
    number_keys(text)
    words_of(text)
