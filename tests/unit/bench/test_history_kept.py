from __future__ import annotations

import pytest

from core.history.transcript import Bounds
from tests.bench import history_kept
from tests.bench.history_facts import Fact, Kind, Place, Told, generate
from tests.bench.history_kept import DEFAULT, Kept, Share


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kept]:
    path = tmp_path_factory.mktemp("kept") / "opencode.db"
    return history_kept.measured(path, generate(path, [40_000, 120_000]))


def of(kept: Kept, *kinds: Kind) -> Share:
    cells = [share for (kind, _), share in kept.cells.items() if kind in kinds]
    return Share(sum(cell.kept for cell in cells), sum(cell.of for cell in cells))


def test_every_form_is_asked_for_every_fact(found: dict[str, Kept]) -> None:
    whole = found["all that was said and shown"]
    assert whole.total.kept == whole.total.of > 50
    for kept in found.values():
        assert kept.total.of == whole.total.of
        assert kept.chars <= whole.chars
        for shares in (kept.cells.values(), kept.sizes.values()):
            assert sum(share.of for share in shares) == kept.total.of
            assert sum(share.kept for share in shares) == kept.total.kept


def test_without_tool_calls_only_what_was_said_is_left(found: dict[str, Kept]) -> None:
    talk = found["what was said, without tool calls"]
    text = of(talk, Kind.TEXT)
    assert text.kept == text.of == talk.total.kept


def test_the_bounds_of_parts_cost_the_middles_of_long_outputs_and_nothing_else(found: dict[str, Kept]) -> None:
    kept = found["transcript, parts bounded, no budget"]
    middles = of(kept, Kind.MIDDLE)
    assert middles.kept == 0
    assert kept.total.kept == kept.total.of - middles.of


def test_a_larger_budget_keeps_more(found: dict[str, Kept]) -> None:
    names = [name for name in found if name.startswith("transcript")]
    kept = [found[name].total.kept for name in names]
    assert kept == sorted(kept)
    assert 0 < kept[0] < kept[-1]


def test_bounds_of_parts_leave_room_for_more_facts_in_the_same_budget(found: dict[str, Kept]) -> None:
    unbound, ours = (
        found[f"{name}bounded"]
        for name in ("6,000 + 12,000 characters, parts not ", "transcript: 6,000 + 12,000, parts ")
    )
    assert ours.total.kept > unbound.total.kept
    assert max(ours.chars, unbound.chars) <= 2 * (DEFAULT.head + DEFAULT.tail + 200)


def test_the_note_holds_what_the_transcript_holds(found: dict[str, Kept]) -> None:
    note, ours = (
        found[name]
        for name in ("note of a script that writes all facts it is shown", "transcript: 6,000 + 12,000, parts bounded")
    )
    assert note.total == ours.total
    assert note.cells == ours.cells
    assert note.chars < ours.chars


def test_the_script_has_nothing_to_write_where_it_sees_nothing() -> None:
    assert history_kept.answer([]) == "JUNK"
    assert "- port 1" in history_kept.answer([Fact("port 1", Kind.TEXT, Place.HEAD)]).splitlines()


def test_a_fact_counts_when_its_exact_string_is_there() -> None:
    facts = (Fact("port 80801", Kind.TEXT, Place.HEAD), Fact("port 80802", Kind.TEXT, Place.TAIL))
    kept = Kept(what="x")
    kept.add(Told(id="s", target=9, text="", talk="", facts=facts), "It is Port 80801 and port 80802.")
    assert kept.cells == {(Kind.TEXT, Place.HEAD): Share(0, 1), (Kind.TEXT, Place.TAIL): Share(1, 1)}
    assert (str(kept.total), str(Share())) == ("50%", "–")
    assert kept.sizes == {9: Share(1, 2)}


def test_the_defaults_are_those_of_the_product() -> None:
    assert Bounds() == DEFAULT
