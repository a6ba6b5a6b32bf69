"""Counting how decisions compare with labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

WEAKEST = 3
"""Kinds of difficulty that are named, of those in which something went wrong."""


class Tally(msgspec.Struct):
    """Decisions that were right, all that were made, all that should have been made; and cases by kind.

    What is counted is the rule's business: facts let through, secrets masked, extractions skipped.
    """

    cases: int = 0
    right: int = 0
    said: int = 0
    wanted: int = 0
    wrong_in: Counter[str] = msgspec.field(default_factory=Counter)
    cases_of: Counter[str] = msgspec.field(default_factory=Counter)

    def add(self, kind: str, right: int, said: int, wanted: int, *, faultless: bool) -> None:
        """One case of a kind of difficulty, and how many decisions it held."""
        self.cases += 1
        self.right += right
        self.said += said
        self.wanted += wanted
        self.cases_of[kind] += 1
        self.wrong_in[kind] += not faultless

    @property
    def precision(self) -> float | None:
        """Share of the decisions made that are right; None when none was made."""
        return self.right / self.said if self.said else None

    @property
    def recall(self) -> float | None:
        """Share of the decisions to be made that were; None when there is none."""
        return self.right / self.wanted if self.wanted else None

    @property
    def weakest(self) -> list[tuple[str, int, int]]:
        """Kinds in which most cases went wrong: kind, wrong ones, all."""
        worst = sorted(self.wrong_in.items(), key=lambda item: (-item[1], item[0]))
        return [(kind, wrong, self.cases_of[kind]) for kind, wrong in worst[:WEAKEST] if wrong]


def of_labels(decided: Sequence[tuple[str, str, str]], positive: str) -> Tally:
    """From what was decided, the label, and the kind of each case; `positive` is the label that is looked for."""
    tally = Tally()
    for said, label, kind in decided:
        is_said, is_wanted = said == positive, label == positive
        tally.add(kind, is_said and is_wanted, is_said, is_wanted, faultless=is_said == is_wanted)
    return tally
