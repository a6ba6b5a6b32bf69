from __future__ import annotations

from core.ledger.observations import (
    AssistantStarted,
    MessageRemoved,
    Reverted,
    SessionInfo,
    StatusChanged,
    StepFinished,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from core.opencode.assemble import Assembler

from .told import only, read_back, told_of
from .world import START, World


def test_reading_back_tells_what_was_missed(world: World) -> None:
    root = world.session()
    world.step(root, "first")
    assembler = Assembler()
    told_of(world, assembler)
    world.step(root, "second")
    told = read_back(world.state, assembler)
    assert [finished.output for finished in only(ToolFinished, told)] == ["second"]
    assert not any(done.backfill for done in only(StepFinished, told))
    assert {observation.t for _, observation in told} == {START + 1_000_000}
    assert not read_back(world.state, assembler)


def test_backfill_has_its_own_times_and_names_the_last_agent_only(world: World) -> None:
    root = world.session()
    world.user(root)
    world.step(root, "first")
    last = world.step(root, "second")
    world.idle(root)
    told = read_back(world.state, Assembler(), attached_at=world.t + 5)
    assert [done.backfill for done in only(StepFinished, told)] == [True, True]
    assert all(finished.backfill for finished in only(ToolFinished, told))
    assert [one.backfill for one in only(UserMessage, told)] == [True]
    assert all(START < done.t < START + 1_000 for done in only(StepFinished, told))
    assert [one.message for one in only(AssistantStarted, told)] == [last]
    assert not only(StatusChanged, told)


def test_the_step_under_way_at_attaching_counts(world: World) -> None:
    root = world.session()
    world.step(root, "before")
    world.status(root, "busy")
    message = world.assistant(root)
    done = world.call(message, "early")
    running = world.begin(message)
    assembler = Assembler()
    told = read_back(world.state, assembler, attached_at=world.t + 5)
    assert [(one.part, one.backfill) for one in only(ToolFinished, told)][-1] == (done, False)
    assert [one.part for one in only(ToolStarted, told)] == [running]
    assert [one.state for one in only(StatusChanged, told)] == ["busy"]


def test_calls_that_a_killed_server_left_running_are_dead(world: World) -> None:
    root = world.session()
    message = world.assistant(root)
    world.begin(message)
    told = read_back(world.state, Assembler(), attached_at=world.t + 5)
    assert not only(ToolStarted, told)
    world.user(root)
    world.status(root, "busy")
    world.assistant(root)
    assert not only(ToolStarted, read_back(world.state, Assembler()))


def test_a_call_is_stale_once_a_later_assistant_message_is_there(world: World) -> None:
    root = world.session()
    message = world.assistant(root)
    part = world.begin(message)
    world.user(root)
    world.end(part)
    assert [one.stale for one in only(ToolFinished, told_of(world))] == [False]
    world.assistant(root)
    assert [one.stale for one in only(ToolFinished, read_back(world.state, Assembler()))] == [True]
    late = Assembler()
    told = [one for event in [*world.events[:-2], world.events[-1], world.events[-2]] for one in late.feed(event, 0)]
    assert [one.stale for one in only(ToolFinished, told)] == [True]


def test_messages_that_are_no_longer_listed_were_removed(world: World) -> None:
    root = world.session()
    kept, gone, last = (world.step(root, output) for output in "abc")
    assembler = Assembler()
    told_of(world, assembler)
    world.emit("message.removed", sessionID=root, messageID=gone)
    assert [one.message for one in only(MessageRemoved, read_back(world.state, assembler))] == [gone]
    assert assembler.knows(root, kept)
    assert assembler.knows(root, last)
    assert not assembler.knows(root, gone)


def test_messages_that_were_only_left_out_were_not_removed(world: World) -> None:
    root = world.session()
    old, _, gone, last = (world.step(root, output) for output in "abcd")
    assembler = Assembler()
    told_of(world, assembler)
    world.emit("message.removed", sessionID=root, messageID=gone)
    shortened = {root: world.state.messages(root)[-2:]}
    told = read_back(world.state, assembler, messages=shortened, truncated={root})
    assert [one.message for one in only(MessageRemoved, told)] == [gone]
    assert assembler.knows(root, old)
    assert assembler.knows(root, last)


def test_steps_keep_their_order_when_the_clock_was_set_back(world: World) -> None:
    root = world.session()
    steps = [world.step(root, "before")]
    world.t -= 1_000
    steps.append(world.step(root, "after"))
    told = read_back(world.state, Assembler())
    assert [done.message for done in only(StepFinished, told)] == steps


def test_a_revert_in_force_is_told_after_the_messages(world: World) -> None:
    root = world.session()
    message = world.step(root, "x")
    world.update_session(root, revert={"messageID": message})
    told = read_back(world.state, Assembler())
    assert isinstance(told[-1][1], Reverted)


def test_the_end_of_a_turn_that_was_missed(world: World) -> None:
    root = world.session()
    world.status(root, "busy")
    assembler = Assembler()
    told_of(world, assembler)
    world.idle(root)
    assert [one.state for one in only(StatusChanged, read_back(world.state, assembler))] == ["idle"]


def test_sessions_that_are_only_listed_are_not_told_of(world: World) -> None:
    root = world.session()
    world.step(root, "x")
    assembler = Assembler()
    assert assembler.learn(world.state.sessions(), 0) == []
    assert assembler.root_of(root) == root
    told = read_back(world.state, assembler)
    assert isinstance(told[0][1], SessionInfo)


def test_copies_of_old_messages_that_were_left_out_are_backfill(world: World) -> None:
    root = world.session()
    old = world.step(root, "old")
    copies = world.events[1:]
    world.step(root, "new")
    assembler = Assembler()
    last = {root: world.state.messages(root)[-1:]}
    read_back(world.state, assembler, messages=last, truncated={root})
    told = [one for event in copies for one in assembler.feed(event, 0)]
    assert [(done.message, done.backfill) for done in only(StepFinished, told)] == [(old, True)]
    other = Assembler()
    read_back(world.state, other, messages=last, truncated={root})
    parts = [event for event in copies if event.type == "message.part.updated"]
    told = [one for event in parts for one in other.feed(event, 0)]
    assert [finished.backfill for finished in only(ToolFinished, told)] == [True]
