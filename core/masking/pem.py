"""Private key blocks, also those of which the beginning or the end was cut off."""

from __future__ import annotations

import re
import string
from typing import Final

_LABEL: Final = r"(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?"
_BEGIN: Final = re.compile(rf"-----BEGIN {_LABEL}-----|Private-Lines: [0-9]{{1,4}}")
_TO_END: Final = re.compile(rf"(?:[^-]|-(?!----))*+-----END {_LABEL}-----")
_END: Final = re.compile(rf"-----END {_LABEL}-----")
_ALPHABET: Final = string.ascii_letters + string.digits + "+/="
_ESCAPED: Final = re.compile(r"(?:\\[rn]|[A-Za-z0-9+/=])*+")
_LINE: Final = re.compile(
    r"[ \t>|#*\"'+-]*+(?:[0-9]{1,6}[: \t-] ?)?"  # How a diff, a quotation, YAML or grep begin a line.
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID): .*+|(?P<body>[A-Za-z0-9+/=]*+))"
    r"(?:\\[rn]|[\"',\s])*+"
)
_MASK: Final = "[masked:private-key]"


def mask_private_keys(text: str) -> str:
    """Replace private key blocks in PEM and PuTTY form; takes linear time."""
    if "PRIVATE KEY" in text:
        text = _mask_begun(text)
        text = _mask_ends(text)
    elif "Private-Lines: " in text:
        text = _mask_begun(text)
    return text


def _mask_begun(text: str) -> str:
    """Blocks whose beginning is there: to their end, or as far as the lines look like a key."""
    pieces: list[str] = []
    done = 0
    while found := _BEGIN.search(text, done):
        whole = _TO_END.match(text, found.end()) if found[0].startswith("-") else None
        end = whole.end() if whole else _end_of_body(text, found.end())
        # A beginning with no key after it is a mention of one.
        pieces += (text[done : found.start()], _MASK) if end > found.end() else (text[done:end],)
        done = end
    return "".join((*pieces, text[done:]))


def _end_of_body(text: str, start: int) -> int:
    """Where lines that look like a key stop; the last of them is shorter than the others."""
    end = _ESCAPED.match(text, start).end()  # type: ignore[union-attr]
    longest = 0
    at = text.find("\n", end) + 1
    if not at or text[end : at - 1].strip(" \t\r\"'"):
        return end
    while at < len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = _LINE.fullmatch(text, at, stop)
        body = (line["body"] or "") if line else _ESCAPED.match(text, at, stop)[0]  # type: ignore[index]
        if body:
            end = at + text[at:stop].rfind(body) + len(body)
        if not line or (body and len(body) < longest):
            break
        longest = max(longest, len(body))
        at = stop + 1
    return end


def _mask_ends(text: str) -> str:
    """Ends of blocks whose beginning is missing, with the lines before them that look like a key."""
    pieces: list[str] = []
    start = 0
    for found in _END.finditer(text):
        before = text[start : found.start()]
        kept = _without_key_lines(before)
        pieces += [kept, _MASK] if len(kept) < len(before.rstrip()) else [before, found[0]]
        start = found.end()
    return "".join([*pieces, text[start:]])


def _without_key_lines(text: str) -> str:
    shortened = text.rstrip(_ALPHABET + "\\")
    if r"\n" in text[len(shortened) :]:
        return shortened
    end, longest = len(text), 0
    while end > 0:
        start = text.rfind("\n", 0, end - 1) + 1
        line = _LINE.fullmatch(text, start, end)
        body = (line["body"] or "") if line else ""
        if not line or (body and len(body) < longest):
            break
        end, longest = start, max(longest, len(body))
    return text[:end]
