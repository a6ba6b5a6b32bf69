"""Facts that no agent should read before a person has: orders, and characters that nobody sees."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from core.ledger.orders import IMPERATIVE, STATES, anywhere, leading

HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufdd0-\ufdef\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|\r(?!\n)|(?<=[ -~])[\u200c\u200d\ufe0e](?=[ -~])"
)
"""Control, bidirectional and invisible characters but newline and tab. Joiners and emoji selectors are, where scripts
and emoji have no use for them: between ASCII characters."""

_QUOTED: Final = re.compile(
    r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|‘[^’\n]*’|(?<!\w)'[^'\n]*'(?!\w)|『[^』\n]*』|「[^」\n]*」"
)
_LETTER_BY_LETTER: Final = re.compile(r"(?<!\w)(?:\w([ ._*-]))(?:\w\1){3,}\w(?!\w)")
_FIGURES: Final = str.maketrans("01345@$", "oieasas")
_DISGUISED: Final = re.compile(
    r"(?<![\w./-])(?=[a-z]*[0134@$5])(?=[0134@$5]*[a-z])[a-z0134@$5]{5,}(?![\w./-])", re.IGNORECASE
)
_TWO_SCRIPTS: Final = re.compile(r"[A-Za-z][\u0400-\u04ff]|[\u0400-\u04ff][A-Za-z]")
_ALIKE: Final = str.maketrans("асеорхуіјѕһАВЕКМНОРСТХ", "aceopxyijshABEKMHOPCTX")
"""Cyrillic letters that look like Latin ones."""
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+|(?<=[。！？；])|\s[–—-]\s|, (?=(?:and|then|so|now|please)\b)")
_BEFORE: Final = " \t>*-–—•#\"'(["
_WORD: Final = "_"
_COLON: Final = re.compile(r"[:：]\s")
_LOOKED_AT: Final = 2_000
"""Characters of a fact that are searched; longer ones are no findings."""

HIDDEN_REASON: Final = "it holds invisible or control characters"
ORDER_REASON: Final = "it reads like an order to the agent"


def suspicion(fact: str, *, hidden: bool = False) -> str:
    """Why a fact must wait for a person, as words about it; empty when it need not. Takes linear time.

    `hidden`: invisible, bidirectional or control characters stood in it before it was cleaned.
    """
    if hidden or HIDDEN.search(fact):
        return HIDDEN_REASON
    return ORDER_REASON if _is_order(fact[:_LOOKED_AT]) else ""


def _is_order(fact: str) -> bool:
    text = _undisguised(fact)
    # What stands between quotation marks is reported, unless there is nothing that reports it.
    told = _QUOTED.sub(_mark, text)
    if not any(char.isalnum() for char in told.replace(_WORD, "")):
        told = text.strip(_BEFORE + "`”“„»«")
    if any(pattern.search(told) for pattern in anywhere()):
        return True
    return any(map(_begins_as_order, _sentences(told)))


def _undisguised(fact: str) -> str:
    """Words as they are read: wide letters, letters set apart, figures and Cyrillic letters in place of Latin ones."""
    text = unicodedata.normalize("NFKC", fact)
    text = _LETTER_BY_LETTER.sub(lambda found: found[0].replace(found[1], ""), text)
    text = _DISGUISED.sub(lambda found: found[0].translate(_FIGURES), text)
    return text.translate(_ALIKE) if _TWO_SCRIPTS.search(text) else text


def _mark(quoted: re.Match[str]) -> str:
    """Something in place of a quotation: in backticks, it may be what an order is about."""
    return f"`{_WORD}`" if quoted[0].startswith("`") else f'"{_WORD}"'


def _sentences(text: str) -> list[str]:
    """Sentences, and their parts before and after a colon."""
    found = []
    for sentence in _SENTENCE.split(text):
        found.append(sentence)
        found += _COLON.split(sentence)
    return [sentence.lstrip(_BEFORE) if not sentence.startswith(("`", '"')) else sentence for sentence in found]


def _begins_as_order(sentence: str) -> bool:
    if any(pattern.match(sentence) for pattern in leading()):
        return True
    begin = IMPERATIVE.match(sentence)
    return begin is not None and not STATES.search(sentence, begin.end() - 1)
