"""Which topics a call touches by any name they hold: URL paths, tables, columns, error codes, symbols, test ids.

A name counts as a whole word and in its own sense: `users_old`, `customers.email` and the English word do not touch
`table:users` or `column:users.email`. In doubtful cases nothing is touched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar
from unicodedata import normalize

import msgspec

from core.ledger.keycalls import KEY_ARGUMENTS, PLACES, Piece, pieces_of, text_of
from core.ledger.keynames import CHAIN, JOINT, Key, Kind, keys_of
from core.ledger.keyroutes import paths_in, tests_in
from core.ledger.keysense import Place, is_meant
from core.ledger.keysql import statements
from core.text import clip

__all__ = ["KEY_ARGUMENTS", "Hit", "KeyIndex", "text_of"]

T = TypeVar("T")

_SHOWN_CHARS: Final = 60
_MOST_PARTS: Final = 12
_CHAIN = re.compile(CHAIN)
_WORD = re.compile(r"\\?\w+")
_ESCAPE = re.compile(r"\\([wWdDsS](?=[+*\w\\{?])|[A-Za-z]|.)", re.DOTALL)


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A topic that a call touches."""

    topic: str
    key: str
    """The name, as the topic writes it."""
    why: str
    """For the log: "table name `users` in the command"."""


class KeyIndex:
    """Topics by the names in them. `add` and `discard` are idempotent: a topic is in the index or it is not.

    The time of `touched` grows with the length of the text and with the topics touched, not with the topics in the
    index.
    """

    def __init__(self, extensions: Iterable[str] = ()) -> None:
        """An empty index; topics about files with these extensions (without dot, any case) are given no key."""
        self._extensions = frozenset(extension.casefold() for extension in extensions)
        self._added = 0
        self._order: dict[str, int] = {}
        self._keys: dict[str, tuple[Key, ...]] = {}
        self._names: dict[str, dict[Key, None]] = {}
        self._hints: Counter[str] = Counter()
        self._kinds: Counter[Kind] = Counter()

    def __len__(self) -> int:
        return len(self._order)

    def __contains__(self, topic: object) -> bool:
        return topic in self._order

    def add(self, topic: str) -> None:
        """Put a topic in; one that is there already keeps its place, one without a key is never touched."""
        if topic in self._order:
            return
        self._added += 1
        self._order[topic] = self._added
        if keys := keys_of(topic, self._extensions):
            self._keys[topic] = keys
        for key in keys:
            self._names.setdefault(_name(key), {})[key] = None
            self._hints[_hint(key)] += 1
            self._kinds[key.kind] += 1

    def discard(self, topic: str) -> None:
        """Take a topic out, if it is there; added again it comes last."""
        if self._order.pop(topic, None) is None:
            return
        for key in self._keys.pop(topic, ()):
            name = _name(key)
            del self._names[name][key]
            if not self._names[name]:
                del self._names[name]
            _less(self._hints, _hint(key))
            _less(self._kinds, key.kind)

    def touched(self, tool: str, text: str) -> tuple[Hit, ...]:
        """Topics whose key a call names, in the order in which they were added.

        Args:
            tool: the tool's name.
            text: the command of a shell, or what `text_of` gives for another tool. Commands that only write or file
                away what they name touch nothing.
        """
        if not self._names:
            return ()
        text = text if text.isascii() else normalize("NFC", text)
        if not self._hinted(text):
            return ()
        found: dict[str, Hit] = {}
        for piece in pieces_of(tool, text):
            for key in self._in_piece(piece):
                if key.topic not in found:
                    found[key.topic] = Hit(topic=key.topic, key=key.text, why=_why(key, tool, piece))
        return tuple(sorted(found.values(), key=lambda hit: self._order[hit.topic]))

    def _hinted(self, text: str) -> bool:
        """Whether any key's last word is in the text at all."""
        hints = self._hints
        for word in _WORD.findall(text.lower()):
            if word in hints or (word[0] == "\\" and (word[1:] in hints or word[2:] in hints)):
                return True
        return False

    def _in_piece(self, piece: Piece) -> Iterator[Key]:
        text = piece.text
        if "\\" in text and piece.sort in {"pattern", "code"}:
            text = _ESCAPE.sub(_unescaped, text)
        kinds = self._kinds if piece.sort != "variables" else ()
        if "path" in kinds:
            for path in paths_in(piece, text):
                yield from self._names.get("path " + path, ())
        if "test" in kinds:
            for tail, whole in tests_in(text):
                yield from (key for key in self._names.get("test " + tail, ()) if whole or not key.short)
        if piece.sort != "url" and ("table" in kinds or "column" in kinds):
            yield from self._in_sql(piece, text)
        yield from self._in_text(piece, text)

    def _in_sql(self, piece: Piece, text: str) -> Iterator[Key]:
        for statement in statements(text, whole=piece.sort == "sql"):
            for table in statement.tables:
                yield from (key for key in self._names.get(table, ()) if key.kind == "table")
            for column in statement.columns:
                if "." not in column:
                    yield from (key for key in self._names.get(column, ()) if key.kind == "column")
            for table, column in statement.pairs():
                yield from (key for key in self._names.get(f"{table}.{column}", ()) if key.kind == "column")

    def _in_text(self, piece: Piece, text: str) -> Iterator[Key]:
        names = self._names
        folded = text.lower()
        if len(folded) != len(text):
            folded = text
        for found in _CHAIN.finditer(folded):
            parts = JOINT.split(found[0])[:_MOST_PARTS]
            if len(parts) == 1 and found[0] not in names:
                continue
            said = JOINT.split(text[found.start() : found.end()])
            for first in range(len(parts)):
                for last in range(first, len(parts)):
                    for key in names.get(".".join(parts[first : last + 1]), ()):
                        if is_meant(key, Place(piece, text, *found.span(), said, first, last)):
                            yield key


def _less(counts: Counter[T], counted: T) -> None:
    counts[counted] -= 1
    if not counts[counted]:
        del counts[counted]


def _name(key: Key) -> str:
    """What a key is looked up by: paths and tests apart from other names, whose case and joints are left out."""
    if key.kind == "path":
        return "path " + key.parts[0]
    if key.kind == "test":
        return "test " + "/".join(key.parts)
    return ".".join(key.parts).lower()


def _hint(key: Key) -> str:
    words = re.findall(r"\w+", key.parts[-1].lower())
    return words[-1] if words else key.parts[-1].lower()


def _unescaped(found: re.Match[str]) -> str:
    """Escapes of patterns and strings: a class of letters goes on with the word, an anchor or line break ends it."""
    char = found[1]
    if char in "wdWDS":
        return "_"
    return " " if char.isalpha() else char


def _why(key: Key, tool: str, piece: Piece) -> str:
    where = PLACES.get(tool) or ("in a search pattern" if piece.sort == "pattern" else "in the command")
    return f"{key.said} `{clip(key.text, _SHOWN_CHARS)}` {where}"
