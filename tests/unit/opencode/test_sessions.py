from __future__ import annotations

from collections.abc import Iterator

from core.ledger.observations import (
    AssistantStarted,
    Observation,
    SessionDeleted,
    SessionInfo,
    StepFinished,
    ToolFinished,
)
from core.opencode.assemble import Assembler

from .told import only, told_of
from .world import DIRECTORY, START, ServerState, World, decoded, recorded


def test_sub_agents_belong_to_their_root_at_any_depth(world: World) -> None:
    root = world.session()
    child = world.session(root)
    grandchild = world.session(child)
    world.step(grandchild, "x")
    told = told_of(world)
    assert {root_id for root_id, _ in told} == {root}
    assert [(one.session, one.parent) for one in only(SessionInfo, told)] == [
        (root, ""),
        (child, root),
        (grandchild, child),
    ]
    assert [done.session for done in only(StepFinished, told)] == [grandchild]


def test_only_sessions_of_the_directory_count(world: World) -> None:
    here, there = world.session(), world.session(directory="/home/user/other")
    below = world.session(there)
    for session in (here, there, below):
        world.step(session, "x")
    told = told_of(world, Assembler(DIRECTORY + "/"))
    assert {session.session for _, session in told} == {here}


def test_the_ledgers_own_sessions_and_what_is_below_them_never_count(world: World) -> None:
    root = world.session()
    by_id = world.session()
    by_title = world.session(root, title="ledger-extraction")
    below = world.session(by_title)
    for session in (root, by_id, by_title, below):
        world.step(session, "x")
    assembler = Assembler(own={by_id})
    told = told_of(world, assembler)
    assert {observation.session for _, observation in told} == {root}
    assert not assembler.unresolved
    assert not assembler.finish(0)


def test_a_new_title_is_told(world: World) -> None:
    root = world.session(title="New session")
    world.update_session(root, title="Named\x1b[2J")
    world.update_session(root)
    assert [info.title for info in only(SessionInfo, told_of(world))] == ["New session", "Named"]


def test_an_older_info_changes_nothing(world: World) -> None:
    root = world.session(title="Old")
    world.update_session(root, title="New")
    world.frames.append(world.frames[0])
    assert [info.title for info in only(SessionInfo, told_of(world))] == ["Old", "New"]


def test_after_its_deletion_nothing_more_comes_of_a_session(world: World) -> None:
    root = world.session()
    child = world.session(root)
    world.step(child, "x")
    step = world.events[-2]
    world.delete_session(child)
    world.delete_session(root)
    assembler = Assembler()
    told = told_of(world, assembler)
    assert [one.session for one in only(SessionDeleted, told)] == [child, root]
    assert not assembler.feed(step, 0)
    assert not assembler.feed(world.events[0], 0)
    assert not assembler.unresolved


def test_a_session_that_is_gone_takes_its_sub_agents_with_it(world: World) -> None:
    root = world.session()
    child = world.session(root)
    assembler = Assembler()
    told_of(world, assembler)
    assert [one.session for one in only(SessionDeleted, assembler.gone(root, 5))] == [root]
    assert assembler.root_of(child) is None
    assert assembler.is_ignored(child)


def forked(name: str) -> Iterator[tuple[str, list[Observation]]]:
    assembler = Assembler()
    told = [one for frame in recorded(name) for one in assembler.feed(decoded(frame), 0)]
    for root in dict.fromkeys(root for root, _ in told):
        yield root, [observation for other, observation in told if other == root]


def test_what_a_fork_copied_is_backfill() -> None:
    origin, fork, at_message, of_fork = forked("fork")
    new = [finished.call for finished in fork[1] if isinstance(finished, ToolFinished) and not finished.backfill]
    assert new == ["call_0006_bash"]
    copied = [finished.call for finished in fork[1] if isinstance(finished, ToolFinished) and finished.backfill]
    assert copied == ["call_0001_bash", "call_0002_task"]
    assert sum(isinstance(done, StepFinished) and not done.backfill for done in fork[1]) == 2
    for _, observations in (at_message, of_fork):
        assert all(done.backfill for done in observations if isinstance(done, StepFinished))
        assert not any(isinstance(one, AssistantStarted) for one in observations)
    assert sum(isinstance(done, StepFinished) for done in origin[1]) == 7


def test_a_fork_knows_its_origin() -> None:
    found = {root: [one for one in told if isinstance(one, SessionInfo)] for root, told in forked("fork")}
    origin, fork, at_message, of_fork = found
    assert {info.forked_from for info in found[origin]} == {""}
    assert found[fork][0].forked_from == origin
    assert found[at_message][0].forked_from == origin
    # Made from one of two sessions of the same title: only its calls say what it holds.
    assert [info.forked_from for info in found[of_fork]] == ["", origin]


def test_a_fork_that_is_read_back_is_the_same() -> None:
    frames = recorded("fork")
    state = ServerState(frames)
    assembler = Assembler()
    told = assembler.snapshot(state.sessions(), state.all_messages(), START, 0)
    streamed = Assembler()
    live = [one for frame in frames for one in streamed.feed(decoded(frame), 0)]
    steps = {(root, done.part, done.backfill) for root, done in told if isinstance(done, StepFinished)}
    assert steps == {(root, done.part, done.backfill) for root, done in live if isinstance(done, StepFinished)}
