"""What is to be done with a session, and how far a run is."""

from __future__ import annotations

import pytest

from core.history.fates import Fate, Progress, Step, advanced, step
from core.history.state import Record, Spent, State


def record(state: State, digest: str = "d") -> Record:
    return Record(id="s", state=state, digest=digest, bounds="{}")


def test_what_was_never_begun_is_asked() -> None:
    assert step(None, "d") is Step.ASK


@pytest.mark.parametrize("state", [State.RUNNING, State.FAILED])
@pytest.mark.parametrize("digest", ["d", "other"])
def test_what_has_no_answer_is_asked(state: State, digest: str) -> None:
    assert step(record(state), digest) is Step.ASK


@pytest.mark.parametrize("state", [State.DONE, State.JUNK, State.ERROR])
def test_what_is_finished_is_asked_only_when_that_is_wanted(state: State) -> None:
    assert step(record(state), "d", redo_stale=True) is Step.KEEP
    assert step(record(state), "other") is Step.STALE
    assert step(record(state), "other", redo_stale=True) is Step.ASK
    assert step(record(state), "d", redo_errors=True) is (Step.ASK if state is State.ERROR else Step.KEEP)


def test_time_left_goes_by_what_was_asked() -> None:
    progress = Progress(done=0, total=11, fates={})
    progress = advanced(progress, Fate.KEPT, None, 0)
    assert (progress.done, progress.seconds_left) == (1, None)
    progress = advanced(progress, Fate.NOTE, Spent(requests=1, cost=0.5), 2_000)
    assert progress.seconds_left == 18.0
    progress = advanced(progress, Fate.JUNK, Spent(requests=2, cost=0.25), 3_000)
    assert progress.seconds_left == 12.0
    assert (progress.asked, progress.spent.requests, progress.spent.cost) == (2, 3, 0.75)
    assert (progress.count(Fate.NOTE), progress.count(Fate.STALE)) == (1, 0)
