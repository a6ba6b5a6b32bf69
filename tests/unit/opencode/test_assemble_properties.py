"""Whatever happens to the stream, the same facts are told: once, and per agent session in the same order."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ledger.observations import Compacted, StepFinished, ToolFinished, UserMessage
from core.opencode.assemble import Assembler, Told, event_time

from .world import START, ServerState, World, actor, decoded, recorded

Facts = dict[tuple[str, str], list[Any]]

_STEP = st.lists(st.integers(0, 3), max_size=3)
_TURNS = st.lists(st.lists(_STEP, min_size=1, max_size=3), min_size=1, max_size=2)
_PLANS = st.lists(_TURNS, min_size=1, max_size=4)


@st.composite
def streams(draw: st.DrawFn) -> list[bytes]:
    """Frames of several sessions, some of them sub-agents, that are at work at the same time."""
    world = World()
    sessions: list[str] = []
    actors = []
    for turns in draw(_PLANS):
        parent = draw(st.sampled_from(["", *sessions]))
        sessions.append(world.session(parent))
        actors.append(actor(world, sessions[-1], turns))
    while actors:
        chosen = draw(st.integers(0, len(actors) - 1))
        if next(actors[chosen], "ended") == "ended":
            del actors[chosen]
    return world.frames


def facts(told: Iterable[Told]) -> Facts:
    """Steps, calls and user messages by root and agent session, in order, without the time they were told at."""
    found: Facts = defaultdict(list)
    for root, one in told:
        if isinstance(one, ToolFinished):
            found[root, one.session].append(("call", one.part, one.call, one.ok, one.output, one.exit, one.backfill))
        elif isinstance(one, StepFinished):
            found[root, one.session].append(("step", one.part, one.message, one.tokens, one.cost, one.backfill))
        elif isinstance(one, UserMessage):
            found[root, one.session].append(("user", one.message, one.backfill))
        elif isinstance(one, Compacted):
            found[root, one.session].append(("compacted",))
    return dict(found)


def parts_in_order(told: Iterable[Told]) -> list[tuple[str, str, str]]:
    return [(root, one.session, one.part) for root, one in told if isinstance(one, StepFinished | ToolFinished)]


def fed(assembler: Assembler, frames: Sequence[bytes]) -> list[Told]:
    return [told for frame in frames for told in assembler.feed(decoded(frame), 0)]


def undisturbed(frames: Sequence[bytes]) -> Facts:
    assembler = Assembler()
    return facts([*fed(assembler, frames), *assembler.finish(0)])


def resync(assembler: Assembler, frames: Sequence[bytes], attached_at: int = 0) -> list[Told]:
    """Read back what a server says that has sent these frames so far."""
    state = ServerState(frames)
    return assembler.snapshot(state.sessions(), state.all_messages(), 0, attached_at, busy=state.busy)


def with_repeats(frames: Sequence[bytes], repeats: Iterable[tuple[int, int]]) -> list[bytes]:
    """After frame `at` comes a copy of an earlier one, for each pair."""
    copies: dict[int, list[bytes]] = defaultdict(list)
    for at, back in repeats:
        place = at % len(frames)
        copies[place].append(frames[max(0, place - back)])
    return [copy for place, frame in enumerate(frames) for copy in (frame, *copies[place])]


@settings(deadline=None, max_examples=60)
@given(streams(), st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 60)), max_size=30))
def test_repeats_and_late_copies(frames: list[bytes], repeats: list[tuple[int, int]]) -> None:
    assert undisturbed(with_repeats(frames, repeats)) == undisturbed(frames)


@settings(deadline=None, max_examples=100)
@given(
    streams(),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 60), st.integers(0, 20)), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 40)), max_size=10),
)
def test_drop_then_resync(
    frames: list[bytes], gaps: list[tuple[int, int, int]], repeats: list[tuple[int, int]]
) -> None:
    """Each gap: frames seen before it, frames lost, frames that are already in the state that is read back."""
    assembler = Assembler()
    told: list[Told] = []
    at = read = 0
    for seen, lost, overlap in gaps:
        told += fed(assembler, with_repeats(frames[at : at + seen], repeats) if frames[at : at + seen] else [])
        at = min(at + seen + lost, len(frames))
        read = max(read, at + overlap)
        told += resync(assembler, frames[:read])
    told += fed(assembler, frames[at:])
    assert facts([*told, *assembler.finish(0)]) == undisturbed(frames)


@settings(deadline=None, max_examples=60)
@given(streams(), st.data())
def test_infos_that_come_late(frames: list[bytes], data: st.DataObject) -> None:
    """Events of a session that is not known yet wait for its info, however late that is."""
    created = [frame for frame in frames if b'"session.created"' in frame]
    late = [frame for frame in frames if frame not in created]
    for frame in created:
        late.insert(data.draw(st.integers(0, len(late))), frame)
    assert undisturbed(late) == undisturbed(frames)


@settings(deadline=None, max_examples=60)
@given(streams(), st.integers(0, 400), st.integers(0, 20))
def test_attaching_in_the_middle(frames: list[bytes], before: int, overlap: int) -> None:
    """What was complete before attaching is backfill, all else counts, and nothing is lost or doubled."""
    before = min(before, len(frames))
    attached_at = START + 10 * before + 5
    assembler = Assembler()
    told = resync(assembler, frames[: before + overlap], attached_at)
    told += fed(assembler, frames[before:])
    found = facts([*told, *assembler.finish(0)])
    everything = undisturbed(frames)
    assert {key: [fact[:-1] for fact in of] for key, of in found.items()} == {
        key: [fact[:-1] for fact in of] for key, of in everything.items()
    }
    complete = {
        json.loads(frame)["properties"]["info"]["id"]
        for frame in frames[:before]
        if b'"completed"' in frame and b'"message.updated"' in frame
    }
    steps = [fact for of in found.values() for fact in of if fact[0] == "step"]
    assert {fact[2] for fact in steps if fact[-1]} == complete


@pytest.mark.parametrize("name", ["probes", "parallel", "revert", "compaction-auto", "abort"])
@settings(deadline=None, max_examples=25)
@given(st.integers(0, 1_000), st.integers(0, 200), st.integers(0, 30))
def test_real_recordings_survive_a_gap(name: str, seen: int, lost: int, overlap: int) -> None:
    frames = [frame for frame in recorded(name) if b'"type":"server.' not in frame]
    # What is removed while nobody looks cannot be read back.
    removed = (number for number, frame in enumerate(frames) if b'"message.removed"' in frame)
    frames = frames[: next(removed, None)]
    at = min(seen + lost, len(frames))
    assembler = Assembler()
    told = fed(assembler, frames[:seen])
    told += resync(assembler, frames[: at + overlap])
    told += fed(assembler, frames[at:])
    assert facts([*told, *assembler.finish(0)]) == undisturbed(frames)


def test_the_order_between_sessions_is_that_of_the_stream() -> None:
    """A sub-agent's steps come before the end of the call that started it, also when read back."""
    frames = recorded("probes")
    live = parts_in_order(fed(Assembler(), frames))
    assert len(live) > 40
    assert len({session for _, session, _ in live}) == 2
    assert parts_in_order(resync(Assembler(), frames)) == live


def test_the_times_of_a_recording_are_those_of_its_events() -> None:
    times = [time for frame in recorded("probes") if (time := event_time(decoded(frame)))]
    assert len(times) > 300
    assert max(times) - min(times) < 60_000
