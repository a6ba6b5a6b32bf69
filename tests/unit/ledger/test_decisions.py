"""What a person did stays done, and what can be undone brings back no more than that."""

from __future__ import annotations

from core.ledger import commands as ask
from core.ledger import observations as seen
from core.ledger.effects import Said
from tests.unit.ledger.builders import ROOT, Bench, notes
from tests.unit.ledger.test_trust import INVENTED, SIZE, SIZE_OUT, bench, do, held, learn, only

PATH = "/p/model.ckpt"
LARGER = ("model.ckpt has 5000 bytes", SIZE[1])
LARGER_OUT = "model.ckpt: 5000 bytes"


def superseded(**settings: object) -> Bench:
    """`f1` gave way to `f2`."""
    on = bench(**settings)
    learn(on, SIZE, output=SIZE_OUT)
    learn(on, LARGER, output=LARGER_OUT)
    return on


def pin(on: Bench, id: str) -> None:
    on.see(ask.Pin(t=on.t, session=ROOT, ids=(id,), on=True))


def change_file(on: Bench) -> None:
    on.see(seen.FileChanged(t=on.t + 9_000, session="", path=PATH))


def states(on: Bench) -> dict[str, str]:
    return {finding.id: finding.state for finding in on.engine.state.ledger}


def test_undoing_a_pin_leaves_a_fact_doubtful_whose_file_changed_since() -> None:
    on = bench()
    learn(on, SIZE, output=SIZE_OUT)
    pin(on, "f1")
    change_file(on)
    do(on, ask.Undo)
    assert (only(on).state, only(on).stale_for, only(on).pinned) == ("doubtful", PATH, False)


def test_undoing_an_edit_leaves_a_fact_doubtful_whose_file_changed_since() -> None:
    on = bench()
    learn(on, SIZE, output=SIZE_OUT)
    do(on, ask.Edit, id="f1", fact="model.ckpt has 4 KiB", topic=SIZE[1])
    change_file(on)
    do(on, ask.Undo)
    assert (only(on).fact, only(on).state) == (SIZE[0], "doubtful")


def test_undoing_a_dismissal_brings_back_the_pair_alone() -> None:
    on = superseded()
    do(on, ask.Resolve, pair="p1", how="dismiss")
    change_file(on)
    do(on, ask.Undo)
    assert list(on.engine.state.ledger.pairs) == ["p1"]
    assert states(on) == {"f1": "superseded", "f2": "doubtful"}


def test_undoing_what_needed_room_brings_back_what_made_it() -> None:
    on = bench(max_findings_per_topic=1)
    learn(on, SIZE, output=SIZE_OUT)
    learn(on, INVENTED, output=SIZE_OUT)
    do(on, ask.Accept, ids=("f2",))
    assert states(on) == {"f2": "accepted"}
    do(on, ask.Undo)
    assert states(on) == {"f1": "accepted"}
    assert [finding.id for finding in held(on)] == ["f2"]


def test_undoing_what_needed_room_pushes_out_nothing_that_came_since() -> None:
    on = bench(max_findings=1)
    learn(on, SIZE, output=SIZE_OUT)
    do(on, ask.Add, fact="b", topic="other")
    learn(on, LARGER, output=LARGER_OUT)
    assert states(on) == {"f3": "accepted"}
    do(on, ask.Undo)
    assert states(on) == {"f3": "accepted"}


def test_a_superseded_fact_whose_successor_is_gone_holds_when_it_is_found_again() -> None:
    on = superseded()
    do(on, ask.Delete, ids=("f2",))
    learn(on, SIZE, output=SIZE_OUT)
    assert states(on) == {"f1": "fresh"}
    assert only(on).superseded_by == ""


def test_a_pinned_successor_does_not_give_way_unasked() -> None:
    on = superseded()
    pin(on, "f2")
    do(on, ask.Resolve, pair="p1", how="dismiss")
    learn(on, SIZE, output=SIZE_OUT)
    assert states(on) == {"f1": "superseded", "f2": "accepted"}
    assert [(pair.old, pair.new) for pair in on.engine.state.ledger.pairs.values()] == [("f1", "f2")]


def test_an_extraction_does_not_turn_a_swap_around() -> None:
    on = superseded()
    do(on, ask.Resolve, pair="p1", how="swap")
    learn(on, LARGER, output=LARGER_OUT)
    assert states(on) == {"f1": "accepted", "f2": "superseded"}
    (pair,) = on.engine.state.ledger.pairs.values()
    do(on, ask.Resolve, pair=pair.id, how="swap")
    assert states(on) == {"f1": "superseded", "f2": "accepted"}


def test_a_doubtful_fact_is_confirmed_where_every_new_fact_waits() -> None:
    on = bench(review="all")
    learn(on, SIZE, output=SIZE_OUT)
    do(on, ask.Accept, ids=("f1",))
    change_file(on)
    on.t += 20_000
    on.step("stat model.ckpt", f"{SIZE_OUT}\nagain", ended=on.t)
    do(on, ask.ExtractNow)
    on.answer(SIZE)
    assert only(on).state == "fresh"


def test_accepting_what_the_ledger_has_already_can_be_undone_in_its_turn() -> None:
    on = bench()
    learn(on, INVENTED, output=SIZE_OUT)
    do(on, ask.Add, fact=INVENTED[0], topic=INVENTED[1])
    said = do(on, ask.Accept, ids=("f1",))[-1]
    assert isinstance(said, Said) and said.ok and "already" in said.text
    assert not held(on)
    do(on, ask.Undo)
    assert "adding" in str(do(on, ask.Undo)[-1])
    assert states(on) == {}


def test_what_does_not_hold_is_not_told_by_hand_either() -> None:
    on = superseded()
    said = do(on, ask.TellAgent, ids=("f1",))[-1]
    assert isinstance(said, Said) and not said.ok
    do(on, ask.TellAgent, ids=("f1", "f2"))
    assert on.engine.injector.queued == 1
    learn(on, INVENTED, output=SIZE_OUT)
    assert not on.engine.injector.queued
    (waiting,) = held(on)
    do(on, ask.TellAgent, ids=(waiting.id,))
    assert notes(on.step("ls")) == []


def test_what_gave_way_since_it_was_to_be_told_is_not_told() -> None:
    on = bench()
    learn(on, SIZE, output=SIZE_OUT)
    on.step("stat model.ckpt", LARGER_OUT)
    do(on, ask.TellAgent, ids=("f1",))
    do(on, ask.ExtractNow)
    on.answer(LARGER)
    assert states(on)["f1"] == "superseded"
    assert notes(on.step("ls")) == []
