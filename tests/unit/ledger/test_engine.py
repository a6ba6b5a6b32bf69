"""Steps, extraction and commands, through the engine."""

from __future__ import annotations

from core.ledger import commands as ask
from core.ledger import observations as seen
from core.ledger.effects import (
    Deliver,
    ExtractionReport,
    NoteReport,
    Said,
    SessionReport,
    StepReport,
    WarningReport,
    fields,
)
from core.ledger.engine import MAX_PENDING, WARNING_CHARS
from core.ledger.finding import Finding
from tests.unit.ledger.builders import ROOT, Bench, changes, jobs, notes

HEADER = ("model.ckpt has no header", "file-format:model.ckpt")


def test_a_step_is_reported_at_its_end_with_its_calls() -> None:
    bench = Bench()
    bench.call("ls")
    bench.call("cat x", ok=False)
    (report,) = [effect for effect in bench.end() if isinstance(effect, StepReport)]
    assert list(fields(report)) == ["t", "type", "session", "n", "origin", "tools", "buffered"]
    assert [(tool.tool, tool.status) for tool in report.tools] == [("bash", "completed"), ("bash", "error")]
    assert (report.n, report.buffered) == (1, 1)


def test_an_extraction_starts_after_the_interval_over_root_and_child() -> None:
    bench = Bench(extraction_interval_steps=3)
    bench.step("ls")
    bench.step("ls", session="ses_child")
    assert not jobs(bench.effects)
    (job,) = jobs(bench.step("ls"))
    assert [step.origin for step in job.steps] == [ROOT, "ses_child", ROOT]
    assert bench.engine.extractions.schedule.buffered == 0


def test_one_extraction_at_a_time_and_the_next_when_it_is_done() -> None:
    bench = Bench(extraction_interval_steps=2)
    for n in range(5):
        bench.step(f"ls {n}")
    assert len(jobs(bench.effects)) == 1
    assert [len(job.steps) for job in jobs(bench.answer(HEADER))] == [2]


def test_answers_are_counted() -> None:
    bench = Bench(extraction_interval_steps=1)
    bench.step("xxd model.ckpt")
    bench.answer(HEADER, HEADER, ("other", "t"))
    done = [effect for effect in bench.effects if isinstance(effect, ExtractionReport) and effect.state == "done"][-1]
    assert (done.found, done.added, done.duplicates, done.rejected) == (3, 2, 1, 0)
    finding = next(iter(bench.engine.state.ledger))
    assert (finding.step, finding.call, finding.topic) == (1, "call_1", HEADER[1])
    assert [entry.call.command for entry in finding.receipt.calls()] == ["xxd model.ckpt"]


def test_a_failed_extraction_keeps_its_steps_and_is_tried_again_later() -> None:
    bench = Bench(extraction_interval_steps=2)
    bench.step("a")
    (job,) = jobs(bench.step("b"))
    bench.see(seen.ExtractionFailed(t=bench.t, session=ROOT, id=job.id, error="refused"))
    assert bench.engine.extractions.schedule.buffered == 2
    assert not jobs(bench.see(seen.Tick(t=bench.t + 14_999, session=ROOT)))
    (again,) = jobs(bench.see(seen.Tick(t=bench.t + 15_000, session=ROOT)))
    assert [call.command for step in again.steps for call in step.calls] == ["a", "b"]
    bench.t += 20_000
    bench.see(seen.ExtractionFailed(t=bench.t, session=ROOT, id=again.id, error="refused"))
    assert not jobs(bench.see(seen.Tick(t=bench.t + 59_999, session=ROOT)))
    assert jobs(bench.see(seen.Tick(t=bench.t + 60_000, session=ROOT)))


def test_steps_without_calls_are_skipped() -> None:
    bench = Bench(extraction_interval_steps=2)
    bench.end()
    effects = bench.end()
    assert not jobs(effects)
    assert [e.state for e in effects if isinstance(e, ExtractionReport)] == ["queued", "skipped"]


def test_any_number_of_steps_without_calls_is_skipped_at_once() -> None:
    bench = Bench(extraction_interval_steps=1, max_buffered_steps=5_000)
    bench.step("ls")
    for _ in range(2_000):
        bench.end()
    states = [effect.state for effect in bench.answer() if isinstance(effect, ExtractionReport)]
    assert states.count("skipped") == 2_000


def test_earlier_steps_wait_for_the_user() -> None:
    bench = Bench(extraction_interval_steps=2)
    for _ in range(4):
        bench.step("old", backfill=True)
    assert not jobs(bench.effects) and not [e for e in bench.effects if isinstance(e, StepReport)]
    bench.step("new")
    (job,) = jobs(bench.see(ask.ExtractNow(t=9, session=ROOT, earlier=True)))
    assert [call.command for step in job.steps for call in step.calls] == ["old"] * 4 + ["new"]


def test_a_compaction_extracts_at_once() -> None:
    bench = Bench()
    bench.step("ls")
    effects = bench.see(seen.Compacted(t=5, session=ROOT))
    assert [e.state for e in effects if isinstance(e, SessionReport)] == ["compacted"]
    assert len(jobs(effects)) == 1


def test_reverted_steps_leave_the_buffer_and_come_back() -> None:
    bench = Bench()
    for command in "abc":
        bench.step(command)
    bench.see(seen.Reverted(t=5, session=ROOT, message="msg_0001"))
    assert bench.engine.extractions.schedule.buffered == 1
    bench.see(seen.Reverted(t=6, session=ROOT))
    assert [step.n for step in bench.engine.extractions.schedule.waiting] == [1, 2, 3]
    bench.see(seen.Reverted(t=7, session=ROOT, message="msg_0001"))
    bench.see(seen.MessageRemoved(t=8, session=ROOT, message="msg_0001"))
    bench.see(seen.Reverted(t=9, session=ROOT))
    assert bench.engine.extractions.schedule.buffered == 1


def test_steps_from_before_attaching_come_back_with_an_undone_revert_too() -> None:
    bench = Bench()
    bench.step("old", backfill=True)
    bench.step("new")
    bench.see(seen.Reverted(t=5, session=ROOT, message="msg_0000"))
    assert bench.engine.extractions.schedule.earlier == []
    bench.see(seen.Reverted(t=6, session=ROOT))
    schedule = bench.engine.extractions.schedule
    assert [step.message for step in (*schedule.earlier, *schedule.waiting)] == ["msg_0000", "msg_0001"]


def test_steps_reverted_while_they_are_extracted_do_not_come_back_by_a_failure() -> None:
    bench = Bench(extraction_interval_steps=2)
    bench.step("a")
    (job,) = jobs(bench.step("b"))
    bench.see(seen.Reverted(t=5, session=ROOT, message="msg_0001"))
    bench.see(seen.ExtractionFailed(t=6, session=ROOT, id=job.id, error="no"))
    assert [step.n for step in bench.engine.extractions.schedule.waiting] == [1]
    bench.see(seen.Reverted(t=7, session=ROOT))
    assert [step.n for step in bench.engine.extractions.schedule.waiting] == [1, 2]


def test_steps_reverted_for_good_while_they_are_extracted_are_gone() -> None:
    bench = Bench(extraction_interval_steps=2)
    bench.step("a")
    (job,) = jobs(bench.step("b"))
    bench.see(seen.Reverted(t=5, session=ROOT, message="msg_0001"))
    bench.see(seen.MessageRemoved(t=6, session=ROOT, message="msg_0001"))
    bench.see(seen.ExtractionFailed(t=7, session=ROOT, id=job.id, error="no"))
    bench.see(seen.Reverted(t=8, session=ROOT))
    assert [step.n for step in bench.engine.extractions.schedule.waiting] == [1]


def test_a_retry_under_way_is_not_due_again() -> None:
    bench = Bench(extraction_interval_steps=1)
    (job,) = jobs(bench.step("a"))
    bench.see(seen.ExtractionFailed(t=bench.t, session=ROOT, id=job.id, error="no"))
    assert bench.engine.extractions.schedule.due_at == bench.t + 15_000
    assert jobs(bench.see(seen.Tick(t=bench.t + 15_000, session=ROOT)))
    assert bench.engine.extractions.schedule.due_at == 0


def test_a_retry_without_steps_is_not_due() -> None:
    bench = Bench(extraction_interval_steps=1)
    (job,) = jobs(bench.step("a"))
    bench.see(seen.ExtractionFailed(t=bench.t, session=ROOT, id=job.id, error="no"))
    bench.see(seen.Reverted(t=5, session=ROOT, message="msg_0000"))
    assert bench.engine.extractions.schedule.due_at == 0


def test_a_deleted_session_is_extracted_no_more() -> None:
    bench = Bench(extraction_interval_steps=1)
    (job,) = jobs(bench.step("a"))
    bench.step("b")
    bench.see(seen.SessionDeleted(t=5, session=ROOT))
    bench.see(seen.ExtractionFailed(t=6, session=ROOT, id=job.id, error="no"))
    assert not jobs(bench.see(seen.Tick(t=10**9, session=ROOT)))
    assert bench.engine.extractions.schedule.buffered == 0


def test_calls_of_a_deleted_session_run_no_more() -> None:
    bench = Bench()
    for call, session in (("call_a", "ses_child"), ("call_b", ROOT)):
        told = {"message": "msg_9", "part": call, "call": call, "tool": "bash", "summary": "sleep"}
        bench.see(seen.ToolStarted(t=1, session=session, **told))
    bench.see(seen.SessionDeleted(t=2, session="ses_child"))
    assert list(bench.engine.running) == ["call_b"]
    bench.see(seen.SessionDeleted(t=3, session=ROOT))
    assert not bench.engine.running


def test_an_error_of_a_sub_agent_is_not_one_of_the_session() -> None:
    bench = Bench()
    effects = bench.see(seen.SessionFailed(t=5, session="ses_child", error="aborted"))
    assert [effect.code for effect in effects if isinstance(effect, WarningReport)] == ["sub_agent_error"]
    assert not [effect for effect in effects if isinstance(effect, SessionReport)] and not bench.engine.error
    (report,) = bench.see(seen.SessionFailed(t=6, session=ROOT, error="out of credit"))
    assert isinstance(report, SessionReport) and report.state == "error"


def test_a_fork_inherits_once() -> None:
    origin, fork = Bench(), Bench()
    origin.know(HEADER)
    fork.engine.inherit(5, tuple(origin.engine.state.ledger))
    fork.see(ask.Delete(t=6, session=ROOT, ids=("f1",)))
    assert fork.engine.inherit(7, tuple(origin.engine.state.ledger)) == []
    assert len(fork.engine.state.ledger) == 0


def test_a_note_names_the_findings_that_found_room() -> None:
    bench = Bench()
    long = [(f"{n} " + "x" * 390, HEADER[1]) for n in range(5)]
    bench.know(*long, ("short", "tokenizer:vocab.bpe"))
    effects = bench.step("cmp model.ckpt vocab.bpe")
    note = next(effect.note for effect in effects if isinstance(effect, Deliver))
    facts = [finding.fact for id in note.findings if (finding := bench.engine.state.ledger.get(id))]
    assert 0 < len(facts) < 6
    assert [fact for fact, _ in long if fact in note.text] + ["short"] == facts


def test_a_topic_of_which_no_fact_found_room_is_due_at_its_next_touch() -> None:
    bench = Bench()
    bench.know(("old", HEADER[1]), *[(f"{n} " + "x" * 390, "tokenizer:vocab.bpe") for n in range(5)])
    (note,) = [e.note for e in bench.step("cmp model.ckpt vocab.bpe") if isinstance(e, Deliver)]
    assert "- old" not in note.text
    assert notes(bench.step("xxd model.ckpt")) == ["gentle"]
    assert notes(bench.step("cat vocab.bpe")) == []


def test_facts_sent_by_hand_that_found_no_room_go_with_the_next_call() -> None:
    bench = Bench()
    bench.know(*[(f"{n} " + "x" * 390, f"t{n}") for n in range(6)])
    bench.see(ask.TellAgent(t=1, session=ROOT, ids=tuple(f"f{n}" for n in range(1, 7))))
    sent = [e.note.findings for _ in range(3) for e in bench.step("ls") if isinstance(e, Deliver)]
    assert len(sent) == 2 and sorted(id for ids in sent for id in ids) == [f"f{n}" for n in range(1, 7)]


def test_a_full_buffer_drops_the_oldest_and_says_so_once() -> None:
    bench = Bench(extraction_interval_steps=2, max_buffered_steps=3)
    for _ in range(9):
        bench.step("ls")
    warnings = [effect for effect in bench.effects if isinstance(effect, WarningReport)]
    assert [warning.code for warning in warnings] == ["buffer_full"]
    assert bench.engine.extractions.schedule.buffered == 3


def test_delete_leaves_a_tombstone_and_undo_brings_back() -> None:
    bench = Bench()
    bench.know(HEADER)
    bench.see(ask.Delete(t=1, session=ROOT, ids=("f1",)))
    bench.know(HEADER)
    assert len(bench.engine.state.ledger) == 0
    assert ("rejected", HEADER[0]) in changes(bench.effects)
    bench.see(ask.Undo(t=2, session=ROOT))
    assert bench.engine.state.ledger.facts == (HEADER[0],)


def test_an_edited_fact_cannot_come_back_in_its_old_words_and_moves_in_the_index() -> None:
    bench = Bench()
    bench.know(HEADER)
    bench.see(ask.Edit(t=1, session=ROOT, id="f1", fact="model.ckpt has a header", topic="file-format:other.bin"))
    bench.know(HEADER)
    assert bench.engine.state.ledger.facts == ("model.ckpt has a header",)
    assert notes(bench.step("xxd model.ckpt")) == []
    effects = bench.step("xxd other.bin")
    assert notes(effects) == ["gentle"]
    assert "as corrected by the user" in next(e.note.text for e in effects if isinstance(e, Deliver))
    bench.see(ask.Undo(t=2, session=ROOT))
    assert bench.engine.state.ledger.facts == (HEADER[0],)
    assert notes(bench.step("xxd model.ckpt")) == ["gentle"]


def test_ten_changes_can_be_undone() -> None:
    bench = Bench(max_findings=100)
    for n in range(12):
        bench.see(ask.Add(t=n, session=ROOT, fact=f"fact {n}", topic=f"t{n}"))
    said = [bench.see(ask.Undo(t=50, session=ROOT))[-1] for _ in range(11)]
    assert bench.engine.state.ledger.facts == ("fact 0", "fact 1")
    assert [s.ok for s in said if isinstance(s, Said)] == [True] * 10 + [False]


def test_pinned_findings_are_never_evicted_and_say_when_they_fill_the_cap() -> None:
    bench = Bench(max_findings_per_topic=2)
    bench.know(("a", "t"), ("b", "t"))
    bench.see(ask.Pin(t=1, session=ROOT, ids=("f1",)))
    bench.know(("c", "t"))
    assert bench.engine.state.ledger.facts == ("a", "c")
    bench.see(ask.Pin(t=2, session=ROOT, ids=("f1", "f3")))
    bench.know(("d", "t"))
    assert bench.engine.state.ledger.facts == ("a", "c")
    assert [e.code for e in bench.effects if isinstance(e, WarningReport)] == ["cap_full_of_pins"]


def test_the_overall_cap_evicts_the_oldest() -> None:
    bench = Bench(max_findings=2)
    bench.know(("a", "t1"), ("b", "t2"), ("c", "t3"))
    assert bench.engine.state.ledger.facts == ("b", "c")
    assert ("evicted", "a") in changes(bench.effects)


def test_the_same_fact_under_a_second_topic_keeps_the_first() -> None:
    bench = Bench()
    bench.know(("a", "t1"), ("a", "t2"))
    assert bench.engine.state.ledger.topics == ("t1",)


def test_tell_the_agent_goes_with_the_next_call_once() -> None:
    bench = Bench()
    bench.know(HEADER)
    bench.see(ask.TellAgent(t=1, session=ROOT, ids=("f1",)))
    assert notes(bench.step("ls", ok=False)) == []
    effects = bench.step("", tool="read")
    assert notes(effects) == ["manual"]
    assert notes(bench.step("ls")) == []
    assert notes(bench.step("xxd model.ckpt")) == []


def test_tell_the_agent_is_refused_when_notes_are_off() -> None:
    bench = Bench(injection_enabled=False)
    bench.know(HEADER)
    (said,) = bench.see(ask.TellAgent(t=1, session=ROOT, ids=("f1",)))
    assert isinstance(said, Said) and not said.ok


def test_each_note_is_reported_once() -> None:
    bench = Bench()
    bench.know(HEADER)
    note = next(effect.note for effect in bench.step("xxd model.ckpt") if isinstance(effect, Deliver))
    told = seen.NoteOutcome(t=1, session=ROOT, note=note.id, delivery="patch", arrived="next")
    (report,) = bench.see(told)
    assert isinstance(report, NoteReport) and report.text == note.text
    assert bench.see(told) == [] and bench.engine.close(9) == []


def test_notes_under_way_are_reported_when_the_input_ends() -> None:
    bench = Bench()
    bench.know(HEADER)
    bench.step("xxd model.ckpt")
    (report,) = bench.engine.close(9)
    assert isinstance(report, NoteReport) and (report.arrived, report.delivery) == ("unknown", "none")


def test_a_fork_starts_with_copies() -> None:
    origin = Bench()
    origin.know(HEADER)
    fork = Bench()
    fork.engine.inherit(5, tuple(origin.engine.state.ledger))
    fork.see(ask.Delete(t=6, session=ROOT, ids=("f1",)))
    assert len(fork.engine.state.ledger) == 0 and len(origin.engine.state.ledger) == 1


def test_undo_of_a_delete_survives_a_full_topic() -> None:
    bench = Bench(max_findings_per_topic=2)
    bench.know(("a", "t"), ("b", "t"))
    bench.see(ask.Delete(t=1, session=ROOT, ids=("f1",)))
    bench.know(("c", "t"))
    bench.see(ask.Undo(t=2, session=ROOT))
    facts: list[Finding] = list(bench.engine.state.ledger)
    assert [f.fact for f in facts] == ["a", "c"]


def test_requests_wait_until_they_are_answered_and_are_bounded() -> None:
    bench = Bench()
    asked = [
        seen.PermissionAsked(t=1, session=ROOT, id=f"per_{n}", title="bash", text="x" * 1_000)
        for n in range(MAX_PENDING + 1)
    ]
    (warning,) = bench.see(asked[0])
    assert isinstance(warning, WarningReport) and warning.code == "permission_asked"
    assert len(warning.message) == WARNING_CHARS
    for one in asked[1:]:
        bench.see(one)
    assert list(bench.engine.pending) == [one.id for one in asked[1:]]
    assert bench.see(seen.PermissionAnswered(t=2, session=ROOT, id="per_1")) == []
    assert "per_1" not in bench.engine.pending
    bench.see(seen.StatusChanged(t=3, session="ses_child", state="idle"))
    assert len(bench.engine.pending) == MAX_PENDING - 1
    bench.see(seen.StatusChanged(t=4, session=ROOT, state="idle"))
    assert not bench.engine.pending


def test_a_deleted_session_waits_for_nothing() -> None:
    bench = Bench()
    bench.see(seen.PermissionAsked(t=1, session="ses_child", id="per_1", title="bash"))
    bench.see(seen.SessionDeleted(t=2, session=ROOT))
    assert not bench.engine.pending
