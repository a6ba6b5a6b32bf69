from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from core.errors import LedgerError, NotFound, Refused, ServerError, Unreachable
from core.ledger.observations import (
    Observation,
    SessionDeleted,
    SessionInfo,
    StatusChanged,
    StepFinished,
    ToolFinished,
)
from core.opencode import gate, stream
from core.opencode.client import Page
from core.opencode.failures import TooLarge
from core.opencode.follow import Follower, Timing
from core.opencode.reading import PAGE_MESSAGES
from core.opencode.stream import Connected, Frame, Item, Lost, Skipped
from core.opencode.wire import Session

from .world import DIRECTORY, World

T = TypeVar("T", bound=Observation)


class FakeClient:
    """Answers out of a world; the n-th call of a kind can be made to fail or to wait."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.calls: list[str] = []
        self.failures: dict[str, list[LedgerError]] = {}
        self.before: Callable[[str], Awaitable[None]] | None = None

    async def _called(self, name: str) -> None:
        self.calls.append(name)
        await asyncio.sleep(0)
        if self.before is not None:
            await self.before(name)
        if self.failures.get(name):
            raise self.failures[name].pop(0)

    async def sessions(self, *, roots: bool = False, limit: int = 1000) -> list[Session]:
        found = self.world.state.sessions()[:limit]
        await self._called("sessions")
        return found

    async def session(self, session: str) -> Session:
        await self._called(f"session {session}")
        for info in self.world.state.sessions():
            if info.id == session:
                return info
        raise NotFound("no such session")

    async def children(self, session: str) -> list[Session]:
        await self._called(f"children {session}")
        return [info for info in self.world.state.sessions() if info.parent == session]

    async def statuses(self) -> dict[str, str]:
        found = dict.fromkeys(self.world.state.busy, "busy")
        await self._called("statuses")
        return found

    async def message_page(self, session: str, *, limit: int | None = None, before: str | None = None) -> Page:
        state = self.world.state
        await self._called(f"messages {session}")
        if session not in state.infos:
            raise NotFound("no such session")
        messages = state.messages(session)
        end = int(before) if before else len(messages)
        start = max(0, end - (limit or len(messages)))
        return Page(messages=messages[start:end], before=str(start) if start else "")


class FakeStream:
    """Gives what is put into it."""

    def __init__(self) -> None:
        self.items: asyncio.Queue[Item | None] = asyncio.Queue()
        self.closed = 0
        self.hurried = 0

    def __aiter__(self) -> AsyncIterator[Item]:
        return self

    async def __anext__(self) -> Item:
        item = await self.items.get()
        if item is None:
            raise StopAsyncIteration
        return item

    async def aclose(self) -> None:
        self.closed += 1

    def retry_now(self) -> None:
        self.hurried += 1


class FakeSink:
    def __init__(self) -> None:
        self.roots: list[tuple[str, str]] = []
        self.told: list[tuple[str, Observation]] = []
        self.states: list[tuple[str, str, int, int]] = []
        self.warnings: list[tuple[str, str, str]] = []
        self.loads: list[tuple[str, bool]] = []
        self.updates: dict[str, int] = {}

    def root(self, info: SessionInfo, updated: int) -> None:
        self.roots.append((info.session, info.title))
        self.updates[info.session] = updated

    def activity(self, root: str, updated: int) -> None:
        self.updates[root] = updated

    def loading(self, root: str, on: bool) -> None:
        self.loads.append((root, on))

    def observe(self, root: str, observation: Observation) -> None:
        self.told.append((root, observation))

    def connection(self, state: str, detail: str, attempt: int = 0, retry_at: int = 0) -> None:
        self.states.append((state, detail, attempt, retry_at))

    def warn(self, code: str, message: str, root: str = "") -> None:
        self.warnings.append((code, message, root))

    def only(self, kind: type[T]) -> list[T]:
        return [observation for _, observation in self.told if isinstance(observation, kind)]

    @property
    def steps(self) -> list[str]:
        return [done.message for done in self.only(StepFinished)]

    @property
    def fresh(self) -> list[str]:
        return [done.message for done in self.only(StepFinished) if not done.backfill]


class Setup:
    """A follower with everything around it; frames go onto the stream when `send` is called."""

    def __init__(self, world: World, **options: Any) -> None:
        self.world = world
        self.client = FakeClient(world)
        self.stream = FakeStream()
        self.sink = FakeSink()
        self.slept: list[float] = []
        self.wake = asyncio.Event()
        timing = Timing(now=lambda: world.t, sleep=self._sleep, chance=lambda: 0.0)
        self.follower = Follower(self.client, self.stream, self.sink, timing=timing, **options)
        self._sent = 0

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self.wake.wait()
        self.wake.clear()

    async def settle(self) -> None:
        for _ in range(300):
            await asyncio.sleep(0)

    async def connect(self) -> None:
        self.world.t += 5
        self.skip()
        self.stream.items.put_nowait(Connected())
        await self.settle()

    def skip(self) -> None:
        """What happened so far is not seen on the stream."""
        self._sent = len(self.world.frames)

    def put(self) -> None:
        for frame in self.world.frames[self._sent :]:
            self.stream.items.put_nowait(Frame(event=frame))
        self.skip()

    async def send(self) -> None:
        self.put()
        await self.settle()

    async def lose(self) -> None:
        self.stream.items.put_nowait(Lost(reason="gone", attempt=1, retry_in_ms=500))
        await self.settle()


@asynccontextmanager
async def following(world: World, **options: Any) -> AsyncIterator[Setup]:
    setup = Setup(world, **options)
    task = asyncio.create_task(setup.follower.run())
    try:
        await setup.settle()
        yield setup
    finally:
        task.cancel()
        await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error


@pytest.fixture
def world() -> World:
    return World()


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


async def test_another_session_is_read_at_its_first_event(world: World) -> None:
    sleeping = world.session(title="Sleeping")
    old = world.step(sleeping, "old")
    world.session(title="Latest")
    async with following(world) as setup:
        await setup.connect()
        assert old not in setup.sink.steps
        new = [world.step(sleeping, "new")]

        async def step_meanwhile(name: str) -> None:
            if name == f"messages {sleeping}":
                new.append(world.step(sleeping, "newer"))
                setup.put()

        setup.client.before = step_meanwhile
        await setup.send()
    assert setup.sink.steps == [old, *new]
    assert setup.sink.fresh == new
    assert setup.client.calls.count(f"messages {sleeping}") == 1


async def test_infos_alone_wake_no_session(world: World) -> None:
    sleeping = world.session(title="Sleeping")
    world.session(title="Latest")
    async with following(world) as setup:
        await setup.connect()
        world.update_session(sleeping, title="Renamed")
        await setup.send()
        assert (sleeping, "Renamed") in setup.sink.roots
        assert setup.sink.updates[sleeping] == world.t
        assert f"messages {sleeping}" not in setup.client.calls


async def test_a_new_session_needs_no_reading(world: World) -> None:
    async with following(world) as setup:
        await setup.connect()
        root = world.session(title="New")
        child = world.session(root)
        steps = [world.step(child, "x"), world.step(root, "y")]
        await setup.send()
        assert setup.sink.roots == [(root, "New")]
        assert setup.sink.fresh == steps
        assert not [call for call in setup.client.calls if call.startswith(("messages", "session "))]


async def test_a_child_that_is_seen_late_is_looked_up(world: World) -> None:
    root = world.session()
    async with following(world) as setup:
        await setup.connect()
        child = world.session(root)
        grandchild = world.session(child)
        setup.skip()
        missed = world.step(grandchild, "missed")
        setup.skip()
        step = world.step(grandchild, "seen")
        await setup.send()
        assert setup.sink.fresh == [missed, step]
        assert {root_id for root_id, _ in setup.sink.told} == {root}
        assert setup.client.calls.count(f"session {grandchild}") == 1


async def test_events_of_a_session_that_does_not_exist_are_dropped(world: World) -> None:
    async with following(world) as setup:
        await setup.connect()
        gone = world.session()
        world.delete_session(gone)
        setup.skip()
        world.status(gone, "busy")
        await setup.send()
        world.status(gone, "busy")
        await setup.send()
        assert not setup.sink.told
        assert setup.client.calls.count(f"session {gone}") == 1


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


async def test_a_session_that_is_chosen_is_read(world: World) -> None:
    chosen, later = world.session(title="Chosen"), world.session(title="Later")
    world.session(title="Latest")
    first, second = world.step(chosen, "x"), world.step(later, "y")
    async with following(world) as setup:
        setup.follower.load(chosen)
        await setup.connect()
        assert setup.sink.steps == [first]
        setup.follower.load(later)
        setup.follower.load(later)
        await setup.settle()
        assert setup.sink.steps == [first, second]
        assert setup.client.calls.count(f"messages {later}") == 1


async def test_a_chosen_session_that_does_not_exist(world: World) -> None:
    async with following(world) as setup:
        setup.follower.load("ses_\x1b[2Jnone")
        await setup.connect()
        assert setup.sink.warnings == [("no_such_session", "There is no session ses_none in this directory", "")]
        await setup.lose()
        await setup.connect()
        assert len(setup.sink.warnings) == 1


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


async def test_history_is_read_in_pages_up_to_a_limit(world: World) -> None:
    root = world.session(title="Long")
    messages = [world.step(root) for _ in range(PAGE_MESSAGES * 2 + 50)]
    async with following(world, max_messages=PAGE_MESSAGES * 2) as setup:
        await setup.connect()
        assert setup.sink.steps == messages[-PAGE_MESSAGES * 2 :]
        assert setup.client.calls.count(f"messages {root}") == 2
        text = f'Session "Long": only its last {PAGE_MESSAGES * 2} messages were read'
        assert setup.sink.warnings == [("messages_left_out", text, root)]


async def test_a_resync_reads_back_only_to_what_is_known(world: World) -> None:
    root = world.session()
    for _ in range(PAGE_MESSAGES * 3):
        world.step(root)
    async with following(world) as setup:
        await setup.connect()
        await setup.lose()
        missed = [world.step(root) for _ in range(PAGE_MESSAGES + 10)]
        setup.client.calls.clear()
        await setup.connect()
        assert setup.client.calls.count(f"messages {root}") == 2
        assert setup.sink.fresh == missed
        assert not setup.sink.warnings


async def test_pages_that_are_too_large_are_read_in_smaller_ones(world: World) -> None:
    root = world.session()
    steps = [world.step(root) for _ in range(5)]
    async with following(world) as setup:
        setup.client.failures[f"messages {root}"] = [TooLarge("too large"), TooLarge("too large")]
        await setup.connect()
        assert setup.sink.steps == steps
        assert not setup.sink.warnings


async def test_a_session_that_is_too_large_is_followed_without_its_history(world: World) -> None:
    root = world.session()
    world.step(root)
    async with following(world) as setup:
        setup.client.failures[f"messages {root}"] = [TooLarge("too large")] * 3
        await setup.connect()
        assert [code for code, *_ in setup.sink.warnings] == ["session_unreadable"]
        step = world.step(root, "x")
        await setup.send()
        assert setup.sink.fresh == [step]


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
        await setup.settle()
        assert setup.sink.states[-1] == ("refused", "401", 0, 0)
        assert not setup.slept
        setup.follower.retry_now()
        await setup.connect()
        assert setup.sink.states[-1][0] == "live"
        assert setup.stream.hurried == 1


async def test_a_refusal_of_the_resync_is_one_too(world: World) -> None:
    async with following(world) as setup:
        setup.client.failures["statuses"] = [Refused("401")]
        await setup.connect()
        assert setup.sink.states[-1] == ("refused", "401", 0, 0)
        assert not setup.slept


async def test_one_session_that_fails_does_not_stop_the_others(world: World) -> None:
    good, bad = world.session(title="Good"), world.session(title="Bad")
    async with following(world) as setup:
        setup.client.failures[f"messages {bad}"] = [ServerError("500")] * 2
        setup.follower.load(good)
        await setup.connect()
        assert setup.sink.states[-1][0] == "live"
        assert setup.sink.warnings == [("session_unreadable", 'Session "Bad" cannot be read: 500', bad)]
        steps = [world.step(good, "x")]
        waiting = world.step(bad, "y")
        await setup.send()
        assert setup.sink.fresh == steps
        setup.wake.set()
        await setup.settle()
        assert setup.sink.fresh == [*steps, waiting]


async def test_events_that_find_no_room_while_they_wait_are_read_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "MAX_EVENTS", 5)
    sleeping = world.session()
    world.session()
    async with following(world) as setup:
        await setup.connect()
        steps = [world.step(sleeping, "first")]

        async def step_meanwhile(name: str) -> None:
            if name == f"messages {sleeping}" and len(steps) < 3:
                steps.append(world.step(sleeping, "x", "y"))
                setup.put()
                await asyncio.sleep(0)

        setup.client.before = step_meanwhile
        await setup.send()
        assert len(steps) == 3
        assert setup.sink.fresh == steps


async def test_a_lost_connection_ends_reading_that_is_under_way(world: World) -> None:
    sleeping = world.session()
    world.session()
    never = asyncio.Event()
    async with following(world) as setup:
        await setup.connect()

        async def hang(name: str) -> None:
            if name == f"messages {sleeping}":
                await never.wait()

        setup.client.before = hang
        steps = [world.step(sleeping, "x")]
        await setup.send()
        assert not setup.sink.fresh
        await setup.lose()
        setup.client.before = None
        await setup.connect()
        steps.append(world.step(sleeping, "y"))
        await setup.send()
        assert setup.sink.fresh == steps
        assert Counter(setup.sink.loads)[sleeping, True] == Counter(setup.sink.loads)[sleeping, False]


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
