from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.errors import Refused, ServerError, Unreachable
from core.ledger.observations import (
    Observation,
    SessionDeleted,
    StatusChanged,
    ToolFinished,
)
from core.opencode import stream
from core.opencode.follow import Follower, Timing
from core.opencode.stream import Connected, EventStream, Frame, Skipped

from .following import FakeClient, FakeSink, Setup, following
from .world import DIRECTORY, World


async def test_states_from_connecting_to_closed(world: World) -> None:
    async with following(world) as setup:
        assert setup.sink.states == [("connecting", "", 0, 0)]
        await setup.connect()
        await setup.lose()
        await setup.connect()
    states = [state for state, *_ in setup.sink.states]
    assert states == ["connecting", "resyncing", "live", "reconnecting", "resyncing", "live", "closed"]
    assert setup.sink.states[3][1:] == ("gone", 1, world.t - 5 + 500)
    assert setup.stream.closed == 1


async def test_root_sessions_are_listed_and_the_latest_is_read(world: World) -> None:
    old, latest = world.session(title="Old"), world.session(title="Latest")
    child = world.session(latest)
    for session in (old, latest, child):
        world.step(session, "x")
    async with following(world, directory=DIRECTORY) as setup:
        await setup.connect()
    assert setup.sink.roots == [(old, "Old"), (latest, "Latest")]
    assert [call for call in setup.client.calls if call.startswith("messages")] == [
        f"messages {latest}",
        f"messages {child}",
    ]
    assert {root for root, _ in setup.sink.told} == {latest}
    assert len(setup.sink.steps) == 2
    assert not setup.sink.fresh
    assert setup.sink.loads == [(latest, True), (latest, False)]


async def test_steps_seen_live_count(world: World) -> None:
    root = world.session()
    async with following(world) as setup:
        await setup.connect()
        first = world.step(root, "x", "y")
        await setup.send()
        assert setup.sink.fresh == [first]
        assert len(setup.sink.only(ToolFinished)) == 2


async def test_what_was_missed_is_read_back_and_nothing_is_told_twice(world: World) -> None:
    root = world.session()
    async with following(world) as setup:
        await setup.connect()
        steps = [world.step(root, "seen")]
        await setup.send()
        await setup.lose()
        steps.append(world.step(root, "missed"))
        await setup.connect()
        steps.append(world.step(root, "seen again"))
        await setup.send()
    assert setup.sink.fresh == steps
    assert [finished.output for finished in setup.sink.only(ToolFinished)] == ["seen", "missed", "seen again"]


async def test_events_that_arrive_during_the_resync_come_after_it(world: World) -> None:
    root = world.session()
    steps = [world.step(root, "before")]
    async with following(world) as setup:

        async def step_meanwhile(name: str) -> None:
            if name in {"statuses", "sessions", f"messages {root}"} and len(steps) < 4:
                steps.append(world.step(root, f"during {name}"))
                setup.put()

        setup.client.before = step_meanwhile
        await setup.connect()
    assert len(steps) == 4
    assert setup.sink.steps == steps
    assert setup.sink.fresh == steps[1:]


async def test_a_step_in_between_stream_and_snapshot_is_counted_once(world: World) -> None:
    root = world.session()
    world.status(root, "busy")
    message = world.assistant(root)
    part = world.begin(message)
    async with following(world) as setup:
        await setup.connect()
        await setup.lose()
        world.t += 5
        setup.skip()
        setup.stream.items.put_nowait(Connected())
        world.end(part)
        world.finish(message)
        world.complete(message)
        await setup.send()
    assert setup.sink.fresh == [message]
    assert len(setup.sink.only(ToolFinished)) == 1


async def test_own_sessions_are_never_told_or_read(world: World) -> None:
    own: set[str] = set()
    async with following(world, own=own) as setup:
        await setup.connect()
        own.add(world.session())
        for session in (*own, world.session(title="ledger-extraction")):
            world.status(session, "busy")
            world.step(session, "x")
        await setup.send()
        await setup.lose()
        await setup.connect()
        assert not setup.sink.told
        assert not setup.sink.roots
        assert not [call for call in setup.client.calls if call.startswith(("messages", "session "))]


async def test_sessions_of_another_directory_do_not_count(world: World) -> None:
    async with following(world, directory=DIRECTORY) as setup:
        await setup.connect()
        world.step(world.session(directory="/elsewhere"), "x")
        await setup.send()
        assert not setup.sink.told
        assert not setup.sink.roots


async def test_busy_sessions_and_their_roots_are_read_at_once(world: World) -> None:
    root = world.session(title="Busy")
    child = world.session(root)
    world.status(child, "busy")
    message = world.assistant(child)
    world.session(title="Latest")
    async with following(world) as setup:
        await setup.connect()
        assert [one.session for one in setup.sink.only(StatusChanged)] == [child]
        world.finish(message)
        world.complete(message)
        await setup.send()
        assert setup.sink.fresh == [message]


async def test_a_session_that_was_active_while_we_were_away_is_read(world: World) -> None:
    quiet = world.session(title="Quiet")
    world.step(quiet, "old")
    world.session(title="Latest")
    async with following(world) as setup:
        await setup.connect()
        await setup.lose()
        step = world.step(quiet, "while away")
        world.update_session(quiet)
        world.update_session(world.session(title="Even later"))
        await setup.connect()
        assert setup.sink.fresh == [step]


async def test_a_session_deleted_while_we_were_away(world: World) -> None:
    root, other = world.session(), world.session()
    async with following(world) as setup:
        setup.follower.load(root)
        await setup.connect()
        await setup.lose()
        world.delete_session(root)
        await setup.connect()
        assert [one.session for one in setup.sink.only(SessionDeleted)] == [root]
        assert setup.sink.states[-1][0] == "live"
        assert setup.sink.roots[-1][0] == other


async def test_a_deletion_that_is_seen(world: World) -> None:
    root, other = world.session(), world.session()
    async with following(world) as setup:
        await setup.connect()
        world.delete_session(root)
        world.delete_session(other)
        await setup.send()
        assert [one.session for one in setup.sink.only(SessionDeleted)] == [root, other]


async def test_a_failing_resync_is_tried_again_with_growing_delays(world: World) -> None:
    root = world.session()
    async with following(world) as setup:
        setup.client.failures["sessions"] = [Unreachable("no answer"), ServerError("500")]
        await setup.connect()
        assert setup.sink.states[-1] == ("reconnecting", "no answer", 1, world.t + 500)
        assert setup.slept == [0.5]
        assert setup.stream.closed == 1
        setup.wake.set()
        await setup.settle()
        assert setup.sink.states[-1][0] == "connecting"
        await setup.connect()
        assert setup.slept == [0.5, 1.0]
        setup.follower.retry_now()
        await setup.settle()
        step = world.step(root)
        await setup.connect()
        assert setup.sink.states[-1][0] == "live"
        assert setup.sink.steps == [step]
        assert [code for code, *_ in setup.sink.warnings] == ["resync_failed", "resync_failed"]


async def test_a_refusal_waits_until_somebody_tries_again(world: World) -> None:
    async with following(world) as setup:
        setup.stream.items.put_nowait(stream.Refused(reason="401"))
        setup.stream.items.put_nowait(None)
        await setup.settle()
        assert setup.sink.states[-1] == ("refused", "401", 0, 0)
        assert not setup.slept
        setup.follower.retry_now()
        await setup.connect()
        assert setup.sink.states[-1][0] == "live"
        assert setup.stream.hurried == 1


async def test_a_refusal_by_the_real_stream(world: World) -> None:
    root = world.session()
    refusals = [Refused("401"), Refused("401 again")]
    opened = asyncio.Event()

    async def connect() -> AsyncGenerator[bytes, None]:
        if refusals:
            raise refusals.pop(0)
        yield b'data: {"id":"evt_1","type":"server.connected","properties":{}}\n\n'
        await opened.wait()
        for frame in world.frames:
            yield b"data: " + frame + b"\n\n"
        await asyncio.Event().wait()

    sink = FakeSink()
    async with EventStream(connect) as events:
        follower = Follower(FakeClient(world), events, sink, timing=Timing(now=lambda: world.t))
        task = asyncio.create_task(follower.run())
        try:
            await sink.until(lambda: sink.state == ("refused", "401"))
            follower.retry_now()
            await sink.until(lambda: sink.state == ("refused", "401 again"))
            follower.retry_now()
            await sink.until(lambda: sink.state == ("live", ""))
            world.step(root, "x")
            world.idle(root)
            opened.set()
            await sink.until(lambda: bool(sink.fresh))
        finally:
            task.cancel()
            await asyncio.wait([task])
    assert [state for state, *_ in sink.states].count("refused") == 2


async def test_a_refusal_of_the_resync_is_one_too(world: World) -> None:
    async with following(world) as setup:
        setup.client.failures["statuses"] = [Refused("401")]
        await setup.connect()
        assert setup.sink.states[-1] == ("refused", "401", 0, 0)
        assert not setup.slept


async def test_broken_events_and_large_frames_are_warned_about(world: World) -> None:
    async with following(world) as setup:
        await setup.connect()
        for _ in range(3):
            setup.stream.items.put_nowait(Frame(event=b"{"))
        setup.stream.items.put_nowait(Skipped(count=2, max_frame_bytes=64 << 20))
        await setup.settle()
        assert [code for code, *_ in setup.sink.warnings] == ["broken_event", "frame_too_large"]
        assert setup.follower.decoder.broken == 3


async def test_an_error_of_the_sink_comes_out(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    root = world.session()
    setup = Setup(world)
    task = asyncio.create_task(setup.follower.run())
    await setup.connect()

    def fail(root: str, observation: Observation) -> None:
        raise LookupError("a fault of the sink")

    monkeypatch.setattr(setup.sink, "observe", fail)
    world.step(root)
    await setup.send()
    with pytest.raises(ExceptionGroup) as caught:
        await task
    assert caught.group_contains(LookupError)
    assert setup.sink.states[-1][0] == "closed"


async def test_the_end_of_the_stream_ends_the_run(world: World) -> None:
    setup = Setup(world)
    setup.stream.items.put_nowait(None)
    await setup.follower.run()
    assert [state for state, *_ in setup.sink.states] == ["connecting", "closed"]
