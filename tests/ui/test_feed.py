from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import msgspec

from core.views import Pane, SessionView
from ledger_tui.feed import BLURRED_SECONDS, BLURRED_TICK_SECONDS, FLUSH_SECONDS, TICK_SECONDS, Feed
from tests.ui.example import blank, example, live_server
from tests.ui.fake_host import PANES, FakeHost


class Clock:
    """A loop whose time passes only when told."""

    def __init__(self) -> None:
        self.now = 100.0
        self.due: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_later(self, wait: float, function: Callable[..., Any], *arguments: Any) -> Timer:
        timer = Timer(self, self.now + wait, function, arguments)
        self.due.append(timer)
        return timer

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.due and min(timer.when for timer in self.due) <= end:
            timer = min(self.due, key=lambda timer: timer.when)
            self.due.remove(timer)
            self.now = timer.when
            timer.function(*timer.arguments)
        self.now = end


class Timer:
    def __init__(self, clock: Clock, when: float, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.clock, self.when, self.function, self.arguments = clock, when, function, arguments

    def cancel(self) -> None:
        if self in self.clock.due:
            self.clock.due.remove(self)


class Bench:
    """A feed over a fake host and a clock in hand."""

    def __init__(self, view: SessionView | None) -> None:
        self.host = FakeHost(view)
        self.clock = Clock()
        self.told: list[frozenset[Pane]] = []
        self.ticks = 0
        self.feed = Feed(
            self.host,
            lambda panes, view: self.told.append(panes),
            self.tick,
            lambda function: function(),
            loop=cast(asyncio.AbstractEventLoop, self.clock),
        )
        self.feed.flush()

    def tick(self) -> None:
        self.ticks += 1


def test_many_changes_make_one_flush() -> None:
    bench = Bench(blank())
    for _ in range(1_000):
        bench.host.touch("steps")
    bench.host.touch("log")
    bench.clock.run(1)
    assert bench.told == [frozenset(PANES), frozenset({"steps", "log"})]


def test_at_most_twelve_flushes_a_second() -> None:
    bench = Bench(blank())
    for _ in range(500):
        bench.host.touch("steps")
        bench.clock.run(0.01)
    assert len(bench.told) - 1 <= 5 / FLUSH_SECONDS + 1
    assert len(bench.told) > 40


def test_nothing_is_due_while_nothing_changes() -> None:
    bench = Bench(blank())
    bench.clock.run(60)
    assert bench.clock.due == [] and bench.ticks == 0
    bench.host.touch()
    bench.clock.run(1)
    assert bench.clock.due == []


def test_a_call_without_a_change_repaints_nothing() -> None:
    bench = Bench(blank())
    bench.feed.mark()
    bench.clock.run(1)
    assert len(bench.told) == 1


def test_seconds_tick_only_while_one_is_shown() -> None:
    bench = Bench(example())
    bench.clock.run(10 * TICK_SECONDS)
    assert bench.ticks == 10
    bench.host.change("steps", "extractions", running=(), extractions=())
    bench.clock.run(2)
    bench.ticks = 0
    bench.clock.run(60)
    assert bench.ticks == 0 and bench.clock.due == []


def test_a_countdown_ticks() -> None:
    bench = Bench(blank())
    bench.host.serve(live_server(state="reconnecting", retry_at=1))
    bench.clock.run(5)
    assert bench.ticks >= 4


def test_slower_out_of_sight_and_at_once_when_back() -> None:
    bench = Bench(example())
    bench.clock.run(2)
    bench.ticks = 0
    bench.feed.focus(front=False)
    before = len(bench.told)
    for _ in range(100):
        bench.host.touch("steps")
        bench.clock.run(0.1)
    assert len(bench.told) - before <= 10 / BLURRED_SECONDS + 1
    assert bench.ticks <= 10 / BLURRED_TICK_SECONDS + 1
    bench.host.touch("log")
    bench.feed.focus(front=True)
    assert "log" in bench.told[-1]


def test_another_session_is_a_change_of_everything() -> None:
    bench = Bench(example())
    bench.host.current = msgspec.structs.replace(example(), root="ses_other")
    bench.host.touch("status")
    bench.clock.run(1)
    assert bench.told[-1] == frozenset(PANES)


def test_stopped_it_calls_no_more() -> None:
    bench = Bench(example())
    bench.host.touch("steps")
    bench.feed.stop()
    bench.host.touch("steps")
    bench.clock.run(60)
    assert len(bench.told) == 1 and bench.ticks == 0 and bench.clock.due == []
