"""What is remembered of each session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import FileError
from core.history.state import Book, Spent, State
from core.ledger.observations import Tokens

ONE = Spent(requests=1, tokens=Tokens(input=10, output=4, reasoning=2, cache_read=1, cache_write=3), cost=0.5, ms=7)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.db"


@pytest.fixture
def book(path: Path) -> Iterator[Book]:
    opened = Book.open(path)
    yield opened
    opened.close()


def test_what_became_of_a_session_is_there_after_closing(path: Path) -> None:
    book = Book.open(path)
    assert book.find("s") is None
    book.begin("s", "d1", "{}", 1)
    book.finish("s", State.DONE, ONE, 2, note="n", model="m")
    book.close()
    again = Book.open(path)
    found = again.find("s")
    again.close()
    assert found is not None
    assert (found.state, found.digest, found.bounds, found.note, found.model, found.ended) == (
        State.DONE, "d1", "{}", "n", "m", 2,
    )  # fmt: skip
    assert found.spent == ONE


def test_an_earlier_note_stays_until_there_is_another_and_costs_add_up(book: Book) -> None:
    book.begin("s", "d1", "{}", 1)
    book.finish("s", State.DONE, ONE, 2, note="first")
    book.begin("s", "d2", "{}", 3)
    running = book.find("s")
    assert running is not None
    assert (running.state, running.digest, running.note) == (State.RUNNING, "d2", "first")
    book.finish("s", State.ERROR, ONE, 4, error="bad")
    failed = book.find("s")
    assert failed is not None
    assert (failed.state, failed.note, failed.error, failed.spent.requests) == (State.ERROR, "first", "bad", 2)
    assert failed.spent.tokens.input == 20
    assert failed.spent.cost == 1.0


def test_junk_has_no_note(book: Book) -> None:
    book.begin("s", "d1", "{}", 1)
    book.finish("s", State.DONE, ONE, 2, note="first")
    book.begin("s", "d2", "{}", 3)
    book.finish("s", State.JUNK, ONE, 4)
    found = book.find("s")
    assert found is not None
    assert found.note == ""


def test_deliveries(book: Book) -> None:
    assert book.delivered("s", "files") == ""
    book.deliver("s", "files", "d1")
    book.deliver("s", "other", "d2")
    assert (book.delivered("s", "files"), book.delivered("s", "other")) == ("d1", "d2")
    book.deliver("s", "files", "")
    assert book.delivered("s", "files") == ""


def test_the_mean_answer(book: Book) -> None:
    assert book.output_tokens() == 0
    for id in ("a", "b"):
        book.begin(id, "d", "{}", 1)
        book.finish(id, State.DONE, ONE, 2, note="n")
    assert book.output_tokens() == 6
    assert [record.id for record in book.records()] == ["a", "b"]
    assert {record.note for record in book.records()} == {""}


def test_reading_creates_nothing(path: Path) -> None:
    assert Book.read(path) is None
    assert not path.exists()


def test_a_file_that_is_no_database_is_told(path: Path) -> None:
    path.write_text("this is no database at all, but a text of some length" * 20)
    with pytest.raises(FileError, match="--out"):
        Book.open(path)
