"""The note that is kept of a session: what the model is asked for, and its answer made into Markdown of a fixed form.

Pure: texts in, texts out. An answer is a note with at least one of :data:`SECTIONS`, or the word JUNK; anything else
(silence, a refusal, a message of the provider) is a :class:`NoteError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final

import msgspec

from core.text import clean, mask, mask_line

SECTIONS: Final = (
    "What Was Worked On",
    "Outcome / Current State",
    "Decisions & Rationale",
    "Findings & Learnings",
    "Problems & Fixes",
    "Files, Systems & Commands",
    "Follow-ups",
)
"""Headings of a note, in this order."""

NOTE_CHARS: Final = 40_000
"""Longest note, in code points; more than twice the transcript's budget is no digest of it."""
HINT_CHARS: Final = 24
"""A shorter piece of reasoning is not looked for in a note: it may be any phrase ("Run the tests.")."""

_TAG: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_AROUND: Final = " \t\n\"'`“”‘’«»"
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*")
_BOLD: Final = re.compile(r"\*\*([^*]+)\*\*:?[ \t]*")
_CODE: Final = re.compile(r" {0,3}(```+|~~~+)")
_CODE_END: Final = re.compile(r" {0,3}(?:```+|~~~+)[ \t]*")
_HEADING_CHARS: Final = 200
_NOTHING_CHARS: Final = 80
_ANSWER_CHARS: Final = 10 * NOTE_CHARS
_NUMBER: Final = re.compile(r"^\d{1,2}[.)][ \t]*")
_NOTHING: Final = re.compile(
    r"(?i)[\s\-*•_()\[\].]*"
    r"(?:none|n/?a|not applicable|nothing|empty|no [a-z-]*(?:ups|problems|issues|findings|decisions))?"
    r"(?: (?:to report|noted|recorded|needed))?[\s\-*•_()\[\].]*"
)
"""What models write into a section that has nothing in it."""


class Verdict(Enum):
    """An answer that is no note."""

    JUNK = "junk"
    """There is nothing in the session that is worth a note."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """The sections that have something in them, in the order of :data:`SECTIONS`, as (heading, Markdown)."""

    sections: tuple[tuple[str, str], ...]

    @property
    def markdown(self) -> str:
        """The sections under headings of level 2; ends with a newline."""
        return "\n".join(f"## {heading}\n\n{body}\n" for heading, body in self.sections)


class NoteError(Exception):
    """The answer is neither a note nor JUNK; `reason` is one line for the user."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse_note(answer: str, hints: Sequence[str] = ()) -> Note | Verdict:
    """The note in `answer`, secrets masked, or Verdict.JUNK.

    Args:
        answer: as the model wrote it. Reasoning before the note, a fence around it, text before the first heading and
            sections without content are dropped; an unknown heading becomes a part of the section it stands in.
        hints: pieces of the agent's reasoning, of which a note must not repeat any.

    Raises:
        NoteError: it cannot be used.
    """
    text = _unwrapped(_without_reasoning(clean(answer)).strip())
    if len(text) > _ANSWER_CHARS:
        raise NoteError(f"the answer has {len(text)} characters")
    if not text:
        raise NoteError("the answer is empty" if not answer.strip() else "the answer holds nothing but reasoning")
    if _is_junk(text):
        return Verdict.JUNK
    found = _sections(mask(text))
    kept = tuple((heading, found[heading]) for heading in SECTIONS if found.get(heading))
    if not kept:
        what = "its sections are all empty" if found else "none of the sections is in it"
        raise NoteError(f"the answer is no note, {what}: {mask_line(text, 160)}")
    note = Note(sections=kept)
    if len(note.markdown) > NOTE_CHARS:
        raise NoteError(f"the note has {len(note.markdown)} characters, more than {NOTE_CHARS}")
    if _repeats(note.markdown, hints):
        raise NoteError("the note repeats the agent's reasoning word for word")
    return note


def _is_junk(text: str) -> bool:
    return text.strip(_AROUND).removesuffix(".").strip(_AROUND) == "JUNK"


def _unwrapped(text: str) -> str:
    """What stands in a fence that is around all of `text`, or around all of its sections."""
    lines = text.split("\n")
    first = next((n for n, line in enumerate(lines) if _CODE.match(line) or _heading(line) in SECTIONS), None)
    if first is None or not _CODE.match(lines[first]):
        return text
    last = next((n for n in range(len(lines) - 1, first, -1) if _CODE_END.fullmatch(lines[n])), len(lines))
    inside = lines[first + 1 : last]
    is_around = (first == 0 and last >= len(lines) - 1) or any(_heading(line) in SECTIONS for line in inside)
    return "\n".join(inside).strip() if is_around else text


def _without_reasoning(text: str) -> str:
    """`text` without a block of reasoning at its beginning; tags further on are content."""
    tag = _TAG.search(text)
    if tag is None or not (tag[1] or not text[: tag.start()].strip()):
        return text
    end = tag if tag[1] else next((found for found in _TAG.finditer(text, tag.end()) if found[1]), None)
    return text[end.end() :] if end else ""


def _sections(text: str) -> dict[str, str]:
    """Content by heading; a section that occurs twice is joined."""
    found: dict[str, list[str]] = {}
    into: list[str] | None = None
    for line, is_code in _lines(text):
        heading = None if is_code else _heading(line)
        if heading in SECTIONS:
            into = found.setdefault(str(heading), [])
            into.append("")
        elif into is not None:
            into.append(f"### {heading}" if heading and line.lstrip().startswith("#") else line)
    return {heading: _content(lines) for heading, lines in found.items()}


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it stands in a block of code."""
    fence = ""
    for line in text.split("\n"):
        mark = _CODE.match(line)
        yield line, bool(fence or mark)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""


def _heading(line: str) -> str | None:
    """The heading that `line` is, one of SECTIONS spelled as there; None when it is none."""
    if len(line) > _HEADING_CHARS:
        return None
    match = _HEADING.fullmatch(line) or _BOLD.fullmatch(line.strip())
    return None if match is None else _KNOWN.get(_key(match[1]), match[1].strip())


def _key(heading: str) -> str:
    plain = _NUMBER.sub("", heading.strip().strip("*_").strip()).rstrip(":").casefold().replace(" and ", " & ")
    return "".join(filter(str.isalnum, plain.replace("&", "")))


def _content(lines: Sequence[str]) -> str:
    content = "\n".join(lines).strip("\n").rstrip()
    return "" if len(content) <= _NOTHING_CHARS and _NOTHING.fullmatch(content) else content


def _repeats(note: str, hints: Sequence[str]) -> bool:
    text = " ".join(note.split())
    pieces = (" ".join(hint.removesuffix("…").split()) for hint in hints)
    return any(len(piece) >= HINT_CHARS and piece in text for piece in pieces)


_KNOWN: Final = {_key(heading): heading for heading in SECTIONS}
