"""Which words of an output support a fact: the fact's telling words, found again in the output."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = re.compile(r"'[^'\n]{1,60}'|\"[^\"\n]{1,60}\"|`[^`\n]{1,60}`|[^\s,;()\[\]{}'\"`]+")
_COMMON_WORDS = """
    about after all and any are because been before but can each every for from had has have into its more not off only
    other over same some such than that the their then there these they this those under until was were what when where
    which while will with within without
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_MAX_WORDS = 40


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
