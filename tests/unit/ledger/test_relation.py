"""How a later fact stands to an older one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ledger.relation import relation


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rows.csv has 1128 lines", "rows.csv has 1131 lines"),
        ("weights.bin has magic 0x80", "weights.bin has magic 0x81"),
        ("config.json: n_layers 12, d_model 768", "config.json: n_layers 24, d_model 1024"),
        ("APP_PORT=8088", "APP_PORT=9000"),
        ("dropout = 0.1", "dropout = 0.25"),
        ('app.toml sets log_level to "info"', 'app.toml sets log_level to "debug"'),
        ("debug is true", "debug is false"),
        ("nginx.service: enabled = yes", "nginx.service: enabled = no"),
        ("Node is v20.11.1", "Node is v22.11.0"),
        ("städte.csv hat 412 Zeilen", "städte.csv hat 415 Zeilen"),
        ("port 80 has 14 connections", "port 80 has 3 connections"),
    ],
)
def test_other_values_of_the_same_subject_supersede(old: str, new: str) -> None:
    assert relation(old, new) == relation(new, old) == "supersedes"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("token 46107 is 'a'", "token 46108 is 'a'"),
        ("layer 7 is frozen", "layer 8 is trainable"),
        ("port 80 is open", "port 443 is open"),
        ("port 80 open", "port 443 open"),
        ("model.st: layer 7 has shape (4096, 4096)", "model.st: layer 8 has shape (4096, 1024)"),
        ("src/a.rs:212 has error E0308", "src/a.rs:214 has error E0308"),
        ("a.csv has 3 rows", "b.csv has 4 rows"),
        ("APP_PORT=8088", "APP_PORT_TLS=8443"),
        ("x.bin is larger than y.bin", "y.bin is larger than x.bin"),
        ("", "x is 3"),
        ("!", "?"),
    ],
)
def test_different_subjects_have_nothing_to_do_with_each_other(old: str, new: str) -> None:
    assert relation(old, new) == relation(new, old) == "none"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("File has no header.", "no header in file"),
        ("weights.bin has magic 0x80", "weights.bin has magic 128"),
        ("debug is true", "debug = True"),
        ('log_level is "info"', "log_level is 'info'"),
        ("rows.csv has 1128 lines", "There are 1128 lines in rows.csv"),
        ("Köln.csv has 1,128 lines", "Ko\u0308ln.csv has 1128 lines."),
        ("same", "same"),
        ("", ""),
    ],
)
def test_the_same_in_other_words(old: str, new: str) -> None:
    assert relation(old, new) == relation(new, old) == "near_duplicate"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("port 443 is open", "port 443 is not open"),
        ("rows.csv has a header", "rows.csv has no header"),
        ("users.id has type integer", "users.id has type bigint"),
        ("/orders takes 412 ms", "/orders takes 2 s"),
        ("bench takes 20 ms with 4 workers", "bench takes 12 ms with 8 workers"),
        ("rows.csv has 3 rows with label 0", "rows.csv has 5 rows with label 1"),
        ("A tensor has shape (4096, 4096)", "A tensor has shape (4096, 1)"),
        ('a.py imports "os"', 'a.py imports "sys"'),
        ("The file that has id 7 is 12 bytes", "The file that has id 8 is 12 bytes"),
        ("DEBUG = true", "debug = false"),
        ("loss is 1.9", "loss is 1.90"),
        ("the pool has 20 busy, 143 waiting", "the pool has 143 busy, 20 waiting"),
        ("port 80 open", "port 80 closed"),
        ("exit code 1", "exit code 2"),
    ],
)
def test_what_is_less_clear_is_left_to_a_person(old: str, new: str) -> None:
    assert relation(old, new) == relation(new, old) == "unsure"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rows.csv has 1128 lines", "rows.csv is UTF-8 encoded"),
        ("users has 5 columns", "users has a unique index on email"),
        ("/health needs no login", "/health reports a queue of 41"),
    ],
)
def test_something_else_about_the_same_subject(old: str, new: str) -> None:
    assert relation(old, new) == "none"


NUMBERS = st.integers(min_value=0, max_value=10**9)


@settings(deadline=None)
@given(st.sampled_from(["token", "layer", "port", "row", "user", "file"]), NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_other_numbers_in_the_subject_never_conflict(noun: str, a: int, b: int, x: int, y: int) -> None:
    if a != b:
        assert relation(f"{noun} {a} has {x} hits", f"{noun} {b} has {y} hits") == "none"


@settings(deadline=None)
@given(NUMBERS, NUMBERS)
def test_equal_numbers_are_no_conflict_however_written(a: int, b: int) -> None:
    expected = "near_duplicate" if a == b else "supersedes"
    assert relation(f"rows.csv has {a} lines", f"rows.csv has {b:,} lines") == expected
    assert relation(f"rows.csv has {hex(a)} lines", f"rows.csv has {b} lines") == expected
    assert relation(f"rows.csv has {a} lines", f"rows.csv has {hex(a)} lines") == "near_duplicate"


WORDS = st.sampled_from(
    [
        "a.csv",
        "b.csv",
        "has",
        "is",
        "not",
        "no",
        "12",
        "13",
        "0x0c",
        "'x'",
        '"y"',
        "true",
        "false",
        "=",
        ":",
        ",",
        "and",
        "rows",
        "lines",
        "The",
        "layer",
        "7",
        "open",
    ]
)
FACTS = st.lists(WORDS, max_size=9).map(" ".join)


@settings(max_examples=500, deadline=None)
@given(FACTS, FACTS)
def test_the_order_of_the_two_does_not_matter(old: str, new: str) -> None:
    assert relation(old, new) == relation(new, old)


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_never_raises_and_a_fact_is_its_own_duplicate(old: str, new: str) -> None:
    assert relation(old, new) == relation(new, old)
    assert relation(old, old) == "near_duplicate"


def test_a_quoted_letter_is_a_value_and_no_article() -> None:
    assert relation('name = "a"', 'name = "b"') == "supersedes"
