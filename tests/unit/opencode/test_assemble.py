from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import pytest

from core.ledger.observations import (
    AssistantStarted,
    Compacted,
    FileChanged,
    MessageRemoved,
    NoteEchoed,
    Observation,
    Reverted,
    SessionDeleted,
    SessionFailed,
    SessionInfo,
    StatusChanged,
    StepFinished,
    Tokens,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from core.opencode.assemble import Assembler, Told, event_time
from core.opencode.facts import OUTPUT_EDGE
from core.opencode.held import MAX_HELD_EVENTS
from core.text import MARKER_ROOM

from .world import DIRECTORY, START, ServerState, World, decoded, recorded

T = TypeVar("T", bound=Observation)
NOTE = "\n\n<ledger-note>\nKNOWN FACTS\n  - x\n</ledger-note>"


@pytest.fixture
def world() -> World:
    return World()


def told_of(world: World, assembler: Assembler | None = None) -> list[Told]:
    """All that is told of the events so far, the n-th of them at time n."""
    assembler = assembler or Assembler()
    return [told for t, event in enumerate(world.events) for told in assembler.feed(event, t)]


def only(kind: type[T], told: Iterable[Told]) -> list[T]:
    return [observation for _, observation in told if isinstance(observation, kind)]


def read_back(state: ServerState, assembler: Assembler, attached_at: int = 0, **options: Any) -> list[Told]:
    messages = options.pop("messages", None) or state.all_messages()
    options.setdefault("busy", state.busy)
    return assembler.snapshot(state.sessions(), messages, START + 1_000_000, attached_at, **options)


# One turn


def test_a_turn_is_told_in_order(world: World) -> None:
    root = world.session(title="Look")
    user = world.user(root)
    world.status(root, "busy")
    message = world.assistant(root)
    part = world.begin(message, command="cat a.json", description="Read it")
    world.end(part, "content", metadata={"exit": 2})
    step = world.finish(message, reason="tool-calls")
    world.complete(message)
    world.idle(root)
    told = told_of(world)
    assert [type(observation) for _, observation in told] == [
        SessionInfo,
        UserMessage,
        StatusChanged,
        AssistantStarted,
        ToolStarted,
        ToolFinished,
        StepFinished,
        StatusChanged,
    ]
    assert {root_id for root_id, _ in told} == {root}
    assert {observation.session for _, observation in told} == {root}
    (info,) = only(SessionInfo, told)
    assert (info.t, info.title, info.directory, info.created) == (0, "Look", DIRECTORY, START + 10)
    (started,) = only(ToolStarted, told)
    assert (started.message, started.part, started.tool, started.summary) == (message, part, "bash", "cat a.json")
    (finished,) = only(ToolFinished, told)
    assert (finished.message, finished.part, finished.call) == (message, part, started.call)
    assert (finished.command, finished.description, finished.output) == ("cat a.json", "Read it", "content")
    assert (finished.ok, finished.exit, finished.stale, finished.backfill) == (True, 2, False, False)
    assert START < finished.started < finished.ended
    (done,) = only(StepFinished, told)
    assert (done.message, done.part, done.reason, done.cost) == (message, step, "tool-calls", 0.25)
    assert done.tokens == Tokens(input=10, output=5, reasoning=1, cache_read=2, cache_write=3)
    assert [(one.message, one.backfill) for one in only(UserMessage, told)] == [(user, False)]
    (assistant,) = only(AssistantStarted, told)
    assert (assistant.message, assistant.agent, assistant.model) == (message, "build", "fake/m1")
    assert [status.state for status in only(StatusChanged, told)] == ["busy", "idle"]


def test_an_end_is_final(world: World) -> None:
    root = world.session()
    message = world.assistant(root)
    part = world.begin(message)
    running = world.events[-1]
    world.end(part, "first")
    world.end(part, "second")
    assembler = Assembler()
    told = [*told_of(world, assembler), *assembler.feed(running, 99)]
    assert [finished.output for finished in only(ToolFinished, told)] == ["first"]
    assert len(only(ToolStarted, told)) == 1


def test_a_failed_call_brings_its_error(world: World) -> None:
    message = world.assistant(world.session())
    world.end(world.begin(message), "no such file", ok=False)
    (finished,) = only(ToolFinished, told_of(world))
    assert (finished.ok, finished.output) == (False, "no such file")


def test_the_end_of_a_step_waits_for_its_calls(world: World) -> None:
    root = world.session()
    message = world.assistant(root)
    part = world.begin(message)
    world.finish(message)
    assert not only(StepFinished, told_of(world))
    world.end(part)
    told = told_of(world)
    assert [type(observation) for _, observation in told[-2:]] == [ToolFinished, StepFinished]


def test_a_step_whose_call_never_ends_is_told_at_the_end_of_the_turn(world: World) -> None:
    root = world.session()
    message = world.assistant(root)
    world.begin(message)
    step = world.finish(message)
    world.idle(root)
    assert [done.part for done in only(StepFinished, told_of(world))] == [step]


def test_a_step_whose_call_never_ends_is_told_before_the_next_begins(world: World) -> None:
    root = world.session()
    message = world.assistant(root)
    world.begin(message)
    world.finish(message)
    world.assistant(root)
    assert [type(observation) for _, observation in told_of(world)[-2:]] == [StepFinished, AssistantStarted]


def test_a_step_does_not_wait_for_a_call_that_was_deleted(world: World) -> None:
    root = world.session()
    message = world.assistant(root)
    part = world.begin(message)
    world.finish(message)
    world.emit("message.part.removed", sessionID=root, messageID=message, partID=part)
    assert len(only(StepFinished, told_of(world))) == 1


def test_a_call_without_input_has_not_started(world: World) -> None:
    message = world.assistant(world.session())
    world.part(message, "tool", tool="bash", callID="c", state={"status": "running", "input": {}})
    assert not only(ToolStarted, told_of(world))


def test_synthetic_text_makes_no_user_message(world: World) -> None:
    root = world.session()
    world.user(root, synthetic=True)
    world.user(root, text="")
    world.part(world.message(root, "user"), "compaction", auto=True)
    assert not only(UserMessage, told_of(world))
    own = world.user(root, text="noted by the ledger")
    assert [one.message for one in only(UserMessage, told_of(world))] == [own]


def test_text_that_comes_before_its_message(world: World) -> None:
    root = world.session()
    world.user(root)
    created, info, text = world.events
    assembler = Assembler()
    told = [one for event in (created, text, info, text) for one in assembler.feed(event, 0)]
    assert len(only(UserMessage, told)) == 1


def test_status_is_told_on_change_only(world: World) -> None:
    root = world.session()
    for status in ("busy", "busy", "retry", "idle", "idle", "busy"):
        world.status(root, status)
    assert [one.state for one in only(StatusChanged, told_of(world))] == ["busy", "idle", "busy"]


def test_errors_are_told_once_each(world: World) -> None:
    root = world.session()
    error = {"name": "APIError", "data": {"message": "no\x1b[2J credit"}}
    frame = world.emit("session.error", sessionID=root, error=error)
    world.frames.append(frame)
    world.emit("session.error", sessionID=root, error=error)
    assert [one.error for one in only(SessionFailed, told_of(world))] == ["APIError: no credit"] * 2


def test_a_file_that_was_edited_concerns_all(world: World) -> None:
    world.emit("file.edited", file="/home/user/a.py")
    assert told_of(world) == [("", FileChanged(t=0, session="", path="/home/user/a.py"))]


# What a call says


def finished_call(world: World, tool: str, output: str = "", **arguments: Any) -> ToolFinished:
    world.call(world.assistant(world.session()), output, tool, **arguments)
    return only(ToolFinished, told_of(world))[-1]


def test_commands_and_paths(world: World) -> None:
    shell = finished_call(world, "bash", command="cat\ta\n| wc", description="x")
    assert (shell.command, shell.summary, shell.path) == ("cat\ta\n| wc", "cat a | wc", "")
    read = finished_call(world, "read", filePath="/a b/c.json", limit=3)
    assert (read.path, read.summary, read.command) == ("/a b/c.json", "/a b/c.json", "")


@pytest.mark.parametrize(
    ("tool", "arguments", "summary"),
    [
        ("task", {"description": "Look around", "prompt": "p" * 500}, "Look around"),
        ("grep", {"pattern": "x.*y", "path": "/src", "context": None}, "pattern=x.*y path=/src"),
        ("todowrite", {"todos": [1, 2, 3]}, "todos=(3)"),
        ("custom", {"text": "a" * 300}, "text=" + "a" * 79 + "…"),
    ],
)
def test_other_tools_are_summed_up_in_one_line(
    world: World, tool: str, arguments: dict[str, Any], summary: str
) -> None:
    assert finished_call(world, tool, **arguments).summary == summary


def test_text_is_cleaned(world: World) -> None:
    finished = finished_call(world, "bash", "a\x1b]0;t\x07b\r\nc\x00\ud800", command="x\x1b[2Jy", description="\x9b2Jd")
    assert (finished.output, finished.command, finished.description) == ("ab\nc\ufffd", "xy", "d")


def test_large_outputs_are_cut_in_the_middle(world: World) -> None:
    output = "H" * OUTPUT_EDGE + "\x1b[2J" * 100_000 + "T" * OUTPUT_EDGE
    finished = finished_call(world, "bash", output, command="x" * 1_000_000)
    assert len(finished.output) <= 2 * OUTPUT_EDGE + MARKER_ROOM
    assert finished.output.startswith("H" * OUTPUT_EDGE)
    assert finished.output.endswith("T" * OUTPUT_EDGE)
    assert "\x1b" not in finished.output
    assert len(finished.command) <= 2 * OUTPUT_EDGE + MARKER_ROOM
    assert len(finished.summary) <= 200


@pytest.mark.parametrize("value", [-5, 1e300, 10**18, "soon"])
def test_numbers_out_of_reason_are_zero(world: World, value: Any) -> None:
    message = world.assistant(world.session())
    part = world.begin(message)
    world.end(part, time={"start": value, "end": value})
    world.finish(message, tokens={"input": value, "output": 3}, cost=value if value != 10**18 else -1)
    told = told_of(world)
    (finished,) = only(ToolFinished, told)
    (done,) = only(StepFinished, told)
    assert (finished.started, finished.ended) == (0, 0)
    assert (done.tokens.input, done.tokens.output) == (0, 3)
    assert done.cost in {0.0, 1e300}


# Notes


def test_notes_are_taken_out_of_outputs_and_their_echo_is_told_once(world: World) -> None:
    part = world.call(world.assistant(world.session()), "content")
    world.note(part, NOTE)
    world.send_part(part)
    told = told_of(world)
    (finished,) = only(ToolFinished, told)
    assert finished.output == "content"
    assert [echo.call for echo in only(NoteEchoed, told)] == [finished.call]


def test_a_note_that_was_there_from_the_start_is_stripped_and_told(world: World) -> None:
    world.call(world.assistant(world.session()), "content" + NOTE)
    told = told_of(world)
    assert [finished.output for finished in only(ToolFinished, told)] == ["content"]
    assert len(only(NoteEchoed, told)) == 1


def test_a_note_behind_a_large_output_is_seen(world: World) -> None:
    part = world.call(world.assistant(world.session()), "x" * 500_000)
    world.note(part, NOTE)
    assert len(only(NoteEchoed, told_of(world))) == 1


# Roots and sub-agents


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


def test_an_own_session_is_known_before_its_info(world: World) -> None:
    own: set[str] = set()
    session = world.session()
    world.step(session, "x")
    assembler = Assembler(own=own)
    own.add(session)
    for event in world.events[1:]:
        assembler.feed(event, 0)
    assert not assembler.unresolved


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


# Reverts, removals, compactions


def test_reverts(world: World) -> None:
    root = world.session()
    first, second = world.user(root), world.user(root)
    world.update_session(root, revert={"messageID": second})
    world.update_session(root, title="Other")
    world.update_session(root, revert={"messageID": first})
    world.update_session(root, revert={"messageID": second, "partID": "prt_1"})
    world.update_session(root, revert=None)
    assert [one.message for one in only(Reverted, told_of(world))] == [second, "", first, "", second, ""]


def test_a_revert_that_became_final_is_not_undone(world: World) -> None:
    root = world.session()
    message = world.user(root)
    world.update_session(root, revert={"messageID": message})
    world.emit("message.removed", sessionID=root, messageID=message)
    world.update_session(root, revert=None)
    told = told_of(world)
    assert [one.message for one in only(Reverted, told)] == [message]
    assert [one.message for one in only(MessageRemoved, told)] == [message]


def test_late_copies_of_a_removed_message_tell_nothing(world: World) -> None:
    root = world.session()
    message = world.step(root, "x")
    before = list(world.events)
    world.emit("message.removed", sessionID=root, messageID=message)
    assembler = Assembler()
    told_of(world, assembler)
    assert not [told for event in [*before, world.events[-1]] for told in assembler.feed(event, 0)]


def compaction(world: World, session: str, **changes: Any) -> str:
    world.part(world.message(session, "user"), "compaction", auto=False)
    summary = world.assistant(session, summary=True, agent="compaction")
    world.finish(summary)
    world.complete(summary, **changes)
    return summary


def test_a_compaction_is_told_once_and_its_summary_is_no_step(world: World) -> None:
    root = world.session()
    for _ in range(2):
        summary = compaction(world, root)
        world.complete(summary)
        world.frames.append(world.emit("session.compacted", sessionID=root))
    told = told_of(world)
    assert len(only(Compacted, told)) == 2
    assert not only(StepFinished, told)
    assert not only(AssistantStarted, told)


def test_a_compaction_of_which_only_the_event_came(world: World) -> None:
    root = world.session()
    before = world.state
    world.emit("session.compacted", sessionID=root)
    assert len(only(Compacted, told_of(world))) == 1
    assembler = Assembler()
    read_back(before, assembler)
    told = told_of(world, assembler)
    compaction(world, root)
    told += read_back(world.state, assembler)
    assert len(only(Compacted, told)) == 1


def test_a_failed_compaction_is_none(world: World) -> None:
    compaction(world, world.session(), error={"name": "APIError"})
    assert not only(Compacted, told_of(world))


def test_compactions_from_before_attaching_are_not_told(world: World) -> None:
    root = world.session()
    compaction(world, root)
    assembler = Assembler()
    told = read_back(world.state, assembler, attached_at=world.t + 5)
    seen = len(world.frames)
    compaction(world, root)
    world.emit("session.compacted", sessionID=root)
    told += [one for event in world.events[seen:] for one in assembler.feed(event, 0)]
    assert len(only(Compacted, told)) == 1


# Reading back


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
    kept, gone = world.step(root, "a"), world.step(root, "b")
    assembler = Assembler()
    told_of(world, assembler)
    world.emit("message.removed", sessionID=root, messageID=gone)
    assert [one.message for one in only(MessageRemoved, read_back(world.state, assembler))] == [gone]
    shortened = {root: world.state.messages(root)[-1:]}
    assert not only(MessageRemoved, read_back(world.state, assembler, messages=shortened, truncated={root}))
    assert assembler.knows(root, kept)
    assert not assembler.knows(root, gone)


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


# Forks


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


# Times


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
