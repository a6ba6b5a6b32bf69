"""Whether an output denies what a statement claims, or claims what it denies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from core.ledger.atoms import Statement
from core.ledger.lookup import Found
from core.ledger.outputs import Outputs
from core.ledger.values import fold
from core.ledger.wording import is_negated

MOST_LINES: Final = 64
"""Lines looked at for one clause."""

_LACK: Final = re.compile(
    r"\b(?:not|no|non|never|without|cannot|can't|none|null|nil|missing|absent|unable|fail\w*|error\w*|denied|empty|false|0"
    r"|disabled|unknown|invalid|exclu\w*|refused|un(?:set|used|defined|supported|available|reachable|limited|changed)|in(?:active|accessible))\b|n't\b|!(?!=)"
)
_DENIED: Final = r"(?:\b(?:not|non|cannot|without|no|never|isn't|wasn't|didn't|doesn't|won't)[\s-]+(?:be\s+|been\s+)?)"
_LACKING: Final = re.compile(r"\b(?:without|no|not|ohne|kein\w*|sans) (?:an? |the )?(\w+)")
_ALL: Final = re.compile(r"\b(?:all|every|each|alle|tous|toutes|todos|todas)\b", re.IGNORECASE)
_PASS: Final = re.compile(
    r"\b(?:pass|passes|passed|succeed|succeeds|succeeded|ok|green|bestehen|laufen)\b", re.IGNORECASE
)
_FAILURE: Final = re.compile(r"\bfail(?:ed|s|ure|ures)?\b|\berrors?\b")
_NO_FAILURE: Final = re.compile(r"\b(?:0|no) (?:tests? )?(?:fail(?:ed|ures?)|errors?)\b")
_COMPARED: Final = re.compile(
    r"\b(\w+er|more|less|fewer|worse) than\b|\b(größer|kleiner|älter|neuer|jünger|mehr|weniger) als\b", re.IGNORECASE
)
_EXISTS: Final = re.compile(r"\bexists?\b", re.IGNORECASE)
_GONE: Final = re.compile(r"no such|not found|cannot access|does not exist|doesn't exist")


def polarity(stated: Statement, fact: str, found: Sequence[Found], outputs: Outputs) -> str:
    """A sentence when the printed lines say the opposite; empty otherwise."""
    compared = _COMPARED.search(fact)
    if compared and not outputs.phrase(compared.group()):
        return f"no output says {compared.group()}"
    for clause, negated in enumerate(stated.negated):
        here = [one for one in found if one.atom.clause == clause and one.printed]
        if not here:
            continue
        objection = _never_denied(stated.clauses[clause], here, outputs) if negated else _only_denied(here, outputs)
        if objection:
            return objection
    if _EXISTS.search(fact) and not is_negated(fact) and _each_line(found, outputs, _GONE):
        return "the output says it is not there"
    return _not_all(fact, found, outputs)


def _texts(here: Sequence[Found], outputs: Outputs) -> list[str]:
    places = dict.fromkeys(place for one in here for place in one.printed[:MOST_LINES])
    return [outputs.lines[place].text for place in list(places)[:MOST_LINES]]


def _each_line(found: Sequence[Found], outputs: Outputs, pattern: re.Pattern[str]) -> bool:
    texts = _texts(found, outputs)
    return bool(texts) and all(pattern.search(text) for text in texts)


def _never_denied(clause: str, here: Sequence[Found], outputs: Outputs) -> str:
    texts = _texts(here, outputs)
    if not any(_LACK.search(text) for text in texts):
        return "the output denies nothing of the sort"
    lacking = _LACKING.search(fold(clause))
    if lacking:
        having = re.compile(rf"\bwith (?:an? |the )?{re.escape(lacking.group(1))}\b")
        if all(having.search(text) for text in texts if lacking.group(1) in text) and any(map(having.search, texts)):
            return f"the output says with {lacking.group(1)}"
    return ""


def _only_denied(here: Sequence[Found], outputs: Outputs) -> str:
    """A word that stands right behind a negation wherever it is printed."""
    for one in here:
        if one.atom.need not in ("word", "value") or not one.atom.key[:1].isalpha():
            continue
        word = re.escape(fold(one.atom.key))
        denied = re.compile(rf"{_DENIED}{word}")
        plain = re.compile(rf"(?<!\w){word}")
        if all(denied.search(text) and len(plain.findall(text)) == 1 for text in _texts([one], outputs)):
            return f"the output says not {one.atom.shown}"
    return ""


def _not_all(fact: str, found: Sequence[Found], outputs: Outputs) -> str:
    if not (_ALL.search(fact) and _PASS.search(fact)) or is_negated(fact):
        return ""
    calls: dict[int, bool] = {}
    for one in found:
        for place in one.printed[:MOST_LINES]:
            line = outputs.lines[place]
            bad = bool(_FAILURE.search(line.text)) and not _NO_FAILURE.search(line.text)
            calls[line.call] = calls.get(line.call, False) or bad
    return "the output names failures" if calls and all(calls.values()) else ""
