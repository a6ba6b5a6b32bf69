"""OpenCode's HTTP interface as far as the ledger uses it: one method a route, answers as typed data.

Every method raises the errors of :mod:`core.errors` only: `Unreachable`, `Refused` (401, 403), `NotFound` (404),
`WrongServer`, and `ServerError` for the rest. Routes measured against OpenCode 1.18.33.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar
from urllib.parse import quote

import msgspec

from core.errors import NotFound, WrongServer
from core.opencode import catalogue, wire
from core.opencode.address import Address, Credentials, directory_query, is_loopback, parse_address
from core.opencode.catalogue import Agent, Config, Models
from core.opencode.wire import MessageWithParts, PermissionAsked, QuestionAsked, Session
from core.text import clean_line

if TYPE_CHECKING:
    import httpx

    from core.opencode.http import Answer, Http

DEFAULT_TIMEOUT_SECONDS = 30.0
DEFAULT_MAX_BODY_BYTES = 256 << 20
"""Four of the largest frames the default settings take: one message alone was seen with 57 MB."""

_T = TypeVar("_T")


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Some consecutive messages of a session, oldest first."""

    messages: list[MessageWithParts]
    before: str = ""
    """Cursor for the page of the messages before these; empty when there are none."""
    body: bytes = b""
    """The answer as it came: a JSON array of `{info, parts}`."""


class Client:
    """One OpenCode server, seen from one project directory. Makes no connection until it is first used."""

    def __init__(
        self,
        base_url: str,
        *,
        directory: str = "",
        auth: Credentials | None = None,
        token: str = "",
        vouch: Callable[[], bool] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        max_body_bytes: int = DEFAULT_MAX_BODY_BYTES,
    ) -> None:
        """Prepare to talk to `base_url`.

        Args:
            base_url: URL, `host:port` or port; a user name and password in it are used unless `auth` is given.
            directory: absolute path of the project all calls are about; empty: the one the server was started in.
            auth: sent with every request; None: nothing is sent.
            token: of a door that the plugin opened, sent with every request.
            vouch: asked before every request; when it says no, nothing is sent and the server counts as unreachable.
            transport: used instead of the network (tests).
            timeout: seconds without any byte after which an ordinary request fails.
            max_body_bytes: larger answers are refused with :class:`core.opencode.failures.TooLarge`.

        Raises:
            UsageError: `base_url` is no address.
        """
        address = parse_address(base_url)
        self._address: Address = _let_in(address, auth, token)
        self._directory = directory
        self._options: dict[str, Any] = {
            "transport": transport,
            "timeout": timeout,
            "max_body_bytes": max_body_bytes,
            "vouch": vouch,
        }
        self._http: Http | None = None

    @property
    def url(self) -> str:
        """Base address without credentials."""
        return self._address.url

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine, by its address."""
        return is_loopback(self._address)

    @property
    def directory(self) -> str:
        """The project all calls are about; empty: the server's own."""
        return self._directory

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections. The client may be used again afterwards."""
        http, self._http = self._http, None
        if http is not None:
            await http.close()

    # What is there

    async def health(self) -> str:
        """Version of the server. Raises `WrongServer` when something else than OpenCode answers."""
        try:
            answer = await self._call("GET", "/global/health")
        except NotFound as error:
            raise self._wrong("it has no /global/health") from error
        health = self._decoded(json.loads, answer.body)
        if not isinstance(health, dict) or not isinstance(health.get("version"), str) or "healthy" not in health:
            raise self._wrong("its /global/health says something else")
        return clean_line(health["version"], 40)

    async def sessions(self, *, roots: bool = False, limit: int = 1000) -> list[Session]:
        """Sessions of the directory, the last updated first; `roots`: without sub-agents' sessions.

        The server's own limit is 100.
        """
        query = {"limit": str(limit), **({"roots": "true"} if roots else {})}
        answer = await self._call("GET", "/session", query)
        return self._decoded(wire.decode_sessions, answer.body)

    async def session(self, session: str) -> Session:
        """A session by its id, of whatever directory."""
        answer = await self._call("GET", _session(session))
        return self._only(wire.decode_session, answer.body)

    async def raw_session(self, session: str) -> dict[str, Any]:
        """A session's info as plain data with all its fields."""
        answer = await self._call("GET", _session(session))
        found = self._decoded(json.loads, answer.body)
        if not isinstance(found, dict):
            raise self._wrong("an answer of it cannot be read")
        return found

    async def children(self, session: str) -> list[Session]:
        """Sub-agents' sessions directly below `session`."""
        answer = await self._call("GET", f"{_session(session)}/children")
        return self._decoded(wire.decode_sessions, answer.body)

    async def statuses(self) -> dict[str, str]:
        """`busy` or `retry` by session id; a session that is not in it is idle."""
        answer = await self._call("GET", "/session/status")
        return self._decoded(catalogue.decode_statuses, answer.body)

    async def messages(
        self, session: str, *, limit: int | None = None, before: str | None = None
    ) -> list[MessageWithParts]:
        """The last `limit` messages (None: all) of a session, oldest first; see :meth:`message_page`."""
        return (await self.message_page(session, limit=limit, before=before)).messages

    async def message_page(self, session: str, *, limit: int | None = None, before: str | None = None) -> Page:
        """The last `limit` messages before the cursor `before` (of another page; message ids are no cursors)."""
        query = {key: str(value) for key, value in (("limit", limit), ("before", before)) if value is not None}
        answer = await self._call("GET", f"{_session(session)}/message", query)
        messages = self._decoded(wire.decode_messages, answer.body)
        return Page(messages=messages, before=answer.headers.get("x-next-cursor", ""), body=answer.body)

    async def pending(self) -> list[PermissionAsked | QuestionAsked]:
        """Permissions and questions that wait for an answer, in all sessions of the directory."""
        permissions = await self._call("GET", "/permission")
        questions = await self._call("GET", "/question")
        return [
            *self._decoded(wire.decode_permissions, permissions.body),
            *self._decoded(wire.decode_questions, questions.body),
        ]

    async def agents(self) -> list[Agent]:
        """Agents of the directory, hidden ones included."""
        answer = await self._call("GET", "/agent")
        return self._decoded(catalogue.decode_agents, answer.body)

    async def config(self) -> Config:
        """The configuration values the ledger needs; the API keys in the answer are dropped unread."""
        answer = await self._call("GET", "/config")
        return self._decoded(catalogue.decode_config, answer.body)

    async def providers(self) -> Models:
        """Models that can be used; the API keys in the answer are dropped unread."""
        answer = await self._call("GET", "/config/providers")
        return self._decoded(catalogue.decode_models, answer.body)

    # What is to be done

    async def create_session(self, title: str, parent: str | None = None) -> Session:
        """Open a session in the directory."""
        body = {"title": title, **({"parentID": parent} if parent else {})}
        return self._only(wire.decode_session, (await self._call("POST", "/session", body=body)).body)

    async def delete_session(self, session: str) -> None:
        """Delete a session and its children. Raises `NotFound` when it is gone already."""
        await self._call("DELETE", _session(session))

    async def abort(self, session: str) -> None:
        """Stop the turn of a session; no effect while it is idle."""
        await self._call("POST", f"{_session(session)}/abort")

    async def prompt(
        self,
        session: str,
        text: str,
        *,
        agent: str | None = None,
        model: str | None = None,
        system: str | None = None,
        tools: Mapping[str, bool] | None = None,
        no_reply: bool = False,
        timeout: float = 0,  # noqa: ASYNC109 - time without a byte, which no cancel scope can tell
    ) -> MessageWithParts:
        """Send a user message and wait for the end of the turn: its last assistant message.

        Args:
            session: id of the session.
            text: what the user says.
            agent: name of the agent; unknown ones make the server fail with 500.
            model: provider/model.
            system: added to the system prompt.
            tools: switches by tool name; `{"*": False}` offers none (an empty map changes nothing).
            no_reply: only add the message, which is then what is returned.
            timeout: seconds to wait for the answer; 0: for ever.
        """
        body: dict[str, Any] = {"parts": [{"type": "text", "text": text}]}
        given = {"agent": agent, "system": system, "tools": tools and dict(tools), "noReply": no_reply or None}
        body.update({key: value for key, value in given.items() if value is not None})
        if model:
            provider, _, name = model.partition("/")
            body["model"] = {"providerID": provider, "modelID": name}
        answer = await self._call("POST", f"{_session(session)}/message", body=body, patience=timeout)
        return self._only(wire.decode_message, answer.body)

    async def raw_part(self, session: str, message: str, part: str) -> dict[str, Any]:
        """A part as plain data with all its fields, as :meth:`patch_part` wants it back. Raises `NotFound`."""
        answer = await self._call("GET", f"{_session(session)}/message/{_id(message)}")
        found = self._decoded(json.loads, answer.body)
        parts = found.get("parts") if isinstance(found, dict) else None
        for candidate in parts if isinstance(parts, list) else ():
            if isinstance(candidate, dict) and candidate.get("id") == part:
                return candidate
        raise NotFound(f"Message {clean_line(message, 80)} has no part {clean_line(part, 80)}")

    async def patch_part(self, session: str, message: str, part: str, body: dict[str, Any]) -> None:
        """Replace a part; `body` is the whole part. The server echoes it as a `message.part.updated` event."""
        await self._call("PATCH", f"{_session(session)}/message/{_id(message)}/part/{_id(part)}", body=body)

    async def reply_permission(self, request: str, reply: Literal["once", "always", "reject"]) -> None:
        """Answer a permission request. Raises `NotFound` when it has been answered."""
        await self._call("POST", f"/permission/{_id(request)}/reply", body={"reply": reply})

    async def reply_question(self, request: str, answers: Sequence[Sequence[str]]) -> None:
        """Answer a question: labels of options, or words, by question. Raises `NotFound` when it has been answered."""
        body = {"answers": [list(labels) for labels in answers]}
        await self._call("POST", f"/question/{_id(request)}/reply", body=body)

    async def reject_question(self, request: str) -> None:
        """Refuse to answer a question, which ends the turn. Raises `NotFound` when it has been answered."""
        await self._call("POST", f"/question/{_id(request)}/reject")

    async def toast(
        self, message: str, *, title: str = "", variant: Literal["info", "success", "warning", "error"] = "info"
    ) -> None:
        """Show a message in OpenCode's own screen; no effect (and no error) where there is none."""
        body = {"message": message, "variant": variant, **({"title": title} if title else {})}
        await self._call("POST", "/tui/show-toast", body=body)

    async def events(self, *, everywhere: bool = False) -> AsyncGenerator[bytes, None]:
        """Chunks of the event stream, without end: of the directory, or of all (`/global/event`)."""
        http = await self._connected()
        target = "/global/event" if everywhere else self._target("/event", {})
        async with aclosing(http.stream(target)) as chunks:
            async for chunk in chunks:
                yield chunk

    # How

    async def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        body: dict[str, Any] | None = None,
        patience: float | None = None,
    ) -> Answer:
        http = await self._connected()
        # ASCII only: lone surrogates in a part that is patched survive as escapes.
        content = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        return await http.call(method, self._target(path, query or {}), body=content, patience=patience)

    async def _connected(self) -> Http:
        if self._http is None:
            # In a thread: the import takes about 130 ms, in which the event loop has to stay free.
            module = await asyncio.to_thread(importlib.import_module, "core.opencode.http")
            if self._http is None:
                self._http = module.Http(self._address, **self._options)
        return self._http

    def _target(self, path: str, query: Mapping[str, str]) -> str:
        """Path and query. The directory goes into the query: as a header it does not filter `GET /session`."""
        pairs = [f"{key}={quote(value, safe='')}" for key, value in query.items()]
        if self._directory:
            pairs.append(f"directory={directory_query(self._directory)}")
        return f"{path}?{'&'.join(pairs)}" if pairs else path

    def _decoded(self, decode: Callable[[bytes], _T], body: bytes) -> _T:
        try:
            return decode(body)
        except (ValueError, RecursionError) as error:
            raise self._wrong("an answer of it cannot be read") from error

    def _only(self, decode: Callable[[bytes], _T | None], body: bytes) -> _T:
        item = self._decoded(decode, body)
        if item is None:
            raise self._wrong("an answer of it cannot be read")
        return item

    def _wrong(self, reason: str) -> WrongServer:
        return WrongServer(f"{self.url} is not an OpenCode server that can be used: {reason}", "Check --server.")


def _let_in(address: Address, auth: Credentials | None, token: str) -> Address:
    return msgspec.structs.replace(address, credentials=auth or address.credentials, token=token)


def _session(session: str) -> str:
    """Path of a session. What cannot be an id is not asked for: OpenCode answers 500 to it."""
    if not session.startswith("ses"):
        raise NotFound(f"There is no session {clean_line(session, 80) or 'without an id'}")
    return f"/session/{_id(session)}"


def _id(text: str) -> str:
    """An id as one segment of a path."""
    if not text.strip("."):
        raise NotFound(f"{text!r} is no id")
    return quote(text, safe="", errors="surrogatepass")
