"""The meter: how often an agent session looked at a topic that is already known, and what follows from it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal

import msgspec

Action = Literal["gentle", "quiet", "stop"]
Scope = Literal["topic", "session"]

_ALL: Final = ""
"""The counter's key in `session` scope; no topic is empty."""


class Meter(msgspec.Struct):
    """Counter and memory of one topic in one agent session.

    Attributes:
        count: touches since the last reset (in `session` scope read it through Meters.count).
        shown_step: step at which the facts were put in front of the agent; 0: not since the last reset.
        since_shown: touches after that, as far as the agent had the facts before it when it made them.
        first_step: step of the first touch since the last reset.
        last: what the last touch led to; None before the first.
        last_message: message (that is, step) of the last touch.
        blind_message: message that was under way already when the note with the facts arrived.
    """

    topic: str
    origin: str
    count: int = 0
    shown_step: int = 0
    since_shown: int = 0
    first_step: int = 0
    last: Action | None = None
    last_message: str = ""
    blind_message: str = ""


class Decision(msgspec.Struct, frozen=True):
    """What one call leads to: the action, the topics whose facts it carries, and all counters touched."""

    action: Action
    carried: tuple[Meter, ...]
    counts: dict[str, int]


class Meters:
    """All meters of one ledger.

    Args:
        threshold: touch number from which on the hard stop is shown, at least 1; 0: never.
        scope: `topic`: a counter per topic and agent session; `session`: one counter per agent session.
    """

    def __init__(self, threshold: int, scope: Scope = "topic") -> None:
        self.threshold = threshold
        self.scope = scope
        self.muted: set[str] = set()
        self._meters: dict[tuple[str, str], Meter] = {}
        self._shared: dict[str, Meter] = {}

    def __iter__(self) -> Iterator[Meter]:
        return iter(self._meters.values())

    def count(self, meter: Meter) -> int:
        """Touches that decide over this meter's escalation."""
        return self._deciding(meter).count

    def first_step(self, meter: Meter) -> int:
        """Step of the first of the touches of :meth:`count`."""
        return self._deciding(meter).first_step

    def look(
        self,
        topics: Sequence[str],
        origin: str,
        message: str,
        step: int,
        *,
        may_show: bool,
        may_stop: Collection[str] | None = None,
    ) -> Decision:
        """Count a call that touches `topics` (at most once per topic and step) and decide what follows.

        `message` identifies the step, `step` is its number; `may_show=False`: a note could not arrive or is not wanted.
        A hard stop is for topics in `may_stop` only (None: all).
        """
        if self.scope == "session":
            self._counted(self._shared.setdefault(origin, Meter(_ALL, origin)), message, step)
        due: dict[Action, list[Meter]] = {"stop": [], "gentle": [], "quiet": []}
        counted, counts = [], {}
        for topic in topics:
            meter = self._meters.setdefault((topic, origin), Meter(topic, origin))
            if self._counted(meter, message, step):
                counted.append(meter)
                firm = may_stop is None or topic in may_stop
                due[self._due(meter, firm) if may_show and topic not in self.muted else "quiet"].append(meter)
            counts[topic] = self.count(meter)
        action: Action = "stop" if due["stop"] else "gentle" if due["gentle"] else "quiet"
        carried = tuple(due[action]) if action != "quiet" else ()
        for meter in counted:
            meter.last = action if meter in carried else "quiet"
        return Decision(action, carried, counts)

    def shown(self, meters: Sequence[Meter], step: int) -> list[str]:
        """The facts of these meters are put in front of their agent at this step; gives the topics new to it."""
        new = [meter for meter in meters if not meter.shown_step]
        for meter in new:
            meter.shown_step, meter.since_shown = step, 0
        return [meter.topic for meter in new]

    def shown_by_hand(self, topic: str, origin: str, step: int) -> bool:
        """All facts of a topic are put in front of an agent because a person asked; True when it is the first time."""
        meter = self._meters.setdefault((topic, origin), Meter(topic, origin))
        is_new = not meter.shown_step
        meter.shown_step, meter.since_shown = step, 0
        return is_new

    def shown_late(self, topics: Sequence[str], origin: str, message: str) -> None:
        """A note arrived one request late: the look of `message`, which was under way, was made without it."""
        for topic in topics:
            meter = self._meters.get((topic, origin))
            if meter is not None and meter.shown_step:
                meter.shown_step += 1
                meter.blind_message = message
                meter.since_shown -= meter.since_shown > 0 and meter.last_message == message

    def not_shown(self, topics: Sequence[str], origin: str) -> None:
        """A note did not arrive after all: the next touch may show the facts again."""
        for topic in topics:
            meter = self._meters.get((topic, origin))
            if meter is not None:
                meter.shown_step = meter.since_shown = 0

    def show_again(self, topic: str) -> None:
        """The facts of a topic read differently now: the next touch may show them; the counts stay."""
        for meter in self._meters.values():
            if meter.topic == topic:
                meter.shown_step = meter.since_shown = 0

    def start_over(self, topic: str) -> None:
        """A topic's counters are set to zero in every agent session (in `session` scope the one counter is)."""
        self._shared.clear()
        for key in [key for key in self._meters if key[0] == topic]:
            del self._meters[key]

    def reset(self, origin: str | None = None) -> None:
        """Start over: a new task, a compaction or a revert; in one agent session or (None) in all."""
        if origin is None:
            self._meters.clear()
            self._shared.clear()
            return
        self._shared.pop(origin, None)
        for key in [key for key in self._meters if key[1] == origin]:
            del self._meters[key]

    def saved(self, topic: str | None = None) -> list[Meter]:
        """Copies of what :meth:`start_over` sets to zero (None: of all meters), for :meth:`restore`."""
        meters = [meter for meter in self._meters.values() if topic in (None, meter.topic)]
        return [msgspec.structs.replace(meter) for meter in (*meters, *self._shared.values())]

    def restore(self, meters: Sequence[Meter]) -> None:
        """Put saved meters back."""
        for meter in map(msgspec.structs.replace, meters):
            if meter.topic == _ALL:
                self._shared[meter.origin] = meter
            else:
                self._meters[(meter.topic, meter.origin)] = meter

    def _deciding(self, meter: Meter) -> Meter:
        """The counter that decides over this meter's escalation."""
        if self.scope == "topic":
            return meter
        return self._shared.get(meter.origin) or Meter(_ALL, meter.origin)

    def _counted(self, meter: Meter, message: str, step: int) -> bool:
        if meter.last_message == message:
            return False
        meter.last_message = message
        meter.count += 1
        meter.first_step = meter.first_step or step
        if meter.shown_step and message != meter.blind_message:
            meter.since_shown += 1
        return True

    def _due(self, meter: Meter, firm: bool) -> Action:
        if firm and self.threshold and self.count(meter) >= self.threshold:
            return "stop"
        return "quiet" if meter.shown_step else "gentle"
