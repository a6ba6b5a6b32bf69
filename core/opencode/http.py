"""One HTTP connection pool to an OpenCode server: requests with bounded answers, and every failure as a core error.

Only this module and discovery's probe import httpx (about 130 ms of CPU time), so they are imported late. Nothing is
taken from the environment: no proxy stands between two programs of one machine, and no `.netrc` adds a password.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec

from core.errors import NotFound, Refused, ServerError, Unreachable, WrongServer
from core.opencode.address import Address
from core.opencode.failures import TooLarge, detail_of
from core.text import clean_line

CONNECT_SECONDS = 5.0
_ERROR_BODY_BYTES = 64 * 1024
_NO_ANSWER = ("Server disconnected", "peer closed connection")
"""How httpx (h11, httpcore) words it when the other side hangs up; other protocol errors mean that it talks no HTTP."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A successful (2xx) JSON answer."""

    body: bytes
    headers: Mapping[str, str]


class Http:
    """Requests to one server. Raises only the errors of :mod:`core.errors`, and `asyncio.CancelledError`."""

    def __init__(
        self,
        address: Address,
        *,
        timeout: float,
        max_body_bytes: int,
        transport: httpx.AsyncBaseTransport | None,
        vouch: Callable[[], bool] | None = None,
    ) -> None:
        """`timeout`: seconds without any byte until an ordinary request fails; `transport`: instead of the network.

        `vouch`: see :class:`core.opencode.client.Client`.
        """
        self._url = address.url
        self._timeout = timeout
        self._limit = max_body_bytes
        self._vouch = vouch
        self._gives_password = address.credentials is not None
        given = address.credentials
        token = {"authorization": f"Bearer {address.token}"} if address.token else {}
        self._client = httpx.AsyncClient(
            auth=httpx.BasicAuth(given.username, given.password) if given else None,
            transport=transport,
            trust_env=False,
            verify=_tls(address),
            # Uncompressed: bodies are counted as they come, and between two programs of one machine it is faster.
            headers={"accept-encoding": "identity", **token},
        )

    async def close(self) -> None:
        """Close all connections; an event stream under way ends with an error."""
        await self._client.aclose()

    async def call(
        self, method: str, target: str, *, body: bytes | None = None, patience: float | None = None
    ) -> Answer:
        """Send a request and read its JSON answer.

        `target` is path and query, encoded. `patience`: seconds without any byte, 0: for ever, None: the default.

        Raises:
            Unreachable, Refused, NotFound, WrongServer: see :mod:`core.errors`.
            ServerError: any other status that is not 2xx, or an answer above the limit.
        """
        seconds = self._timeout if patience is None else patience or None
        headers = {"content-type": "application/json"} if body is not None else {}
        async with self._exchange(method, target, seconds, content=body, headers=headers) as response:
            kind = response.headers.get("content-type", "")
            if kind and not kind.startswith("application/json"):
                raise self._wrong(f"{method} {_shown(target)} was answered with {clean_line(kind, 60)}")
            content = await self._read(response, method, target)
            return Answer(body=content, headers=response.headers)

    async def stream(self, target: str) -> AsyncGenerator[bytes, None]:
        """The body of an event stream in chunks as they come, without end; silence is the caller's business."""
        headers = {"accept": "text/event-stream", "cache-control": "no-store"}
        async with self._exchange("GET", target, None, headers=headers) as response:
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                raise self._wrong(f"GET {_shown(target)} is no event stream")
            async for chunk in response.aiter_bytes():
                yield chunk

    @asynccontextmanager
    async def _exchange(
        self, method: str, target: str, seconds: float | None, **parts: Any
    ) -> AsyncIterator[httpx.Response]:
        """A request under way, its status checked; errors of the network come out as ours."""
        if self._vouch is not None and not self._vouch():
            raise self._unreachable(f"The OpenCode that was at {self._url} has ended")
        timeout = httpx.Timeout(seconds, connect=CONNECT_SECONDS, pool=None)
        try:
            async with self._client.stream(method, self._url + target, timeout=timeout, **parts) as response:
                if not response.is_success:
                    raise await self._failure(response, method, target)
                yield response
        except httpx.ConnectTimeout as error:
            raise self._unreachable(f"{self._url} did not answer within {CONNECT_SECONDS:g} s") from error
        except httpx.ConnectError as error:
            raise self._unreachable(f"Nothing answers at {self._url}") from error
        except httpx.TimeoutException as error:
            raise self._unreachable(f"{method} {_shown(target)} brought nothing for {seconds:g} s") from error
        except httpx.RemoteProtocolError as error:
            if str(error).startswith(_NO_ANSWER):
                raise self._unreachable(f"{self._url} closed the connection") from error
            raise self._wrong("it does not speak HTTP") from error
        except (httpx.TransportError, httpx.StreamError) as error:
            raise self._unreachable(f"The connection to {self._url} broke ({type(error).__name__})") from error
        except (httpx.InvalidURL, httpx.DecodingError) as error:
            raise self._wrong(clean_line(str(error), 200)) from error

    async def _read(self, response: httpx.Response, method: str, target: str) -> bytes:
        announced = response.headers.get("content-length", "")
        chunks: list[bytes] = []
        size = int(announced) if announced.isdigit() and len(announced) < 20 else 0
        if size <= self._limit:
            size = 0
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > self._limit:
                    break
                chunks.append(chunk)
        if size > self._limit:
            raise TooLarge(f"The answer to {method} {_shown(target)} is larger than {self._limit >> 20} MiB")
        return b"".join(chunks)

    async def _failure(self, response: httpx.Response, method: str, target: str) -> ServerError:
        status = response.status_code
        if status in {401, 403}:
            return self._refused(status)
        if 300 <= status < 400:
            return self._wrong(f"it redirects to {clean_line(response.headers.get('location', ''), 200)}")
        detail = detail_of(await _head(response))
        message = f"{method} {_shown(target)} failed with {status}{': ' + detail if detail else ''}"
        return NotFound(message) if status == 404 else ServerError(message)

    def _refused(self, status: int) -> Refused:
        if self._gives_password:
            hint = "The password was not accepted: check OPENCODE_SERVER_PASSWORD or --password-file."
        else:
            hint = "Give its password in OPENCODE_SERVER_PASSWORD or with --password-file."
        return Refused(f"{self._url} refuses access ({status})", hint)

    def _unreachable(self, message: str) -> Unreachable:
        return Unreachable(message, "Start OpenCode with `opencode --port 4096`, or check --server.")

    def _wrong(self, reason: str) -> WrongServer:
        return WrongServer(f"{self._url} is not an OpenCode server that can be used: {reason}", "Check --server.")


def _tls(address: Address) -> ssl.SSLContext:
    """The system's certificates, read only where TLS is spoken (a context that trusts nothing costs nothing)."""
    if address.url.startswith("https:"):
        return ssl.create_default_context()
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _shown(target: str) -> str:
    """A request's path without its query, for a message."""
    return clean_line(target.partition("?")[0], 200)


async def _head(response: httpx.Response) -> bytes:
    """The first bytes of an error's body."""
    head = b""
    async for chunk in response.aiter_bytes():
        head += chunk
        if len(head) >= _ERROR_BODY_BYTES:
            break
    return head
