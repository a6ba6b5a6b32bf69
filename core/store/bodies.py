"""Bodies of database rows: one byte that names the version of their form, then msgpack."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

import msgspec

VERSION: Final = 1

_T = TypeVar("_T")
_PREFIX: Final = bytes((VERSION,))
_encoder = msgspec.msgpack.Encoder()


class UnknownBody(ValueError):  # noqa: N818 - says what the row is
    """The row was written by another version of the program, or it is damaged."""


def encode(value: Any) -> bytes:
    """The body that holds `value`; lone surrogates are replaced."""
    try:
        return _PREFIX + _encoder.encode(value)
    except UnicodeEncodeError:
        return _PREFIX + _encoder.encode(_whole(msgspec.to_builtins(value, builtin_types=(bytes,))))


def decode(body: bytes, type: type[_T]) -> _T:
    """What a body holds.

    Raises:
        UnknownBody: it cannot be read.
    """
    if body[:1] != _PREFIX:
        raise UnknownBody(f"version {body[0] if body else 'none'} of a row is not known")
    try:
        found: _T = _decoder(cast("Hashable", type)).decode(memoryview(body)[1:])
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise UnknownBody(str(error)) from error
    return found


@lru_cache(maxsize=32)
def _decoder(type: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(type)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    return value
