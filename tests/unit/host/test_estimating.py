"""The estimate is near to what is sent."""

from __future__ import annotations

from core.extraction.prompt import build_prompt
from core.host.estimating import estimate
from core.settings import Settings
from tests.unit.ledger.builders import Bench


def test_near_to_the_real_prompt() -> None:
    bench = Bench()
    for n in range(10):
        bench.step(f"cat file{n}.txt", "x" * 300 * n, backfill=n < 5)
    settings = Settings()
    told = estimate(bench.engine, settings)
    schedule = bench.engine.extractions.schedule
    real = build_prompt((*schedule.earlier, *schedule.waiting), (), output_chars=1_200, total_chars=24_000).chars
    assert told.steps == 10
    assert 0.7 * real < told.prompt_chars < 1.4 * real
    assert told.tokens == told.prompt_chars // 4
    by_rules = estimate(bench.engine, Settings(extractor="rules"))
    assert (by_rules.steps, by_rules.tokens) == (10, 0), "rules ask no model"
