"""A statement taken apart into what an output has to bear out."""

from __future__ import annotations

import itertools
import re
from typing import Final, Literal

import msgspec

from core.ledger.values import Token, tokens_of
from core.ledger.wording import FUNCTION_WORDS, MEASURE_STEMS, NEGATORS, SMALL, is_negated, stem, words_of

Need = Literal["value", "boolean", "name", "word", "digit", "measure"]
"""`value` and `boolean` must be printed, a `name` printed or in a command, of the others a share must be found."""

MOST_ATOMS: Final = 400
"""Atoms of one statement that are looked at; 2,000 characters hold about as many."""

DIGESTS: Final = frozenset(("md5", "sha1", "sha256", "sha512", "crc32", "utf8", "x86", "http2", "ipv4", "ipv6"))
"""Words with a digit that people use for what an output shows without naming it."""

_CLAUSE: Final = re.compile(r";\s|\.\s|,?\s(?:and|but|while|whereas|und|aber|et|y)\s", re.IGNORECASE)
_CAMEL: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_SMALL: Final = re.compile(r"-?\d\Z")
_COMPOUND: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+\Z")


class Atom(msgspec.Struct, frozen=True):
    """One thing a statement says.

    Attributes:
        key: what is looked up: a number's value, a quoted string, a name as written, a stem.
        clause: number of the part of the sentence it stands in.
        shown: as it is written, for people.
    """

    need: Need
    key: str
    clause: int
    shown: str
    quoted: bool = False


class Statement(msgspec.Struct, frozen=True):
    """A fact's atoms and tokens, the text of its clauses, and which of those deny something."""

    atoms: tuple[Atom, ...]
    tokens: tuple[Token, ...]
    clauses: tuple[str, ...]
    negated: tuple[bool, ...]


def statement(fact: str) -> Statement:
    """Take a fact apart. Never raises; linear."""
    tokens = tokens_of(fact)
    inside = [(token.start, token.end) for token in tokens if token.kind == "quoted"]
    cuts = [m.start() for m in _CLAUSE.finditer(fact) if not any(a < m.start() < b for a, b in inside[:64])]
    atoms: list[Atom] = []
    for token in tokens[:MOST_ATOMS]:
        clause = sum(cut <= token.start for cut in cuts[:32])
        called = fact[token.end : token.end + 1] == "("
        atoms += _atoms(token, clause, fact[token.start : token.end], called)
    ends = [0, *cuts[:32], len(fact)]
    clauses = tuple(fact[a:b] for a, b in itertools.pairwise(ends))
    return Statement(tuple(dict.fromkeys(atoms)), tokens, clauses, tuple(map(is_negated, clauses)))


def _atoms(token: Token, clause: int, shown: str, called: bool) -> list[Atom]:
    if token.kind == "number":
        return [Atom("digit" if _SMALL.match(token.key) else "value", token.key, clause, shown)]
    if token.kind == "quoted":
        return [Atom("value", token.key, clause, shown, quoted=True)]
    if token.kind == "boolean":
        return [Atom("boolean", token.key, clause, shown)]
    is_name = token.kind == "name" or called or _CAMEL.search(token.key)
    if is_name and token.key.lower() not in DIGESTS:
        return [Atom("name", token.key, clause, shown)]
    return _words(token.key, clause, shown)


def _words(word: str, clause: int, shown: str) -> list[Atom]:
    if _COMPOUND.match(word):
        return [_word(part, clause, part) for part in words_of(word)]
    folded = word.casefold()
    if folded in SMALL:
        return [Atom("measure", SMALL[folded], clause, shown)]
    if folded in FUNCTION_WORDS or folded in NEGATORS or (len(folded) == 1 and folded < "\u3100"):
        return []
    return [_word(word.lower() if folded in DIGESTS else stem(word), clause, shown)]


def _word(key: str, clause: int, shown: str) -> Atom:
    return Atom("measure" if key in MEASURE_STEMS else "word", key, clause, shown)
