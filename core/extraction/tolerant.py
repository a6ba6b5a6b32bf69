"""Reads JSON the way language models write it: values found anywhere in a text, with whatever is wrong about them.

Understood beyond JSON: prose between values, comments, missing or doubled commas, missing closing brackets, text that
ends in the middle, single and typographic quotes, quotes and line breaks inside strings that should have been escaped,
keys without quotes, Python literals. Strict JSON is read as :mod:`json` reads it, except that numbers, true and false
all become OTHER: no caller needs their value.

There is no recursion, and no part of the text is read again more than RETRIES times: time and memory are linear.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

MAX_DEPTH: Final = 50
"""Brackets nested deeper than this are skipped."""
RETRIES: Final = 3
"""How often a bracket that turns out to be prose, because a quote behind it never closes, may cost a second reading."""
OTHER: Final = 0
"""Stands for a number, true, false or bare words."""

_VALUE_START: Final = re.compile(
    r"""  \{ (?= \s*+ (?: ["'“}] | [A-Za-z_$][\w$-]*+ \s*+ : | /[/*] | \#\s ) )
        | \[ (?= \s*+ (?: ["'“{\[\],\d-] | /[/*] | \#\s | (?:true|false|null|None|True|False)\b ) )""",
    re.VERBOSE,
)
"""A bracket that can begin a value; `[x]`, `{x}` and `[a link](...)` are prose."""
_COMMENT: Final = r"//[^\n]*+ | /\*(?:[^*]|\*(?!/))*+(?:\*/)? | \#[^\n]*+"
_SPACE: Final = re.compile(rf"(?: \s++ | {_COMMENT} )*+", re.VERBOSE)
_SPACE_AND_COMMAS: Final = re.compile(rf"(?: [\s,;]++ | {_COMMENT} )*+", re.VERBOSE)
_COLON: Final = re.compile(r"\s*+:")
_BARE_WORDS: Final = re.compile(r"[^\n,\[\]{}]++")
_BARE_KEY: Final = re.compile(r"[^\s,:\[\]{}\"'“]++")
_NULL: Final = frozenset({"null", "None", "undefined"})

_CLOSING: Final = {'"': '"', "'": "'", "“": "”"}
_UP_TO_QUOTE: Final = {quote: re.compile(rf"(?:[^{end}\\]++|\\.)*+", re.DOTALL) for quote, end in _CLOSING.items()}
_QUOTED: Final = r"""(?: "(?:[^"\\]++|\\.)*+ "? | '(?:[^'\\]++|\\.)*+ '? | “[^”]{0,80}+ ”? )"""
_AFTER_OBJECT_STRING: Final = rf"""
    \s*+ (?: %s | \Z | {_COMMENT} | (?:,\s*+)? {_QUOTED} \s*+ : | ,\s*+ {_QUOTED} \s*+ \\?\Z
    | [,\n] \s*+ (?: [}}\]{{,] | \Z | {_COMMENT} | [A-Za-z_$][\w$-]{{0,80}}+ \s*+ (?: : | \Z ) ) )"""
_AFTER_OUTER_STRING: Final = re.compile(_AFTER_OBJECT_STRING % r"[}\]]", re.VERBOSE | re.DOTALL)
_AFTER_INNER_STRING: Final = re.compile(
    _AFTER_OBJECT_STRING % r"[}\]] [ \t]*+ (?: [,;}\]{\[)`*~\#/\n] | \Z )", re.VERBOSE | re.DOTALL
)
_AFTER_ARRAY_STRING: Final = re.compile(rf"\s*+ (?: [,\]}}{{\"'“] | \Z | {_COMMENT} )", re.VERBOSE)
"""What must follow a quote that ends a string; any other quote is one that should have been escaped."""

_ESCAPE: Final = re.compile(
    r"\\(?: u([0-9a-fA-F]{4}) | x([0-9a-fA-F]{2}) | U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4}) | (.) )",
    re.DOTALL | re.VERBOSE,
)
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\n": ""} | {char: char for char in "\"'\\/"}


class Object(dict[str, Any]):
    """An object with what could be read of it."""

    cut: bool = False
    """True if the text ended before its closing brace."""


class Found(NamedTuple):
    """A value at the top level of the text."""

    value: Object | list[Any]
    start: int
    end: int
    exact: bool
    """False if a bracket was missing or a string did not end at its first quote."""
    closed: bool
    """False if the text ended inside the value."""


class Finder:
    """Finds the arrays and objects of a text: strings are str, null is None, every other scalar is OTHER."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._retries = RETRIES

    def next(self, start: int, stop: int) -> Found | None:
        """The first value that begins in `start` ... `stop`; it may end behind `stop`."""
        unended: Found | None = None
        while begin := _VALUE_START.search(self._text, start, stop):
            reader = _Reader(self._text, begin.start())
            found = reader.read()
            if not (reader.ended_in_string and self._retries) or _has_pairs(found.value):
                return found
            self._retries -= 1
            unended = unended or found
            start = found.start + 1
        return unended

    def all(self) -> list[Found]:
        """All values, in order."""
        values: list[Found] = []
        while found := self.next(values[-1].end if values else 0, len(self._text)):
            values.append(found)
        return values


def _has_pairs(value: object) -> bool:
    """Whether a key and its value were read anywhere in `value`, which is at most MAX_DEPTH deep."""
    return bool(value) if isinstance(value, dict) else isinstance(value, list) and any(map(_has_pairs, value))


class _Reader:
    """Reads one value: a machine with an explicit stack of the open containers and the keys that wait for a value."""

    def __init__(self, text: str, start: int) -> None:
        self.ended_in_string = False
        self._text = text
        self._start = self._at = start
        self._open: list[Object | list[Any]] = []
        self._keys: list[str | None] = []
        """One for each open container; None where an item or a key comes next."""
        self._exact = True

    def read(self) -> Found:
        """The value that begins at the start position."""
        root: Object | list[Any] = Object() if self._text[self._at] == "{" else []
        self._push(root)
        while self._open:
            waits = self._keys[-1] is not None
            self._match(_SPACE if waits else _SPACE_AND_COMMAS)
            if self._at >= len(self._text):
                break
            self._take(self._text[self._at])
        for container in self._open:
            if isinstance(container, Object):
                container.cut = True
        closed = not self._open
        return Found(root, self._start, self._at, self._exact and closed, closed)

    def _take(self, char: str) -> None:
        if char in "{[":
            self._begin(Object() if char == "{" else [])
        elif char in "}]":
            self._finish(Object if char == "}" else list)
        elif isinstance(self._open[-1], Object) and self._keys[-1] is None:
            self._take_key(char)
        elif char in _CLOSING:
            self._take_string(char)
        elif char == ",":
            self._add(None)
        else:
            words = self._match(_BARE_WORDS)
            self._add(None if words.strip() in _NULL else OTHER)

    def _begin(self, container: Object | list[Any]) -> None:
        while isinstance(self._open[-1], Object) and self._keys[-1] is None:
            self._exact = False
            self._pop()  # Its closing brace is missing.
            if not self._open:
                return
        if len(self._open) >= MAX_DEPTH:
            self._at += 1
            return
        self._add(container)
        self._push(container)

    def _push(self, container: Object | list[Any]) -> None:
        self._open.append(container)
        self._keys.append(None)
        self._at += 1

    def _pop(self) -> None:
        self._open.pop()
        self._keys.pop()

    def _finish(self, kind: type[Object | list[Any]]) -> None:
        """Close the innermost container of this kind, and with it those inside that were left open."""
        self._at += 1
        if not any(isinstance(container, kind) for container in self._open):
            self._exact = False
            return
        while not isinstance(self._open[-1], kind):
            self._pop()
            self._exact = False
        if self._keys[-1] is not None:
            self._add(None)
        self._pop()

    def _add(self, value: object) -> None:
        container = self._open[-1]
        if isinstance(container, list):
            container.append(value)
        else:
            container[self._keys[-1] or ""] = value
            self._keys[-1] = None

    def _take_key(self, char: str) -> None:
        if char in _CLOSING:
            begin = self._at + 1
            key = unescape(self._match(_UP_TO_QUOTE[char], begin))
            self._at += 1
        else:
            key = self._match(_BARE_KEY)
            self._at += not key
        colon = _COLON.match(self._text, self._at)
        if colon:
            self._at = colon.end()
            self._keys[-1] = key
        else:
            self._exact = False

    def _take_string(self, quote: str) -> None:
        """A string ends at the first quote that is followed by what may follow a string."""
        after = _AFTER_OUTER_STRING if len(self._open) == 1 else _AFTER_INNER_STRING
        if isinstance(self._open[-1], list):
            after = _AFTER_ARRAY_STRING
        begin = end = self._at + 1
        while True:
            self._match(_UP_TO_QUOTE[quote], end)
            end = self._at
            if end >= len(self._text) or self._text[end] == "\\":
                self._at = len(self._text)
                self.ended_in_string = True
                return
            if after.match(self._text, end + 1):
                break
            self._exact = False
            end += 1
        self._at = end + 1
        self._add(unescape(self._text[begin:end]))

    def _match(self, pattern: re.Pattern[str], at: int | None = None) -> str:
        """The text that `pattern` matches here, or the empty string; moves behind it."""
        found = pattern.match(self._text, self._at if at is None else at)
        if found:
            self._at = found.end()
        return found[0] if found else ""


def unescape(text: str) -> str:
    r"""Resolve the escapes of JSON and Python; an unknown one (`\d`) stays as it is, backslash included."""
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else _ESCAPED.get(found[4], found[0])
