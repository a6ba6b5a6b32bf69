"""The meter, through the engine: gentle, quiet, stop, and what sets it to zero."""

from __future__ import annotations

from typing import Any

import pytest

from core.ledger import commands as ask
from core.ledger import observations as seen
from core.ledger.effects import Deliver, TouchReport
from tests.unit.ledger.builders import ROOT, Bench, actions, notes

HEADER = ("model.ckpt has no header", "file-format:model.ckpt")
VOCAB = ("50,257 entries", "tokenizer:vocab.bpe")


def known(**settings: object) -> Bench:
    bench = Bench(**settings)
    bench.know(HEADER, VOCAB)
    return bench


def looks(bench: Bench, n: int, command: str = "xxd model.ckpt", **more: Any) -> list[str]:
    effects = []
    for _ in range(n):
        effects += bench.step(command, **more)
    return actions(effects)


def test_gentle_then_quiet_then_stop_at_each_touch() -> None:
    bench = known()
    effects = [effect for _ in range(6) for effect in bench.step("xxd model.ckpt")]
    assert actions(effects) == ["gentle", "quiet", "quiet", "stop", "stop", "stop"]
    assert notes(effects) == ["gentle", "stop", "stop", "stop"]
    assert [effect.counts for effect in effects if isinstance(effect, TouchReport)][3] == {HEADER[1]: 4}


def test_every_sentence_of_a_stop_is_true() -> None:
    bench = known()
    looks(bench, 1)
    for _ in range(4):
        bench.step("ls")
    effects = [effect for _ in range(3) for effect in bench.step("xxd model.ckpt")]
    text = next(effect.note.text for effect in effects if isinstance(effect, Deliver))
    assert "model.ckpt was looked at 3 times since these facts were shown, across 7 steps." in text
    assert "LEDGER ESCALATION" in text and "STOP" in text and "final answer NOW" in text
    assert HEADER[0] in text and VOCAB[0] not in text


@pytest.mark.parametrize(("threshold", "expected"), [(0, ["gentle"] + ["quiet"] * 6), (1, ["stop"] * 7)])
def test_threshold_bounds(threshold: int, expected: list[str]) -> None:
    assert looks(known(threshold=threshold), 7) == expected


def test_stop_at_the_first_touch_says_nothing_untrue() -> None:
    bench = known(threshold=1)
    text = next(effect.note.text for effect in bench.step("xxd model.ckpt") if isinstance(effect, Deliver))
    assert "since these facts were shown" not in text


def test_parallel_calls_of_a_step_are_one_look() -> None:
    bench = known()
    effects = [effect for _ in range(5) for effect in bench.call("xxd model.ckpt")]
    assert actions(effects) == ["gentle"] + ["quiet"] * 4
    assert {count for e in effects if isinstance(e, TouchReport) for count in e.counts.values()} == {1}
    bench.end()
    assert looks(bench, 3) == ["quiet", "quiet", "stop"]


def test_counts_belong_to_the_agent_session() -> None:
    bench = known()
    looks(bench, 3)
    assert looks(bench, 1, session="ses_child") == ["gentle"]
    assert looks(bench, 1) == ["stop"]
    assert looks(bench, 1, session="ses_child") == ["quiet"]


def test_session_scope_has_one_counter() -> None:
    bench = known(escalation_scope="session")
    assert looks(bench, 1) == ["gentle"]
    assert looks(bench, 1, "cat vocab.bpe") == ["gentle"]
    assert looks(bench, 1) == ["quiet"]
    assert looks(bench, 1, "cat vocab.bpe") == ["stop"]


def test_session_scope_starts_over_when_something_is_learned() -> None:
    bench = known(escalation_scope="session")
    looks(bench, 3)
    bench.know(("new", "tokenizer:vocab.bpe"))
    assert looks(bench, 1) == ["quiet"]
    assert looks(bench, 2) == ["quiet", "quiet"]
    assert looks(bench, 1) == ["stop"]


def test_a_new_fact_resets_its_own_topic_only() -> None:
    bench = known()
    looks(bench, 3)
    looks(bench, 3, "cat vocab.bpe")
    bench.know(("little-endian", HEADER[1]))
    assert looks(bench, 1) == ["gentle"]
    assert looks(bench, 1, "cat vocab.bpe") == ["stop"]


def test_a_fact_seen_before_does_not_reset() -> None:
    bench = known(max_findings_per_topic=1)
    bench.know(("second", HEADER[1]))
    looks(bench, 3)
    bench.know(HEADER)
    assert [finding.fact for finding in bench.engine.state.ledger.of_topic(HEADER[1])] == [HEADER[0]]
    assert looks(bench, 1) == ["stop"]


@pytest.mark.parametrize(
    "event",
    [
        seen.UserMessage(t=9, session=ROOT, message="msg_user"),
        seen.Compacted(t=9, session=ROOT),
        seen.Reverted(t=9, session=ROOT, message="msg_zzz"),
        ask.ResetMeter(t=9, session=ROOT, topic=HEADER[1]),
    ],
)
def test_what_sets_counters_to_zero(event: seen.Observation) -> None:
    bench = known()
    looks(bench, 3)
    bench.see(event)
    assert looks(bench, 4) == ["gentle", "quiet", "quiet", "stop"]


def test_an_old_user_message_and_a_sub_agents_prompt_do_not_reset_the_root() -> None:
    bench = known()
    looks(bench, 3)
    bench.see(seen.UserMessage(t=9, session=ROOT, message="msg_old", backfill=True))
    bench.see(seen.UserMessage(t=9, session="ses_child", message="msg_task"))
    assert looks(bench, 1) == ["stop"]


def test_same_command_with_other_output_is_no_look() -> None:
    bench = known()
    assert looks(bench, 1, output="a") == ["gentle"]
    assert actions(bench.step("xxd model.ckpt", "b")) == []
    assert looks(bench, 1, output="b") == ["quiet"]


def test_writing_is_no_look() -> None:
    bench = known()
    for command in ("echo 1 > model.ckpt", "cp model.ckpt /tmp/", "git add model.ckpt", "rm model.ckpt"):
        assert actions(bench.step(command)) == []


def test_one_call_over_several_topics() -> None:
    bench = known()
    assert looks(bench, 1, "cat vocab.bpe") == ["gentle"]
    effects = bench.step("cmp model.ckpt vocab.bpe")
    assert actions(effects) == ["gentle"]
    text = next(effect.note.text for effect in effects if isinstance(effect, Deliver))
    assert HEADER[0] in text and VOCAB[0] not in text
    looks(bench, 1, "cat vocab.bpe")
    effects = bench.step("cmp model.ckpt vocab.bpe")
    assert actions(effects) == ["stop"]
    text = next(effect.note.text for effect in effects if isinstance(effect, Deliver))
    assert VOCAB[0] in text and HEADER[0] not in text


def test_muted_topics_are_counted_and_say_nothing() -> None:
    bench = known()
    bench.see(ask.Mute(t=0, session=ROOT, topic=HEADER[1]))
    effects = [effect for _ in range(5) for effect in bench.step("xxd model.ckpt")]
    assert actions(effects) == ["quiet"] * 5 and notes(effects) == []
    bench.see(ask.Undo(t=0, session=ROOT))
    assert looks(bench, 1) == ["stop"]


def test_switched_off_injection_counts_and_says_nothing() -> None:
    bench = known(injection_enabled=False)
    effects = [effect for _ in range(5) for effect in bench.step("xxd model.ckpt")]
    assert actions(effects) == ["quiet"] * 5 and notes(effects) == []
    assert next(iter(bench.engine.state.meters)).count == 5


def test_calls_that_do_not_count() -> None:
    bench = known()
    assert actions(bench.step("xxd model.ckpt", ok=False)) == []
    assert actions(bench.step("xxd model.ckpt", backfill=True)) == []
    assert actions(bench.step("xxd model.ckpt", tool="read")) == []
    stale = bench.step("xxd model.ckpt", stale=True)
    assert actions(stale) == ["quiet"] and notes(stale) == []
    assert looks(bench, 1) == ["gentle"]


def test_other_tools_can_be_added() -> None:
    bench = known(injection_tools=frozenset(("bash", "read")))
    effects = bench.step("", tool="read", path="/p/my data/model.ckpt")
    assert actions(effects) == ["gentle"]


def test_session_scope_says_over_how_many_steps_the_looks_were_spread() -> None:
    bench = Bench(escalation_scope="session")
    files = ["a.bin", "b.bin", "c.bin", "d.bin"]
    bench.know(*[(f"fact of {file}", f"file:{file}") for file in files])
    effects = [effect for file in files for effect in bench.step(f"xxd {file}")]
    text = [effect.note.text for effect in effects if isinstance(effect, Deliver)][-1]
    assert "Files with known facts were looked at 4 times across 4 steps, d.bin the last of them." in text


def test_session_scope_is_reset_by_hand_and_that_can_be_undone() -> None:
    bench = known(escalation_scope="session")
    looks(bench, 3)
    bench.see(ask.ResetMeter(t=9, session=ROOT, topic=HEADER[1]))
    assert [bench.engine.state.meters.count(meter) for meter in bench.engine.state.meters] == []
    bench.see(ask.Undo(t=9, session=ROOT))
    assert looks(bench, 1) == ["stop"]
    bench.see(ask.ResetMeter(t=9, session=ROOT, topic=HEADER[1]))
    assert looks(bench, 4) == ["gentle", "quiet", "quiet", "stop"]


def test_session_scope_shows_zero_for_every_topic_when_something_is_learned() -> None:
    bench = known(escalation_scope="session")
    looks(bench, 3)
    bench.know(("new", VOCAB[1]))
    meters = bench.engine.state.meters
    assert {meter.topic: meters.count(meter) for meter in meters} == {HEADER[1]: 0}


def _outcome(bench: Bench, effects: list[Any], arrived: Any) -> None:
    note = next(effect.note for effect in effects if isinstance(effect, Deliver))
    bench.see(seen.NoteOutcome(t=1, session=ROOT, note=note.id, delivery="patch", arrived=arrived))


def test_a_look_made_before_a_late_note_was_read_is_not_one_since_it_was_shown() -> None:
    bench = known()
    sent = bench.step("xxd model.ckpt")
    bench.see(seen.AssistantStarted(t=1, session=ROOT, message=f"msg_{bench.messages:04}"))
    _outcome(bench, sent, "late")
    effects = [effect for _ in range(3) for effect in bench.step("xxd model.ckpt")]
    text = next(effect.note.text for effect in effects if isinstance(effect, Deliver))
    assert "model.ckpt was looked at 2 times since these facts were shown, across 2 steps." in text


def test_a_stop_before_a_late_note_was_read_counts_from_the_first_look() -> None:
    bench = known(threshold=2)
    sent = bench.step("xxd model.ckpt")
    bench.see(seen.AssistantStarted(t=1, session=ROOT, message=f"msg_{bench.messages:04}"))
    _outcome(bench, sent, "late")
    text = next(effect.note.text for effect in bench.step("xxd model.ckpt") if isinstance(effect, Deliver))
    assert "looked at 2 times across 2 steps, model.ckpt the last of them." in text


def test_so_it_is_when_its_fate_is_known_after_that_look() -> None:
    bench = known()
    sent = bench.step("xxd model.ckpt")
    bench.see(seen.AssistantStarted(t=1, session=ROOT, message=f"msg_{bench.messages:04}"))
    bench.call("xxd model.ckpt")
    _outcome(bench, sent, "late")
    bench.end()
    effects = [effect for _ in range(2) for effect in bench.step("xxd model.ckpt")]
    text = next(effect.note.text for effect in effects if isinstance(effect, Deliver))
    assert "model.ckpt was looked at 2 times since these facts were shown, across 2 steps." in text


def test_a_stop_that_failed_does_not_take_back_what_was_shown_before() -> None:
    bench = known()
    looks(bench, 3)
    _outcome(bench, bench.step("xxd model.ckpt"), "failed")
    text = next(effect.note.text for effect in bench.step("xxd model.ckpt") if isinstance(effect, Deliver))
    assert "model.ckpt was looked at 4 times since these facts were shown, across 4 steps." in text


def test_facts_sent_by_hand_with_a_reminder_count_as_shown() -> None:
    bench = known()
    bench.see(ask.TellAgent(t=1, session=ROOT, ids=("f2",)))
    assert notes(bench.step("xxd model.ckpt")) == ["gentle"]
    assert looks(bench, 1, "cat vocab.bpe") == ["quiet"]


def test_a_note_that_failed_is_due_again() -> None:
    bench = known()
    note = next(effect.note for effect in bench.step("xxd model.ckpt") if isinstance(effect, Deliver))
    bench.see(seen.NoteOutcome(t=1, session=ROOT, note=note.id, delivery="patch", arrived="failed"))
    assert looks(bench, 1) == ["gentle"]


def test_a_persons_rewording_is_no_learning_but_is_shown() -> None:
    bench = known()
    looks(bench, 2)
    bench.see(ask.Edit(t=0, session=ROOT, id="f1", fact="model.ckpt has a header after all", topic=HEADER[1]))
    effects = bench.step("xxd model.ckpt")
    assert actions(effects) == ["gentle"]
    assert "has a header after all" in next(effect.note.text for effect in effects if isinstance(effect, Deliver))
    assert looks(bench, 1) == ["stop"]


def test_a_call_told_twice_counts_once_and_a_later_one_with_the_same_id_counts_too() -> None:
    """Some models number their calls from 0 again in each session, or after a compaction."""
    bench = known()
    assert notes(bench.call("xxd model.ckpt", call="call_0", part="prt_a", via="hook")) == ["gentle"]
    assert notes(bench.call("xxd model.ckpt", call="call_0", part="prt_a")) == []
    bench.end()
    bench.see(seen.Compacted(t=bench.t, session=ROOT))
    assert notes(bench.call("xxd model.ckpt", call="call_0", part="prt_b")) == ["gentle"]


def test_calls_of_two_agents_with_the_same_id_both_run() -> None:
    bench = known()
    for n, session in enumerate((ROOT, "ses_child")):
        fields = {"message": "m", "part": f"prt_x{n}", "call": "call_0", "tool": "bash", "summary": "ls"}
        bench.see(seen.ToolStarted(t=bench.t, session=session, **fields))
    assert [start.session for start in bench.engine.running.values()] == [ROOT, "ses_child"]
    bench.call("ls", call="call_0", part="prt_x0")
    assert [start.session for start in bench.engine.running.values()] == ["ses_child"]
