from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.history.parts import read_parts
from core.history.source import Source
from tests.bench.history_facts import LONG, SHORT, Kind, Place, Told, generate

TARGETS = [40_000, 90_000]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("facts") / "opencode.db"


@pytest.fixture(scope="module")
def sessions(database: Path) -> list[Told]:
    return generate(database, TARGETS)


def test_sessions_have_the_size_they_were_meant_to_have(sessions: list[Told]) -> None:
    for told, target in zip(sessions, TARGETS, strict=True):
        assert told.target == target
        assert target < len(told.text) < target + LONG[1] + 2_000


def test_every_fact_occurs_once_and_in_its_third(sessions: list[Told]) -> None:
    for told in sessions:
        for fact in told.facts:
            assert told.text.count(fact.said) == 1, fact
            third = told.text.index(fact.said) * 3 // len(told.text)
            assert fact.place is list(Place)[third], fact
            assert (fact.said in told.talk) is (fact.kind is Kind.TEXT), fact
        assert {fact.kind for fact in told.facts} == set(Kind)
        assert {fact.place for fact in told.facts} == set(Place)


def test_the_database_holds_what_is_told(database: Path, sessions: list[Told]) -> None:
    with Source.open(database) as source:
        for told in sessions:
            shown = []
            for part in read_parts(source, told.id):
                data = json.loads(part.data or b"")
                state = data.get("state")
                shown.append(f"{state['input']['command']}\n{state['output']}" if state else data["text"])
            assert "\n".join(shown) == told.text


def test_facts_of_an_output_stand_where_their_kind_says(database: Path, sessions: list[Told]) -> None:
    facts = {(told.id, n): fact for told in sessions for n, fact in enumerate(told.facts)}
    with Source.open(database) as source:
        for told in sessions:
            for n, part in enumerate(read_parts(source, told.id)):
                fact, state = facts[told.id, n], json.loads(part.data or b"").get("state")
                if state is None:
                    assert fact.kind is Kind.TEXT
                    continue
                output = state["output"]
                at, size = output.index(fact.said), len(output)
                assert (size > LONG[0]) is (fact.kind is not Kind.SHORT)
                assert size > LONG[0] or size < SHORT[1] + 200
                assert fact.kind is not Kind.BEGINNING or at < 500
                assert fact.kind is not Kind.MIDDLE or size // 4 < at < 3 * size // 4
                assert fact.kind is not Kind.END or size - at < 500


def test_the_same_seed_tells_the_same(tmp_path: Path, sessions: list[Told]) -> None:
    assert generate(tmp_path / "again.db", TARGETS) == sessions
    assert generate(tmp_path / "other.db", TARGETS, seed=2) != sessions
