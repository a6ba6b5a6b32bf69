"""The beginning, the end, and how much is left out between them."""

from __future__ import annotations

import random

import pytest

from core.history.budget import MARKER_CHARS, Budget, marker

HEAD, TAIL = 6_000, 12_000


def keep(text: str, *, step: int = 0, head: int = HEAD, tail: int = TAIL) -> Budget:
    budget = Budget(head, tail)
    for place in range(0, len(text), step or len(text) or 1):
        budget.add(text[place : place + (step or len(text))])
    return budget


@pytest.mark.parametrize("length", [0, 1, 5_999, 6_000, 6_001, 17_999, 18_000])
@pytest.mark.parametrize("step", [0, 1, 7, 5_000])
def test_up_to_the_budget_the_text_stays_whole(length: int, step: int) -> None:
    text = "".join(chr(0x1F600 + n % 70) for n in range(length))
    budget = keep(text, step=step)
    assert budget.result() == text
    assert (budget.total, budget.left_out) == (length, 0)


@pytest.mark.parametrize("step", [0, 1, 7, 5_000])
def test_one_more_leaves_one_out(step: int) -> None:
    text = "a" * HEAD + "X" + "b" * TAIL
    budget = keep(text, step=step)
    assert budget.left_out == 1
    assert budget.result() == "a" * HEAD + marker(1, 18_001) + "b" * TAIL


def test_emoji_at_both_cuts_stay_whole() -> None:
    text = "a" * (HEAD - 1) + "😀" + "…" * 50 + "🎉" + "b" * (TAIL - 1)
    result = keep(text, step=11).result()
    assert result.startswith("a" * (HEAD - 1) + "😀\n")
    assert result.endswith("\n🎉" + "b" * (TAIL - 1))
    assert result.encode().decode() == result


def test_the_marker_says_how_much_and_is_not_counted() -> None:
    text = "x" * 1_000_000
    result = keep(text).result()
    assert "982000 of 1000000" in result
    assert len(result) - 18_000 <= MARKER_CHARS
    assert len(marker(10**18, 10**18)) <= MARKER_CHARS


@pytest.mark.parametrize(("head", "tail"), [(0, 5), (5, 0), (0, 0), (3, 4)])
def test_any_budget_gives_the_ends(head: int, tail: int) -> None:
    rng = random.Random(1)
    for length in range(20):
        text = "".join(rng.choice("abc") for _ in range(length))
        budget = keep(text, step=rng.randint(1, 5), head=head, tail=tail)
        left = max(0, length - head - tail)
        end = text[len(text) - tail :] if tail else ""
        assert budget.result() == (text if not left else text[:head] + marker(left, length) + end)


def test_memory_is_bounded_by_the_budget() -> None:
    budget = Budget(10, 100)
    for _ in range(10_000):
        budget.add("0123456789")
    assert sum(map(len, budget._tail)) <= 110
