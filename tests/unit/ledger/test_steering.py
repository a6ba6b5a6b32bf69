from __future__ import annotations

from core.ledger import commands as ask
from tests.unit.ledger.builders import ROOT, Bench


def test_a_fact_added_by_hand_says_where_it_was_taken_from() -> None:
    bench = Bench()
    bench.see(ask.Add(t=1, session=ROOT, fact="own", topic="t"))
    bench.see(ask.Add(t=2, session=ROOT, fact="taken", topic="t", source="session\nses_1 of 2026-05-28 20:28"))
    assert [finding.history[0].what for finding in bench.engine.state.ledger] == [
        "added by the user",
        "added by the user from session ses_1 of 2026-05-28 20:28",
    ]
    assert all(finding.source == "user" for finding in bench.engine.state.ledger)
