"""Steps of an agent: which calls belong together."""

from __future__ import annotations

from typing import Final

import msgspec

from core.ledger.observations import StepFinished, Tokens, ToolFinished
from core.text import clip_middle

KEPT_CHARS: Final = 4_000
"""Characters kept of the head, and as many of the tail, of each command and output."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A finished tool call as it is kept: enough for the prompt and for a finding's receipt."""

    call: str
    tool: str
    ok: bool
    summary: str
    command: str
    path: str
    output: str
    """Head and tail at most; see :func:`core.text.clip_middle`."""
    exit: int | None
    ended: int
    ms: int
    """How long the call ran."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A completed model step with its calls."""

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


class OpenSteps:
    """Calls of steps that have not ended, by agent session and message."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], list[Call]] = {}

    def add(self, done: ToolFinished) -> None:
        """Keep a finished call until its step ends."""
        call = Call(
            call=done.call,
            tool=done.tool,
            ok=done.ok,
            summary=done.summary,
            command=clip_middle(done.command, KEPT_CHARS, KEPT_CHARS),
            path=done.path,
            output=clip_middle(done.output, KEPT_CHARS, KEPT_CHARS),
            exit=done.exit,
            ended=done.ended,
            ms=max(0, done.ended - done.started) if done.started else 0,
        )
        self._calls.setdefault((done.session, done.message), []).append(call)

    def close(self, end: StepFinished, n: int) -> Step:
        """The step that `end` completes, with number `n`."""
        return Step(
            n=n,
            origin=end.session,
            message=end.message,
            part=end.part,
            t=end.t,
            calls=tuple(self._calls.pop((end.session, end.message), ())),
            tokens=end.tokens,
            cost=end.cost,
            earlier=end.backfill,
        )

    def forget(self, session: str) -> None:
        """Drop what an agent session left unfinished (it went idle or is gone)."""
        for key in [key for key in self._calls if key[0] == session]:
            del self._calls[key]
