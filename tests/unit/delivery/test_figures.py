"""Figures of the delivery: each note counts in one place, percentiles are those of all round trips."""

from __future__ import annotations

from typing import Any

import pytest

from core.delivery.figures import REMEMBERED, Figures, RoundTrips
from core.ledger.effects import NoteReport, StepReport
from core.views import DeliveryView


@pytest.mark.parametrize(
    ("given", "share", "expected"),
    [
        ([], 0.5, None),
        ([3.0], 0.95, 3.0),
        ([float(n) for n in range(100)], 0.5, 50.0),
        ([float(n) for n in range(100)], 0.95, 95.0),
        ([-1.0, float("inf"), float("nan"), 2.0], 0.5, 2.0),
        ([9.0] * 10 + [1.0] * REMEMBERED, 1.0, 1.0),
    ],
)
def test_percentiles(given: list[float], share: float, expected: float | None) -> None:
    trips = RoundTrips()
    for ms in given:
        trips.add(ms)
    assert trips.percentiles(share) == [expected]


def fate(delivery: Any, arrived: Any) -> NoteReport:
    return NoteReport(
        t=1, session="s", call="c", kind="gentle", findings=(), text="x", delivery=delivery, arrived=arrived
    )


def test_each_note_counts_in_one_place() -> None:
    figures = Figures()
    assert figures.view() == DeliveryView()
    ways = ("hook", "patch", "none")
    for way in ways:
        for arrived in ("next", "late", "failed", "unknown"):
            assert figures.read(fate(way, arrived))
    shown = figures.view(["ses_1"])
    assert (shown.in_flight, shown.patched, shown.late, shown.failed, shown.unknown) == (1, 1, 3, 3, 4)
    assert shown.silent == ("ses_1",)


def test_other_reports_do_not_count() -> None:
    figures = Figures()
    assert not figures.read(StepReport(t=1, session="s", n=1, origin="s", tools=(), buffered=1))
    assert figures.view() == DeliveryView()


def test_questions_waits_and_misses() -> None:
    figures = Figures()
    for ms in (1.0, 2.0, 3.0, 250.0):
        figures.asked()
        figures.waited(ms)
    figures.missed()
    shown = figures.view()
    assert (shown.questions, shown.missed, shown.p50_ms, shown.p95_ms) == (4, 1, 3.0, 250.0)
