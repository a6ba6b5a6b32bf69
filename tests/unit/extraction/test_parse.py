from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.extraction.parse import MAX_FACT_CHARS, Answer, AnswerError, parse_answer
from core.ledger.observations import Candidate
from core.ledger.untrusted import HIDDEN
from tests.unit.extraction.corpus import CASES, Case

LETTERS = st.characters(categories=["L", "N"]).filter(lambda letter: not HIDDEN.search(letter))
WORD = st.text(alphabet=LETTERS, min_size=1, max_size=8)
FACTS = st.lists(WORD | st.text(alphabet="\"'\\,:{}[]/*#<>think \n\t", max_size=12), min_size=1, max_size=5).map(
    lambda parts: ("a" + " ".join(parts)).strip()
)
ITEMS = st.lists(st.builds(Candidate, fact=FACTS, topic=WORD), min_size=1, max_size=5)
HOSTILE = st.text(alphabet="\"'\\,:{}[]/*#“” \n\tfactopi<>/hnk0") | st.text(
    alphabet=st.characters(exclude_categories=[])
)


def as_json(items: list[Candidate]) -> str:
    return json.dumps([{"fact": item.fact, "topic": item.topic} for item in items])


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_answer(case: Case) -> None:
    if isinstance(case.found, str):
        with pytest.raises(AnswerError) as raised:
            parse_answer(case.text)
        assert case.found in raised.value.reason
        assert len(raised.value.reason.splitlines()) == 1
        return
    answer = parse_answer(case.text)
    assert tuple((item.fact, item.topic) for item in answer.items) == case.found
    assert answer.rejected == case.rejected


@given(
    ITEMS,
    st.sampled_from(["{}", "```json\n{}\n```", "Found these:\n{}\nDone.", "<think>[]</think>\n{}", '{{"x": {}}}']),
)
def test_well_formed_items_survive_any_wrapping(items: list[Candidate], wrapping: str) -> None:
    assert parse_answer(wrapping.format(as_json(items))) == Answer(items=tuple(items))


@given(ITEMS, st.data())
def test_a_cut_answer_gives_its_whole_items_only(items: list[Candidate], data: st.DataObject) -> None:
    text = as_json(items)
    first = len(as_json(items[:1]))
    cut = data.draw(st.integers(min_value=0, max_value=len(text)))
    try:
        answer = parse_answer(text[:cut])
    except AnswerError:
        assert cut < first
    else:
        assert answer.items == tuple(items[: len(answer.items)])
        loose = sum(text.count(sign) for item in items for text in (item.fact, item.topic) for sign in "[{")
        assert answer.rejected <= 1 + loose  # brackets in a cut text may look like further items


@given(HOSTILE)
def test_any_text_gives_an_answer_or_a_reason(text: str) -> None:
    try:
        answer = parse_answer(text)
    except AnswerError as error:
        assert re.fullmatch(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]+", error.reason)
    else:
        assert answer.rejected >= 0


@given(st.lists(st.fixed_dictionaries({"fact": st.text(), "topic": st.text()}), min_size=1, max_size=3))
def test_facts_are_clean_and_bounded(raw: list[dict[str, str]]) -> None:
    answer = parse_answer(json.dumps(raw))
    assert len(answer.items) + answer.rejected == len(raw)
    for item in answer.items:
        assert 0 < len(item.fact) <= MAX_FACT_CHARS
        assert item.fact == item.fact.strip()
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", item.fact + item.topic)
        assert item.topic and "\n" not in item.topic


@pytest.mark.parametrize(
    "unit", ["[", "{", "<think>", "</think>", '["</think>', '["x []', "[]<think></think>", "<think>[{", "[]</think>"]
)
def test_a_long_hostile_answer_is_taken_in_linear_time(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    try:
        answer = parse_answer(text)
    except AnswerError as error:
        assert error.reason
    else:
        assert answer.items == ()


def test_the_reason_quotes_little_of_the_answer() -> None:
    with pytest.raises(AnswerError) as raised:
        parse_answer("The file \x1b[31mhas\x1b[0m no header. " * 1000)
    assert "has no header" in raised.value.reason
    assert len(raised.value.reason) < 300
