from __future__ import annotations

from collections.abc import Callable

import pytest

from core.host.toasts import PAUSE_MS, WATCHING, Toasts
from core.ledger.effects import NoteReport, Report, TouchReport
from core.views import ServerView

STOP = "ledger: told the agent to stop looking at {}"


class Stage:
    """A host on which nothing but server and session can be seen, a clock that is moved by hand, and what was said."""

    def __init__(self) -> None:
        self.read_only = False
        self.server = ServerView(state="live")
        self.selected: str | None = None
        self.now = 1_000_000
        self.said: list[tuple[str, str]] = []
        self.planned: list[tuple[float, Callable[[], None]]] = []
        self.toasts = Toasts(
            self,
            lambda root, text: self.said.append((root, text)),
            lambda: self.now,
            lambda *call: self.planned.append(call),
        )
        self.toasts.begin()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        self.change = listener
        return lambda: None

    def read_reports(self, reader: Callable[[Report], None]) -> None:
        self.report = reader

    def stop(self, topic: str = "file-format:model.ckpt", call: str = "call_1", session: str = "ses_1") -> None:
        """The agent looks once too often at a topic, and the note that says so is on its way."""
        self.touch({topic: 4}, call, session)
        self.note(call, session)

    def touch(self, counts: dict[str, int], call: str = "call_1", session: str = "ses_1") -> None:
        told = {"names": (), "topics": tuple(counts), "counts": counts, "action": "stop"}
        self.report(TouchReport(t=self.now, session=session, origin=session, call=call, **told))  # type: ignore[arg-type]

    def note(self, call: str = "call_1", session: str = "ses_1", arrived: str = "next", kind: str = "stop") -> None:
        told = {"findings": (), "text": "STOP", "delivery": "hook", "arrived": arrived, "kind": kind}
        self.report(NoteReport(t=self.now, session=session, call=call, **told))  # type: ignore[arg-type]

    def wait(self) -> None:
        """The pause passes, and what was planned for its end is done."""
        self.now += PAUSE_MS
        planned, self.planned = self.planned, []
        for _, call in planned:
            call()


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_a_session_is_greeted_once(stage: Stage) -> None:
    stage.change()
    assert stage.said == []
    stage.selected = "ses_1"
    stage.change()
    stage.change()
    stage.wait()
    stage.change()
    assert stage.said == [("ses_1", WATCHING)]


def test_each_session_is_greeted_but_not_twice_within_the_pause(stage: Stage) -> None:
    for root in ("ses_1", "ses_2"):
        stage.selected = root
        stage.change()
    assert stage.said == [("ses_1", WATCHING)]
    stage.wait()
    stage.selected = "ses_1"
    stage.change()
    assert stage.said == [("ses_1", WATCHING), ("ses_2", WATCHING)]


def test_a_stop_is_said_once_per_session_and_topic(stage: Stage) -> None:
    for n, (session, topic) in enumerate([("ses_1", "a:x.bin"), ("ses_1", "a:x.bin"), ("ses_1", "y"), ("ses_2", "y")]):
        stage.stop(topic, f"call_{n}", session)
        stage.wait()
    assert stage.said == [("ses_1", STOP.format("x.bin")), ("ses_1", STOP.format("y")), ("ses_2", STOP.format("y"))]


def test_what_comes_within_the_pause_is_said_at_its_end_though_nothing_changes(stage: Stage) -> None:
    stage.selected = "ses_1"
    stage.change()
    stage.now += 2_000
    stage.stop()
    stage.change()
    assert stage.said == [("ses_1", WATCHING)]
    assert [seconds for seconds, _ in stage.planned] == [3.0]
    stage.wait()
    assert stage.said[1:] == [("ses_1", STOP.format("model.ckpt"))]
    assert stage.planned == []


def test_of_many_stops_the_last_three_are_said_each_after_a_pause(stage: Stage) -> None:
    for n in range(6):
        stage.stop(f"file:{n}", f"call_{n}")
    said = [text for _, text in stage.said]
    assert said == [STOP.format(0)]
    for _ in range(5):
        stage.wait()
    assert [text for _, text in stage.said] == [STOP.format(n) for n in (0, 3, 4, 5)]


def test_the_topic_that_was_looked_at_most_is_named(stage: Stage) -> None:
    stage.touch({"file:a.bin": 2, "file:b.bin": 5})
    stage.note()
    assert stage.said == [("ses_1", STOP.format("b.bin"))]


@pytest.mark.parametrize(("arrived", "kind"), [("failed", "stop"), ("next", "gentle"), ("next", "manual")])
def test_other_notes_are_not_worth_a_toast(stage: Stage, arrived: str, kind: str) -> None:
    stage.touch({"file:a.bin": 4})
    stage.note(arrived=arrived, kind=kind)
    assert stage.said == []


def test_nothing_is_said_while_only_watching_or_without_a_server(stage: Stage) -> None:
    stage.selected = "ses_1"
    stage.read_only = True
    stage.change()
    stage.stop()
    stage.read_only, stage.server = False, ServerView(state="reconnecting")
    stage.change()
    assert (stage.said, stage.planned) == ([], [])
    stage.server = ServerView(state="live")
    stage.change()
    assert stage.said == [("ses_1", STOP.format("model.ckpt"))]


def test_a_clock_set_back_does_not_silence_it(stage: Stage) -> None:
    stage.selected = "ses_1"
    stage.change()
    stage.now -= 3_600_000
    stage.stop()
    assert stage.said[1:] == [("ses_1", STOP.format("model.ckpt"))]
