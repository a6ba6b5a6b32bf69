"""What of a part is worth keeping, as text: bounded, cleaned, without secrets and without the ledger's own notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from core.errors import UsageError
from core.history.contents import read_object
from core.history.rows import PartRow
from core.ledger import note
from core.text import MARKER_ROOM, clean_line, mask_line, safe_middle

_NAME_CHARS: Final = 300
_FILES: Final = 200
"""Files of a patch that are named."""
_HEAD_SHARE: Final = 0.6
"""Share of a bound that goes to the beginning of a text, the rest to its end."""
_UNBOUNDED_INPUT: Final = 50
"""Arguments of a tool call that are looked at."""
_SILENT: Final = frozenset({"step-start", "step-finish"})


class Kind(StrEnum):
    """What a piece is."""

    TEXT = "text"
    REASONING = "reasoning"
    TOOL = "tool"
    FILE = "file"
    PATCH = "patch"
    SUMMARY = "summary"
    DROPPED = "dropped"


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a session is kept, in code points; recorded with every note.

    Attributes:
        text: of one part of type text, and of a summary.
        reasoning: of the hint that stands for one part of type reasoning.
        tool_input: of the arguments of one tool call.
        tool_output: of its output, as head and tail.
        head: of the beginning of the transcript.
        tail: of its end.

    Raises:
        UsageError: one of them is negative.
    """

    text: int = 4_000
    reasoning: int = 200
    tool_input: int = 1_000
    tool_output: int = 1_500
    head: int = 6_000
    tail: int = 12_000

    def __post_init__(self) -> None:
        for field, value in msgspec.structs.asdict(self).items():
            if value < 0:
                raise UsageError(f"the bound {field} is {value}, it must not be negative", "Use 0 or more.")


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a session as it is shown and told to a model.

    Attributes:
        kind: what it is; DROPPED pieces have no text.
        role: user, assistant, or unknown.
        name: name of a tool or a file, type of a dropped part or why it was dropped; one line.
        status: of a tool call, as OpenCode has it; empty otherwise.
        input: arguments of a tool call, one a line.
        text: the content; the output of a tool call.
        part: id of the part.
        message: id of its message.
        time: ms since the epoch.
        is_moved: True when the part names another session than its message does.
    """

    kind: Kind
    role: str
    name: str = ""
    status: str = ""
    input: str = ""
    text: str = ""
    part: str = ""
    message: str = ""
    time: int = 0
    is_moved: bool = False


def pieces(parts: Iterable[PartRow], bounds: Bounds) -> Iterator[Piece]:
    """One piece for each part but those that only mark a step or are empty."""
    for part in parts:
        piece = _piece(part, bounds)
        if piece is not None:
            yield msgspec.structs.replace(
                piece,
                part=part.id,
                message=part.message,
                time=part.time or part.message_time,
                is_moved=bool(part.owner) and part.session != part.owner,
            )


def bounded(text: str, limit: int) -> str:
    """At most `limit` code points of `text`: cleaned, masked, without notes of a ledger, cut in the middle."""
    room = limit - MARKER_ROOM
    if room < MARKER_ROOM:
        return mask_line(note.strip(text), limit)
    head = int(room * _HEAD_SHARE)
    return safe_middle(note.strip(text), head, room - head)


def _piece(part: PartRow, bounds: Bounds) -> Piece | None:
    role = part.role if part.role in ("user", "assistant") else "unknown"
    data = read_object(part.data)
    kind = data.get("type") if data else None
    if data is None or not isinstance(kind, str):
        return _dropped(role, part.problem)
    if kind in _SILENT:
        return None
    if data.get("synthetic") is True:
        return _dropped(role, "synthetic")
    make = _MAKERS.get(kind)
    return make(data, part, role, bounds) if make else _dropped(role, clean_line(kind, 40))


def _dropped(role: str, why: str) -> Piece:
    return Piece(kind=Kind.DROPPED, role=role, name=why or "unreadable")


def _spoken(data: Mapping[str, Any], part: PartRow, role: str, bounds: Bounds) -> Piece | None:
    words = bounded(_text(data.get("text")), bounds.text).strip()
    return Piece(kind=Kind.SUMMARY if part.summary else Kind.TEXT, role=role, text=words) if words else None


def _compaction(data: Mapping[str, Any], part: PartRow, role: str, bounds: Bounds) -> Piece | None:
    """OpenCode 1 only marks the place; its summary is the text of the next message."""
    words = bounded(_text(data.get("text")) or _text(data.get("summary")), bounds.text).strip()
    return Piece(kind=Kind.SUMMARY, role=role, text=words) if words else None


def _thought(data: Mapping[str, Any], part: PartRow, role: str, bounds: Bounds) -> Piece | None:
    hint = mask_line(note.strip(_text(data.get("text"))), bounds.reasoning)
    return Piece(kind=Kind.REASONING, role=role, text=hint) if hint else None


def _tool(data: Mapping[str, Any], part: PartRow, role: str, bounds: Bounds) -> Piece:
    state = data.get("state")
    state = state if isinstance(state, dict) else {}
    metadata = state.get("metadata")
    running = metadata.get("output") if isinstance(metadata, dict) else None
    output = _text(state.get("output")) or _text(running)
    error = _text(state.get("error"))
    return Piece(
        kind=Kind.TOOL,
        role=role,
        name=clean_line(_text(data.get("tool")), 100) or "unknown",
        status=clean_line(_text(state.get("status")), 40),
        input=bounded("\n".join(_arguments(state.get("input"), bounds.tool_input)), bounds.tool_input).strip(),
        text=bounded("\n".join(filter(None, (error, output))), bounds.tool_output).strip(),
    )


def _arguments(given: object, limit: int) -> Iterator[str]:
    """Each argument on a line, texts as they are, so that a path or a command can be found in it."""
    if not isinstance(given, dict):
        if given:
            yield _text(given) or _json(given)
        return
    for number, (key, value) in enumerate(given.items()):
        if number >= _UNBOUNDED_INPUT:
            return
        yield f"{clean_line(str(key), 60)}: {value if isinstance(value, str) else _json(value)[: 16 * limit + 4_096]}"


def _patch(data: Mapping[str, Any], part: PartRow, role: str, bounds: Bounds) -> Piece | None:
    files = data.get("files")
    names = (
        [clean_line(file, _NAME_CHARS) for file in files if isinstance(file, str)] if isinstance(files, list) else []
    )
    if not names:
        return None
    more = f"\n(and {len(names) - _FILES} more)" if len(names) > _FILES else ""
    return Piece(kind=Kind.PATCH, role=role, text=bounded("\n".join(names[:_FILES]) + more, bounds.text))


def _file(data: Mapping[str, Any], part: PartRow, role: str, bounds: Bounds) -> Piece:
    return Piece(kind=Kind.FILE, role=role, name=_file_name(data), text=clean_line(_text(data.get("mime")), 100))


def _file_name(data: Mapping[str, Any]) -> str:
    """Name of an attachment; never its content, which a `data:` address holds."""
    source = data.get("source")
    path = _text(source.get("path")) if isinstance(source, dict) else ""
    address = _text(data.get("url"))
    found = _text(data.get("filename")) or path or ("" if address.startswith("data:") else address)
    return mask_line(found, _NAME_CHARS) or "unnamed"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_Maker = Callable[[Mapping[str, Any], PartRow, str, Bounds], Piece | None]
_MAKERS: Final[Mapping[str, _Maker]] = {
    "text": _spoken,
    "reasoning": _thought,
    "tool": _tool,
    "file": _file,
    "patch": _patch,
    "compaction": _compaction,
}
