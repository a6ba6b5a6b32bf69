"""What became of all notes of this ledger, and how long the plugin in OpenCode waited for its answers."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Final

from core.ledger.effects import NoteReport, Report
from core.views import DeliveryView

REMEMBERED: Final = 500
"""Round trips of which the percentiles are made."""
_LONGEST_MS: Final = 3_600_000


class RoundTrips:
    """How long the plugin waited for its answers, as it measured it."""

    def __init__(self) -> None:
        self._ms: deque[float] = deque(maxlen=REMEMBERED)

    def add(self, ms: float) -> None:
        """One more; what cannot be a waiting time is passed over."""
        if 0 <= ms < _LONGEST_MS:
            self._ms.append(ms)

    def percentiles(self, *shares: float) -> list[float | None]:
        """Those shares (0 to 1) of the round trips took no longer, in ms; None before the first."""
        ordered = sorted(self._ms)
        if not ordered:
            return [None] * len(shares)
        return [ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in shares]


class Figures:
    """Counts; :meth:`view` shows them."""

    def __init__(self) -> None:
        self._trips = RoundTrips()
        self._notes: Counter[str] = Counter()
        self._questions = 0
        self._missed = 0

    def read(self, report: Report) -> bool:
        """A report of any kind; True when it counts."""
        if not isinstance(report, NoteReport):
            return False
        in_time = {"hook": "in_flight", "patch": "patched"}.get(report.delivery, "unknown")
        self._notes[in_time if report.arrived == "next" else report.arrived] += 1
        return True

    def asked(self) -> None:
        """The plugin asked about a call."""
        self._questions += 1

    def waited(self, ms: float) -> None:
        """The plugin says how long it waited for an answer."""
        self._trips.add(ms)

    def missed(self) -> None:
        """The plugin waited in vain for as long as it may."""
        self._missed += 1

    def view(self, silent: Iterable[str] = ()) -> DeliveryView:
        """The figures now; `silent`: root sessions about which the plugin does not ask."""
        p50, p95 = self._trips.percentiles(0.5, 0.95)
        return DeliveryView(
            questions=self._questions, missed=self._missed, p50_ms=p50, p95_ms=p95, silent=tuple(silent), **self._notes
        )
