"""The tool calls of a session, counted, with what their messages spent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from core.history.contents import NOT_JSON
from core.history.parts import read_parts
from core.history.rows import Schema, SessionRow
from core.history.source import Source
from core.history.v1 import as_float, as_int
from core.text import clean_line

_HEAD_BYTES: Final = 600
"""Beginning of a part in which its type, its tool and its status are looked for, as OpenCode writes them."""
_MESSAGE_BYTES: Final = 2**20
"""Messages up to this size are asked for what they spent."""
_PARTS: Final = f"SELECT message_id, substr(CAST(data AS BLOB), 1, {_HEAD_BYTES}) FROM part WHERE session_id = ?"  # noqa: S608
_MESSAGE: Final = f"SELECT substr(CAST(data AS BLOB), 1, {_MESSAGE_BYTES + 1}) FROM {{table}} WHERE id = ?"  # noqa: S608
_IS_TOOL: Final = re.compile(rb'"type"\s*:\s*"tool"')
_TOOL: Final = re.compile(rb'"tool"\s*:\s*("(?:[^"\\]|\\.)*")')
_ERROR: Final = re.compile(rb'"status"\s*:\s*"error"')
_NAME_CHARS: Final = 100


class Use(msgspec.Struct, kw_only=True):
    """What a session did with one tool.

    Attributes:
        tool: its name.
        calls: how many.
        errors: those that failed.
        tokens: its share of the tokens of the messages with the calls.
        cost: its share of their cost, US dollars.
    """

    tool: str
    calls: int = 0
    errors: int = 0
    tokens: float = 0.0
    cost: float = 0.0


class _Tokens(msgspec.Struct, frozen=True):
    input: Any = 0
    output: Any = 0
    reasoning: Any = 0
    cache: Any = None


class _Message(msgspec.Struct, frozen=True):
    cost: Any = 0
    tokens: Any = None


_decoder: Final = msgspec.json.Decoder(_Message)


def tool_calls(source: Source, row: SessionRow) -> list[Use]:
    """The tools that a session called, by name. Raises FileError."""
    uses: dict[str, Use] = {}
    messages: dict[str, dict[str, int]] = {}
    for message, head in _heads(source, row):
        if not _IS_TOOL.search(head):
            continue
        tool = _name(head)
        use = uses.setdefault(tool, Use(tool=tool))
        use.calls += 1
        use.errors += _ERROR.search(head) is not None
        calls = messages.setdefault(message, {})
        calls[tool] = calls.get(tool, 0) + 1
    for message, calls in messages.items():
        tokens, cost = _spent(source, row, message)
        every = sum(calls.values())
        for tool, number in calls.items():
            uses[tool].tokens += tokens * number / every
            uses[tool].cost += cost * number / every
    return sorted(uses.values(), key=lambda use: use.tool)


def _name(head: bytes) -> str:
    """Name of the tool; empty when it cannot be read."""
    found = _TOOL.search(head)
    try:
        return clean_line(msgspec.json.decode(found[1], type=str), _NAME_CHARS) if found else ""
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


def _heads(source: Source, row: SessionRow) -> Iterator[tuple[str, bytes]]:
    """The message and the beginning of each part."""
    if row.schema is Schema.V1:
        for message, head in source.rows(_PARTS, row.id):
            yield str(message), head if isinstance(head, bytes) else b""
        return
    for part in read_parts(source, row.id):
        yield part.message, (part.data or b"")[:_HEAD_BYTES]


def _spent(source: Source, row: SessionRow, message: str) -> tuple[int, float]:
    if row.schema is Schema.LEGACY:
        data: object = _file(source, row.id, message)
    else:
        table = "message" if row.schema is Schema.V1 else "session_message"
        found = source.all(_MESSAGE.format(table=table), message)
        data = found[0][0] if found else None
    try:
        read = _decoder.decode(data if isinstance(data, bytes) else b"{}")
        tokens = msgspec.convert(read.tokens or {}, _Tokens)
    except NOT_JSON:
        return 0, 0.0
    cache = tokens.cache if isinstance(tokens.cache, dict) else {}
    figures = (tokens.input, tokens.output, tokens.reasoning, cache.get("read"), cache.get("write"))
    return sum(map(as_int, figures)), as_float(read.cost)


def _file(source: Source, session: str, message: str) -> bytes | None:
    try:
        return (source.storage / "message" / session / f"{message}.json").read_bytes()
    except OSError:
        return None
