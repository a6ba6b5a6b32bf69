"""From a part of a message to the observation: text cleaned, secrets masked, sizes bounded, numbers within reason.

Nothing of a call reaches the ledger, and so a file, a prompt, a log or the screen, but through here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from core.ledger import note
from core.ledger.observations import StepFinished, Tokens, ToolFinished, ToolStarted
from core.ledger.patched import patched_files
from core.opencode import lenient
from core.opencode.records import ErrorInfo, Part, TokenCounts, ToolState
from core.text import clean, clean_line, clip, mask, mask_line, safe_middle

OUTPUT_EDGE: Final = 8 * 1024
"""Characters kept from the head and from the tail of an output; what is between is dropped before any other work."""

SUMMARY_CHARS: Final = 200
DESCRIPTION_CHARS: Final = 500
_LONG_COMMAND: Final = 48
"""Beyond this many characters, beginnings of commands look alike: the description says what each is for."""
PATH_CHARS: Final = 4096
ASKED_CHARS: Final = 4_000
"""Characters of an argument in which names of known things are looked for."""
PATCH_CHARS: Final = 1_000_000
"""Characters of a patch that are searched for the files it names."""
ERROR_CHARS: Final = 500
ID_CHARS: Final = 200
NAME_CHARS: Final = 160

_LATEST: Final = 4_102_444_800_000
"""Start of the year 2100 in ms: a time beyond it is no time."""
_MOST_TOKENS: Final = 10**15

_SHELLS: Final = frozenset({"bash", "shell"})
_FILE_TOOLS: Final = frozenset({"read", "write", "edit", "multiedit"})
_PATCH_TOOLS: Final = frozenset({"apply_patch", "patch"})


class _Arguments(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The arguments with a meaning of their own; contents of files written, for example, are not built."""

    command: str = ""
    description: str = ""
    file_path: str = msgspec.field(name="filePath", default="")
    path: str = ""
    patch_text: str = msgspec.field(name="patchText", default="")
    pattern: str = ""
    url: str = ""
    old_string: str = msgspec.field(name="oldString", default="")
    new_string: str = msgspec.field(name="newString", default="")


_ARGUMENTS: Final = msgspec.json.Decoder(_Arguments)
_STATE: Final = ToolState()


def identifier(text: str) -> str:
    """An id from outside: as it is when it looks like one, else made harmless."""
    if len(text) <= ID_CHARS and text.isascii() and text.isprintable():
        return text
    return clean_line(text, ID_CHARS)


@lru_cache(maxsize=256)
def name(text: str) -> str:
    """A short name from outside (of a tool, an agent, a model), on one line."""
    return line(text, NAME_CHARS)


def moment(value: float) -> int:
    """A time in ms since the epoch; 0 when it is none."""
    return int(value) if 0 < value < _LATEST else 0


def cost_of(value: float) -> float:
    """A cost in US dollars; 0 when it is no finite, positive number."""
    return float(value) if value > 0 and math.isfinite(value) else 0.0


def tokens_of(counts: TokenCounts) -> Tokens:
    """Token counts; a count that makes no sense is 0."""
    return Tokens(
        input=_count(counts.input),
        output=_count(counts.output),
        reasoning=_count(counts.reasoning),
        cache_read=_count(counts.cache.read),
        cache_write=_count(counts.cache.write),
    )


def _count(value: float) -> int:
    return int(value) if 0 < value < _MOST_TOKENS else 0


def error_text(error: ErrorInfo | None) -> str:
    """An error of OpenCode on one line."""
    if error is None:
        return "unknown error"
    words = [word for word in (error.name, error.data.message) if word]
    return mask_line(": ".join(words), ERROR_CHARS) or "unknown error"


def has_input(part: Part) -> bool:
    """Whether a tool call's input is there yet (it is empty while the model is still writing it)."""
    return part.state is not None and memoryview(part.state.input)[:8].tobytes().strip() not in {b"", b"{}", b"null"}


def raw_output(part: Part) -> str:
    """What the model was given for a finished call, as it came."""
    state = part.state or _STATE
    return state.output if state.status == "completed" else state.error


def weight(part: Part) -> int:
    """Characters of a call's output that are kept: what its cleaning costs."""
    return min(len(raw_output(part)), 2 * OUTPUT_EDGE)


def tool_started(part: Part, session: str, t: int) -> ToolStarted:
    """The observation of a call that is now running."""
    arguments = _arguments(part)
    return ToolStarted(
        t=t,
        session=session,
        message=identifier(part.message),
        part=identifier(part.id),
        call=identifier(part.call),
        tool=name(part.tool),
        summary=_summary(part, arguments),
    )


def tool_finished(part: Part, session: str, t: int, *, stale: bool, backfill: bool) -> ToolFinished:
    """The observation of a call that completed or failed."""
    state = part.state or _STATE
    arguments = _arguments(part)
    is_shell = part.tool in _SHELLS
    return ToolFinished(
        t=t,
        session=session,
        message=identifier(part.message),
        part=identifier(part.id),
        call=identifier(part.call),
        tool=name(part.tool),
        ok=state.status == "completed",
        summary=_summary(part, arguments),
        command=bounded(arguments.command) if is_shell else "",
        description=mask_line(arguments.description, DESCRIPTION_CHARS),
        path=_path(arguments) if part.tool in _FILE_TOOLS else "",
        asked=_asked(part.tool, arguments),
        patched=_patched(arguments) if part.tool in _PATCH_TOOLS else (),
        output=bounded(note.strip(raw_output(part))),
        exit=state.metadata.exit if state.metadata is not None else None,
        started=moment(state.time.start),
        ended=moment(state.time.end),
        stale=stale,
        backfill=backfill,
    )


def step_finished(part: Part, session: str, t: int, *, backfill: bool) -> StepFinished:
    """The observation of a model step that ended."""
    return StepFinished(
        t=t,
        session=session,
        message=identifier(part.message),
        part=identifier(part.id),
        reason=name(part.reason),
        tokens=tokens_of(part.tokens),
        cost=cost_of(part.cost),
        backfill=backfill,
    )


def line(text: str, limit: int) -> str:
    """One line of at most `limit` characters; cut first, so that the size of the text costs next to nothing."""
    if len(text) <= limit and text.isascii() and text.isprintable() and "  " not in text and text == text.strip():
        return text
    return clean_line(clip(text, 4 * limit), limit)


def bounded(text: str) -> str:
    """Head and tail of a text of any size, cleaned and masked; cut first, so that its size costs next to nothing."""
    return safe_middle(text, OUTPUT_EDGE, OUTPUT_EDGE)


def _arguments(part: Part) -> _Arguments:
    raw = (part.state or _STATE).input
    try:
        return _ARGUMENTS.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return lenient.build(_Arguments, part.arguments) or _Arguments()


def _path(arguments: _Arguments) -> str:
    return mask(clean(clip(arguments.file_path or arguments.path, PATH_CHARS)))


def _asked(tool: str, arguments: _Arguments) -> str:
    """Where names of things may stand in a call of a tool that runs no command."""
    texts = {
        "grep": (arguments.pattern,),
        "webfetch": (arguments.url,),
        "read": (arguments.file_path,),
        "edit": (arguments.old_string, arguments.new_string),
    }.get(tool, ())
    return "\n".join(mask(clean(clip(text, ASKED_CHARS))) for text in texts if text)


def _patched(arguments: _Arguments) -> tuple[str, ...]:
    return tuple(mask(clean(clip(path, PATH_CHARS))) for path in patched_files(arguments.patch_text[:PATCH_CHARS]))


def _summary(part: Part, arguments: _Arguments) -> str:
    if part.tool in _SHELLS:
        text = arguments.command
        if arguments.description and len(text) > _LONG_COMMAND:
            text = f"{arguments.description}: {text}"
    elif part.tool in _FILE_TOOLS:
        text = arguments.file_path or arguments.path
    else:
        text = arguments.description if part.tool == "task" else ""
        text = text or _listed(part.arguments)
    return mask_line(text, SUMMARY_CHARS)


def _listed(arguments: Mapping[str, Any]) -> str:
    """Arguments as `name=value`; of values with an inside only their size."""
    shown = []
    for name, value in list(arguments.items())[:8]:
        if isinstance(value, list | dict):
            shown.append(f"{clip(name, 40)}=({len(value)})")
        elif value is not None:
            shown.append(f"{clip(name, 40)}={mask_line(str(value), 80)}")
    return " ".join(shown)
