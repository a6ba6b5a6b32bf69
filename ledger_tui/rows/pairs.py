"""Rows of the inbox: pairs of facts about which a person may decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.views import FindingView, PairView
from ledger_tui.format import clock, fit, right
from ledger_tui.marks import differing
from ledger_tui.rows.findings import role_of
from ledger_tui.rows.look import Line, Look, spread
from ledger_tui.rows.outputs import text_lines

MEANINGS = {
    "superseded": "The newer fact took the place of the older one.",
    "unsure": "They may contradict each other; both hold for now.",
    "near": "They may say the same.",
}
"""What the kinds of pairs mean."""

_FACT_CHARS = 600
_FACT_LINES = 3
"""Lines a fact may take; its receipt shows all of it."""
_START = 10
"""Cells before a fact."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two facts, the older above the newer, what differs marked."""

    key: str
    pair: PairView
    selectable: bool = True

    def height(self, width: int) -> int:
        """Heading, both facts, and an empty line."""
        return len(self.lines(width, Look()))

    def lines(self, width: int, look: Look) -> list[Line]:
        """What the pair is about and when it came, then both facts with sign and words."""
        pair = self.pair
        end: Line = [("  " + fit(pair.new.topic, width // 3), "topic"), (right(clock(pair.t, look.zone), 6), "faint")]
        out = [spread(width, [], (MEANINGS[pair.kind], "muted"), end)]
        out += self._fact("older", pair.old, pair.new.fact, width, look)
        out += self._fact("newer", pair.new, pair.old.fact, width, look)
        return [*out, []]

    def _fact(self, name: str, finding: FindingView, other: str, width: int, look: Look) -> list[Line]:
        role = role_of(finding)
        found = differing(_short(finding.fact), _short(other))
        lines = text_lines(found, max(8, width - _START))[:_FACT_LINES]
        if finding.state == "superseded":
            lines = [[(text, style if style == "mark" else "superseded") for text, style in line] for line in lines]
        else:
            lines = [[(text, style if style == "mark" else "text") for text, style in line] for line in lines]
        start: Line = [("  ", "text"), (f"{name} ", "muted"), (look.signs.of(role) + " ", role)]
        blank: Line = [(" " * _START, "text")]
        return [[*(blank if index else start), *line] for index, line in enumerate(lines)]

    def text(self) -> str:
        """Both facts."""
        return f"{self.pair.old.fact} {self.pair.new.fact} {self.pair.new.topic}"


def _short(fact: str) -> str:
    one_line = " ".join(fact[:_FACT_CHARS].split())
    return one_line + "…" if len(fact) > _FACT_CHARS else one_line


def pair_rows(pairs: Sequence[PairView]) -> list[PairRow]:
    """The rows, the latest pair first."""
    return [PairRow(pair.id, pair) for pair in reversed(pairs)]
