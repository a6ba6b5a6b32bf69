"""What a second ledger on the project may read of this one: its views, the calls of a finding, what it would hand over.

The requests come through the hook server, behind its token and its checks. A viewer waits in one of a few places until
something has changed, so the places of the plugin's questions are never taken by viewers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from core.host.desk import Desk
from core.host.desks import Desks
from core.host.hooks import Route
from core.host.sending import Places, Sent
from core.ledger.handover import Handover, handover_of
from core.ledger.steps import Step
from core.loopback.messages import Refusal, Request, Response
from core.views import Pane, SessionView

VIEWERS: Final = 8
"""Viewers at the same time; a further one is told 429."""
READERS: Final = 4
"""Other requests at the same time."""
MAX_WAIT_MS: Final = 30_000
MAX_BYTES: Final = 16 << 20
"""Largest answer, in bytes."""
STEP_CHARS: Final = 2 << 20
"""Characters of commands and outputs in one answer; older steps are left out."""
PACE_SECONDS: Final = 0.1
"""Pause between two looks whether something has changed."""

_PANES: Final[tuple[Pane, ...]] = ("status", "steps", "findings", "meters", "extractions", "log")

T = TypeVar("T")


class ViewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a viewer knows already.

    Attributes:
        session: root session on its screen; empty: none.
        revision: that of the last answer for this session; -1: none yet.
        last_step: part id of the newest step it has.
        wait_ms: how long to wait for a change, at most :data:`MAX_WAIT_MS`.
    """

    session: str = ""
    revision: int = -1
    last_step: str = ""
    wait_ms: int = 0


class Count(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Number of findings of a root session, and a number that changes with them."""

    findings: int
    revision: int


class ViewAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one root session.

    Attributes:
        revision: differs from the one asked with when something has changed.
        view: None: nothing has changed, or the session is not known here.
        resumed: the steps in `view` follow upon `last_step`; else they are the newest ones.
        handover: see :mod:`core.ledger.handover`.
        counts: of all root sessions that had findings.
    """

    revision: int
    view: SessionView | None = None
    resumed: bool = False
    handover: Handover | None = None
    counts: dict[str, Count] = {}


class ReceiptRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of which finding are wanted."""

    session: str
    finding: str


class HandoverRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be handed over of which root session."""

    session: str


class ReadingPort:
    """Answers viewers from what is in memory.

    Args:
        desks: the root sessions.
        subscribe: calls a listener after any change; its result ends that.
    """

    def __init__(self, desks: Desks, subscribe: Callable[[Callable[[], None]], Callable[[], None]]) -> None:
        self._desks = desks
        self._subscribe = subscribe
        self._viewers = Places(VIEWERS)
        self._readers = Places(READERS)

    @property
    def routes(self) -> Mapping[str, Route]:
        """Handler by path."""
        return {"/v1/view": self._view, "/v1/receipt": self._receipt, "/v1/handover": self._handover}

    async def _view(self, request: Request) -> Response:
        asked = _read(request.body, ViewRequest)
        with self._viewers.taken() as place:
            await self._changed(asked)
            return Response(body=Sent(_encoded(self._answer(asked)), place))

    async def _receipt(self, request: Request) -> Response:
        asked = _read(request.body, ReceiptRequest)
        with self._readers.taken() as place:
            found = self._known(asked.session).receipt(asked.finding)
            if found is None:
                raise Refusal(404, "there is no such finding")
            return Response(body=Sent(_encoded(found), place))

    async def _handover(self, request: Request) -> Response:
        asked = _read(request.body, HandoverRequest)
        with self._readers.taken() as place:
            return Response(body=Sent(_encoded(handover_of(self._known(asked.session).engine)), place))

    def _known(self, session: str) -> Desk:
        desk = self._desks.get(session)
        if desk is None:
            raise Refusal(404, "there is no such session")
        return desk

    async def _changed(self, asked: ViewRequest) -> None:
        """Wait until there is something new, or the viewer's time is over."""
        change = asyncio.Event()
        unsubscribe = self._subscribe(change.set)
        try:
            async with asyncio.timeout(min(max(asked.wait_ms, 0), MAX_WAIT_MS) / 1000):
                while self._revision(asked.session) == asked.revision:
                    change.clear()
                    await change.wait()
                    await asyncio.sleep(PACE_SECONDS)
        except TimeoutError:
            pass
        finally:
            unsubscribe()

    def _revision(self, session: str) -> int:
        """Of the session and of the findings of all; the parts of the sum only grow."""
        findings = sum(desk.revision("findings") for desk in self._desks)
        desk = self._desks.get(session)
        return findings + (1 + sum(map(desk.revision, _PANES)) if desk is not None else 0)

    def _answer(self, asked: ViewRequest) -> ViewAnswer:
        revision = self._revision(asked.session)
        if revision == asked.revision:
            return ViewAnswer(revision=revision)
        counts = {
            desk.engine.root: Count(findings=len(desk.engine.state.ledger), revision=desk.revision("findings"))
            for desk in self._desks
            if desk.revision("findings") and desk.engine.session_state != "deleted"
        }
        desk = self._desks.get(asked.session)
        if desk is None:
            return ViewAnswer(revision=revision, counts=counts)
        view = desk.view()
        steps, resumed = tail(tuple(view.steps), asked.last_step)
        view = msgspec.structs.replace(view, steps=steps, log=tuple(view.log))
        handover = handover_of(desk.engine)
        return ViewAnswer(revision=revision, view=view, resumed=resumed, handover=handover, counts=counts)


def tail(steps: tuple[Step, ...], known: str) -> tuple[tuple[Step, ...], bool]:
    """The steps after the one with part id `known`, and True; the newest ones, and False, where that is not possible.

    There are never more than fit into :data:`STEP_CHARS`.
    """
    at = next((n for n in reversed(range(len(steps))) if steps[n].part == known), None)
    first = len(steps) - _fitting(reversed(steps))
    if at is not None and first <= at + 1:
        return steps[at + 1 :], True
    return steps[first:], False


def _fitting(steps: Iterable[Step]) -> int:
    """How many of the steps fit into one answer."""
    room, count = STEP_CHARS, 0
    for count, step in enumerate(steps, 1):
        room -= sum(len(call.command) + len(call.output) + 500 for call in step.calls)
        if room < 0:
            return count - 1
    return count


def _encoded(answer: Any) -> bytes:
    try:
        body = msgspec.json.encode(answer)
    except UnicodeEncodeError as error:
        raise Refusal(500, "a text cannot be sent") from error
    if len(body) > MAX_BYTES:
        raise Refusal(507, f"the answer is larger than {MAX_BYTES >> 20} MiB")
    return body


def _read(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Refusal(400, "the body is not what it should be") from error
