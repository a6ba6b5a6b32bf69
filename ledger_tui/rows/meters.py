"""Rows of the Escalation pane: one gauge per topic and agent session, the nearest to a stop first."""

from __future__ import annotations

from dataclasses import dataclass

from core.views import MeterView, SessionView
from ledger_tui.format import fit, left, plural, width_of
from ledger_tui.rows.look import Line, Look, clip, measure, spread

MAX_CELLS = 8
"""Longest gauge; a higher threshold is drawn to scale."""

_ORDER = {"stop": 0, "quiet": 1, "gentle": 2, "calm": 3}


@dataclass(frozen=True, slots=True)
class MeterRow:
    """The meter of one topic in one agent session."""

    key: str
    meter: MeterView
    agent: str
    names: int
    """Width of the name column."""
    counts: int
    """Width of the count column."""
    selectable: bool = True

    def height(self, width: int) -> int:
        """Always 1."""
        return 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """Name, gauge, count, what the last touch led to, where the note was shown."""
        meter = self.meter
        role = role_of(meter)
        shown = f"shown at s{meter.shown_at}" if meter.shown_at else "not shown yet"
        start = [
            (left(meter.name, min(self.names, width // 3)) + "  ", "muted" if meter.muted else "text"),
            *gauge(meter, look),
            ("  " + left(count_of(meter), self.counts), "muted"),
            ("  " + left(word_of(meter), 7), role),
        ]
        agent = f"{look.signs.child} {self.agent}" if self.agent else ""
        return [spread(width, start, ("  " + agent, "faint"), [("  " + shown, "faint")])]

    def text(self) -> str:
        """Name, topic, word and sub-agent."""
        return f"{self.meter.name} {self.meter.topic} {word_of(self.meter)} {self.agent}"


def role_of(meter: MeterView) -> str:
    """calm, quiet or stop; a muted meter is only waiting."""
    if meter.muted:
        return "waiting"
    return {"gentle": "calm"}.get(meter.action, meter.action)


def word_of(meter: MeterView) -> str:
    """What the last touch led to, in one word."""
    if meter.muted:
        return "muted"
    return "STOP" if meter.action == "stop" else meter.action


def count_of(meter: MeterView) -> str:
    """ "3 of 4"; beyond the threshold, or without one, "5 looks"."""
    if meter.count <= meter.threshold:
        return f"{meter.count} of {meter.threshold}"
    return plural(meter.count, "look")


def gauge(meter: MeterView, look: Look) -> Line:
    """The bar from 0 to the threshold; without a threshold one cell that is never the last."""
    cells = min(MAX_CELLS, meter.threshold) or 4
    full = filled(meter.count, meter.threshold, cells) if meter.threshold else min(meter.count, cells - 1)
    return [(look.signs.full * full, role_of(meter)), (look.signs.empty * (cells - full), "gauge-rest")]


def filled(count: int, threshold: int, cells: int) -> int:
    """Cells to fill: none only at 0, all only from the threshold on."""
    if count >= threshold:
        return cells
    return max(1 if count > 0 else 0, min(cells - 1 if cells > 1 else cells, count * cells // threshold))


def ordered(view: SessionView) -> list[MeterView]:
    """Meters, the nearest to a stop first, muted ones last."""
    return sorted(view.meters, key=lambda m: (m.muted, _ORDER.get(m.action, 3), -m.count, m.name, m.origin))


def meter_rows(view: SessionView) -> list[MeterRow]:
    """The rows for this session."""
    meters = ordered(view)
    names = max((width_of(fit(meter.name, 24)) for meter in meters), default=0)
    counts = max((len(count_of(meter)) for meter in meters), default=0)
    return [
        MeterRow(
            f"{meter.origin}\n{meter.topic}",
            meter,
            view.origins.get(meter.origin, "sub-agent") if meter.is_sub_agent else "",
            names,
            counts,
        )
        for meter in meters
    ]


def gauge_strip(view: SessionView, width: int, look: Look) -> Line:
    """All meters in one line, as many as fit: the small screen's Escalation."""
    line: Line = []
    meters = ordered(view)
    for index, meter in enumerate(meters):
        piece: Line = [
            (f"{look.signs.child} " if meter.is_sub_agent else "", "faint"),
            (fit(meter.name, 20) + " ", "text"),
            *gauge(meter, look),
            (" " + (word_of(meter) if meter.action == "stop" or meter.muted else count_of(meter)), role_of(meter)),
        ]
        more = f"  +{len(meters) - index} more"
        if measure(line) + measure(piece) + 3 > width - (len(more) if index < len(meters) - 1 else 0):
            return clip([*line, (more, "faint")], width)
        line += [("   ", "text"), *piece] if line else piece
    return line
