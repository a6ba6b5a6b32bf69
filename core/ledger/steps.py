"""Steps of an agent: which calls belong together."""

from __future__ import annotations

from typing import Final

import msgspec

from core.ledger.observations import StepFinished, Tokens, ToolFinished
from core.text import mask_middle

KEPT_CHARS: Final = 4_000
"""Characters kept of the head, and as many of the tail, of each command and output."""

_MAX_WAITED: Final = 200


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A finished tool call as it is kept: enough for the prompt and for a finding's receipt."""

    call: str
    tool: str
    ok: bool
    summary: str
    command: str
    path: str
    output: str
    """Head and tail at most; see :func:`core.text.mask_middle`."""
    exit: int | None
    ended: int
    ms: int
    """How long the call ran, without the time it waited for a person's answer."""
    part: str = ""
    """Id of its part: some models number their calls from 0 again."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A model step with its calls."""

    n: int
    """1 for the first completed step of the root session and its sub-agents; 0 for one from before attaching."""
    origin: str
    message: str
    part: str
    t: int
    calls: tuple[Call, ...]
    tokens: Tokens
    cost: float
    earlier: bool = False
    """True for a step from before the ledger attached."""
    broken_off: bool = False
    """True for what an interrupted step left: no completed step, so it counts for nothing; `n` is that of the last one
    completed before it."""


class OpenSteps:
    """Calls of steps that have not ended, by agent session and message."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], list[Call]] = {}
        self._earlier: set[tuple[str, str]] = set()
        self._waited: dict[str, int] = {}

    def waited(self, call: str, ms: int) -> None:
        """A call that has not ended waited for a person so long: that is no part of its work."""
        if len(self._waited) >= _MAX_WAITED:
            del self._waited[next(iter(self._waited))]
        self._waited[call] = self._waited.get(call, 0) + max(0, ms)

    def add(self, done: ToolFinished) -> None:
        """Keep a finished call until its step ends."""
        waited = self._waited.pop(done.call, 0)
        call = Call(
            call=done.call,
            tool=done.tool,
            ok=done.ok,
            summary=done.summary,
            command=mask_middle(done.command, KEPT_CHARS, KEPT_CHARS),
            path=done.path,
            output=mask_middle(done.output, KEPT_CHARS, KEPT_CHARS),
            exit=done.exit,
            ended=done.ended,
            part=done.part,
            ms=max(0, done.ended - done.started - waited) if done.started else 0,
        )
        key = (done.session, done.message)
        self._calls.setdefault(key, []).append(call)
        if done.backfill:
            self._earlier.add(key)

    def close(self, end: StepFinished, n: int, before: tuple[Call, ...] = ()) -> Step:
        """The step that `end` completes, with number `n`; `before` are calls of it that seemed to be broken off."""
        key = (end.session, end.message)
        self._earlier.discard(key)
        return Step(
            n=n,
            origin=end.session,
            message=end.message,
            part=end.part,
            t=end.t,
            calls=(*before, *self._calls.pop(key, ())),
            tokens=end.tokens,
            cost=end.cost,
            earlier=end.backfill,
        )

    def break_off(self, session: str, n: int, t: int) -> list[Step]:
        """What an agent session left unfinished when it went idle at `t`, after `n` completed steps.

        Steps of which no call succeeded are dropped: they hold little more than the words of the interruption.
        """
        left = [(key, tuple(self._calls.pop(key)), key in self._earlier) for key in self._of(session)]
        self._earlier = {key for key in self._earlier if key[0] != session}
        return [
            Step(
                n=0 if earlier else n,
                origin=session,
                message=key[1],
                part=f"broken_off:{calls[0].call}",
                t=t,
                calls=calls,
                tokens=Tokens(),
                cost=0.0,
                earlier=earlier,
                broken_off=True,
            )
            for key, calls, earlier in left
            if any(call.ok for call in calls)
        ]

    def forget(self, session: str) -> None:
        """Drop what an agent session left unfinished: it is gone."""
        for key in self._of(session):
            del self._calls[key]
        self._earlier = {key for key in self._earlier if key[0] != session}

    def _of(self, session: str) -> list[tuple[str, str]]:
        return [key for key in self._calls if key[0] == session]
