"""Extractions that are skipped, stopped by a budget or done by rules; other keys; what came again."""

from __future__ import annotations

from core.ledger import commands as ask
from core.ledger import observations as seen
from core.ledger.effects import Deliver, ExtractionReport, FindingReport, WarningReport
from core.ledger.observations import Tokens
from core.ledger.rules.facts import found_in
from tests.unit.ledger.builders import ROOT, actions, jobs, notes
from tests.unit.ledger.test_trust import SIZE, SIZE_OUT, bench, do, learn, only

# ---- cost ----


def test_an_extraction_of_what_was_seen_before_is_skipped() -> None:
    on = bench()
    on.step("stat model.ckpt", SIZE_OUT)
    do(on, ask.ExtractNow)
    on.answer(SIZE)
    on.step("stat model.ckpt", SIZE_OUT)
    effects = do(on, ask.ExtractNow)
    assert not jobs(effects)
    skipped = [e for e in effects if isinstance(e, ExtractionReport) and e.state == "skipped"]
    assert [e.error for e in skipped] == ["nothing new: only commands seen before with the same output"]


def test_a_budget_that_is_used_up_stops_extractions_and_nothing_else() -> None:
    on = bench(extraction_budget_session_tokens=100, extraction_interval_steps=1)
    on.step("stat model.ckpt", SIZE_OUT)
    items = (seen.Candidate(*SIZE),)
    on.see(seen.ExtractionAnswered(t=on.t, session=ROOT, id="x1", items=items, tokens=Tokens(input=120)))
    assert not jobs(on.step("xxd model.ckpt"))
    assert [e.code for e in on.effects if isinstance(e, WarningReport)] == ["budget"]
    assert on.engine.extractions.schedule.buffered == 1
    assert notes(on.effects) == ["gentle"]
    assert "120 of 100 tokens" in str(do(on, ask.ExtractNow)[-1])


def test_the_budget_of_the_day_ends_with_the_day() -> None:
    on = bench(extraction_budget_day_tokens=100, extraction_interval_steps=1)
    on.see(seen.DaySpent(t=on.t, session=ROOT, tokens=100))
    assert not jobs(on.step("stat model.ckpt", SIZE_OUT))
    assert jobs(on.see(seen.DaySpent(t=on.t, session=ROOT, tokens=0)))


# ---- without a model, other keys ----


def test_rules_extract_without_asking_anybody() -> None:
    on = bench(extractor="rules", extraction_interval_steps=1)
    effects = on.step("wc -l model.csv", "12 model.csv")
    assert not jobs(effects)
    added = [e for e in effects if isinstance(e, FindingReport)]
    assert [e.change for e in added] == ["added"]
    assert "12" in added[0].fact
    (report,) = [e for e in effects if isinstance(e, ExtractionReport) and e.state == "done"]
    assert (report.agent, report.added, report.cost) == ("rules", 1, 0.0)
    assert only(on).evidence[0].lines == (1,)


def test_both_read_and_ask() -> None:
    on = bench(extractor="both", extraction_interval_steps=1)
    assert jobs(on.step("wc -l model.csv", "12 model.csv"))
    on.answer(("model.csv has 12 lines in all", "file-format:model.csv"))
    assert len(on.engine.state.ledger) >= 1


def test_any_key_matches_where_that_is_wanted_and_says_why() -> None:
    for match, expected in (("files", []), ("keys", ["gentle"])):
        on = bench(match=match)
        learn(on, ("/api/orders answers 404", "api:/api/orders"), output="/api/orders answers 404",
              command="curl localhost/api/orders")  # fmt: skip
        effects = on.step("curl -s localhost/api/orders")
        assert actions(effects) == expected
        assert notes(effects) == expected


# ---- is it worth it ----


def test_what_came_again_is_counted_before_and_after_the_first_note() -> None:
    on = bench()
    on.step("stat model.ckpt", SIZE_OUT)
    on.step("stat model.ckpt", SIZE_OUT)
    do(on, ask.ExtractNow)
    on.answer(SIZE)
    effects = on.step("xxd model.ckpt", "0000")
    (note,) = [e.note for e in effects if isinstance(e, Deliver)]
    on.see(seen.NoteOutcome(t=on.t, session=ROOT, note=note.id, delivery="hook", arrived="next"))
    on.step("stat model.ckpt", SIZE_OUT)
    (row,) = on.engine.state.repeats.view().rows
    assert (row.before, row.after) == (2, 1)


def test_an_answer_that_cannot_be_read_costs_too() -> None:
    on = bench(extraction_budget_session_tokens=100, extraction_interval_steps=1)
    on.step("stat model.ckpt", SIZE_OUT)
    failed = seen.ExtractionFailed(t=on.t, session=ROOT, id="x1", error="no", tokens=Tokens(input=120), cost=0.5)
    (report,) = [e for e in on.see(failed) if isinstance(e, ExtractionReport)]
    assert (report.state, report.tokens, report.cost) == ("failed", Tokens(input=120), 0.5)
    assert not jobs(on.see(seen.Tick(t=on.t + 3_600_000, session=ROOT)))
    assert [e.code for e in on.effects if isinstance(e, WarningReport)] == ["budget"]
    assert on.engine.state.repeats.view().extraction_tokens == 120


def test_rules_read_each_output_as_its_step_ends() -> None:
    found_in.cache_clear()
    on = bench(extractor="rules", extraction_interval_steps=3)
    for n in range(2):
        on.step(f"wc -l {n}.csv", f"12 {n}.csv")
    assert (found_in.cache_info().misses, found_in.cache_info().hits) == (2, 0)
    on.step("wc -l 2.csv", "12 2.csv")
    assert (found_in.cache_info().misses, found_in.cache_info().hits) == (3, 3)
    assert len(on.engine.state.ledger) == 3
