from __future__ import annotations

import pytest

from tests.bench import trust
from tests.corpus.load import RULES


def test_every_rule_beats_the_seed_on_the_open_part() -> None:
    rows = list(trust.rows(["open"]))
    assert {row.part for row in rows} == {"open"}
    assert {row.rule.partition(":")[0].partition(",")[0] for row in rows} == set(RULES)
    for row in rows:
        ours, plain = row.ours, row.plain
        assert ours.cases == plain.cases > 10, row.rule
        assert (ours.precision or 0) + (ours.recall or 0) > (plain.precision or 0) + (plain.recall or 0), row.rule


@pytest.mark.parametrize("fact", ["128 rows", "it starts at 0x80", 'the key is "a"', "verbose is true", "the `x` key"])
def test_facts_with_a_value(fact: str) -> None:
    assert trust.VALUE.search(fact)


@pytest.mark.parametrize("fact", ["weights are float32", "there is no header", "it is untrue"])
def test_facts_without_a_value(fact: str) -> None:
    assert not trust.VALUE.search(fact)
