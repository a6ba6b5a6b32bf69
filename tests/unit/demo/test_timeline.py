"""Recorded times become present ones, in order and once and for all."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.demo.timeline import Timeline

T = 1_796_015_774_000
NOW = 1_900_000_000_000


def test_times_move_with_the_event_that_tells_them() -> None:
    line = Timeline()
    line.mark(T, NOW)
    event: dict[str, Any] = {
        "id": "evt_1",
        "type": "message.part.updated",
        "properties": {
            "sessionID": "s",
            "time": T,
            "part": {
                "id": "p",
                "time": {"start": T - 5},
                "state": {"time": {"start": T - 20, "end": T - 1}, "input": {"time": T}},
            },
            "info": {"time": {"created": T - 100, "updated": T}, "cost": 3},
        },
    }
    moved = line.moved(event)["properties"]
    assert moved["time"] == NOW
    assert moved["part"]["time"] == {"start": NOW - 5}
    assert moved["part"]["state"] == {"time": {"start": NOW - 20, "end": NOW - 1}, "input": {"time": T}}
    assert moved["info"] == {"time": {"created": NOW - 100, "updated": NOW}, "cost": 3}
    assert event["properties"]["time"] == T


def test_what_is_no_time_is_left_alone() -> None:
    line = Timeline()
    line.mark(T, NOW)
    for value in (None, "yesterday", True, 5, 0.25, [T]):
        assert line.moved({"type": "x", "properties": {"time": value, "info": value}})["properties"]["time"] == value


def test_a_cut_pause_does_not_overtake_what_follows() -> None:
    line = Timeline()
    line.mark(T, NOW)
    line.mark(T + 60_000, NOW + 3_000)
    assert [line.at(T + ms) for ms in (0, 1_000, 30_000, 60_000, 61_000)] == [
        NOW,
        NOW + 1_000,
        NOW + 3_000,
        NOW + 3_000,
        NOW + 4_000,
    ]


def test_without_a_mark_nothing_moves() -> None:
    assert Timeline().at(T) == T


steps = st.lists(st.tuples(st.integers(0, 100_000), st.integers(0, 5_000)), min_size=1, max_size=30)


@given(steps=steps, asked=st.lists(st.integers(-1000, 3_000_000), min_size=2, max_size=20))
def test_order_is_kept_and_answers_do_not_change(steps: list[tuple[int, int]], asked: list[int]) -> None:
    line = Timeline()
    recorded, played = T, NOW
    told: dict[int, int] = {}
    for gap, wait in steps:
        recorded, played = recorded + gap, played + wait
        line.mark(recorded, played)
        for time in asked:
            if T + time <= recorded:
                assert told.setdefault(time, line.at(T + time)) == line.at(T + time)
                assert line.at(T + time) <= played
    times = [line.at(T + time) for time in sorted(asked)]
    assert times == sorted(times)
