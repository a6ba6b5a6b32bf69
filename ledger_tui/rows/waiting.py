"""Rows of the Extractions pane that are no extractions: held facts, pairs, and a budget that is used up."""

from __future__ import annotations

from dataclasses import dataclass

from core.views import FindingView, PairView
from ledger_tui.format import plural, width_of, wrap
from ledger_tui.rows.look import Line, Look, clip, spread

_FACT_LINES = 2
"""Lines a held fact may take; its receipt shows all of it."""


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A fact that waits for a person, with the reason."""

    key: str
    finding: FindingView
    selectable: bool = True

    def height(self, width: int) -> int:
        """As many lines as fact and reason need, three at most."""
        return len(self._texts(width))

    def lines(self, width: int, look: Look) -> list[Line]:
        """Sign and word, the fact, then the reason: beside it where there is room, else under it."""
        texts = self._texts(width)
        out: list[Line] = []
        for index, (fact, reason) in enumerate(texts):
            start: Line = [(look.signs.of("held") + " held: ", "held")] if not index else [("  ", "text")]
            line: Line = [*start, (fact, "text")] if fact else start
            out.append(clip([*line, ("  " if fact and reason else "", "text"), (reason, "waiting")], width))
        return out

    def text(self) -> str:
        """Fact, topic and reason."""
        return f"held {self.finding.fact} {self.finding.topic} {self.finding.held_for}"

    def _texts(self, width: int) -> list[tuple[str, str]]:
        """Pieces of fact and reason, line by line."""
        reason = self.finding.held_for or "waits for you"
        facts = wrap(f"“{self.finding.fact}”", max(10, width - 8), _FACT_LINES, rest=max(10, width - 2))
        reasons = wrap(reason, max(10, width - 2), 1)
        used = width_of(facts[-1]) + (8 if len(facts) == 1 else 2)
        if used + 2 + width_of(reasons[0]) <= width:
            return [*((fact, "") for fact in facts[:-1]), (facts[-1], reasons[0])]
        return [*((fact, "") for fact in facts), ("", reasons[0])]


@dataclass(frozen=True, slots=True)
class PairsRow:
    """How many pairs wait in the inbox; opening it opens that."""

    key: str
    pairs: tuple[PairView, ...]
    selectable: bool = True

    def height(self, width: int) -> int:
        """Always 1."""
        return 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """How many of each kind, and the key."""
        start: Line = [(look.signs.of("held") + " ", "held")]
        return [spread(width, start, (self.text(), "held"), [("  " + look.key_of("inbox"), "key")])]

    def text(self) -> str:
        """How many of each kind."""
        counts = {kind: sum(pair.kind == kind for pair in self.pairs) for kind in KINDS}
        said = ", ".join(f"{number} {KINDS[kind]}" for kind, number in counts.items() if number)
        return f"{plural(len(self.pairs), 'pair')}: {said}"


KINDS = {"superseded": "superseded", "unsure": "conflict?", "near": "alike"}
"""A word or two for each kind of pair."""


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """Why no extraction is started any more."""

    key: str
    reached: str
    selectable: bool = True

    def height(self, width: int) -> int:
        """As many lines as the sentence needs, two at most."""
        return len(self._wrapped(width))

    def lines(self, width: int, look: Look) -> list[Line]:
        """The sentence."""
        first, *more = self._wrapped(width)
        out: list[Line] = [[(look.signs.warn + " ", "waiting"), (first, "waiting")]]
        return out + [[("  ", "text"), (text, "waiting")] for text in more]

    def text(self) -> str:
        """The sentence."""
        return self.reached

    def _wrapped(self, width: int) -> list[str]:
        return wrap(self.reached, max(10, width - 2), 2)
