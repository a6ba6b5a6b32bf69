"""How the rules that need no model do on labelled outputs: facts that are right and wrong, groups found and missed."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from core.ledger.rules import RuleFact, facts_of
from tests.bench.novelty import steps_of
from tests.corpus.cases import RuleCase

_NUMBER = re.compile(r"(?<![\d.])\d[\d,]*(?![.\d])|(?<![\d.])\d[\d,]*(?=\.(?:\D|\Z))")
_BYTES = re.compile(r"[0-9a-f]{8,}")


class Score(msgspec.Struct):
    """Facts that were right and wrong, groups that were found and missed, with the cases in which it went wrong."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    bad: list[str] = msgspec.field(default_factory=list)

    @property
    def precision(self) -> float:
        """Share of the judged facts that are right."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Share of the wanted groups that one fact holds."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    def add(self, other: Score) -> None:
        """Count another score's cases in."""
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed
        self.bad += other.bad


def facts_for(case: RuleCase) -> list[RuleFact]:
    """What the rules of the case's family say."""
    return [one for one in facts_of(steps_of(case.steps)) if one.rule == case.family]


def score_of(case: RuleCase) -> Score:
    """One case: a group of `must` is found in one fact; a fact of a `none` case or with a `never` is wrong."""
    facts = facts_for(case)
    right = sum(any(all(holds(one.fact, text) for text in group) for one in facts) for group in case.must)
    never = [one for one in facts if case.label == "none" or any(holds(one.fact, text) for text in case.never)]
    score = Score(right=right, wrong=len(never), missed=len(case.must) - right)
    if never or score.missed:
        score.bad.append(f"{case.id}: {[one.fact for one in facts]}")
    return score


def scores(cases: Iterable[RuleCase]) -> dict[str, Score]:
    """By family."""
    found: dict[str, Score] = {}
    for case in cases:
        found.setdefault(case.family, Score()).add(score_of(case))
    return found


def holds(fact: str, text: str) -> bool:
    """Whether a fact says this, apart from case, blanks and the way numbers are written.

    Numbers are compared as whole ones; a run of eight hexadecimal digits and more is bytes, which a dump goes on after.
    """
    plain, wanted = ("".join(part.casefold().split()) for part in (fact, text))
    if _BYTES.fullmatch(wanted):
        return wanted in plain
    if wanted.replace(",", "").isdigit():
        return wanted.replace(",", "") in {found.replace(",", "") for found in _NUMBER.findall(fact)}
    before, after = (r"(?<!\d)" if wanted[:1].isdigit() else ""), (r"(?!\d)" if wanted[-1:].isdigit() else "")
    return re.search(before + re.escape(wanted) + after, plain) is not None
