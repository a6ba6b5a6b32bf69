"""The ledger's side of the plugin inside OpenCode: a loopback server, asked before an output reaches the model."""

from __future__ import annotations

import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final, Protocol, TypeVar

import msgspec

from core import rendezvous
from core.errors import FileError
from core.host.hosting import seat
from core.loopback.messages import Limits, Refusal, Request, Response
from core.loopback.server import LoopbackServer

_log = logging.getLogger(__name__)

LIMITS: Final = Limits(body_bytes=1 << 20, header_seconds=5.0, body_seconds=5.0, handlers=64, connections=256)

T = TypeVar("T")

Route = Callable[[Request], Awaitable[Response]]
"""Answers the requests to one path."""


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
    last_ms: float | None = None
    """How long the plugin waited for its previous answer, where no :class:`Ack` told it."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What to append; nothing when `append` is empty."""

    append: str = ""
    note: str = ""


class Ack(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the plugin appended a note before the output went on; `ms`: how long it waited for the answer.

    Without a `note` the answer had not come by the deadline.
    """

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


class HookServer:
    """Listens for the plugins of one project and announces itself to them.

    Args:
        directory: the project.
        deadline_ms: how long a plugin waits for an answer.
        version: of this ledger.
        ears: decides.
        routes: further paths, behind the same checks.
    """

    def __init__(
        self, directory: Path, deadline_ms: int, version: str, ears: Ears, routes: Mapping[str, Route] | None = None
    ) -> None:
        self._directory = directory
        self._payload = {"deadline_ms": deadline_ms, "version": version, "seat": seat()}
        self._ears = ears
        self._routes = routes or {}
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
        elif (route := self._routes.get(request.path)) is not None:
            return await route(request)
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
