"""What extractions may spend."""

from __future__ import annotations

from core.ledger.budget import Budget


def test_without_limits_nothing_is_reached() -> None:
    budget = Budget()
    budget.spent(10**9)
    assert budget.reached == ""


def test_the_session_limit_names_its_setting_and_figures() -> None:
    budget = Budget(session_limit=1_000)
    budget.spent(999)
    assert budget.reached == ""
    budget.spent(501)
    assert "1,500 of 1,000 tokens" in budget.reached
    assert "extraction_budget_session_tokens" in budget.reached


def test_the_day_counts_all_sessions_and_begins_anew() -> None:
    budget = Budget(day_limit=1_000)
    budget.day(900)
    budget.spent(100)
    assert "Today's" in budget.reached
    assert "extraction_budget_day_tokens" in budget.reached
    budget.day(0)
    assert budget.reached == ""
    assert budget.session_tokens == 100
