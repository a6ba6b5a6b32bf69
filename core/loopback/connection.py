"""One connection of the loopback server: h11 says what the bytes mean, this says how long and how much."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable
from typing import Any, Final, Protocol

import h11

from core.loopback.messages import Limits, Refusal, Request, Response, request_from

_log = logging.getLogger(__name__)

_CHUNK: Final = 65_536
_LINGER_SECONDS: Final = 1.0
"""How long unread input is thrown away after a refusal, so that the client gets to read why."""
_HOSTS: Final = ("127.0.0.1", "localhost", "[::1]")


class Owner(Protocol):
    """What a connection needs of its server."""

    limits: Limits
    handlers: asyncio.Semaphore

    @property
    def port(self) -> int:
        """The port it listens on."""

    async def handle(self, request: Request) -> Response:
        """Answer one request."""


class Connection:
    """One client connection: requests one after the other, until either side ends it."""

    def __init__(self, owner: Owner, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._owner, self._limits = owner, owner.limits
        self._reader, self._writer = reader, writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=self._limits.header_bytes)
        self._method = ""
        self.is_stranger = True
        """No request was granted yet, and none is being worked on."""

    async def run(self) -> None:
        """Serve until the connection is over."""
        wait = self._limits.header_seconds
        while await self._cycle(wait):
            self._http.start_next_cycle()
            wait = self._limits.idle_seconds
        with contextlib.suppress(OSError, RuntimeError):
            await self._drain()
            self._writer.close()
            async with asyncio.timeout(self._limits.send_seconds):
                await self._writer.wait_closed()

    async def _cycle(self, wait: float) -> bool:
        """One request and its answer; True when another may follow."""
        try:
            request = await self._receive(wait)
            if request is None:
                return False
            await self._answer(request)
        except Refusal as refusal:
            await self._refuse(refusal.status, refusal.message)
        except h11.RemoteProtocolError as error:
            await self._refuse(error.error_status_hint, "this is not HTTP/1.1 as it should be")
        states = self._http.states
        return states[h11.SERVER] is h11.DONE and states[h11.CLIENT] is h11.DONE

    async def _receive(self, wait: float) -> Request | None:
        """The next whole request; None when the client has ended the connection or sent nothing for `wait` seconds."""
        self._method = ""
        if not self._http.trailing_data[0] and not await self._read(wait):
            return None
        head = await self._within(self._limits.header_seconds, self._event())
        if not isinstance(head, h11.Request):
            return None
        self._method = head.method.decode("ascii")
        headers: dict[str, str] = {}
        for raw_name, raw_value in head.headers:
            name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        self._check(headers)
        body = await self._within(self._limits.body_seconds, self._body())
        return request_from(self._method, head.target.decode("latin-1"), headers, body)

    def _check(self, headers: dict[str, str]) -> None:
        host = headers.get("host", "")
        if host not in _HOSTS and host not in tuple(f"{name}:{self._owner.port}" for name in _HOSTS):
            raise Refusal(403, "this server answers on a loopback address only")
        if "origin" in headers:
            raise Refusal(403, "web pages are not served")
        if int(headers.get("content-length", "0")[:18]) > self._limits.body_bytes:
            raise self._too_large()

    def _too_large(self) -> Refusal:
        return Refusal(413, f"the body is larger than {self._limits.body_bytes} bytes")

    async def _within(self, seconds: float, work: Awaitable[Any]) -> Any:
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError as error:
            raise Refusal(408, f"the request did not arrive within {seconds:g} s") from error

    async def _body(self) -> bytes:
        if self._http.they_are_waiting_for_100_continue:
            self._send(h11.InformationalResponse(status_code=100, headers=[]))
        pieces: list[bytes] = []
        size = 0
        while isinstance(event := await self._event(), h11.Data):
            size += len(event.data)
            if size > self._limits.body_bytes:
                raise self._too_large()
            pieces.append(bytes(event.data))
        if not isinstance(event, h11.EndOfMessage):
            raise ConnectionResetError
        return b"".join(pieces)

    async def _event(self) -> h11.Event | type[h11.PAUSED]:
        while True:
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event  # type: ignore[return-value]
            self._http.receive_data(await self._reader.read(_CHUNK))

    async def _read(self, wait: float) -> bool:
        """Take the first bytes of a request; False when none come."""
        try:
            async with asyncio.timeout(wait):
                data = await self._reader.read(_CHUNK)
        except TimeoutError:
            return False
        self._http.receive_data(data)
        return bool(data)

    async def _answer(self, request: Request) -> None:
        """Run the handler and send what it returns, unless the client goes away meanwhile."""
        work = asyncio.create_task(self._work(request))
        gone = asyncio.create_task(self._hang_up())
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise ConnectionResetError
            await work
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)

    async def _work(self, request: Request) -> None:
        before, self.is_stranger = self.is_stranger, False
        try:
            async with self._owner.handlers:
                response = await self._owner.handle(request)
        except Refusal as refusal:
            self.is_stranger = before
            response = Response.of({"error": refusal.message}, refusal.status)
        except Exception:
            _log.exception("a request handler failed on %s", request.path)
            response = Response.of({"error": "internal error"}, 500)
        await self._respond(response)

    async def _hang_up(self) -> None:
        """Return when the client has closed; what it sends ahead is kept for the next cycle, within a bound."""
        ahead = 0
        while ahead <= self._limits.header_bytes:
            data = await self._reader.read(_CHUNK)
            if not data:
                return
            ahead += len(data)
            self._http.receive_data(data)
        await asyncio.Event().wait()

    async def _respond(self, response: Response) -> None:
        headers = [("content-type", response.content_type), *response.headers]
        body = response.body
        if isinstance(body, bytes):
            headers.append(("content-length", str(len(body))))
            self._send(h11.Response(status_code=response.status, headers=headers))
            if self._method != "HEAD":
                self._send(h11.Data(data=body))
        else:
            self._send(h11.Response(status_code=response.status, headers=headers))
            await self._stream(body)
        self._send(h11.EndOfMessage())
        await self._drain()

    async def _stream(self, pieces: AsyncIterator[bytes]) -> None:
        try:
            await self._drain()
            if self._method == "HEAD":
                return
            async for piece in pieces:
                if piece:
                    self._send(h11.Data(data=piece))
                    await self._drain()
        finally:
            close = getattr(pieces, "aclose", None)
            if close is not None:
                await close()

    async def _refuse(self, status: int, message: str) -> None:
        """Answer a request that was not read to its end, then drop what is left of it."""
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            raise ConnectionResetError
        body = json.dumps({"error": message}).encode()
        headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
        self._send(h11.Response(status_code=status, headers=headers))
        if self._method != "HEAD":
            self._send(h11.Data(data=body))
        self._send(h11.EndOfMessage())
        await self._drain()
        self._writer.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                while await self._reader.read(_CHUNK):
                    pass

    def _send(self, event: h11.Event) -> None:
        self._writer.write(self._http.send(event) or b"")

    async def _drain(self) -> None:
        async with asyncio.timeout(self._limits.send_seconds):
            await self._writer.drain()
