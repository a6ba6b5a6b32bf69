"""An engine goes on from what was saved of another one, as if nothing had happened between them."""

from __future__ import annotations

from typing import Any

import msgspec

from core.ledger import commands as ask
from core.ledger import observations as seen
from core.ledger.effects import Deliver, Effect, Extract, NoteReport, StepReport
from core.ledger.engine import Engine
from core.ledger.handover import kept_of
from core.ledger.saved import Decided, Lasting, Saved, decided_of, lasting_of, restore
from core.ledger.state import EngineSettings
from tests.unit.ledger.builders import ROOT, Bench, actions, changes, jobs, notes

HEADER = ("model.ckpt has no header", "file-format:model.ckpt")
WORDS = ("vocab.bpe has 50000 merges", "tokenizer:vocab.bpe")
SETTINGS: dict[str, Any] = {"review": "off", "extraction_interval_steps": 3}


def saved_of(engine: Engine, counted: frozenset[str] = frozenset()) -> Saved:
    """All of it, by way of the bytes of a database."""
    ledger, schedule = engine.state.ledger, engine.extractions.schedule
    running = schedule.running.steps if schedule.running else ()
    steps = (*engine.recent, *schedule.earlier, *schedule.waiting, *running)
    findings = [*ledger, *ledger.held.values()]
    saved = Saved(
        root=engine.root,
        lasting=again(lasting_of(engine), Lasting),
        decided=again(decided_of(engine), Decided),
        known=engine.extractions.known.export(),
        repeats=engine.state.repeats.export(),
        kept=tuple(map(kept_of, findings)),
        runs=tuple(engine.extractions.runs),
        steps={step.part: step for step in steps},
        recent=tuple(step.part for step in engine.recent),
        counted=frozenset(step.part for step in steps),
    )
    copy: Saved = again(saved, Saved)
    return copy


def again(value: Any, type: Any) -> Any:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value), type=type)


def goes_on(bench: Bench) -> tuple[Bench, list[Effect]]:
    """Another process in the place of the first one."""
    after = Bench(**SETTINGS)
    after.t, after.calls, after.messages = bench.t, bench.calls, bench.messages
    effects = restore(after.engine, bench.t, saved_of(bench.engine))
    return after, effects


def learned() -> Bench:
    bench = Bench(**SETTINGS)
    for n in range(3):
        bench.step(f"xxd model.ckpt | head -{n}")
    bench.answer(HEADER, WORDS)
    return bench


def ask_of(bench: Bench, kind: type[ask.Command], **fields: Any) -> list[Effect]:
    return bench.see(kind(t=bench.t, session=ROOT, **fields))


def state(engine: Engine) -> tuple[Any, ...]:
    """Everything that lasts, for comparison."""
    ledger = engine.state.ledger
    findings = [(kept_of(finding), finding.receipt) for finding in (*ledger, *ledger.held.values())]
    return lasting_of(engine), decided_of(engine), findings, list(engine.recent), engine.state.repeats.export()


def test_everything_comes_back() -> None:
    bench = learned()
    ask_of(bench, ask.Pin, ids=("f1",))
    ask_of(bench, ask.Delete, ids=("f2",))
    ask_of(bench, ask.Mute, topic=HEADER[1])
    bench.step("cat notes.md")
    after, effects = goes_on(bench)
    assert effects == []
    assert state(after.engine) == state(bench.engine)
    assert after.engine.extractions.known.export() == bench.engine.extractions.known.export()


def test_undo_goes_on_where_it_was() -> None:
    bench = learned()
    ask_of(bench, ask.Edit, id="f1", fact="model.ckpt has a header", topic=HEADER[1])
    ask_of(bench, ask.Delete, ids=("f2",))
    ask_of(bench, ask.Mute, topic=HEADER[1])
    after, _ = goes_on(bench)
    for _ in range(3):
        assert ask_of(bench, ask.Undo) == ask_of(after, ask.Undo)
    assert state(after.engine) == state(bench.engine)
    assert [finding.fact for finding in after.engine.state.ledger] == [HEADER[0], WORDS[0]]
    assert not after.engine.state.meters.muted and not after.engine.state.ledger.deleted


def test_the_meter_counts_on() -> None:
    bench = learned()
    for _ in range(3):
        bench.step("cat model.ckpt")
    after, _ = goes_on(bench)
    assert actions(after.step("cat model.ckpt")) == ["stop"]


def test_what_was_counted_is_not_counted_again() -> None:
    bench = learned()
    bench.step("cat model.ckpt")
    after, _ = goes_on(bench)
    before = state(after.engine)
    told: list[Effect] = []
    for backfill in (True, False):
        after.calls = after.messages = 0
        for command in ("xxd model.ckpt | head -0", "xxd model.ckpt | head -1", "xxd model.ckpt | head -2"):
            told += after.step(command, backfill=backfill)
        told += after.step("cat model.ckpt", backfill=backfill)
    assert told == []
    assert state(after.engine) == before


def test_what_was_missed_waits_for_the_users_wish() -> None:
    bench = learned()
    after, _ = goes_on(bench)
    after.step("cat missed.json", backfill=True)
    assert [step.calls[0].command for step in after.engine.extractions.schedule.earlier] == ["cat missed.json"]
    (report,) = [effect for effect in after.step("cat next.json") if isinstance(effect, StepReport)]
    assert (report.n, report.buffered) == (4, 1)


def test_the_extraction_under_way_is_given_out_again() -> None:
    bench = Bench(**SETTINGS)
    (job,) = jobs([effect for n in range(3) for effect in bench.step(f"cat {n}.json")])
    after, effects = goes_on(bench)
    assert effects == [msgspec.structs.replace(job, t=bench.t)]
    assert changes(after.answer(HEADER)) == [("added", HEADER[0])]
    assert [run.state for run in after.engine.extractions.runs] == ["done"]


def test_a_ledger_that_only_watches_keeps_its_steps_instead() -> None:
    bench = Bench(**SETTINGS)
    for n in range(3):
        bench.step(f"cat {n}.json")
    after = Bench(**SETTINGS)
    after.engine.only_watch(True)
    assert restore(after.engine, 9, saved_of(bench.engine)) == []
    assert len(after.engine.extractions.schedule.waiting) == 3
    after.engine.only_watch(False)
    (job,) = [effect for effect in after.see(seen.Tick(t=9, session=ROOT)) if isinstance(effect, Extract)]
    assert [step.n for step in job.steps] == [1, 2, 3]


def test_a_note_under_way_has_an_unknown_fate_and_is_shown() -> None:
    bench = learned()
    assert notes(bench.step("cat model.ckpt")) == ["gentle"]
    after, effects = goes_on(bench)
    (report,) = effects
    assert isinstance(report, NoteReport) and (report.arrived, report.delivery) == ("unknown", "none")
    (deliver,) = [effect for effect in after.step("cat vocab.bpe") if isinstance(effect, Deliver)]
    assert deliver.note.id == "n2"


def test_facts_to_be_told_wait_on() -> None:
    bench = learned()
    ask_of(bench, ask.TellAgent, ids=("f2",))
    after, _ = goes_on(bench)
    assert notes(after.step("ls")) == ["manual"]


def test_a_ledger_that_has_watched_counts_its_own_later_steps_too() -> None:
    bench, watching = learned(), Bench(**SETTINGS)
    watching.engine.only_watch(True)
    for n in range(3):
        watching.step(f"xxd model.ckpt | head -{n}")
    saved = saved_of(bench.engine)
    watching.step("cat later.json")
    assert restore(watching.engine, 9, saved) == []
    assert [step.n for step in watching.engine.recent] == [1, 2, 3, 4]
    assert [step.n for step in watching.engine.extractions.schedule.waiting] == [4]
    assert [finding.fact for finding in watching.engine.state.ledger] == [HEADER[0], WORDS[0]]


def test_a_ledger_with_findings_is_left_alone() -> None:
    bench = learned()
    before = state(bench.engine)
    assert restore(bench.engine, 1, saved_of(learned().engine)) == []
    assert state(bench.engine) == before


def test_evicted_facts_are_not_new_again() -> None:
    engine = Engine(ROOT, EngineSettings(review="off"))
    restore(engine, 1, Saved(root=ROOT, evicted=(HEADER[0],), lasting=Lasting(made=7)))
    (change,) = engine.state.ledger.add(1, *HEADER)
    assert (change.finding.id, change.fresh) == ("f8", False)


def test_what_a_broken_off_step_left_is_not_doubled() -> None:
    bench = learned()
    bench.call("cat half.json")
    bench.see(seen.StatusChanged(t=bench.t, session=ROOT, state="idle"))
    after, _ = goes_on(bench)
    after.calls -= 1
    after.call("cat half.json", backfill=True)
    after.see(seen.StatusChanged(t=bench.t, session=ROOT, state="idle"))
    schedule = after.engine.extractions.schedule
    assert [step.part for step in (*schedule.waiting, *schedule.earlier)] == ["broken_off:call_4"]
