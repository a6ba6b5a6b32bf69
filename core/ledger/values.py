"""What a statement claims beside its words: numbers by value, quoted strings, booleans. Linear, any text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from typing import Final, Literal

import msgspec

Kind = Literal["number", "quoted", "boolean", "name", "word"]

_MOST_DIGITS: Final = 40
"""Digits of a hexadecimal number, and places an exponent may move the point; longer ones are compared as written."""

_QUOTED: Final = r"""
      "(?P<q1>[^"\n]{1,400})" | `(?P<q2>[^`\n]{1,400})` | [„“](?P<q3>[^„“”"\n]{1,400})[“”"]
    | «(?P<q4>[^«»\n]{1,400})» | (?<!\w)'(?P<q5>[^'\n]{1,400})'(?!\w) | ‘(?P<q6>[^‘’\n]{1,400})’
"""
# A minus counts where no word or number stands before it: 3-5 is no negative number.
_NUMBER: Final = r"""
      (?P<stamp>(?<!\w)\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?(?![\d:]|[.,-]?\w)Z?)
    | (?P<zoned>(?<!\w)\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)(?!\w))
    | (?P<clock>(?<![\w:.])\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?![\w:]|\.\d))
    | (?P<based>(?<![^\W_])0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO][0-7]+)(?!\w))
    | (?P<spans>(?<![^\W_])(?:\d{1,9}[dhms]){2,9}(?!\w))
    | (?P<mixed>(?<![^\W_])\d+(?!(?:[xX×]\d|_\d{3}|[eE][+-]?\d{1,3}(?!\w)))[^\W\d]+\d\w*(?:[.-]\w+)*)
    | (?P<chain>\d+(?:\.\d+){2,}(?:\+\w+(?:\.\w+)*)?)
    | (?P<plain>(?:(?<![\w.)\]/-])[-−])?
        (?:\d{1,3}(?:,\d{3})+(?![\d,])|\d{1,3}(?:[_'’\u00a0\u202f\u2009]\d{3})+(?!\d)|\d+)
        (?:\.\d+)?(?:[eE][+-]?\d{1,3}(?!\w))?)
"""
_TOKEN: Final = re.compile(
    rf"""(?P<quoted>{_QUOTED}) | {_NUMBER}
    | (?:(?<!\w)v|(?<=\d)[xX×])(?=\d+(?:[.xX×]\d|(?!\w)))
    | (?P<word>[\u3040-\u30ff\u3400-\u9fff]|[^\W\d]\w*(?:[.\-/]\w+)*)
    """,
    re.VERBOSE,
)
_SINGLE: Final = re.compile(
    rf"(?:(?<!\w)v(?=\d+\.)|(?<=\d)[xX×](?=\d)) | (?P<word>[^\W\d]\w*(?:[.-]\w+)*) | {_NUMBER}", re.VERBOSE
)
_BOOLEANS: Final = {"true": "true", "false": "false"}
_ANSWERS: Final = {"yes": "true", "no": "false", "on": "true", "off": "false"}
_ANSWER_PLACE: Final = re.compile(r"[=:]\s?\Z")
_SEPARATORS: Final = str.maketrans("", "", ",_'’\u00a0\u202f\u2009")
_TUPLE: Final = re.compile(r"[(\[][\d,.\s]{3,200}[)\]]")


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A value in a text.

    Attributes:
        key: equal for equal values: `0x80` and `128`, `1,234` and `1234`, "a" and `a`.
        start, end: where it stands in the text, in code points; quotation marks included.
    """

    kind: Literal["number", "quoted", "boolean"]
    key: str
    start: int
    end: int


class Token(msgspec.Struct, frozen=True):
    """A value, a word, or a name (it holds a digit, or a dot, slash, hyphen or underscore)."""

    kind: Kind
    key: str
    start: int
    end: int


def fold(text: str) -> str:
    """The text as it is compared: composed and without case."""
    return (
        text.lower() if text.isascii() else unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    )


def number_key(text: str) -> str:
    """The decimal notation of a number as it may be written; a text that is none comes back as it is.

    Zeros at the end stay, 3.1 is not 3.10: it may be a version.
    """
    if text.isdecimal() and text.isascii():
        return text.lstrip("0") or "0"
    if text[:2].lower() in ("0x", "0b", "0o") and 2 < len(text) <= 2 + _MOST_DIGITS:
        try:
            return str(int(text, 0))
        except ValueError:
            return text
    plain = text.translate(_SEPARATORS).replace("−", "-").lower()
    mantissa, _, exponent = plain.partition("e")
    if exponent.lstrip("+-").isdecimal() and abs(int(exponent[:5])) <= _MOST_DIGITS and len(mantissa) <= _MOST_DIGITS:
        plain = format(Decimal(plain), "f")
        plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    sign = "-" if plain.startswith("-") else ""
    whole, point, places = plain.removeprefix("-").partition(".")
    whole = whole.lstrip("0") or "0"
    return ("" if whole == "0" and not places.strip("0") else sign) + whole + point + places


def tokens_of(text: str) -> tuple[Token, ...]:
    """Everything in a statement that can be compared, in order."""
    text = unicodedata.normalize("NFC", text) if not text.isascii() else text
    pairs = [match.span() for match in _TUPLE.finditer(text)] if "," in text else []
    return tuple(_tokens(text, pairs))


def values_of(text: str) -> tuple[Value, ...]:
    """The values of a text in order; places count in its composed form (NFC)."""
    return tuple(
        Value(kind=token.kind, key=token.key, start=token.start, end=token.end)
        for token in tokens_of(text)
        if token.kind in ("number", "quoted", "boolean")
    )


def number_keys(text: str) -> set[str]:
    """Every number a line of output can be said to contain, in each way it can be read.

    `1,234` is 1234, or 1 and 234 in a table; an address, a time and a version are one value and contain their parts.
    """
    keys: set[str] = set()
    for match in _SINGLE.finditer(text):
        kind, found = match.lastgroup, match.group()
        if kind in ("plain", "based"):
            keys.add(number_key(found))
            if "," in found:
                keys.update(map(number_key, found.split(",")))
        elif kind == "chain":
            keys.update(_chain_keys(found))
        elif kind in ("stamp", "zoned", "clock", "spans"):
            keys.add(found)
            keys.update(part for part in (found[:10], found[11:].rstrip("Z")) if len(part) > 4)
            keys.update(number_key(part) for part in re.split(r"\D+", found) if part)
    return keys


def _chain_keys(found: str) -> Iterator[str]:
    yield found
    bare = found.partition("+")[0]
    yield bare
    parts = bare.split(".")
    if len(parts) == 3:
        yield number_key(".".join(parts[:2]))


def _tokens(text: str, pairs: list[tuple[int, int]]) -> Iterator[Token]:
    at = 0
    for match in _TOKEN.finditer(text):
        kind, found, (start, end) = match.lastgroup, match.group(), match.span()
        while at < len(pairs) and pairs[at][1] <= start:
            at += 1
        listed = at < len(pairs) and pairs[at][0] < start
        if match["quoted"] is not None:
            yield _quoted(next(group for name in _QUOTES if (group := match[name]) is not None), start, end)
        elif kind == "plain" and listed and "," in found:
            for part in re.finditer(r"[\d.]+", found):
                yield Token("number", number_key(part.group()), start + part.start(), start + part.end())
        elif kind in ("plain", "based"):
            yield Token("number", number_key(found), start, end)
        elif kind in ("chain", "stamp", "zoned", "clock", "spans"):
            yield Token("number", found, start, end)
        elif kind == "mixed":
            yield Token("name", found, start, end)
        elif kind == "word":
            yield _word(text, found, start, end)


_QUOTES: Final = ("q1", "q2", "q3", "q4", "q5", "q6")


def _quoted(inside: str, start: int, end: int) -> Token:
    whole = _SINGLE.fullmatch(inside.strip())
    if whole and whole.lastgroup in ("plain", "based"):
        return Token("number", number_key(inside.strip()), start, end)
    return Token("quoted", " ".join(inside.split()) or inside, start, end)


def _word(text: str, found: str, start: int, end: int) -> Token:
    folded = found.lower()
    if folded in _BOOLEANS:
        return Token("boolean", _BOOLEANS[folded], start, end)
    if folded in _ANSWERS and _ANSWER_PLACE.search(text[max(0, start - 2) : start]):
        return Token("boolean", _ANSWERS[folded], start, end)
    is_name = any(letter in "._/" or letter.isdigit() for letter in found)
    return Token("name" if is_name else "word", found, start, end)
