"""How a later fact stands to an older one of the same topic. Pure, linear, never raises.

The subject of a fact is everything before its verb, `=` or `:`. Only values that differ behind the same subject
supersede; whatever is less clear is left to a person, and different subjects have nothing to do with each other.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

from core.ledger.sentence import ADDING, CIRCUMSTANCE, EQUALS, NOUNS_WITH_NUMBER, UNITS, Sentence, Term, sentence

Relation = Literal["supersedes", "near_duplicate", "unsure", "none"]

LEAST_SHARED: Final = 2
"""Terms two facts in other words must have in common before one word more may make them the same."""

_VALUES: Final = ("number", "quoted", "boolean")


def relation(old_fact: str, new_fact: str) -> Relation:
    """How `new_fact` stands to `old_fact`; that both have the same topic is the caller's condition."""
    old, new = sentence(old_fact), sentence(new_fact)
    if not old.terms or not new.terms:
        return "near_duplicate" if " ".join(old_fact.split()) == " ".join(new_fact.split()) else "none"
    if _keys(old.terms) == _keys(new.terms):
        return "near_duplicate"
    if _same_but_values(old.terms, new.terms):
        return _values_differ(old, new)
    if _same_in_other_words(old, new):
        return "near_duplicate"
    return "unsure" if _may_conflict(old, new) else "none"


def _keys(terms: Sequence[Term]) -> list[tuple[str, str]]:
    return [(term.kind, term.key) for term in terms]


def _same_but_values(old: Sequence[Term], new: Sequence[Term]) -> bool:
    return len(old) == len(new) and all(
        a.kind == b.kind and (a.key == b.key or a.kind in _VALUES) for a, b in zip(old, new, strict=True)
    )


def _values_differ(old: Sentence, new: Sentence) -> Relation:
    """Same words in the same order, other values."""
    at = [n for n, (a, b) in enumerate(zip(old.terms, new.terms, strict=True)) if a.key != b.key]
    subject = old.subject
    if subject is None or new.subject is None:
        return "unsure" if at == [len(old.terms) - 1] and len(old.terms) > 1 else "none"
    if subject != new.subject or at[0] < subject:
        return "none"
    return "unsure" if _doubtful(old, new, at) else "supersedes"


def _doubtful(old: Sentence, new: Sentence, at: Sequence[int]) -> bool:
    """Whether both may hold: one of several things, another circumstance, the same values in another order."""
    first, second, subject = old.terms, new.terms, old.subject or 0
    return (
        old.indefinite
        or Counter(term.key for term in first) == Counter(term.key for term in second)
        or all(_nearly(first[n], second[n]) for n in at)
        or any(_is_label(first, n) or _is_circumstance(first, subject, n) or _is_added(first, n) for n in at)
        or any(a.written != b.written for a, b in zip(first[1:subject], second[1:subject], strict=True))
        or _first_differs(first[0], second[0])
    )


def _is_label(terms: Sequence[Term], n: int) -> bool:
    """Whether a number only says which one is meant: token 46107, layer 7."""
    return n > 0 and terms[n].kind == "number" and terms[n - 1].key in NOUNS_WITH_NUMBER


def _is_circumstance(terms: Sequence[Term], subject: int, n: int) -> bool:
    """Whether a value tells when or where the fact holds, or the subject goes on behind its first verb."""
    before = any(term.kind == "word" and term.key in CIRCUMSTANCE for term in terms[subject + 2 : n])
    later = next((term for term in terms[n + 1 :] if term.verb or term.key in (",", ";", "and", "und", "et")), None)
    return before or (later is not None and later.verb)


def _is_added(terms: Sequence[Term], n: int) -> bool:
    """Whether the verb can be true of several things at once: contains "a", contains "b"."""
    verb = next((term for term in reversed(terms[:n]) if term.verb), None)
    return terms[n].kind == "quoted" and verb is not None and verb.key in ADDING


def _nearly(old: Term, new: Term) -> bool:
    """Whether two numbers are equal but for zeros at the end: 1.9 and 1.90, or versions 3.1 and 3.10."""
    return old.kind == "number" and _bare(old.key) == _bare(new.key)


def _bare(key: str) -> str:
    return key.rstrip("0").rstrip(".") if key.count(".") == 1 else key


def _first_differs(old: Term, new: Term) -> bool:
    """A first word may be written with a capital; another difference of case may be another name."""
    return old.written[1:] != new.written[1:] or (old.kind == "name" and old.written != new.written)


def _same_in_other_words(old: Sentence, new: Sentence) -> bool:
    if old.negated != new.negated or old.firm != new.firm:
        return False
    mine, theirs = set(_subject(old)), set(_subject(new))
    if old.subject and new.subject and mine and theirs and mine.isdisjoint(theirs):
        return False
    shared, either = old.words & new.words, old.words ^ new.words
    if not either:
        return True
    one_sided = not (old.words - new.words) or not (new.words - old.words)
    weight = len(shared) + sum(old.firm.values())
    return one_sided and len(either) == 1 and weight > LEAST_SHARED


def _may_conflict(old: Sentence, new: Sentence) -> bool:
    """Same subject, and one predicate may exclude the other."""
    if old.subject is None or new.subject is None:
        return _last_differs(old.terms, new.terms)
    if _subject(old) != _subject(new):
        return False
    first, second = _predicate(old), _predicate(new)
    if not first or not second:
        return False
    if old.negated != new.negated:
        return bool({t.key for t in first} & {t.key for t in second}) or first[0].key == second[0].key
    return _one_differs(first, second) or _same_opening(old, new, first, second) or _same_unit(first, second)


def _subject(one: Sentence) -> list[tuple[str, str]]:
    return [(term.kind, term.key) for term in one.terms[: one.subject] if not term.weak]


def _predicate(one: Sentence) -> list[Term]:
    """What follows the subject without words that say nothing; the verb first unless it only equates."""
    return [term for term in one.terms[one.subject or 0 :] if not term.weak and term.key not in EQUALS]


def _one_differs(first: Sequence[Term], second: Sequence[Term]) -> bool:
    """The same length and one other term, which is no verb before the same object; units are not counted."""
    if len(first) != len(second):
        return False
    other = [
        (a, b) for a, b in zip(first, second, strict=True) if a.key != b.key and not (a.key in UNITS and b.key in UNITS)
    ]
    if len(other) == 1 and len(first) > 1 and first[0].key != second[0].key:
        return not (first[0].verb and second[0].verb)
    return len(other) <= 1


def _same_opening(old: Sentence, new: Sentence, first: Sequence[Term], second: Sequence[Term]) -> bool:
    """Both equate the subject with other values, or say other values with the same words."""
    kinds = {first[0].kind, second[0].kind}
    if _equates(old) and _equates(new) and kinds & set(_VALUES):
        return first[0].key != second[0].key and (len(kinds) == 1 or "quoted" in kinds)
    return max(len(first), len(second)) > 1 and [t.key for t in first if t.kind == "word"] == [
        t.key for t in second if t.kind == "word"
    ]


def _equates(one: Sentence) -> bool:
    return one.subject is not None and any(term.key in EQUALS for term in one.terms[one.subject : one.subject + 3])


def _same_unit(first: Sequence[Term], second: Sequence[Term]) -> bool:
    """Both count the same thing, differently: 3600 seconds, after 7200 seconds."""
    counted, other = _counted(first), _counted(second)
    return any(noun in other and other[noun] != number for noun, number in counted.items())


def _counted(terms: Sequence[Term]) -> dict[str, str]:
    return {
        noun.key: number.key
        for number, noun in itertools.pairwise(terms)
        if number.kind == "number" and noun.kind == "word"
    }


def _last_differs(old: Sequence[Term], new: Sequence[Term]) -> bool:
    """Without a verb: all but the last word is the subject."""
    return len(old) == len(new) > 1 and _keys(old[:-1]) == _keys(new[:-1]) and old[-1].kind == new[-1].kind == "word"
