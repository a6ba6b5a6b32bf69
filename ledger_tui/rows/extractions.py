"""Rows of the Extractions pane: the extractions, oldest first, then what waits for a person."""

from __future__ import annotations

from dataclasses import dataclass

from core.views import ExtractionView, SessionView
from ledger_tui.format import count, elapsed, left, plural, right, took
from ledger_tui.rows.look import Line, Look, spread
from ledger_tui.rows.waiting import BudgetRow, HeldRow, PairsRow

ROLES = {"queued": "waiting", "running": "busy", "done": "live", "failed": "error", "skipped": "faint"}
_SIGNS = ROLES | {"skipped": "superseded"}


@dataclass(frozen=True, slots=True)
class ExtractionRow:
    """One extraction in its present state."""

    key: str
    extraction: ExtractionView
    selectable: bool = True

    def height(self, width: int) -> int:
        """Always 1."""
        return 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """Sign, id, state, what came of it, which steps, how long, how many tokens."""
        x = self.extraction
        role = ROLES[x.state]
        start: Line = [
            (look.signs.of(_SIGNS[x.state]) + " ", role),
            (left(x.id, 4), "muted"),
            (left(x.state, 8), role),
            (left(steps_of(x), 9), "muted"),
        ]
        return [spread(width, start, self._result(look), self._cost(look, tokens=width >= 72))]

    def text(self) -> str:
        """Id, state, outcome, agent and model."""
        x = self.extraction
        return f"{x.id} {x.state} {steps_of(x)} {outcome(x)} {x.agent} {x.model}"

    def _result(self, look: Look) -> tuple[str, str]:
        x = self.extraction
        if x.state == "running":
            return (" ".join(part for part in (x.agent, x.model) if part), "text")
        return (outcome(x), "error" if x.state == "failed" else "text")

    def _cost(self, look: Look, *, tokens: bool) -> Line:
        x = self.extraction
        if x.state == "running":
            return [("  " + elapsed(look.now - x.started), "busy")]
        if x.state == "failed" and x.retry_at > look.now:
            return [("  again in " + elapsed(x.retry_at - look.now + 999), "waiting")]
        said = f"{count(x.tokens)} tok" if x.tokens else ""
        side: Line = [(right(said, 10), "faint")] if tokens else []
        return [*side, (right(took(x.ms) if x.ms else "", 7), "faint")]


def steps_of(x: ExtractionView) -> str:
    """ "s14–28", "s14", or the number of steps where their numbers are unknown."""
    if not x.last_step:
        return plural(x.steps, "step")
    return f"s{x.first_step}" if x.first_step == x.last_step else f"s{x.first_step}–{x.last_step}"


def outcome(x: ExtractionView) -> str:
    """What came of it, in words."""
    if x.state == "failed":
        return x.error or "failed"
    if x.state != "done":
        return x.error or {"queued": "waits for its turn", "skipped": "not needed"}.get(x.state, "")
    parts = [f"{x.added} new" if x.added else "nothing new"]
    if x.duplicates:
        parts.append(f"{x.duplicates} known")
    if x.held:
        parts.append(f"{x.held} held")
    if x.rejected:
        parts.append(f"{x.rejected} rejected")
    return ", ".join(parts)


def extraction_rows(view: SessionView) -> list[ExtractionRow | BudgetRow | HeldRow | PairsRow]:
    """The rows for this session: extractions, why there are no more of them, pairs, held facts."""
    rows: list[ExtractionRow | BudgetRow | HeldRow | PairsRow] = [ExtractionRow(x.id, x) for x in view.extractions]
    if view.budget.reached:
        rows.append(BudgetRow("budget:", view.budget.reached))
    if view.pairs:
        rows.append(PairsRow("pairs:", tuple(view.pairs)))
    return rows + [HeldRow("held:" + finding.id, finding) for finding in view.held_findings]
