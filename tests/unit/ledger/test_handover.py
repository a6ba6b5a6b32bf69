"""One ledger goes on where another one of the same session ended."""

from __future__ import annotations

from typing import Any

import msgspec

from core.ledger import commands as ask
from core.ledger.effects import Deliver, Effect, Extract, FindingReport
from core.ledger.handover import Handover, handover_of, take_over
from core.ledger.observations import ExtractionAnswered
from tests.unit.ledger.builders import ROOT, Bench, jobs

HEADER = ("model.ckpt has no header", "file-format:model.ckpt")
WORDS = ("vocab.bpe has 50 000 merges", "tokenizer:vocab.bpe")


class Pair:
    """A ledger that decides and one that watches; both see the same session, the second from `late` on."""

    def __init__(self, **settings: Any) -> None:
        self.first = Bench(**settings)
        self.second = Bench(**settings)
        self.second.engine.only_watch(True)

    def step(self, command: str, *, both: bool = True) -> None:
        self.first.step(command)
        if both:
            self.second.step(command)
        else:  # the second one was not there, but its calls have the same names
            self.second.calls += 1
            self.second.messages += 1

    def given(self) -> Handover:
        """As it comes out of the other process."""
        return msgspec.json.decode(msgspec.json.encode(handover_of(self.first.engine)), type=Handover)

    def hand_over(self, *, mirrored: bool = True) -> list[Effect]:
        given, steps = self.given(), tuple(self.first.engine.recent)
        effects = take_over(self.second.engine, 99, given, steps if mirrored else None)
        self.second.engine.only_watch(False)
        return effects


def ask_of(bench: Bench, kind: type[ask.Command], **fields: Any) -> None:
    bench.see(kind(t=bench.t, session=ROOT, **fields))


def facts(bench: Bench) -> list[tuple[str, str, str, bool]]:
    return [(f.id, f.fact, f.topic, f.pinned) for f in bench.engine.state.ledger]


def test_findings_pins_topics_and_deletions_stay() -> None:
    pair = Pair(extraction_interval_steps=2)
    pair.step("xxd model.ckpt")
    pair.step("head vocab.bpe")
    pair.first.answer(HEADER, WORDS, ("wrong", "t"))
    ask_of(pair.first, ask.Pin, ids=("f2",))
    ask_of(pair.first, ask.Delete, ids=("f3",))
    ask_of(pair.first, ask.Mute, topic=HEADER[1])
    reports = pair.hand_over()
    assert facts(pair.second) == facts(pair.first) == [("f1", *HEADER, False), ("f2", *WORDS, True)]
    assert [(r.change, r.id) for r in reports if isinstance(r, FindingReport)] == [("added", "f1"), ("added", "f2")]
    assert pair.second.engine.state.meters.muted == {HEADER[1]}
    (receipt,) = {finding.receipt for finding in pair.second.engine.state.ledger}
    assert [entry.call.command for entry in receipt.calls()] == ["xxd model.ckpt", "head vocab.bpe"]
    assert pair.second.engine.state.ledger.was_deleted("wrong")
    ask_of(pair.second, ask.Add, fact="new", topic="t")
    assert facts(pair.second)[-1] == ("f4", "new", "t", False)


def test_steps_that_were_distilled_are_not_distilled_again() -> None:
    pair = Pair(extraction_interval_steps=3)
    for n in range(3):
        pair.step(f"cat {n}")
    pair.first.answer(HEADER)
    pair.step("cat 3")
    given, steps = pair.given(), tuple(pair.first.engine.recent)
    pair.step("cat 4")
    pair.step("cat 5")  # after what the second one last heard of the first
    take_over(pair.second.engine, 99, given, steps)
    pair.second.engine.only_watch(False)
    effects = pair.second.engine.extractions.due(100)
    (job,) = [effect for effect in effects if isinstance(effect, Extract)]
    assert job.id == "x2"
    assert [step.n for step in job.steps] == [4, 5, 6]
    assert [call.command for step in job.steps for call in step.calls] == ["cat 3", "cat 4", "cat 5"]
    assert pair.second.engine.state.completed == 6


def test_the_steps_of_a_running_extraction_wait_again() -> None:
    pair = Pair(extraction_interval_steps=2)
    pair.step("cat 0")
    pair.step("cat 1")
    assert jobs(pair.first.effects) and pair.first.engine.extractions.schedule.running is not None
    pair.hand_over()
    (job,) = jobs(pair.second.engine.extractions.due(100))
    assert [call.command for step in job.steps for call in step.calls] == ["cat 0", "cat 1"]


def test_the_numbers_of_the_first_go_on_where_the_second_came_later() -> None:
    pair = Pair(extraction_interval_steps=4)
    for n in range(3):
        pair.step(f"cat {n}", both=False)
    pair.step("cat 3")
    pair.first.answer(HEADER)
    pair.hand_over()
    pair.second.step("cat 4")
    assert [step.n for step in pair.second.engine.recent] == [1, 2, 3, 4, 5]
    (finding,) = pair.second.engine.state.ledger
    assert [step.n for step in finding.receipt.steps] == [1, 2, 3, 4]


def test_the_meter_goes_on() -> None:
    pair = Pair(extraction_interval_steps=1, threshold=3)
    pair.step("xxd model.ckpt")
    pair.first.answer(HEADER)
    pair.step("xxd model.ckpt")
    pair.step("xxd -l 9 model.ckpt")
    pair.hand_over()
    effects = pair.second.step("xxd -l 10 model.ckpt")
    (note,) = [effect.note for effect in effects if isinstance(effect, Deliver)]
    assert note.kind == "stop"


def test_without_the_steps_meters_begin_at_zero_and_own_steps_are_numbered() -> None:
    pair = Pair(extraction_interval_steps=2, threshold=3)
    pair.step("cat 0", both=False)
    pair.step("xxd model.ckpt")
    pair.first.answer(HEADER)
    pair.step("xxd -l 9 model.ckpt")
    pair.hand_over(mirrored=False)
    assert [step.n for step in pair.second.engine.recent] == [2, 3]
    assert list(pair.second.engine.state.meters) == []
    (finding,) = pair.second.engine.state.ledger
    assert [step.n for step in finding.receipt.steps] == [2]  # of the two, what this ledger has seen
    effects = pair.second.step("xxd -l 10 model.ckpt")
    assert [e.note.kind for e in effects if isinstance(e, Deliver)] == ["gentle"]


def test_a_ledger_with_findings_of_its_own_is_left_alone() -> None:
    pair = Pair()
    ask_of(pair.first, ask.Add, fact="theirs", topic="t")
    ask_of(pair.second, ask.Add, fact="mine", topic="t")
    assert pair.hand_over() == []
    assert [f.fact for f in pair.second.engine.state.ledger] == ["mine"]


def test_what_cannot_be_is_passed_over() -> None:
    pair = Pair(max_findings=2)
    for n in range(2):
        ask_of(pair.first, ask.Add, fact=f"fact {n}", topic="t")
    given = pair.given()
    other = msgspec.structs.replace(given.kept[0].finding, id="f9")
    twice = msgspec.structs.replace(given, kept=(*given.kept, given.kept[0], *[type(given.kept[0])(finding=other)]))
    take_over(pair.second.engine, 99, twice, ())
    assert facts(pair.second) == facts(pair.first)


def test_earlier_steps_wait_for_the_user_still() -> None:
    pair = Pair(extraction_interval_steps=2)
    for bench in (pair.first, pair.second):
        bench.step("cat old", backfill=True)
    pair.hand_over()
    (step,) = pair.second.engine.extractions.schedule.earlier
    assert (step.part, step.n, step.earlier) == ("fin_msg_0000", 0, True)
    assert pair.second.engine.extractions.schedule.buffered == 0


def test_a_late_answer_of_the_other_ones_extraction_is_not_taken() -> None:
    pair = Pair(extraction_interval_steps=1)
    pair.step("cat 0")
    pair.hand_over()
    assert pair.second.see(ExtractionAnswered(t=100, session=ROOT, id="x1")) == []
