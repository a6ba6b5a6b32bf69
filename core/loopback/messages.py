"""What passes between a handler and the server: requests, answers, refusals, and the bounds on all of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a client may ask for; times in seconds, sizes in bytes.

    Attributes:
        header_seconds: from the first byte of a request (or the connection) to the end of its headers.
        body_seconds: from there to the end of its body.
        idle_seconds: between two requests on one connection.
        send_seconds: for the client to take one piece of an answer.
        handlers: requests worked on at the same time; further ones wait. A stream counts until it begins.
        connections: a further one takes the place of the oldest that never had a request granted; else it is told 503.
    """

    header_seconds: float = 10.0
    body_seconds: float = 30.0
    idle_seconds: float = 75.0
    send_seconds: float = 30.0
    header_bytes: int = 32_768
    body_bytes: int = 8 * 1024 * 1024
    handlers: int = 32
    connections: int = 256


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request that has arrived whole.

    Attributes:
        path: percent-decoded, without the query.
        query: the last value of each name.
        headers: names in lower case; repeated ones joined by a comma.
    """

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = b""

    def json(self) -> Any:
        """The body as JSON; an empty body is an empty object.

        Raises:
            Refusal: 400, it is not JSON.
        """
        if not self.body:
            return {}
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise Refusal(400, "the body is not JSON") from error


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """An answer; a body that is an async iterator is sent piece by piece, as the pieces come."""

    status: int = 200
    body: bytes | AsyncIterator[bytes] = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, value: object, status: int = 200) -> Response:
        """`value` as JSON."""
        return cls(status=status, body=json.dumps(value).encode())


class Refusal(Exception):  # noqa: N818 - an answer, not a fault
    """A request that gets an error status and one sentence; a handler may raise it too."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def request_from(method: str, target: str, headers: dict[str, str], body: bytes) -> Request:
    """Take `target` apart. Raises Refusal (400) when that is not possible."""
    try:
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100))
    except ValueError as error:
        raise Refusal(400, "the address cannot be read") from error
    return Request(method=method, path=unquote(parts.path), query=query, headers=headers, body=body)
