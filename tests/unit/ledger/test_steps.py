"""Which calls become part of which step, and what becomes of those whose step never completes."""

from __future__ import annotations

from typing import Literal

from core.ledger import observations as seen
from core.ledger.commands import ExtractNow
from core.ledger.effects import Effect, ExtractionReport, Said, StepReport
from core.ledger.steps import KEPT_CHARS
from tests.unit.ledger.builders import ROOT, Bench, changes, jobs


def turns(bench: Bench, state: Literal["busy", "idle"], session: str = ROOT) -> list[Effect]:
    return bench.see(seen.StatusChanged(t=bench.t, session=session, state=state))


def extract(bench: Bench, *, earlier: bool = False) -> list[Effect]:
    return bench.see(ExtractNow(t=bench.t, session=ROOT, earlier=earlier))


def said(effects: list[Effect]) -> str:
    return next(effect.text for effect in effects if isinstance(effect, Said))


def steps(effects: list[Effect]) -> list[tuple[int, int, list[str]]]:
    """Number, steps waiting, calls."""
    return [
        (effect.n, effect.buffered, [tool.call for tool in effect.tools])
        for effect in effects
        if isinstance(effect, StepReport)
    ]


def broken_off(bench: Bench, command: str = "xxd a.bin", output: str = "0000 803f") -> None:
    """A turn that the user interrupts after its call."""
    turns(bench, "busy")
    bench.call(command, output)
    bench.messages += 1
    turns(bench, "idle")


def test_what_a_broken_off_step_has_put_out_is_extracted_with_the_next_steps() -> None:
    bench = Bench(extraction_interval_steps=2)
    bench.step("true")
    broken_off(bench)
    assert bench.engine.state.completed == 1
    turns(bench, "busy")
    effects = bench.step("pwd")
    assert steps(effects) == [(2, 0, ["call_3"])]
    [job] = jobs(effects)
    assert [(step.broken_off, [call.call for call in step.calls]) for step in job.steps] == [
        (False, ["call_1"]),
        (True, ["call_2"]),
        (False, ["call_3"]),
    ]
    assert [effect.steps for effect in effects if isinstance(effect, ExtractionReport)] == [2]
    found = bench.answer(("a.bin holds 1.0", "format:a.bin"))
    assert changes(found) == [("added", "a.bin holds 1.0")]
    [finding] = bench.engine.state.ledger
    assert (finding.step, finding.call) == (1, "call_2")


def test_the_user_can_have_it_extracted_at_once() -> None:
    bench = Bench()
    broken_off(bench)
    assert bench.engine.extractions.schedule.buffered == 0
    effects = extract(bench)
    assert said(effects) == "Extracting what a broken-off step left."
    [job] = jobs(effects)
    assert [call.output for step in job.steps for call in step.calls] == ["0000 803f"]
    assert said(extract(bench)) == "No steps wait for extraction."
    broken_off(bench)
    assert said(extract(bench)) == "What a broken-off step left will be extracted when x1 is done."


def test_a_call_that_ends_after_the_interruption_counts_too() -> None:
    bench = Bench()
    turns(bench, "busy")
    turns(bench, "idle")
    bench.call("xxd a.bin", "0000 803f")
    [job] = jobs(extract(bench))
    assert [call.call for step in job.steps for call in step.calls] == ["call_1"]


def test_a_step_that_completes_after_all_has_its_calls() -> None:
    bench = Bench(extraction_interval_steps=2)
    turns(bench, "busy")
    bench.call("xxd a.bin")
    turns(bench, "idle")
    bench.call("xxd b.bin")
    assert steps(bench.end()) == [(1, 1, ["call_1", "call_2"])]
    assert [step.broken_off for step in bench.engine.extractions.schedule.waiting] == [False]


def test_calls_that_were_themselves_interrupted_are_dropped() -> None:
    bench = Bench()
    turns(bench, "busy")
    bench.call("sleep 100", "Tool execution aborted", ok=False)
    turns(bench, "idle")
    assert said(extract(bench)) == "No steps wait for extraction."


def test_calls_of_another_agent_session_go_on() -> None:
    bench = Bench()
    turns(bench, "busy")
    bench.call("xxd a.bin", session="ses_child")
    turns(bench, "idle")
    assert steps(bench.end(session="ses_child")) == [(1, 1, ["call_1"])]


def test_it_leaves_with_a_revert_and_comes_back_with_it() -> None:
    bench = Bench()
    broken_off(bench)
    bench.see(seen.Reverted(t=1, session=ROOT, message="msg_0000"))
    assert said(extract(bench)) == "No steps wait for extraction."
    bench.see(seen.Reverted(t=2, session=ROOT))
    assert jobs(extract(bench))


def test_it_survives_a_failed_extraction_and_goes_with_a_deleted_session() -> None:
    bench = Bench()
    broken_off(bench)
    [job] = jobs(extract(bench))
    bench.see(seen.ExtractionFailed(t=1, session=ROOT, id=job.id, error="away"))
    [again] = jobs(bench.see(seen.Tick(t=15_001, session=ROOT)))
    assert again.steps == job.steps
    broken_off(bench)
    bench.see(seen.SessionDeleted(t=15_002, session=ROOT))
    assert bench.engine.extractions.schedule.waiting == ()


def test_what_was_broken_off_before_attaching_waits_for_the_user() -> None:
    bench = Bench()
    turns(bench, "busy")
    bench.call("xxd a.bin", backfill=True)
    turns(bench, "idle")
    assert (bench.engine.extractions.schedule.broken_off, bench.engine.extractions.schedule.waiting) == (1, ())
    assert "Steps from before attaching can be included." in said(extract(bench))
    assert jobs(extract(bench, earlier=True))


def test_broken_off_steps_fill_no_interval_and_take_no_place_in_a_job() -> None:
    bench = Bench(extraction_interval_steps=2, max_buffered_steps=50)
    for _ in range(5):
        broken_off(bench)
    turns(bench, "busy")
    assert jobs(bench.step("true")) == []
    [job] = jobs(bench.step("true"))
    assert [step.broken_off for step in job.steps] == [True] * 5 + [False] * 2
    schedule = bench.engine.extractions.schedule
    assert [len(part) for part in schedule.split(job.steps * 30)] == [5 * 20 + 40 + 5, 5 * 10 + 20 - 5]


def test_long_outputs_are_masked_where_they_are_cut() -> None:
    bench = Bench()
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    output = f"{'x' * (KEPT_CHARS - 20)} {secret} {'y' * 20_000} {secret} {'z' * (KEPT_CHARS - 20)}"
    bench.step(f"echo {output}", output)
    [step] = bench.engine.recent
    for text in (step.calls[0].output, step.calls[0].command):
        assert "16C7e42F" not in text and "ae178B4a" not in text.casefold()
        assert "characters left out" in text


def test_a_call_does_not_last_while_it_waits_for_a_person() -> None:
    bench = Bench()
    for id, t, call in (("per_1", 1_000, "c1"), ("per_2", 1_000, "")):
        bench.see(seen.PermissionAsked(t=t, session=ROOT, id=id, title="bash", call=call))
        bench.see(seen.PermissionAnswered(t=t + 8_000, session=ROOT, id=id))
    for call in ("c1", "c2"):
        bench.see(
            seen.ToolFinished(
                t=9_500, session=ROOT, message="m", part=f"p{call}", call=call, tool="bash", ok=True, summary="ls",
                started=500, ended=9_500,
            )
        )  # fmt: skip
    bench.see(seen.StepFinished(t=9_600, session=ROOT, message="m", part="pm"))
    assert [call.ms for call in bench.engine.recent[-1].calls] == [1_000, 9_000]
