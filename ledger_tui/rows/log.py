"""Rows of the Log pane: one line per domain event, oldest first."""

from __future__ import annotations

from dataclasses import dataclass

from core.views import LogRow, SessionView
from ledger_tui.format import clock, left, tame, width_of
from ledger_tui.rows.look import Line, Look, last, measure, spread

MAX_ROWS = 1_000
"""Events listed at most, the last ones."""

_KINDS = {"connection": "server", "extraction": "extract", "request": "asks"}


@dataclass(frozen=True, slots=True)
class EventRow:
    """One domain event."""

    key: str
    event: LogRow
    selectable: bool = True

    def height(self, width: int) -> int:
        """Always 1."""
        return 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """Time, kind, text, and on a wide screen the detail."""
        event = self.event
        style = {"warn": "warn", "error": "error"}.get(event.level, "text")
        sign = {"warn": look.signs.warn, "error": look.signs.of("error")}.get(event.level, " ")
        start: Line = [
            (clock(event.t, look.zone, seconds=True) + " ", "faint"),
            (sign + " ", style),
            (left(_KINDS.get(event.kind, event.kind), 9) + " ", "muted"),
        ]
        text, detail, room = event.text, event.detail, width - measure(start)
        if room > 72:
            half = room * 2 // 5
            side: Line = [("  " + left(detail, half - 2), "faint")] if detail else []
            return [spread(width, start, (text, style), side)]
        if not detail or width_of(tame(text[:room])) > room - 12:
            return [spread(width, start, (text, style), [])]
        return [spread(width, [*start, (tame(text) + "  ", style)], (detail, "faint"), [])]

    def text(self) -> str:
        """Kind, text and detail."""
        return f"{self.event.kind} {self.event.text} {self.event.detail}"


def log_rows(view: SessionView) -> list[EventRow]:
    """The rows for this session. Equal events of the same moment are told apart by their order."""
    rows: list[EventRow] = []
    seen: dict[tuple[int, str, str], int] = {}
    for event in last(view.log, MAX_ROWS):
        mark = (event.t, event.kind, event.text)
        seen[mark] = seen.get(mark, 0) + 1
        rows.append(EventRow(f"{event.t}:{event.kind}:{event.text[:80]}:{seen[mark]}", event))
    return rows
