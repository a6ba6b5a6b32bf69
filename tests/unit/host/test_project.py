"""From an engine to views: what a screen is told of facts in question."""

from __future__ import annotations

import pytest

from core.host.project import finding_view, session_view
from core.ledger import commands as ask
from core.ledger import observations as seen
from core.views import FindingView, SessionView
from tests.unit.ledger.builders import ROOT, Bench

OLD, NEW, TOPIC = "The port in app.json is 8080.", "The port in app.json is 9090.", "config:app.json"


def learnt(*facts: tuple[str, str]) -> Bench:
    """An engine that was told each fact by an extraction of its own, from an output that says the second text."""
    bench = Bench(review="unsupported")
    for fact, output in facts:
        bench.step("cat app.json", f"first\n{output}")
        bench.see(ask.ExtractNow(t=bench.t, session=ROOT))
        bench.answer((fact, TOPIC))
    return bench


def view(bench: Bench) -> SessionView:
    return session_view(bench.engine, (), loading=False)


def listed(bench: Bench) -> list[FindingView]:
    return [finding for topic in view(bench).topics for finding in topic.findings]


def test_a_superseded_fact_names_the_one_that_took_its_place() -> None:
    bench = learnt((OLD, OLD), (NEW, NEW))
    assert [(f.fact, f.state, f.superseded_by) for f in listed(bench)] == [
        (OLD, "superseded", NEW),
        (NEW, "accepted", ""),
    ]
    (pair,) = view(bench).pairs
    assert (pair.kind, pair.old.fact, pair.new.fact) == ("superseded", OLD, NEW)


def test_a_doubtful_fact_says_which_file_changed_and_when() -> None:
    bench = learnt((OLD, OLD))
    bench.see(seen.FileChanged(t=77_000, session=ROOT, path="/p/app.json"))
    (found,) = listed(bench)
    assert (found.state, found.stale_for, found.stale_at) == ("doubtful", "/p/app.json", 77_000)
    bench.see(ask.Add(t=78_000, session=ROOT, fact="by hand", topic=TOPIC))
    assert listed(bench)[1].stale_at == 0


def test_a_held_fact_is_apart_and_its_receipt_says_which_lines_come_near() -> None:
    bench = learnt(("The port in app.json is 7.5.", OLD))
    assert listed(bench) == [] and view(bench).held == 1
    (held,) = view(bench).held_findings
    assert held.held_for == "no output says 7.5"
    ledger = bench.engine.state.ledger
    found = ledger.get(held.id)
    assert found is not None
    assert [call.lines for call in finding_view(found, ledger, receipt=True).receipt] == [(2,)]


@pytest.mark.parametrize("how", ["swap", "keep_both", "dismiss"])
def test_a_decision_and_its_undo_are_seen_by_the_screen(how: str) -> None:
    bench = learnt((OLD, OLD), (NEW, NEW))
    revisions = bench.engine.state.revisions
    before = revisions["findings"]
    bench.see(ask.Resolve(t=bench.t, session=ROOT, pair=view(bench).pairs[0].id, how=how))  # type: ignore[arg-type]
    assert view(bench).pairs == [] and revisions["findings"] > before
    before = revisions["findings"]
    bench.see(ask.Undo(t=bench.t, session=ROOT))
    assert len(view(bench).pairs) == 1 and revisions["findings"] > before


def test_spending_elsewhere_reaches_the_screen() -> None:
    bench = Bench(extraction_budget_day_tokens=100)
    before = bench.engine.state.revisions["extractions"]
    bench.see(seen.DaySpent(t=1, session=ROOT, tokens=120))
    assert view(bench).budget.day_tokens == 120 and "120 of 100 tokens" in view(bench).budget.reached
    assert bench.engine.state.revisions["extractions"] > before
