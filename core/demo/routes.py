"""The routes of OpenCode's HTTP interface that a ledger uses, over the state of a replay."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from core.demo.hub import Hub
from core.demo.own import OwnTurns
from core.demo.player import Player
from core.demo.sender import Sender
from core.demo.state import Info
from core.loopback import Refusal, Request, Response

VERSION: Final = "1.18.33"
"""Of the OpenCode that was recorded."""
_AGENTS: Final = (
    ("build", "primary", False),
    ("plan", "primary", False),
    ("general", "subagent", False),
    ("explore", "subagent", False),
    ("title", "primary", True),
    ("summary", "primary", True),
    ("compaction", "primary", True),
)
"""Of a stock install: name, mode, hidden."""


class Routes:
    """Answers requests, with the statuses of OpenCode 1.18.33.

    Attributes:
        toasts: bodies of the messages a client wanted shown.
        patches: parts that clients changed, as they sent them.
    """

    def __init__(self, sender: Sender, own: OwnTurns, player: Player) -> None:
        self.toasts: list[Info] = []
        self.patches: list[Info] = []
        self._sender = sender
        self._state = sender.state
        self._own = own
        self._player = player

    async def answer(self, request: Request) -> Response:
        """The answer to any request; raises Refusal."""
        segments = tuple(request.path.strip("/").split("/"))
        for method, pattern, answer in _ROUTES:
            if method == request.method and len(pattern) == len(segments):
                ids = [part for part, wanted in zip(segments, pattern, strict=True) if wanted == "*"]
                if all(wanted in ("*", part) for part, wanted in zip(segments, pattern, strict=True)):
                    return await answer(self, request, *ids)
        return _not_found(f"no route {request.method} {request.path}")

    async def _health(self, request: Request) -> Response:
        return Response.of({"healthy": True, "version": VERSION})

    async def _events(self, request: Request) -> Response:
        hub = self._sender.hub if self._concerns(request) else Hub()
        stream = hub.listen(self._greeting("server.connected"), lambda: self._greeting("server.heartbeat"))
        return Response(body=stream, content_type="text/event-stream", headers=(("cache-control", "no-cache"),))

    def _concerns(self, request: Request) -> bool:
        return self._own.directory in ("", request.query.get("directory", self._own.directory))

    async def _sessions(self, request: Request) -> Response:
        found = self._state.listed(roots=request.query.get("roots") == "true") if self._concerns(request) else []
        return Response.of(found[: _number(request, "limit") or 100])

    async def _statuses(self, request: Request) -> Response:
        return Response.of(self._state.statuses)

    async def _session(self, request: Request, session: str) -> Response:
        return Response.of(self._known(session))

    async def _children(self, request: Request, session: str) -> Response:
        self._known(session)
        return Response.of(self._state.children(session))

    async def _messages(self, request: Request, session: str) -> Response:
        self._known(session)
        page, before = self._state.page(session, _number(request, "limit"), request.query.get("before", ""))
        headers = (("x-next-cursor", before),) if before else ()
        return Response(body=msgspec.json.encode(page), headers=headers)

    async def _message(self, request: Request, session: str, message: str) -> Response:
        self._known(session)
        if message not in self._state.messages.get(session, {}):
            return _not_found(f"Message not found: {message}")
        self._player.reads(message)
        return Response.of(self._state.whole(session, message))

    async def _agents(self, request: Request) -> Response:
        return Response.of([{"name": name, "mode": mode, "hidden": hidden} for name, mode, hidden in _AGENTS])

    async def _config(self, request: Request) -> Response:
        model = "/".join(self._own.model)
        return Response.of({"model": model, "small_model": model})

    async def _providers(self, request: Request) -> Response:
        provider, model = self._own.model
        known = {"id": provider, "name": provider, "models": {model: {"id": model, "name": model}}}
        return Response.of({"providers": [known], "default": {provider: model}})

    async def _open(self, request: Request) -> Response:
        body = _object(request)
        parent = body.get("parentID")
        return Response.of(self._own.open(str(body.get("title") or "New session"), str(parent) if parent else None))

    async def _prompt(self, request: Request, session: str) -> Response:
        self._known(session)
        body = _object(request)
        agent = body.get("agent")
        if agent is not None and agent not in [name for name, _, _ in _AGENTS]:
            error = {"name": "UnknownError", "data": {"message": f'Agent not found: "{agent}".'}}
            self._sender.emit("session.error", sessionID=session, error=error)
            return Response.of(error, 500)
        return Response.of(await self._own.answer(session, body))

    async def _delete(self, request: Request, session: str) -> Response:
        self._known(session)
        self._own.abort(session)
        for info in (*self._state.children(session), self._known(session)):
            self._sender.emit("session.deleted", sessionID=info["id"], info=info)
        return Response.of(True)

    async def _abort(self, request: Request, session: str) -> Response:
        self._own.abort(session)
        return Response.of(True)

    async def _patch(self, request: Request, session: str, message: str, part: str) -> Response:
        body = _object(request)
        if self._state.part(session, message, part) is None:
            return _not_found(f"Part not found: {part}")
        if (body.get("id"), body.get("messageID"), body.get("sessionID")) != (part, message, session):
            raise Refusal(400, "the part is not the one in the address")
        self.patches.append(body)
        self._player.patched(message, body)
        self._sender.emit("message.part.updated", sessionID=session, part=body, time=self._sender.clock())
        return Response.of(body)

    async def _toast(self, request: Request) -> Response:
        self.toasts.append(_object(request))
        return Response.of(True)

    def _known(self, session: str) -> Info:
        info = self._state.sessions.get(session)
        if info is None:
            raise Refusal(404, f"Session not found: {session}")
        return info

    def _greeting(self, kind: str) -> bytes:
        return msgspec.json.encode(self._sender.event(kind))


_Answer = Callable[..., Awaitable[Response]]
_ROUTES: Final[tuple[tuple[str, tuple[str, ...], _Answer], ...]] = (
    ("GET", ("global", "health"), Routes._health),
    ("GET", ("event",), Routes._events),
    ("GET", ("session",), Routes._sessions),
    ("POST", ("session",), Routes._open),
    ("GET", ("session", "status"), Routes._statuses),
    ("GET", ("session", "*"), Routes._session),
    ("DELETE", ("session", "*"), Routes._delete),
    ("POST", ("session", "*", "abort"), Routes._abort),
    ("GET", ("session", "*", "children"), Routes._children),
    ("GET", ("session", "*", "message"), Routes._messages),
    ("POST", ("session", "*", "message"), Routes._prompt),
    ("GET", ("session", "*", "message", "*"), Routes._message),
    ("PATCH", ("session", "*", "message", "*", "part", "*"), Routes._patch),
    ("GET", ("agent",), Routes._agents),
    ("GET", ("config",), Routes._config),
    ("GET", ("config", "providers"), Routes._providers),
    ("POST", ("tui", "show-toast"), Routes._toast),
)


def _not_found(message: str) -> Response:
    return Response.of({"name": "NotFoundError", "data": {"message": message}}, 404)


def _object(request: Request) -> dict[str, Any]:
    body = request.json()
    if not isinstance(body, dict):
        raise Refusal(400, "the body is not a JSON object")
    return body


def _number(request: Request, name: str) -> int | None:
    value = request.query.get(name, "")
    return int(value) if value.isdecimal() and len(value) < 10 else None
