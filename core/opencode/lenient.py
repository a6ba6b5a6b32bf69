"""Decoding of JSON that does not keep its promises: the second try, after the fast and strict one has failed.

A value of the wrong type costs its own field and nothing else. Text comes back as text whatever it was (a number, an
object), as far as the field wants text.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar, get_args, get_origin

import msgspec

T = TypeVar("T", bound=msgspec.Struct)

_FIELDS: dict[type, tuple[msgspec.structs.FieldInfo, ...]] = {}


def loads(body: bytes) -> Any:
    r"""Read JSON that may hold invalid UTF-8 (U+FFFD takes its place), lone surrogate escapes, raw controls or NaN.

    Raises:
        ValueError: it is not JSON even so, or nested too deeply.
    """
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return json.loads(bytes(body).decode("utf-8", "replace"), strict=False)
    except RecursionError as error:
        raise ValueError("JSON nested too deeply") from error


def build(kind: type[T], value: Any) -> T | None:
    """Make a `kind` of a decoded object, field by field; None when `value` is no object."""
    if not isinstance(value, dict):
        return None
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = msgspec.structs.fields(kind)
    given: dict[str, Any] = {}
    for field in fields:
        found = value.get(field.encode_name)
        if found is not None:
            converted = _convert(field.type, found)
            if converted is not None:
                given[field.name] = converted
    return kind(**given)


def _convert(kind: Any, value: Any) -> Any:
    """`value` as the field wants it; None when there is no way."""
    if kind is str:
        return _text(value)
    if kind is msgspec.Raw:
        return _raw(value)
    if get_origin(kind) is tuple:
        return _items(get_args(kind)[0], value)
    for option in get_args(kind) or (kind,):
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            made = build(option, value)
            if made is not None:
                return made
    try:
        return msgspec.convert(value, kind, strict=False)
    except (msgspec.ValidationError, RecursionError):
        return None


def _items(kind: Any, value: Any) -> tuple[Any, ...] | None:
    """The items of a list that can be had as `kind`."""
    if not isinstance(value, list):
        return None
    return tuple(made for item in value if (made := _convert(kind, item)) is not None)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode())
