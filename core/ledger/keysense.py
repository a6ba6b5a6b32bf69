"""Whether a name that stands in a call means the key: as a whole word, and a plain word only in its own sense."""

from __future__ import annotations

import re
from typing import NamedTuple

from core.ledger.keycalls import Piece
from core.ledger.keynames import FILE_ENDINGS, Key

_VARIABLE_BEFORE = re.compile(r"(?:\$\{?|getenv\(\s*['\"]?|environ(?:\.get)?[\[(]\s*['\"]?|printenv\s+)\Z")
_DEFINED_BEFORE = re.compile(
    r"(?:\A|\b(?:def|class|fn|func|function|struct|type|interface|trait|enum|const|let|var|impl)\s+)[\s^(\"'.]*\Z"
)
_DEFINED_AFTER = re.compile(r"[\s$)(\"':=]*\Z")
_CODED_BEFORE = re.compile(r"(?:code|status|state|err(?:or|no)?|http(?:/[\d.]+)?)\W{0,4}\Z", re.IGNORECASE)
_GROUPED = re.compile(r",\d")
_ASKS_VERSION = re.compile(r"(?<!\S)(?:-v|-V|--version|-version|version)(?!\S)")
_ADDRESS = re.compile(r"://\S*\Z")
_NEAR = 40
"""Characters before a name that can tell its sense."""


class Place(NamedTuple):
    """Where a name stands: parts `first` to `last` of the joined names at `at` to `end` of a piece's text."""

    piece: Piece
    text: str
    at: int
    end: int
    parts: list[str]
    first: int
    last: int

    @property
    def before(self) -> str:
        """The character before the joined names."""
        return self.text[self.at - 1 : self.at] if self.at else ""

    @property
    def after(self) -> str:
        """The character behind them."""
        return self.text[self.end : self.end + 1]

    @property
    def near(self) -> str:
        """What stands before them."""
        return self.text[max(0, self.at - _NEAR) : self.at]


def is_meant(key: Key, place: Place) -> bool:
    """Whether this is the key; tables and columns that are plain words are told by their statement instead."""
    if key.kind in {"path", "test"} or not _spelled(key, place) or not _ends(key, place) or not _apart(key, place):
        return False
    if place.piece.sort == "variables" and not place.near.endswith(("$", "${")):
        return False
    return key.distinct or _plain(key, place)


def _spelled(key: Key, place: Place) -> bool:
    said = tuple(place.parts[place.first : place.last + 1])
    if said == key.parts:
        return True
    folds = place.piece.fold or key.text.upper().startswith("CVE-")
    return folds or (place.piece.sort == "sql" and key.kind in {"table", "column"})


def _ends(key: Key, place: Place) -> bool:
    """Nothing is joined to its end but a method that is called or, in SQL, a column."""
    if place.last == len(place.parts) - 1:
        return not (place.after in {"*", "?"} and place.piece.sort == "words")
    if place.parts[-1].lower() in FILE_ENDINGS:
        return False
    return place.after == "(" or (key.kind == "table" and place.piece.sort == "sql")


def _apart(key: Key, place: Place) -> bool:
    """It is no part of a path, unless that is an address that ends in a code."""
    if place.before == "/" and _ADDRESS.search(place.near):
        return place.after != "/" and key.distinct and any(map(str.isdigit, key.text))
    if "/" not in (place.before, place.after):
        return place.piece.sort != "url"
    if place.piece.sort not in {"pattern", "code"}:
        return False
    beyond = (
        place.text[max(0, place.at - 2) : place.at - 1] if place.before == "/" else "",
        place.text[place.end + 1 : place.end + 2] if place.after == "/" else "",
    )
    return not any(char.isalnum() or char in {"_", ".", "~", "}"} for char in beyond if char)


def _plain(key: Key, place: Place) -> bool:
    if key.kind == "number":
        return _is_code(place)
    if key.kind == "variable":
        return (
            _VARIABLE_BEFORE.search(place.near) is not None
            or (place.first > 0 and place.parts[place.first - 1] == "env")
            or (place.after == "=" and place.piece.sort == "words" and place.near[-1:] in {"", " "})
        )
    if key.kind == "program":
        piece = place.piece
        return piece.program == key.text.lower() and place.at == 0 and _ASKS_VERSION.search(piece.text) is not None
    if key.kind in {"symbol", "name"} and place.piece.sort == "pattern":
        whole = len(place.parts) == 1 and _DEFINED_AFTER.match(place.text, place.end)
        return bool(whole) and _DEFINED_BEFORE.search(place.near) is not None
    return False


def _is_code(place: Place) -> bool:
    """A number is a code when it is searched for, or said to be one."""
    if len(place.parts) > 1 or place.before == "," or _GROUPED.match(place.text, place.end):
        return False
    if _CODED_BEFORE.search(place.near):
        return True
    if place.before in {"=", ":", "#"}:
        return False
    searched = place.piece.sort == "pattern" or (place.piece.sort == "code" and place.piece.program.endswith("awk"))
    return searched and re.search(r"\bNR\W*\Z", place.near) is None
