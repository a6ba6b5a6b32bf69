"""How often the same command gave the same output again."""

from __future__ import annotations

from collections import Counter

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from core.ledger.novelty import digest
from core.ledger.repeats import KEPT_ROWS, KEPT_SINGLE, SHOWN_ROWS, KeptRepeats, RepeatRow, Repeats


def told(repeats: Repeats, command: str, output: str = "x" * 40) -> None:
    repeats.finished(command, digest(command, output), len(output))


def test_the_first_time_is_no_repeat_and_costs_nothing() -> None:
    repeats = Repeats()
    told(repeats, "ls")
    view = repeats.view()
    assert (view.rows, view.calls_before, view.repeats_before, view.repeated_tokens_before) == ((), 1, 0, 0)


def test_times_before_and_after_the_first_note_are_told_apart() -> None:
    repeats = Repeats()
    told(repeats, "ls")
    told(repeats, "ls")
    repeats.note(400)
    for _ in range(3):
        told(repeats, "ls")
    repeats.note(100)
    repeats.extracted(700)
    view = repeats.view()
    assert view.rows == (RepeatRow(command="ls", before=2, after=3, tokens=40),)
    assert (view.calls_before, view.calls_after) == (2, 3)
    assert (view.repeats_before, view.repeats_after) == (1, 3)
    assert (view.repeated_tokens_before, view.repeated_tokens_after) == (10, 30)
    assert (view.note_tokens, view.extraction_tokens, view.noted, view.more) == (125, 700, True, 0)


def test_a_call_first_seen_after_the_note_has_no_times_before() -> None:
    repeats = Repeats()
    repeats.note(4)
    told(repeats, "ls")
    told(repeats, "ls")
    assert repeats.view().rows == (RepeatRow(command="ls", before=0, after=2, tokens=10),)


def test_another_output_is_no_repeat() -> None:
    repeats = Repeats()
    told(repeats, "ls", "a")
    told(repeats, "ls", "b")
    assert repeats.view().repeats_before == 0


def test_rows_are_the_dearest_and_bounded() -> None:
    repeats = Repeats()
    for n in range(SHOWN_ROWS + 7):
        for _ in range(2):
            told(repeats, f"cat {n}", "y" * (n + 1) * 4)
    view = repeats.view()
    assert [row.tokens for row in view.rows] == list(range(SHOWN_ROWS + 7, 7, -1))
    assert view.more == 7


def test_the_command_is_one_clean_short_line() -> None:
    repeats = Repeats()
    for _ in range(2):
        told(repeats, "cat <<E\n\x1b]52;c;aaaa\x07" + "z" * 10_000)
    (row,) = repeats.view().rows
    assert len(row.command) <= 120
    assert row.command.isprintable()


def test_memory_is_bounded_and_totals_go_on() -> None:
    repeats = Repeats()
    for n in range(KEPT_ROWS + 10):
        for _ in range(2):
            told(repeats, f"cat {n}")
    for n in range(KEPT_SINGLE + 10):
        told(repeats, f"head {n}")
    kept, view = repeats.export(), repeats.view()
    assert (len(kept.rows), len(kept.single)) == (KEPT_ROWS, KEPT_SINGLE)
    assert view.repeats_before == KEPT_ROWS + 10
    assert view.more == KEPT_ROWS + 10 - SHOWN_ROWS
    assert len(msgspec.json.encode(kept)) < 250_000


def test_the_view_is_the_same_object_until_something_is_counted() -> None:
    repeats = Repeats()
    first = repeats.view()
    assert repeats.view() is first
    told(repeats, "ls")
    assert repeats.view() is not first


def test_an_export_is_not_changed_by_what_follows() -> None:
    repeats = Repeats()
    for _ in range(2):
        told(repeats, "ls")
    kept = repeats.export()
    before = msgspec.json.encode(kept)
    told(repeats, "ls")
    other = Repeats()
    other.restore(kept)
    told(other, "ls")
    assert msgspec.json.encode(kept) == before
    assert Repeats().view().calls_before == 0


@given(
    st.lists(st.one_of(st.just("note"), st.tuples(st.sampled_from("abc"), st.integers(0, 3))), max_size=40),
    st.integers(0, 40),
)
def test_a_restart_in_between_changes_nothing(events: list[str | tuple[str, int]], at: int) -> None:
    through, stopped = Repeats(), Repeats()
    for n, event in enumerate(events):
        if n == at:
            kept = msgspec.json.decode(msgspec.json.encode(stopped.export()), type=KeptRepeats)
            stopped = Repeats()
            stopped.restore(kept)
        for repeats in (through, stopped):
            if isinstance(event, str):
                repeats.note(8)
            else:
                told(repeats, event[0], "o" * event[1])
    assert through.view() == stopped.view()
    counts = Counter(event for event in events if isinstance(event, tuple))
    assert {row.before + row.after for row in through.view().rows} == {n for n in counts.values() if n > 1}
    view = through.view()
    assert view.calls_before + view.calls_after == sum(counts.values())
    assert view.repeats_before + view.repeats_after == sum(n - 1 for n in counts.values())
