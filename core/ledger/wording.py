"""Words of statements and outputs as they are compared: without case, endings and separators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from core.ledger.values import fold

_LETTERS: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[^\W\d_]+")
_PIECES: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+")
_ENDINGS: Final = ("ing", "ed", "es", "s")


def words(text: str) -> frozenset[str]:
    """The words of a list written as text."""
    return frozenset(text.split())


FUNCTION_WORDS: Final = words("""
    a an the this that these those its it their there here is are was were be been being am has have had
    having do does did of in on at to from by for with as and or but if then than so such per via into
    onto over under between about which who what when where while will would can could may might must
    should each both also only just very still now already der die das den dem des ein eine einen einem
    einer eines ist sind war hat haben und oder mit von im in auf zu für bei aus le la les l un une des
    du de d est sont a ont et ou avec dans sur pour par el los las uno una es son y o con en contains
    contain contained containing holds hold says say shows show
    """)
"""Words that say nothing by themselves."""

NEGATORS: Final = words("""
    not no non never without cannot none neither nor n't isn aren wasn doesn don didn hasn haven won
    couldn can't kein keine keinen keiner nicht ohne nie pas sans aucun aucune jamais ne sin ningún
    nunca
    """)

MEASURES: Final = words("""
    byte bit line row column col file entry item word size length long wide high start begin end first
    last second third number count total time exactly starting value field record character char kb mb
    gb kib mib gib ms sec second minute hour use output print return answer give report respond exit
    code name type version line port path folder directory exist set define list zeile zeilen spalten
    dateien datei ligne lignes fichier one two three four five six seven eight nine ten
    """)
"""Words by which people call what an output only shows as a figure."""

_COUNTED: Final = """
    zero one two three four five six seven eight nine ten eleven twelve
"""
SMALL: Final = {word: str(n) for n, word in enumerate(_COUNTED.split())}
"""Small counts as words."""


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """A word without case and, where it is English, without its ending."""
    word = fold(word)
    if not word.isascii() or len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    word = word[:-1] if word.endswith("e") and len(word) > 3 else word
    return word[:-1] if len(word) > 2 and word[-1] == word[-2] else word


MEASURE_STEMS: Final = frozenset(map(stem, MEASURES))


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text that carry meaning, as stems, in order; parts of names included, digits not."""
    return tuple(dict.fromkeys(stem(word) for word in _pieces(text) if fold(word) not in FUNCTION_WORDS))


def all_stems(text: str) -> set[str]:
    """Every word of an output, as stems: `headerLen` is `headerlen`, `header` and `len`."""
    stems = {stem(word) for word in _PIECES.findall(text)}
    if not text.islower():
        stems.update(stem(word) for word in _LETTERS.findall(text))
    return stems


def _pieces(text: str) -> Iterator[str]:
    for match in _PIECES.finditer(text):
        yield match.group()


def is_negated(text: str) -> bool:
    """Whether a negation stands in the text."""
    folded = fold(text)
    return "n't" in folded or "n’t" in folded or not NEGATORS.isdisjoint(_PIECES.findall(folded))
