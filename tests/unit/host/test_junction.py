"""Several OpenCode processes on one project: who may tell of a session, and that nothing counts twice or is lost."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from core.ledger import observations as seen
from tests.unit.host.processes import Process, project, turn


async def test_each_session_belongs_to_the_process_that_works_in_it() -> None:
    async with project(2) as (stage, (a, b)):
        with a.at_work() as world:
            one = world.session()
            first = turn(world, one, "1", "2")
        with b.at_work() as world:
            two = world.session()
            second = turn(world, two, "3")
        await stage.settle()
        assert (stage.junction.owner(one), stage.junction.owner(two)) == (a, b)
        assert (stage.steps(one), stage.steps(two)) == ([first], [second])
        assert (len(stage.calls(one)), len(stage.calls(two))) == (2, 1)
        assert (stage.junction.of(a), stage.junction.of(b)) == ([one], [two])


async def test_a_session_moves_when_another_process_works_in_it_and_nothing_counts_twice() -> None:
    async with project(2) as (stage, (a, b)):
        with a.at_work() as world:
            root = world.session()
            steps = [turn(world, root, "1")]
        await stage.settle()
        for process in (b, a, b):
            with process.at_work() as world:
                steps.append(turn(world, root, "x", "y"))
            await stage.settle()
            assert stage.junction.owner(root) is process
        assert stage.steps(root) == steps
        assert len(stage.calls(root)) == len(set(stage.calls(root))) == 7
        assert stage.states(root) == ["busy", "idle"] * 4
        assert len(stage.told(seen.UserMessage)) == 4


async def test_what_a_process_reads_of_a_session_that_another_works_in_is_passed_over() -> None:
    async with project(1) as (stage, (a,)):
        with a.at_work() as world:
            root = world.session()
            world.user(root)
            world.status(root, "busy")
            message = world.assistant(root)
            call = world.begin(message)
        await stage.settle()
        b = await stage.process()
        assert f"messages {root}" in b.client.calls  # it is the latest, so it was read, and found idle there
        assert stage.states(root) == ["busy"]
        assert stage.junction.owner(root) is a
        with a.at_work() as world:
            world.end(call)
            world.finish(message)
            world.complete(message)
            world.idle(root)
        await stage.settle()
        assert (stage.steps(root), stage.calls(root)) == ([message], [call])
        assert stage.states(root) == ["busy", "idle"]


async def test_who_only_read_a_session_yields_to_who_works_in_it() -> None:
    async with project(1) as (stage, (a,)):
        with a.at_work() as world:
            root = world.session()
        b = await stage.process()
        with b.at_work() as world:
            step = turn(world, root, "1")
        await stage.settle()
        assert stage.junction.owner(root) is b
        assert stage.steps(root) == [step]


@pytest.mark.parametrize("seen_by_the_ledger", [True, False])
async def test_a_process_that_ends_at_work_leaves_its_session_to_another(seen_by_the_ledger: bool) -> None:
    async with project(2) as (stage, (a, b)):
        with a.at_work() as world:
            root = world.session()
            world.user(root)
            world.status(root, "busy")
            first = world.step(root, "1")
            child = world.session(root)
            world.status(child, "busy")
        await stage.settle()
        with a.at_work(seen=seen_by_the_ledger) as world:
            second = world.step(root, "2", "3")
            world.begin(world.assistant(root))
        await stage.settle()
        await a.end()
        assert stage.junction.owner(root) is b
        assert stage.steps(root) == [first, second]
        assert len(stage.calls(root)) == len(set(stage.calls(root))) == 3
        assert (stage.states(root)[-1], stage.states(child)[-1]) == ("idle", "idle")
        with b.at_work() as world:
            third = turn(world, root, "4")
        await stage.settle()
        assert stage.steps(root) == [first, second, third]


async def test_a_process_that_ends_alone_leaves_nothing_running() -> None:
    async with project(1) as (stage, (a,)):
        with a.at_work() as world:
            root = world.session()
            world.user(root)
            world.status(root, "busy")
        await stage.settle()
        await a.end()
        assert stage.states(root) == ["busy", "idle"]
        assert stage.junction.owner(root) is None


async def test_a_process_out_of_sight_keeps_its_sessions_until_another_works_there() -> None:
    async with project(2) as (stage, (a, b)):
        with a.at_work() as world:
            root = world.session()
            world.user(root)
            world.status(root, "busy")
        await stage.settle()
        await a.lose()
        assert stage.junction.owner(root) is a
        with a.at_work(seen=False) as world:
            first = world.step(root, "1")
        with b.at_work() as world:
            world.status(root, "busy")
            second = world.step(root, "2")
        await stage.settle()
        assert stage.junction.owner(root) is b
        assert stage.steps(root) == [first, second]


async def test_two_at_work_in_the_same_session_take_turns_and_nothing_is_lost() -> None:
    async with project(2) as (stage, (a, b)):
        with a.at_work() as world:
            root = world.session()
            world.user(root)
            world.status(root, "busy")
        await stage.settle()
        with b.at_work() as world:
            world.user(root)
            world.status(root, "busy")
            of_b = world.step(root, "b")
            world.idle(root)
        await stage.settle()
        assert (stage.junction.owner(root), stage.steps(root)) == (a, [])
        assert stage.states(root) == ["busy"]
        with a.at_work() as world:
            of_a = world.step(root, "a")
            world.idle(root)
        await stage.settle()
        assert sorted(stage.steps(root)) == sorted([of_a, of_b])
        assert stage.states(root)[-1] == "idle"


async def test_compactions_and_reverts_are_told_once_wherever_the_session_moves() -> None:
    async with project(2) as (stage, (a, b)):
        with a.at_work() as world:
            root = world.session()
            turn(world, root, "1")
            summary = world.assistant(root, summary=True)
            world.complete(summary)
            world.emit("session.compacted", sessionID=root)
        await stage.settle()
        with b.at_work() as world:
            reverted = turn(world, root, "2")
            world.update_session(root, revert={"messageID": reverted})
        await stage.settle()
        with a.at_work() as world:
            turn(world, root, "3")
        await stage.settle()
        assert [told.n for told in stage.told(seen.Compacted)] == [1]
        assert [told.message for told in stage.told(seen.Reverted)] == [reverted]
        for process in (a, b, b, a):
            with process.at_work() as world:
                world.user(root)
                summary = world.assistant(root, summary=True)
                world.complete(summary)
                world.emit("session.compacted", sessionID=root)
            await stage.settle()
        assert [told.n for told in stage.told(seen.Compacted)] == [1, 2, 3, 4, 5]


async def test_a_deletion_counts_wherever_it_is_done() -> None:
    async with project(2) as (stage, (a, b)):
        with a.at_work() as world:
            root = world.session()
            turn(world, root, "1")
        with b.at_work() as world:
            world.delete_session(root)
        await stage.settle()
        with a.at_work(seen=True) as world:
            world.emit("session.deleted", sessionID=root, info={"id": root})
        await stage.settle()
        assert [told.session for told in stage.told(seen.SessionDeleted)] == [root]
        assert stage.junction.owner(root) is None


async def test_a_request_is_answered_where_it_was_asked() -> None:
    async with project(2) as (stage, (a, b)):
        for process, id in ((a, "per_1"), (b, "per_2")):
            with process.at_work() as world:
                root = world.session()
                world.status(root, "busy")
                world.emit("permission.asked", id=id, sessionID=root, permission="bash", patterns=["x"], metadata={})
        await stage.settle()
        assert [told.id for told in stage.told(seen.PermissionAsked)] == ["per_1", "per_2"]
        assert (stage.junction.asker("per_1"), stage.junction.asker("per_2")) == (a, b)
        assert stage.junction.asker("per_3") is None


async def test_a_process_that_comes_later_brings_what_was_done_since_the_ledger_attached() -> None:
    async with project(1) as (stage, (a,)):
        with a.at_work() as world:
            turn(world, world.session(), "1")
        await stage.settle()
        before = len(stage.steps())
        root = stage.world.session()  # by a process that nobody follows yet
        step = turn(stage.world, root, "2", "3")
        await stage.process()
        assert (before, stage.steps(root), len(stage.calls(root))) == (1, [step], 2)


async def test_the_history_is_shown_as_being_read_while_anybody_reads_it() -> None:
    async with project(2) as (stage, (a, b)):
        told = stage.sink.loads
        told.clear()
        for line, on in ((a, True), (b, True), (a, False), (a, False)):
            stage.junction.loading(line, "ses_x", on=on)
        assert told == [("ses_x", True)]
        stage.junction.drop(b)
        assert told == [("ses_x", True), ("ses_x", False)]


@pytest.mark.parametrize("seed", range(25))
async def test_whatever_happens_each_step_counts_once_and_in_order(seed: int) -> None:
    """Turns at any process, connections lost and found, processes that end and come."""
    chance = random.Random(seed)
    async with project(2) as (stage, _):
        roots = [stage.world.session() for _ in range(2)]
        made: dict[str, list[str]] = {root: [] for root in roots}
        alive: list[Process] = list(stage.processes)
        for _ in range(14):
            process = chance.choice(alive)
            match chance.choice(["turn", "turn", "turn", "step", "lose", "end", "come"]):
                case "turn":
                    root = chance.choice(roots)
                    with process.at_work() as world:
                        made[root].append(turn(world, root, *"ab"[: chance.randint(0, 2)]))
                case "step" if process.is_live:
                    root = chance.choice(roots)
                    with process.at_work(seen=False) as world:
                        made[root].append(turn(world, root, "c"))
                    await process.lose()
                    await process.connect()
                case "lose":
                    await process.lose()
                    await process.connect()
                case "end" if len(alive) > 1:
                    alive.remove(process)
                    await process.end()
                case "come" if len(alive) < 3:
                    alive.append(await stage.process())
                case _:
                    pass
            await stage.settle()
        await stage.settle()
        for process in alive:  # what was missed is read at the latest then
            await process.lose()
            await process.connect()
        for root in roots:
            assert stage.steps(root) == made[root]
            assert len(stage.calls(root)) == len(set(stage.calls(root)))
            assert all(x != y for x, y in pairwise(stage.states(root)))
            assert stage.states(root)[-1:] in ([], ["idle"])
