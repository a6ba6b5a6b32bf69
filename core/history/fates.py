"""What is to be done with a session, what became of it, and how far a run is. Pure."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from core.history.state import FINISHED, Record, Spent, State


class Fate(StrEnum):
    """What a run has done with one session."""

    NOTE = "note"
    JUNK = "junk"
    ERROR = "error"
    """Its answers could not be used."""
    FAILED = "failed"
    """It got no answer."""
    KEPT = "kept"
    """It was finished before, and has not changed since."""
    STALE = "stale"
    """It was finished before, and has changed since."""
    GONE = "gone"
    """It was deleted after the run began."""


class Step(StrEnum):
    """What is to be done with a session."""

    ASK = "ask"
    KEEP = "keep"
    STALE = "stale"


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is.

    Attributes:
        done: sessions it is through with.
        total: all of them.
        fates: how many of those done met which fate.
        asked: how many of those done the model was asked about.
        spent: what the answers of this run have cost.
        seconds_left: estimated from the sessions asked about so far, None before the first; an upper bound, as some of
            those that are left may have been finished before.
    """

    done: int
    total: int
    fates: dict[Fate, int]
    asked: int = 0
    spent: Spent = Spent()
    seconds_left: float | None = None

    def count(self, fate: Fate) -> int:
        """How many met that fate."""
        return self.fates.get(fate, 0)


def step(record: Record | None, digest: str, *, redo_stale: bool = False, redo_errors: bool = False) -> Step:
    """What is to be done with a session whose input has this hash now, going by what became of it before."""
    if record is None or record.state not in FINISHED:
        return Step.ASK
    if record.digest != digest:
        return Step.ASK if redo_stale else Step.STALE
    return Step.ASK if redo_errors and record.state is State.ERROR else Step.KEEP


def advanced(before: Progress, fate: Fate, spent: Spent | None, elapsed_ms: int) -> Progress:
    """The progress after one more session.

    Args:
        before: the progress until then.
        fate: what became of the session.
        spent: on it; None when the model was not asked.
        elapsed_ms: since the model was first asked.
    """
    done, asked = before.done + 1, before.asked + (spent is not None)
    return Progress(
        done=done,
        total=before.total,
        fates={**before.fates, fate: before.count(fate) + 1},
        asked=asked,
        spent=added(before.spent, spent or Spent()),
        seconds_left=elapsed_ms / asked * (before.total - done) / 1000 if asked else None,
    )


def added(one: Spent, two: Spent) -> Spent:
    """The sum of both."""
    first, second = msgspec.structs.asdict(one.tokens), msgspec.structs.asdict(two.tokens)
    return Spent(
        requests=one.requests + two.requests,
        tokens=type(one.tokens)(**{name: count + second[name] for name, count in first.items()}),
        cost=one.cost + two.cost,
        ms=one.ms + two.ms,
    )
