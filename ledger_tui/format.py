"""Text and numbers as the screen shows them: measured in terminal cells, clipped with an ellipsis, aligned.

Pure functions. `width` is always a number of terminal cells; times are milliseconds since the epoch, durations are
milliseconds.
"""

from __future__ import annotations

import unicodedata
from datetime import datetime, tzinfo
from functools import lru_cache

from rich.cells import cell_len

ELLIPSIS = "…"
_MEASURED = 8
"""Characters looked at per cell of room: enough for combining marks, and a bound for lines of any length."""

_VARIATION = "\ufe0e\ufe0f"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)


def tame(text: str) -> str:
    """One line that every terminal draws alike: no control or format characters, white space as plain spaces.

    A second defence behind :mod:`core.text`. It also drops joiners, variation selectors and skin tones, and spells
    flags as letters, because terminals disagree about the width of what these make.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_tame_character, text))


@lru_cache(maxsize=4096)
def _tame_character(character: str) -> str:
    if character.isascii():
        return character if character.isprintable() else " " if character in "\t\n\r\v\f" else "\ufffd"
    code = ord(character)
    if character in _VARIATION or code in _SKIN_TONES:
        return ""
    if code in _FLAG_LETTERS:
        return chr(ord("A") + code - _FLAG_LETTERS.start)
    if character.isprintable():
        return character
    category = unicodedata.category(character)
    return {"Zs": " ", "Zl": " ", "Zp": " ", "Cf": "", "Cn": "\ufffd", "Co": "\ufffd"}.get(category, "\ufffd")


def width_of(text: str) -> int:
    """Cells that `text` takes; `text` has been through :func:`tame`."""
    return len(text) if text.isascii() else cell_len(text)


def fit(text: str, width: int) -> str:
    """`text` on one line of at most `width` cells, ending in … where something was cut."""
    if width <= 0:
        return ""
    head = tame(text[: width * _MEASURED + 1])
    whole = len(text) <= width * _MEASURED + 1
    if whole and width_of(head) <= width:
        return head
    return cut(head, width - 1).rstrip() + ELLIPSIS


def cut(text: str, width: int) -> str:
    """As much of the tame `text` as fits into `width` cells."""
    if text.isascii():
        return text[: max(0, width)]
    taken = 0
    for index, character in enumerate(text):
        taken += cell_len(character)
        if taken > width:
            return text[:index]
    return text


def left(text: str, width: int) -> str:
    """`text` fitted and padded on its right to exactly `width` cells."""
    fitted = fit(text, width)
    return fitted + " " * (width - width_of(fitted))


def right(text: str, width: int) -> str:
    """`text` fitted and padded on its left to exactly `width` cells."""
    fitted = fit(text, width)
    return " " * (width - width_of(fitted)) + fitted


def wrap(text: str, width: int, lines: int, *, rest: int = 0) -> list[str]:
    """`text` broken at spaces into at most `lines` lines; … ends the last where something was cut.

    The first line takes `width` cells, the others `rest` (0: as many).
    """
    rest = max(1, rest or width)
    return list(_wrap(text[: max(width, rest) * lines * _MEASURED + 1], max(1, width), rest, max(1, lines)))


@lru_cache(maxsize=4096)
def _wrap(text: str, width: int, rest: int, lines: int) -> tuple[str, ...]:
    left_over = " ".join(tame(text).split())
    out: list[str] = []
    while left_over and len(out) < lines - 1:
        room = rest if out else width
        if width_of(left_over) <= room:
            break
        head = _head(left_over, room)
        out.append(head.rstrip())
        left_over = left_over[len(head) :].lstrip()
    if left_over or not out:
        out.append(fit(left_over, rest if out else width))
    return tuple(out)


def _head(text: str, width: int) -> str:
    """The part of `text` that makes one line: up to the last space that fits, else as much as fits."""
    head = cut(text, width)
    if text[len(head) : len(head) + 1] in ("", " "):
        return head
    space = head.rfind(" ")
    return head[:space] if space > width // 3 else head or text[:1]


def clock(t: int, zone: tzinfo | None, *, seconds: bool = False) -> str:
    """Time of day, "12:31" or "12:31:05"; empty for 0. `zone` None is the machine's own."""
    if t <= 0:
        return ""
    try:
        moment = datetime.fromtimestamp(t / 1000, tz=zone)
    except (OverflowError, ValueError, OSError):
        return ""
    return moment.strftime("%H:%M:%S" if seconds else "%H:%M")


def took(ms: int) -> str:
    """A finished duration in at most seven cells: "31 ms", "4.1 s", "2m 05s", "3h 04m"."""
    if ms < 1000:
        return f"{max(0, ms)} ms"
    if ms < 59_950:
        return f"{ms / 1000:.1f} s"
    return elapsed(ms)


def elapsed(ms: int) -> str:
    """A running duration in whole seconds: "2 s", "1m 07s", "3h 04m"."""
    seconds = max(0, ms) // 1000
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60}m {seconds % 60:02}s"
    return f"{seconds // 3600}h {seconds % 3600 // 60:02}m"


def ago(ms: int) -> str:
    """How long ago, coarsely: "just now", "5 min ago", "3 h ago", "2 d ago"."""
    minutes = max(0, ms) // 60_000
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 48 * 60 else f"{minutes // 1440} d ago"


def count(number: int) -> str:
    """A count in at most four characters from 1,000 on: "999", "2.1k", "81k", "3.4M"."""
    for limit, unit, letter in ((1_000, 1, ""), (999_500, 1_000, "k"), (999_500_000, 1_000_000, "M")):
        if number < limit:
            value = number / unit
            return f"{number}" if unit == 1 else f"{value:.1f}{letter}" if value < 9.95 else f"{value:.0f}{letter}"
    return f"{number / 1e9:.1f}G"


def money(dollars: float) -> str:
    """US dollars: "$0.42", "<$0.01", "$0" for nothing."""
    if dollars <= 0:
        return "$0"
    return "<$0.01" if dollars < 0.005 else f"${dollars:.2f}"


def plural(number: int, word: str, many: str = "") -> str:
    """ "1 fact", "2 facts"; thousands with commas."""
    return f"{number:,} {word if number == 1 else many or word + 's'}"
