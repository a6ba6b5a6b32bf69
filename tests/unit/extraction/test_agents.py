from __future__ import annotations

import pytest

from core.extraction.agents import NotThere, choose_agent, choose_model

STOCK = ("build", "plan", "general", "explore", "title", "summary", "compaction")


@pytest.mark.parametrize(
    ("available", "chosen"),
    [
        (("build", "momus", "ledger-extractor", "general"), "ledger-extractor"),
        (("build", "general", "momus"), "momus"),
        (STOCK, "general"),
        (("plan", "build"), "build"),
    ],
)
def test_auto_takes_the_first_that_is_there(available: tuple[str, ...], chosen: str) -> None:
    assert choose_agent("auto", available)[0] == chosen


def test_the_reason_names_what_is_missing() -> None:
    assert choose_agent("auto", STOCK)[1] == "the server has no ledger-extractor or momus"
    assert choose_agent("auto", ("ledger-extractor",))[1] == "the ledger's own agent"


def test_a_named_agent_is_taken_as_it_is() -> None:
    assert choose_agent("plan", STOCK) == ("plan", "named by the setting agent")


def test_a_named_agent_that_is_not_there_is_an_error_that_names_the_others() -> None:
    with pytest.raises(NotThere) as raised:
        choose_agent("momus", STOCK)
    assert str(raised.value) == f"There is no agent 'momus'. Set agent to one of: {', '.join(STOCK)}."


def test_auto_without_any_known_agent() -> None:
    with pytest.raises(NotThere, match="Set agent to one of: mine"):
        choose_agent("auto", ("mine",))
    with pytest.raises(NotThere, match="no agent at all"):
        choose_agent("auto", ())


def test_long_lists_and_hostile_names_are_bounded() -> None:
    with pytest.raises(NotThere) as raised:
        choose_agent("x\x1b[31m" * 100, tuple(f"a{n}" for n in range(50)))
    assert "\x1b" not in str(raised.value)
    assert str(raised.value).endswith("a7 and 42 more.")


@pytest.mark.parametrize(
    ("setting", "agent", "own", "small", "default", "chosen"),
    [
        ("p/set", "ledger-extractor", "p/agent", "p/small", "p/big", "p/set"),
        ("", "ledger-extractor", "p/agent", "p/small", "p/big", "p/agent"),
        ("", "ledger-extractor", "", "p/small", "p/big", "p/small"),
        ("", "build", "p/agent", "p/small", "p/big", "p/small"),
        ("", "build", "p/agent", "", "p/big", "p/agent"),
        ("", "general", "", "", "p/big", "p/big"),
        ("", "general", "", "", "", ""),
    ],
)
def test_choose_model(setting: str, agent: str, own: str, small: str, default: str, chosen: str) -> None:
    available = ["p/set", "p/agent", "p/small", "p/big"]
    made = choose_model(
        setting, agent=agent, agent_model=own, small_model=small, default_model=default, available=available
    )
    assert made == chosen


def test_models_that_are_not_there_are_passed_over() -> None:
    made = choose_model(
        "", agent="build", agent_model="p/agent", small_model="p/small", default_model="p/big", available=["p/big"]
    )
    assert made == "p/big"


def test_a_named_model_that_is_not_there_is_an_error_that_names_the_others() -> None:
    with pytest.raises(NotThere) as raised:
        choose_model("p/x", agent="build", agent_model="", small_model="", default_model="", available=("a/b", "p/y"))
    assert str(raised.value) == "There is no model 'p/x'. Set extraction_model to one of: p/y, a/b."
