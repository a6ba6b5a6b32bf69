"""URL paths and test ids in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from core.ledger.keycalls import Piece
from core.ledger.keynames import path_shape, test_parts

_RUN = re.compile(r"[^\s'\"`()<>|,;\[\]]+")
_QUERY = re.compile(r"[?#]")
_OPTION = re.compile(r"-{0,2}[\w-]+=(?=[a-z]+://|[/$:])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://([^/?#]*)(/[^?#]*)")
_VARIABLE = re.compile(r"(?:\$\w+|\$\{[^{}]*\}|\{\{?[^{}]*\}?\})(/[^?#]*)")
_HOST = re.compile(r"(?:localhost|\d{1,3}(?:\.\d{1,3}){3})?(?::\d+)?(/[^?#]*)|[\w.\-]+:\d+(/[^?#]*)")
_NAMED_HOST = re.compile(r"[\w\-]+(?:\.[\w\-]+)+(/[^?#]*)")
_TEST = re.compile(r"[\w./][\w./:#\-]*")
_LONGEST: Final = 500
"""Characters of a path or test id."""
_MOST_PARTS: Final = 16


def paths_in(piece: Piece, text: str) -> Iterator[str]:
    """Paths of addresses, and paths alone where only an address can be meant, as `path_shape` writes them."""
    if "/" not in text:
        return
    for word in dict.fromkeys(_RUN.findall(text)):
        if "/" not in word or len(word) > _LONGEST:
            continue
        address = _OPTION.sub("", word.lstrip("^").rstrip("$"), count=1)
        if full := _SCHEME.fullmatch(_QUERY.split(address, maxsplit=1)[0]):
            path = path_shape(_ended(full[2]))
            yield path
            yield full[1].rpartition("@")[2].lower() + path
        elif path := _path_alone(piece, address):
            yield path_shape(_ended(path))


def _path_alone(piece: Piece, word: str) -> str:
    """The path of an address without a scheme; "" for what may be a file."""
    addressed = piece.client or piece.sort in {"pattern", "code"}
    if found := _HOST.match(word):
        return (found[1] or found[2]) if addressed or word[0] != "/" else ""
    if addressed and (found := _VARIABLE.match(word)):
        return found[1]
    return found[1] if piece.client and (found := _NAMED_HOST.match(word)) else ""


def _ended(path: str) -> str:
    return path.rstrip("$\\:.")


def tests_in(text: str) -> Iterator[tuple[str, bool]]:
    """What may be a test id, with and without the first of its parts; true: with all of them."""
    for run in dict.fromkeys(_TEST.findall(text)):
        if len(run) <= _LONGEST:
            parts = test_parts(run.rstrip(".:#/"))[-_MOST_PARTS:]
            for at in range(len(parts)):
                yield "/".join(parts[at:]), at == 0
