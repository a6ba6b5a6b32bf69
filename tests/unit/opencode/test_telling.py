from __future__ import annotations

from core.ledger.observations import (
    AssistantStarted,
    Compacted,
    MessageRemoved,
    NoteEchoed,
    Reverted,
    SessionFailed,
    SessionInfo,
    StatusChanged,
    StepFinished,
    Tokens,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from core.opencode.assemble import Assembler

from .told import NOTE, compaction, only, read_back, told_of
from .world import DIRECTORY, START, World


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
