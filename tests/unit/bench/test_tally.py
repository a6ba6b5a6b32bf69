from __future__ import annotations

import pytest

from tests.bench.tally import Tally, of_labels

DECIDED = [
    ("yes", "yes", "plain"),
    ("yes", "no", "swap"),
    ("no", "yes", "swap"),
    ("no", "no", "plain"),
    ("yes", "yes", "swap"),
    ("no", "yes", "word"),
]


def test_precision_and_recall_of_the_label_that_is_looked_for() -> None:
    tally = of_labels(DECIDED, "yes")
    assert (tally.cases, tally.right, tally.said, tally.wanted) == (6, 2, 3, 4)
    assert tally.precision == pytest.approx(2 / 3)
    assert tally.recall == pytest.approx(1 / 2)


def test_the_kinds_in_which_most_went_wrong_come_first_and_faultless_ones_not_at_all() -> None:
    assert of_labels(DECIDED, "yes").weakest == [("swap", 2, 3), ("word", 1, 1)]


def test_who_says_nothing_has_no_precision() -> None:
    tally = of_labels([("no", "yes", "plain")], "yes")
    assert tally.precision is None
    assert tally.recall == 0


def test_where_nothing_is_to_be_found_there_is_no_recall() -> None:
    assert of_labels([("no", "no", "plain")], "yes").recall is None


def test_a_case_may_hold_several_decisions() -> None:
    tally = Tally()
    tally.add("url", 1, 2, 3, faultless=False)
    tally.add("url", 1, 1, 1, faultless=True)
    assert tally.precision == pytest.approx(2 / 3)
    assert tally.recall == pytest.approx(2 / 4)
    assert tally.weakest == [("url", 1, 2)]
