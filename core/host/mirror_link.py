"""Requests to the ledger that hosts the project, and answers that are safe to draw."""

from __future__ import annotations

import asyncio
from typing import Any, Final, TypeVar

import msgspec

from core.errors import ServerError, Unreachable
from core.host.reading_port import MAX_BYTES
from core.opencode.address import Address
from core.opencode.http import Http
from core.rendezvous import LedgerFile
from core.text import clean

ANSWER_SECONDS: Final = 10.0
"""For an answer to arrive whole, beyond the time the host was asked to wait."""

_AT_ONCE_BYTES: Final = 1 << 18
"""A longer answer is decoded in a thread."""
_PLANE_14: Final = b"\xf3\xa0"
"""How U+E0000 to U+E0FFF begin in UTF-8."""

T = TypeVar("T", bound=msgspec.Struct)


class MirrorLink:
    """One host, for as long as it answers."""

    def __init__(self, said: LedgerFile) -> None:
        self.said = said
        address = Address(url=said.url, token=said.token)
        self._http = Http(address, timeout=ANSWER_SECONDS, max_body_bytes=MAX_BYTES, transport=None)

    async def ask(self, path: str, asked: msgspec.Struct, kind: type[T], *, wait_ms: int = 0) -> T:
        """Send a request; its answer has to be a `kind`.

        Raises:
            NotFound: the host does not know the path, or what was asked about.
            ServerError: any other failure; the answer is too large, too late, or not what it should be.
        """
        seconds = wait_ms / 1000 + ANSWER_SECONDS
        try:
            async with asyncio.timeout(seconds):
                answer = await self._http.call("POST", path, body=msgspec.json.encode(asked), patience=seconds)
        except TimeoutError as error:
            raise Unreachable(f"The ledger that hosts the project brought no answer within {seconds:g} s") from error
        if len(answer.body) <= _AT_ONCE_BYTES:
            return decoded(answer.body, kind)
        return await asyncio.to_thread(decoded, answer.body, kind)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()


def decoded(body: bytes, kind: type[T]) -> T:
    """An answer with all its texts cleaned.

    Raises:
        ServerError: it is not what it should be.
    """
    try:
        text = body.decode()
        found = msgspec.json.decode(body, type=kind)
        # The host has cleaned its texts, so a look at the whole is enough nearly always, and much cheaper.
        if _is_harmless(text) and "\\u" not in text:
            return found
        return msgspec.convert(_cleaned(msgspec.to_builtins(found)), kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ServerError("The ledger that hosts the project gave an answer that makes no sense") from error


def _is_harmless(text: str) -> bool:
    """Whether :func:`clean` would leave it alone; it may say no where that would. Much faster on a long text.

    What is cleaned away is not printable, but for the selectors in a plane of their own.
    """
    return text.replace("\n", "").replace("\t", "").isprintable() and _PLANE_14 not in text.encode()


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return value if _is_harmless(value) else clean(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value
