from __future__ import annotations

from core.ledger.observations import (
    FileChanged,
    SessionInfo,
    StepFinished,
)
from core.opencode.assemble import Assembler, event_time
from core.opencode.held import MAX_HELD_EVENTS

from .told import only, told_of
from .world import World


def test_a_file_that_was_edited_concerns_all(world: World) -> None:
    world.emit("file.edited", file="/home/user/a.py")
    assert told_of(world) == [("", FileChanged(t=0, session="", path="/home/user/a.py"))]


def test_events_of_an_unknown_session_wait_for_its_info(world: World) -> None:
    root = world.session()
    child = world.session(root)
    world.step(child, "x")
    created, child_created, *events = world.events
    assembler = Assembler()
    assert not [told for event in events for told in assembler.feed(event, 1)]
    assert assembler.unresolved == (child,)
    assert not assembler.feed(child_created, 2)
    assert assembler.unresolved == (root,)
    told = assembler.feed(created, 3)
    assert not assembler.unresolved
    assert [done.session for done in only(StepFinished, told)] == [child]
    assert {observation.t for _, observation in told} == {3}


def test_lookups_answer_what_is_unresolved(world: World) -> None:
    root, lost = world.session(), world.session()
    world.step(root, "x")
    world.step(lost, "y")
    assembler = Assembler()
    for event in world.events[2:]:
        assembler.feed(event, 0)
    assert assembler.unresolved == (root, lost)
    assert assembler.resolve(lost, None, 1) == []
    (info,) = [session for session in world.state.sessions() if session.id == root]
    told = assembler.resolve(root, info, 1)
    assert [done.session for done in only(StepFinished, told)] == [root]
    assert not assembler.unresolved
    assert not told_of(world, assembler)[len(told) :]


def test_what_is_held_at_the_end_belongs_to_a_root_of_its_own(world: World) -> None:
    root = world.session()
    world.step(root, "x")
    assembler = Assembler()
    for event in world.events[1:]:
        assembler.feed(event, 0)
    told = assembler.finish(7)
    assert [(root_id, done.t) for root_id, done in told if isinstance(done, StepFinished)] == [(root, 7)]
    assert [info.session for info in only(SessionInfo, told)] == [root]


def test_held_events_are_bounded(world: World) -> None:
    root = world.session()
    world.status(root, "busy")
    assembler = Assembler()
    for _ in range(MAX_HELD_EVENTS + 10):
        assembler.feed(world.events[-1], 0)
    assert assembler.dropped == 10


def test_an_own_session_is_known_before_its_info(world: World) -> None:
    own: set[str] = set()
    session = world.session()
    world.step(session, "x")
    assembler = Assembler(own=own)
    own.add(session)
    for event in world.events[1:]:
        assembler.feed(event, 0)
    assert not assembler.unresolved


def test_event_time(world: World) -> None:
    session = world.session()
    assert event_time(world.events[-1]) == world.t
    message = world.assistant(session)
    assert event_time(world.events[-1]) == world.t
    world.complete(message)
    assert event_time(world.events[-1]) == world.t
    part = world.begin(message)
    world.end(part)
    assert event_time(world.events[-1]) == world.t
    world.idle(session)
    assert event_time(world.events[-1]) is None
    world.emit("message.part.updated", part={"time": {"start": 10**18}}, time=10**18)
    assert event_time(world.events[-1]) is None
