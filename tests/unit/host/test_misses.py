"""Missed deadlines: remembered by call, warned of at most once a minute."""

from __future__ import annotations

from core.host.misses import WARN_MS, Misses


def test_a_call_is_remembered_by_its_session() -> None:
    misses = Misses()
    misses.add(0, "a", "call_1")
    assert ("a", "call_1") in misses
    assert ("b", "call_1") not in misses


def test_the_first_is_warned_of_and_the_next_after_a_minute_counts_those_between() -> None:
    misses = Misses()
    told = [
        misses.add(t, "a", f"call_{t}") for t in (0, 1, WARN_MS - 1, WARN_MS, WARN_MS + 1, 3 * WARN_MS, 5 * WARN_MS)
    ]
    assert told == [0, None, None, 2, None, 1, 0]


def test_old_calls_are_forgotten() -> None:
    misses = Misses()
    for n in range(501):
        misses.add(n, "a", f"call_{n}")
    assert ("a", "call_0") not in misses
    assert ("a", "call_1") in misses and ("a", "call_500") in misses
