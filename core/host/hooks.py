"""The ledger's side of the plugin inside OpenCode: a loopback server, asked before an output reaches the model."""

from __future__ import annotations

import hmac
import logging
import secrets
from collections import deque
from pathlib import Path
from typing import Final, Protocol, TypeVar

import msgspec

from core import rendezvous
from core.errors import FileError
from core.loopback.messages import Limits, Refusal, Request, Response
from core.loopback.server import LoopbackServer

_log = logging.getLogger(__name__)

LIMITS: Final = Limits(body_bytes=1 << 20, header_seconds=5.0, body_seconds=5.0, handlers=64, connections=256)
REMEMBERED: Final = 500
"""Round trips of which the percentiles are made."""

T = TypeVar("T")


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """A plugin found this ledger."""

    pid: int = 0
    directory: str = ""
    opencode: str = ""
    shim: str = ""


class After(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call returned; its output has not reached the model yet. Times in ms since the epoch."""

    session: str
    call: str
    tool: str
    message: str = ""
    part: str = ""
    args: msgspec.Raw = msgspec.Raw(b"{}")
    title: str = ""
    output: str = ""
    exit: int | None = None
    started: int = 0
    ended: int = 0


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What to append; nothing when `append` is empty."""

    append: str = ""
    note: str = ""


class Ack(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the plugin appended a note before the output went on; `ms`: how long the answer took."""

    session: str
    call: str
    note: str = ""
    appended: bool = False
    ms: float = 0.0


class Ears(Protocol):
    """Who decides."""

    def hello(self, told: Hello) -> None:
        """A plugin found this ledger."""
        ...

    def after(self, told: After) -> Answer:
        """A call returned: what is to be appended."""
        ...

    def ack(self, told: Ack) -> None:
        """What became of an answer."""
        ...


class RoundTrips:
    """How long the plugin waited for its answers, as it measured it."""

    def __init__(self) -> None:
        self._ms: deque[float] = deque(maxlen=REMEMBERED)

    def add(self, ms: float) -> None:
        """One more."""
        if 0 <= ms < 3_600_000:
            self._ms.append(ms)

    def percentile(self, share: float) -> float | None:
        """In ms; None before the first."""
        ordered = sorted(self._ms)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else None


class HookServer:
    """Listens for the plugins of one project and announces itself to them.

    Args:
        directory: the project.
        deadline_ms: how long a plugin waits for an answer.
        version: of this ledger.
        ears: decides.
    """

    def __init__(self, directory: Path, deadline_ms: int, version: str, ears: Ears) -> None:
        self._directory = directory
        self._payload = {"deadline_ms": deadline_ms, "version": version}
        self._ears = ears
        self._token = secrets.token_hex(32)
        self._server = LoopbackServer(self._handle, limits=LIMITS)
        self._announced: rendezvous.Announcement | None = None

    async def start(self) -> None:
        """Listen, then announce.

        Raises:
            FileError: it cannot be announced; then it does not listen either.
        """
        await self._server.start()
        payload = {"port": self._server.port, "token": self._token, **self._payload}
        try:
            self._announced = rendezvous.announce("ledger", self._directory, payload)
        except FileError:
            await self._server.stop()
            raise

    async def stop(self) -> None:
        """Take the announcement away and close."""
        if self._announced is not None:
            self._announced.remove()
            self._announced = None
        await self._server.stop()

    async def _handle(self, request: Request) -> Response:
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
            raise Refusal(401, "the token is missing or wrong")
        if request.method != "POST":
            raise Refusal(405, "only POST is answered")
        if request.path == "/v1/after":
            return _json(self._ears.after(_read(request.body, After)))
        if request.path == "/v1/ack":
            self._ears.ack(_read(request.body, Ack))
        elif request.path == "/v1/hello":
            self._ears.hello(_read(request.body, Hello))
        else:
            raise Refusal(404, "there is nothing here")
        return Response.of({"ok": True})


def _json(answer: Answer) -> Response:
    return Response(body=msgspec.json.encode(answer))


def _read(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Refusal(400, "the body is not what it should be") from error
