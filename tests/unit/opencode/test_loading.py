from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from core.errors import LedgerError, ServerError, Unreachable
from core.opencode import gate
from core.opencode.failures import TooLarge
from core.opencode.reading import PAGE_MESSAGES

from .following import following
from .world import World


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


@pytest.mark.parametrize(("failures", "said"), [(1, 0), (2, 1)])
async def test_an_end_of_opencode_while_it_is_read_is_no_trouble(world: World, failures: int, said: int) -> None:
    sleeping = world.session()
    world.step(sleeping)
    world.session(title="Latest")
    async with following(world) as setup:
        await setup.connect()
        gone: list[LedgerError] = [Unreachable("The connection was lost") for _ in range(failures)]
        setup.client.failures[f"messages {sleeping}"] = gone
        setup.follower.load(sleeping)
        for _ in range(3):
            await setup.settle()
            setup.wake.set()
        await setup.settle()
        assert len(setup.sink.warnings) == said


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
        assert setup.client.calls.count(f"messages {sleeping}") == 3
        steps.append(world.step(sleeping, "live again"))
        await setup.send()
        assert setup.sink.fresh == steps
        assert setup.client.calls.count(f"messages {sleeping}") == 3


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
