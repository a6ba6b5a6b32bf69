"""Distilling through any endpoint that speaks OpenAI's chat completions.

https://platform.openai.com/docs/api-reference/chat/create. Nothing but the environment's key is taken from outside: no
proxy, no `.netrc`.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from core.errors import LedgerError, Refused, ServerError, Unreachable, UsageError, WrongServer
from core.history.completions import detail, models, read_reply
from core.history.inference import Reply
from core.history.question import Question
from core.text import clean_line

if TYPE_CHECKING:
    import httpx

KEY_VARIABLE: Final = "LEDGER_ENDPOINT_KEY"
CONNECT_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 300.0
"""Without any byte; an answer is not streamed, so this is the time for the whole of it."""
MAX_BODY_BYTES: Final = 8 * 2**20
TRIES: Final = 5
"""Requests for one answer while the endpoint says that it cannot answer now: with the pauses, half a minute."""
FIRST_PAUSE_SECONDS: Final = 2.0
LONGEST_PAUSE_SECONDS: Final = 60.0
RETRIED: Final = frozenset({408, 429, 500, 502, 503, 504, 529})
"""Statuses that say "later": rate limits, overload, trouble on the way. 529 is used for overload by some providers."""


class _Later(Exception):  # noqa: N818 - a state of the endpoint
    """The endpoint cannot answer now; `seconds` is how long it asks to be left alone, None when it does not say."""

    def __init__(self, error: LedgerError, seconds: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.seconds = seconds


class EndpointDistiller:
    """Asks one endpoint. Fits :class:`core.history.inference.Distiller`.

    Args:
        url: base address, as `http://127.0.0.1:8000/v1`; that of the chat completions themselves will do.
        model: its name there; empty: the only one the endpoint has.
        key: sent as a bearer token; empty: nothing is sent.
        seconds: time for one answer.
        transport: used instead of the network (tests).
        sleep: waits so many seconds.

    Raises:
        UsageError: `url` is no address.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str = "",
        key: str = "",
        seconds: float = ANSWER_SECONDS,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._base = _base(url)
        self._model = model
        self._key = key
        self._seconds = seconds
        self._transport = transport
        self._sleep = sleep
        self._client: httpx.AsyncClient | None = None
        self._choosing = asyncio.Lock()

    async def distil(self, question: Question) -> Reply:
        """The answer. A request that may have been answered unheard is not repeated: it may have been paid for.

        Raises:
            UsageError: the endpoint has several models, or none, and none was named.
            Refused, Unreachable, WrongServer: of no use for any other question either.
            ServerError: no answer to this question.
        """
        model = await self._chosen()
        # No temperature: some models take no other than their own.
        body = {
            "model": model,
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.text},
            ],
            "stream": False,
        }
        begun = time.monotonic()
        content = await self._patiently("POST", "/chat/completions", msgspec.json.encode(body))
        reply = read_reply(content, self._base)
        return msgspec.structs.replace(
            reply, ms=round((time.monotonic() - begun) * 1000), model=clean_line(reply.model, 100) or model
        )

    async def aclose(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _chosen(self) -> str:
        async with self._choosing:
            if not self._model:
                found = models(await self._patiently("GET", "/models"))
                if len(found) != 1:
                    named = ", ".join(found[:8]) or "none"
                    raise UsageError(f"{self._base} has no single model: {named}", "Name one with --model.")
                self._model = found[0]
            return self._model

    async def _patiently(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """As :meth:`_send`, again after a pause while the endpoint asks for that."""
        for number in range(TRIES):
            try:
                return await self._send(method, path, body)
            except _Later as later:
                if number + 1 == TRIES:
                    raise later.error from later
                await self._sleep(_pause(number, later.seconds))
        raise AssertionError("unreachable")

    async def _send(self, method: str, path: str, body: bytes | None) -> bytes:
        import httpx  # noqa: PLC0415 - takes 130 ms to import

        client = self._connected()
        try:
            async with client.stream(method, self._base + path, content=body) as response:
                content = await _read(response)
                if response.is_success:
                    return content
                raise self._failure(response.status_code, response.headers, content)
        except httpx.ConnectError as error:
            raise _Later(Unreachable(f"nothing answers at {self._base}", "Check --endpoint.")) from error
        except httpx.ConnectTimeout as error:
            message = f"{self._base} did not answer within {CONNECT_SECONDS:g} s"
            raise _Later(Unreachable(message, "Check --endpoint.")) from error
        except httpx.TimeoutException as error:
            raise ServerError(f"no answer from {self._base} within {self._seconds:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = clean_line(str(error), 200) or type(error).__name__
            raise ServerError(f"the connection to {self._base} broke: {reason}") from error

    def _connected(self) -> httpx.AsyncClient:
        import httpx  # noqa: PLC0415

        if self._client is None:
            headers = {"content-type": "application/json", "accept": "application/json"}
            if self._key:
                headers["authorization"] = f"Bearer {self._key}"
            self._client = httpx.AsyncClient(
                transport=self._transport,
                trust_env=False,
                headers=headers,
                timeout=httpx.Timeout(self._seconds, connect=CONNECT_SECONDS, pool=None),
            )
        return self._client

    def _failure(self, status: int, headers: Mapping[str, str], content: bytes) -> Exception:
        said = detail(content)
        if self._key:
            said = said.replace(self._key, "[masked:key]")
        why = f"{status}{f': {said}' if said else ''}"
        if status in (401, 403):
            hint = f"Check {KEY_VARIABLE}." if self._key else f"Give its key in the variable {KEY_VARIABLE}."
            return Refused(f"{self._base} refuses access ({why})", hint)
        if status == 404 or 300 <= status < 400:
            hint = "Check --endpoint (it ends with /v1 as a rule) and --model."
            return WrongServer(f"{self._base} has no such model, or no chat completions ({why})", hint)
        error = ServerError(f"{self._base} failed with {why}")
        return _Later(error, _asked(headers.get("retry-after", ""))) if status in RETRIED else error


def _base(url: str) -> str:
    from urllib.parse import urlsplit  # noqa: PLC0415

    text = url.strip().rstrip("/").removesuffix("/chat/completions")
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(character.isspace() for character in text):
        raise UsageError(
            f"--endpoint {clean_line(url, 100)!r} is no address", "Write for example http://127.0.0.1:8000/v1."
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError("--endpoint holds a password or a query", f"Give the key in the variable {KEY_VARIABLE}.")
    return text


def _asked(header: str) -> float | None:
    """Seconds of a `Retry-After`; dates are not understood."""
    text = header.strip()
    return float(text) if text.isascii() and text.replace(".", "", 1).isdigit() and len(text) < 8 else None


def _pause(number: int, asked: float | None) -> float:
    """Seconds before the next request: what was asked for, else twice as long each time, spread over jobs by chance."""
    if asked is not None:
        return min(asked, LONGEST_PAUSE_SECONDS)
    longest: float = min(FIRST_PAUSE_SECONDS * 2.0**number, LONGEST_PAUSE_SECONDS)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311


async def _read(response: httpx.Response) -> bytes:
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > MAX_BODY_BYTES:
            raise ServerError(f"the answer of the endpoint is larger than {MAX_BODY_BYTES >> 20} MiB")
    return bytes(content)
