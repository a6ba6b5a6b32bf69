"""A fact as subject and predicate, for comparing it with another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from core.ledger.values import Kind, Token, fold, tokens_of
from core.ledger.wording import NEGATORS, SMALL, is_negated, stem, words

MOST_TERMS: Final = 400
"""Terms of a fact that are compared; 2,000 characters hold about as many."""

_WEAK: Final = words("""
    a an the of in on at to by for with as and from into about exactly there it its this that currently
    now still approximately roughly only just both der die das den dem des ein eine einen im in am von
    zu es mit le la les l un une du d dans de el los las y n ne
    """)

_EQUATING: Final = words("""
    is are was were equals equal defaults default set sets = : ist sind war est sont es son
    """)

_HAVING: Final = words("""
    has have had contains contain holds hold returns return uses use says say reports report gibt hat
    haben a ont tiene enthält encoded located found
    """)

_VERBS: Final = words("""
    accepts allows answers appears asks becomes begins belongs binds builds caches calls comes compares
    compiles consists contained costs counts covers creates declares defines depends deploys describes
    differs emits ends enables excludes exists exits expects expires expire exports exposes extends
    fails fail falls finds finishes fits follows gets gives goes handles ignores imports includes
    inherits keeps lacks lasts leaves lets limits links lists listens live lives loads logs looks maps
    matches means measures mentions mounts names needs occurs opens owns passes pass points prints
    produces provides raises reads receives redirects refers references rejects removes renders replaces
    requires resolves responds restarted restarts returned runs run sends serves shows sits skips
    specifies spends starts start stands stays stops stores store supports takes targets throws tells
    took took treats triggers uploads validates waits wants weighs writes wrote can cannot could does
    did do don't doesn't didn't must should will would may isn't aren't wasn't nennt heißt läuft liefert
    braucht verwendet nutzt liegt steht kostet dauert zeigt enthalten n'est utilise contient renvoie
    retourne usa devuelve contiene
    """)

EQUALS: Final = frozenset(map(stem, _EQUATING))
"""Verbs and signs that equate the subject with what follows."""

VERBS: Final = _VERBS | _EQUATING | _HAVING

NOUNS_WITH_NUMBER: Final = frozenset(
    map(
        stem,
        words("""
    token layer row epoch step head block gpu chunk shard page item rank index id issue chapter seed
    fold label class bucket level stage phase group slot core thread process worker node replica
    partition batch segment section column register offset address key expert channel #
    """),
    )
)
"""Nouns behind which a number says which one is meant."""

ADDING: Final = frozenset(
    map(
        stem,
        words("""
    contains includes holds lists defines exports imports mentions declares shows has exposes supports
    """),
    )
)
"""Verbs that are true of several things at once."""

CIRCUMSTANCE: Final = words("""
    with for at in on under when while if using per after before during by as bei mit für avec pour
    """)
"""Words behind which a fact says where or when it holds."""

INDEFINITE: Final = re.compile(
    r"\W*(?:there\s+(?:is|are|was|were)\s+)?(?:an?|one|some|another|it|this|they|these|each|ein|eine|es|une?)\s",
    re.IGNORECASE,
)
"""Beginnings of a fact that do not say which one is meant."""

UNITS: Final = frozenset(
    map(
        stem,
        words("""
    ns us µs ms s sec secs second seconds min minutes h hours days b byte bytes kb kib mb mib gb gib tb
    k m g t
    """),
    )
)

_SILENT: Final = frozenset("=:") | frozenset(
    map(stem, (_WEAK | _EQUATING | _HAVING) - {"default", "set", "defaults", "sets", "use", "report"})
)
_SIGN: Final = re.compile(r"=+|:(?=\s|\Z)|[,;]")


class Term(msgspec.Struct, frozen=True):
    """A token as it is compared; `weak` ones say nothing by themselves."""

    kind: Kind
    key: str
    written: str
    verb: bool = False
    weak: bool = False


class Sentence(msgspec.Struct, frozen=True):
    """A fact taken apart.

    Attributes:
        terms: in order, articles left out.
        subject: how many terms come before the verb, `=` or `:`; None when there is none.
        words: stems that carry meaning.
        firm: values and names with how often they occur.
    """

    terms: tuple[Term, ...]
    subject: int | None
    words: frozenset[str]
    firm: Counter[tuple[str, str]]
    negated: bool
    indefinite: bool


def sentence(fact: str) -> Sentence:
    """Take a fact apart. Never raises; linear."""
    terms = tuple(_terms(fact))
    firm: Counter[tuple[str, str]] = Counter(
        (t.kind, t.key) for t in terms if t.kind in ("number", "quoted", "boolean", "name")
    )
    meaning = frozenset(t.key for t in terms if t.kind == "word" and t.key not in _SILENT and t.key not in _DENYING)
    return Sentence(terms, _subject(terms), meaning, firm, is_negated(fact), bool(INDEFINITE.match(fact)))


_DENYING: Final = frozenset(map(stem, NEGATORS))


def _terms(fact: str) -> list[Term]:
    terms: list[Term] = []
    at = 0
    for token in tokens_of(fact)[:MOST_TERMS]:
        terms += [_sign(sign.group()) for sign in _SIGN.finditer(fact[at : token.start])]
        if "#" in fact[at : token.start]:
            terms.append(Term("word", "#", "#", weak=True))
        at = token.end
        terms.append(_term(token, fact[token.start : token.end]))
    return [term for term in terms if term.kind != "word" or term.key not in _ARTICLES]


def _sign(sign: str) -> Term:
    return Term("word", sign[0], sign, verb=sign[0] in "=:", weak=sign in ",;")


_ARTICLES: Final = words("""
    a an the der die das le la les el los las
    """)


def _term(token: Token, written: str) -> Term:
    if token.kind in ("number", "boolean"):
        return Term(token.kind, token.key, token.key)
    if token.kind in ("quoted", "name"):
        return Term(token.kind, token.key, token.key)
    folded = fold(token.key)
    if folded in SMALL:
        return Term("number", SMALL[folded], SMALL[folded])
    return Term("word", stem(token.key), written, verb=folded in VERBS, weak=folded in _WEAK)


def _subject(terms: Sequence[Term]) -> int | None:
    """Terms before the verb; a colon counts only as long as no verb or `=` follows it."""
    colon = next((n for n, term in enumerate(terms) if term.key == ":" and n), None)
    verb = next((n for n, term in enumerate(terms) if term.verb and term.key != ":" and n), None)
    return verb if verb is not None else colon
