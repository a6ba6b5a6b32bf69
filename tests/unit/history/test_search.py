"""What is found, in which order, and what is shown of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import UsageError
from core.history.index import Index
from core.history.search import Hit, parse, search
from core.history.source import Source
from tests import history_data as data
from tests.history_data import BASE, Builder, text


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return data.small_v1(tmp_path / "a.db")


def updated(place: Path) -> None:
    with Source.open(place) as source, Index.open() as index:
        index.update([source])


def hits(query: str, *places: Path, **options: object) -> list[Hit]:
    with Index.open() as index:
        return search(index, query, places, **options)  # type: ignore[arg-type]


def ids(query: str, *places: Path, **options: object) -> list[str]:
    return [hit.id for hit in hits(query, *places, **options)]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("build makefile", ["ses_a"]),  # in two texts of one session
        ("BUILD", ["ses_a"]),
        ('"the build fail"', ["ses_a"]),
        ('"fail build"', []),
        ("mak*", ["ses_a"]),
        ("mak", []),
        ("the -picture", ["ses_a"]),
        ('the -"build fail"', ["ses_b"]),
        ("rule_for", ["ses_a"]),
        ('"unclosed phrase', []),
        ("AND OR NOT NEAR(", []),
        ("body:build ^x", []),
    ],
)
def test_queries(place: Path, query: str, found: list[str]) -> None:
    updated(place)
    assert ids(query, place) == found


@pytest.mark.parametrize("query", ["", "  ", "-x", '""', "* - _", "x " * 21])
def test_queries_that_ask_for_nothing_or_too_much(query: str) -> None:
    with pytest.raises(UsageError):
        parse(query)


def test_snippet_and_its_marks(place: Path) -> None:
    updated(place)
    (hit,) = hits("rule makefile", place)
    assert (hit.role, hit.time, hit.matches) == ("assistant", BASE + 7, 1)
    assert hit.snippet == "The Makefile has no rule for it."
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["Makefile", "rule"]


def test_limit(tmp_path: Path) -> None:
    data.large(tmp_path / "a.db", sessions=5, messages=1, parts=1)
    updated(tmp_path / "a.db")
    assert [len(ids("session", tmp_path / "a.db", limit=limit)) for limit in (0, 2, 9, None)] == [0, 2, 5, 5]
    with pytest.raises(UsageError):
        ids("session", tmp_path / "a.db", limit=-1)


def test_the_best_comes_first(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        for id, words in (("ses_1", "owl " + "and so on " * 50), ("ses_2", "owl owl"), ("ses_3", "cat")):
            b.session(id)
            b.message(id, f"msg_{id}", "user")
            b.part(f"msg_{id}", f"prt_{id}", text(words))
    updated(tmp_path / "a.db")
    assert ids("owl", tmp_path / "a.db") == ["ses_2", "ses_1"]


def test_a_word_deep_in_a_long_text(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_1")
        b.message("ses_1", "m", "assistant")
        b.part("m", "p", text("so and so " * 3_000 + "the okapi\x1b[2J\nwalks" + " on and on" * 500))
    updated(tmp_path / "a.db")
    (hit,) = hits("okapi", tmp_path / "a.db")
    assert "the okapi walks on" in hit.snippet and len(hit.snippet) < 300
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["okapi"]
