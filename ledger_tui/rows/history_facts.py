"""Rows of the facts that are stored of a past session."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ledger_tui.format import fit, width_of, wrap
from ledger_tui.rows.look import Line, Look

if TYPE_CHECKING:
    from core.store.archive import StoredFact

_LINES: Final = 3
"""Lines a fact may take."""


@dataclass(frozen=True, slots=True)
class PastFactRow:
    """A fact of a past session; `here`: the ledger on screen has it already."""

    key: str
    fact: StoredFact
    here: bool = False
    selectable: bool = True

    def height(self, width: int) -> int:
        """As many lines as it needs, at most three, and one for its topic."""
        return len(self._wrapped(width)) + 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """Sign and fact, then topic and state."""
        finding = self.fact.finding
        role = "superseded" if self.fact.gone else "known" if finding.state == "accepted" else finding.state
        style = "superseded" if role == "superseded" else "text"
        first, *more = self._wrapped(width)
        out: list[Line] = [[(look.signs.of(role) + " ", role), (first, style)]]
        out += [[("  ", "text"), (line, style)] for line in more]
        state = self.state()
        topic = fit(finding.topic, max(8, width - 4 - width_of(state)))
        return [*out, [("  ", "text"), (topic, "topic"), (f"  {state}", "live" if self.here else "muted")]]

    def state(self) -> str:
        """A word for what is out of the ordinary; empty for a fact that simply holds."""
        if self.here:
            return "in the ledger on screen"
        return self.fact.gone or {"accepted": "", "fresh": ""}.get(self.fact.finding.state, self.fact.finding.state)

    def text(self) -> str:
        """Fact, topic and state."""
        return f"{self.fact.finding.fact} {self.fact.finding.topic} {self.state()}"

    def _wrapped(self, width: int) -> list[str]:
        return wrap(self.fact.finding.fact, max(10, width - 2), _LINES)


def fact_rows(facts: Sequence[StoredFact], here: Collection[str]) -> list[PastFactRow]:
    """The rows of these facts; `here`: facts that the ledger on screen has."""
    return [PastFactRow(f"fact:{one.finding.id}", one, one.finding.fact in here) for one in facts]
