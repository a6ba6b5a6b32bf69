"""Which words of an output support a fact: the fact's telling words and values, found again in the output."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from core.ledger.values import values_of
from core.ledger.wording import FUNCTION_WORDS, stem

_WORD = re.compile(r"'[^'\n]{1,60}'|\"[^\"\n]{1,60}\"|`[^`\n]{1,60}`|[^\s,;()\[\]{}'\"`]+")
_COMMON_WORDS = """
    about after all and any are because been before but can each every for from had has have into its more not off only
    other over same some such than that the their then there these they this those under until was were what when where
    which while will with within without
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_MAX_WORDS = 40
_LETTERS = re.compile(r"[^\W\d_]{3,60}")


@dataclass(frozen=True, slots=True)
class Support:
    """An output line and where its supporting words are, as character ranges in order."""

    text: str
    marks: tuple[tuple[int, int], ...]


def telling_words(fact: str) -> tuple[str, ...]:
    """The words of a fact worth looking for: numbers, names, quoted text, and longer words that are not common ones."""
    words: dict[str, None] = {}
    for match in _WORD.finditer(fact[:2_000]):
        word = match[0].strip("'\"`").strip(" .:!?–—-").casefold()
        if _tells(word):
            words[word] = None
    return tuple(words)[:_MAX_WORDS]


def _tells(word: str) -> bool:
    if not word or word in _COMMON:
        return False
    return len(word) >= 3 or (len(word) == 2 and any(character.isdigit() for character in word))


def pattern_of(fact: str) -> re.Pattern[str] | None:
    """A pattern that finds the fact's telling words as whole words; None when it has none."""
    words = sorted(telling_words(fact), key=len, reverse=True)
    if not words:
        return None
    return re.compile(r"(?<![^\W_])(?:" + "|".join(map(re.escape, words)) + r")(?![^\W_])", re.IGNORECASE)


def supported(line: str, pattern: re.Pattern[str] | None) -> Support:
    """`line` with the places where `pattern` matches."""
    if pattern is None:
        return Support(line, ())
    return Support(line, tuple(match.span() for match in pattern.finditer(line)))


@dataclass(frozen=True, slots=True)
class Telling:
    """What of a fact can be found again in a line: words, words with other endings, values written otherwise."""

    pattern: re.Pattern[str] | None
    stems: frozenset[str]
    keys: frozenset[str]


def telling(fact: str) -> Telling:
    """What to look for in the lines that support a fact."""
    words = _LETTERS.findall(fact[:2_000])
    stems = frozenset(stem(word) for word in words if len(word) > 3 and word.casefold() not in FUNCTION_WORDS)
    return Telling(pattern_of(fact), stems, frozenset(value.key for value in values_of(fact[:2_000])))


def borne_out(line: str, found: Telling) -> Support:
    """`line`, which supports a fact, with the places that say the same as the fact."""
    marks: list[tuple[int, int]] = []
    for start, end in sorted(_places(line, found)):
        if marks and start <= marks[-1][1]:
            marks[-1] = (marks[-1][0], max(end, marks[-1][1]))
        else:
            marks.append((start, end))
    return Support(line, tuple(marks))


def differing(text: str, other: str) -> Support:
    """`text` with what `other` does not say: its values, or where these are the same, its words."""
    keys = {value.key for value in values_of(other)}
    values = [(value.start, value.end) for value in values_of(text) if value.key not in keys]
    if values and unicodedata.is_normalized("NFC", text):
        return Support(text, tuple(values))
    stems = {stem(word) for word in _LETTERS.findall(other)}
    return Support(text, tuple(match.span() for match in _LETTERS.finditer(text) if stem(match[0]) not in stems))


def _places(line: str, found: Telling) -> Iterator[tuple[int, int]]:
    yield from supported(line, found.pattern).marks
    for match in _LETTERS.finditer(line):
        if stem(match[0]) in found.stems:
            yield match.span()
    if unicodedata.is_normalized("NFC", line):
        yield from ((value.start, value.end) for value in values_of(line) if value.key in found.keys)
