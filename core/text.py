"""The one door for text from outside: control codes out, lengths bounded, secrets masked.

Every function here takes linear time on any input, and the results are safe to print: no escape sequence, no control
character but newline and tab, no bidirectional override, no lone surrogate.
"""

from __future__ import annotations

import re
from typing import Final

from core.masking import mask

__all__ = [
    "MARKER_ROOM",
    "clean",
    "clean_line",
    "clip",
    "clip_middle",
    "mask",
    "mask_line",
    "mask_middle",
    "safe_middle",
]

MARKER_ROOM: Final = 48
"""Characters that the marker of :func:`clip_middle` may take: the result has at most head + tail + MARKER_ROOM."""

_MARGIN: Final = 4_096
"""Characters beyond a cut that are masked with what stays, so that a secret across the cut is known as one."""

_LONGEST_WORD: Final = 512
"""Characters of a word that may be a secret; longer runs are data."""

_INVISIBLE: Final = (
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"
    "\ufdd0-\ufdef" + "".join(f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(17))
)
"""Soft hyphen, bidi and zero-width controls, tags and supplementary variation selectors, noncharacters. The joiners
U+200C and U+200D and the emoji selectors U+FE0E and U+FE0F stay: scripts and emoji need them."""

_BREAKS: Final = "\r\u2028\u2029"
_SUSPECT: Final = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BREAKS}{_INVISIBLE}\ud800-\udfff]")
_ASCII_CONTROLS: Final = bytes([*range(9), *range(11, 32), 127])
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

# Contents of a control string stop at any ESC or C1, so each character is looked at for one introducer only. A string
# without a terminator loses its introducer alone: what follows may be ordinary output.
_REMOVED: Final = re.compile(
    rf"""
      (?:\x1b\[|\x9b) [0-?]*+ [ -/]*+ [@-~]?                                         # CSI: colours, cursor, erase
    | (?:\x1b\]|\x9d) [^\x07\x1b\x80-\x9f\n]*+ (?:\x07|\x1b\\|\x9c)                  # OSC: title, link, clipboard
    | (?:\x1b[PX^_]|[\x90\x98\x9e\x9f]) [^\x1b\x80-\x9f]*+ (?:\x1b\\|\x9c)           # DCS, SOS, PM, APC
    | \x1b [ -/]*+ [0-~]?                                                            # charset, keypad, reset, ...
    | [\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_INVISIBLE}]
    """,
    re.VERBOSE,
)
_LINE_BREAK: Final = re.compile(rf"\r\n|[{_BREAKS}]")


def clean(text: str) -> str:
    r"""Make outside text harmless: plain text comes back unchanged, and cleaning twice changes nothing more.

    Escape sequences go as a whole (CSI, OSC, DCS and the like, 7- and 8-bit), as do C0 codes except ``\n`` and ``\t``,
    DEL, C1, bidirectional and zero-width controls, and noncharacters. ``\r\n``, ``\r``, U+2028 and U+2029 become
    ``\n``; a surrogate pair becomes its character, a lone surrogate U+FFFD.
    """
    if _is_plain(text):
        return text
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _LINE_BREAK.sub("\n", _REMOVED.sub("", text))


def _is_plain(text: str) -> bool:
    if text.isascii():
        return len(text.encode().translate(None, _ASCII_CONTROLS)) == len(text)
    return not _SUSPECT.search(text)


def clean_line(text: str, limit: int) -> str:
    """One line of at most `limit` code points: cleaned, each run of white space one space, none at the ends."""
    return clip(" ".join(clean(text).split()), limit)


def clip(text: str, limit: int) -> str:
    """At most `limit` code points of `text`; the last of them is an ellipsis when something was cut."""
    if len(text) <= limit:
        return text
    return text[: limit - 1] + "…" if limit > 0 else ""


def clip_middle(text: str, head: int, tail: int) -> str:
    """The first `head` and the last `tail` code points (both at least 0) with a marker that counts what is left out.

    Text that is longer by MARKER_ROOM at most is returned as it is, so that clipping twice changes nothing more.
    """
    left_out = len(text) - head - tail
    if left_out <= MARKER_ROOM:
        return text
    return f"{text[:head]}{_left_out(left_out)}{text[len(text) - tail :]}"


def mask_middle(text: str, head: int, tail: int) -> str:
    """As :func:`clip_middle`, but a text that is cut is masked before, so that no part of a secret stays at the cut.

    Of a long text only the ends are looked at, each with a margin. Text that stays whole is not masked.
    """
    left_out = len(text) - head - tail
    if left_out <= MARKER_ROOM:
        return text
    if left_out <= 2 * _MARGIN:
        return clip_middle(mask(text), head, tail)
    first, last = mask(text[: head + _MARGIN]), mask(text[len(text) - tail - _MARGIN :])
    # Where masking took away more than the margin, the outer cut comes near: the word there may be half a secret.
    begin = min(head, len(first) - min(_MARGIN, _last_word(first)))
    end = max(len(last) - tail, min(_MARGIN, _first_word(last)))
    return f"{first[:begin]}{_left_out(left_out)}{last[end:]}"


def safe_middle(text: str, head: int, tail: int) -> str:
    """As :func:`clip_middle`, of the text cleaned and masked; of a long text only the ends are worked on.

    What comes from outside goes through this before it is kept: secrets in both ends are masked whether something is
    cut or not.
    """
    if len(text) - head - tail <= 2 * _MARGIN:
        return clip_middle(mask(clean(text)), head, tail)
    first = _without_last_word(mask(clean(text[: head + _MARGIN])), head)
    last = _without_last_word(mask(clean(text[len(text) - tail - _MARGIN :]))[::-1], tail)[::-1]
    return f"{first}{_left_out(len(text) - head - tail)}{last}"


def mask_line(text: str, limit: int) -> str:
    """As :func:`clean_line`, with secrets masked; cut first, so that the size of the text costs next to nothing."""
    if len(text) <= 4 * limit:
        return clean_line(mask(clean(text)), limit)
    return clean_line(_without_last_word(mask(clean(text[: 4 * limit])), limit) + "…", limit)


def _without_last_word(text: str, length: int) -> str:
    """At most `length` characters; where only less is left, the word at the end may be a part of a secret, and goes."""
    if len(text) >= length + _LONGEST_WORD:
        return text[:length]
    last = _last_word(text)
    return text[: len(text) - last if last <= _LONGEST_WORD else len(text)][:length]


def _left_out(characters: int) -> str:
    return f"\n… [{characters} characters left out] …\n"


def _last_word(text: str) -> int:
    """Length of what follows the last white space."""
    return len(text) - 1 - max(map(text.rfind, " \t\n"))


def _first_word(text: str) -> int:
    """Length of what precedes the first white space."""
    return min((place for place in map(text.find, " \t\n") if place >= 0), default=len(text))
