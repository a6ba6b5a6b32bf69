"""A session as Markdown to read, piece by piece, in memory that the largest piece bounds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from core.history.pieces import Kind, Piece
from core.history.rows import SessionRow

_TICKS: Final = re.compile("`+")
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#|~])")
_SPEAKERS: Final = {"user": "User", "assistant": "Agent"}


def markdown(row: SessionRow, pieces: Iterable[Piece]) -> Iterator[str]:
    """Blocks that end with a line feed; a heading where the speaker changes, tool calls and their output fenced."""
    yield f"# {_plain(row.title) or 'Session without a title'}\n\n"
    for name, value in _facts(row):
        yield f"- {name}: {value}\n"
    speaker = ""
    for piece in pieces:
        if piece.kind is Kind.DROPPED:
            continue
        if piece.role != speaker:
            speaker = piece.role
            yield f"\n## {_SPEAKERS.get(speaker, 'Unknown speaker')}\n"
        yield f"\n{_block(piece)}\n"


def _facts(row: SessionRow) -> Iterator[tuple[str, str]]:
    yield "session", _code(row.id)
    if row.parent:
        yield "sub-agent of", _code(row.parent)
    if row.directory:
        yield "folder", _code(row.directory)
    yield "began", _moment(row.time_created)
    yield "last change", _moment(row.time_updated)
    messages = row.messages
    yield "messages", f"{messages.all} ({messages.user} of the user, {messages.assistant} of the agent)"
    yield "tokens", f"{row.tokens.total}"
    yield "cost", f"${row.cost:.4f}"
    if row.model:
        yield "model", _code(row.model)
    if row.archived:
        yield "archived", "yes"


def _block(piece: Piece) -> str:
    match piece.kind:
        case Kind.TOOL:
            status = f" ({piece.status})" if piece.status else ""
            fenced = "\n\n".join(_fence(text) for text in (piece.input, piece.text) if text)
            return f"**{_plain(piece.name)}**{status}" + (f"\n\n{fenced}" if fenced else "")
        case Kind.REASONING:
            return f"*Reasoning: {_plain(piece.text)}*"
        case Kind.FILE:
            return f"File {_code(piece.name)}{f' ({_plain(piece.text)})' if piece.text else ''}"
        case Kind.PATCH:
            return "Files changed:\n\n" + "\n".join(f"- {_code(line)}" for line in piece.text.splitlines())
        case Kind.SUMMARY:
            return f"Summary of what came before:\n\n{piece.text}"
        case _:
            return piece.text


def _fence(text: str) -> str:
    """A code block whose fence no line of the text can close."""
    ticks = "`" * max(3, _longest(text) + 1)
    return f"{ticks}text\n{text}\n{ticks}"


def _code(text: str) -> str:
    """Text in a code span, on one line."""
    line = " ".join(text.split())
    ticks = "`" * (_longest(line) + 1)
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{room}{line}{room}{ticks}"


def _longest(text: str) -> int:
    """Length of the longest run of backticks."""
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _moment(ms: int) -> str:
    try:
        return datetime.fromtimestamp(ms / 1000, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return "unknown"
