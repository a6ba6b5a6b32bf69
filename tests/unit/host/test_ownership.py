"""Who owns a root session."""

from __future__ import annotations

import pytest

from core.host.ownership import Ownership


@pytest.fixture
def lost() -> set[str]:
    """Lines that bring no events at present."""
    return set()


@pytest.fixture
def owners(lost: set[str]) -> Ownership[str]:
    return Ownership(lambda line: line not in lost)


def test_who_tells_first_has_it_and_who_works_takes_it(owners: Ownership[str]) -> None:
    assert owners.owner("ses") is None
    assert owners.is_owner("a", "ses")
    assert not owners.is_owner("b", "ses")
    assert not owners.works("b", "ses")  # a only read it: there is nothing to be read first
    assert owners.owner("ses") == "b"


def test_one_that_worked_yields_while_it_rests_and_what_it_did_is_read_first(owners: Ownership[str]) -> None:
    assert not owners.works("a", "ses")
    assert not owners.works("a", "ses")
    owners.busy("ses")
    assert not owners.works("b", "ses")
    assert (owners.owner("ses"), owners.rests("ses")) == ("a", False)
    assert owners.idle("ses") == "b"
    assert owners.idle("ses") is None
    assert owners.works("c", "ses")
    assert owners.owner("ses") == "c"


def test_a_busy_one_out_of_sight_yields_too(owners: Ownership[str], lost: set[str]) -> None:
    owners.works("a", "ses")
    owners.busy("ses")
    lost.add("a")
    assert owners.works("b", "ses")
    assert owners.owner("ses") == "b"


def test_what_was_passed_over_is_read_again_once(owners: Ownership[str]) -> None:
    owners.is_owner("a", "ses")
    owners.passed_over("b", "ses")
    assert owners.works("b", "ses")
    assert not owners.give("ses", "b")


def test_one_that_goes_leaves_what_it_worked_in(owners: Ownership[str]) -> None:
    owners.works("a", "ses_1")
    owners.busy("ses_1")
    owners.works("b", "ses_1")
    owners.works("a", "ses_2")
    owners.is_owner("a", "ses_3")
    owners.works("b", "ses_4")
    assert owners.of("a") == ["ses_1", "ses_2", "ses_3"]
    assert owners.drop("a") == [("ses_1", "b"), ("ses_2", None)]
    assert [owners.owner(f"ses_{n}") for n in range(1, 5)] == [None, None, None, "b"]


def test_one_that_goes_waits_for_nothing_any_more(owners: Ownership[str]) -> None:
    owners.works("a", "ses")
    owners.busy("ses")
    owners.works("b", "ses")
    assert owners.drop("b") == []
    assert owners.idle("ses") is None


def test_nobody_has_what_is_forgotten(owners: Ownership[str]) -> None:
    owners.works("a", "ses")
    owners.passed_over("b", "ses")
    owners.forget("ses")
    assert owners.rests("ses")
    assert not owners.works("b", "ses")
