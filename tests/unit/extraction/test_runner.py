from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from core.errors import NotFound, ServerError, Unreachable
from core.extraction import runner as runner_module
from core.extraction.prompt import SYSTEM
from core.extraction.runner import Runner
from core.ledger.effects import Extract
from core.ledger.observations import (
    Candidate,
    ExtractionAnswered,
    ExtractionFailed,
    ExtractionStarted,
    Observation,
)
from core.ledger.observations import Tokens as SeenTokens
from core.settings import Settings
from tests.unit.extraction.doubles import (
    Cache,
    Config,
    Data,
    Fault,
    Info,
    Own,
    Part,
    Reply,
    Server,
    Session,
    Tokens,
    answer,
)
from tests.unit.extraction.making import call, step

FOUND = '[{"fact": "a1", "topic": "x:y"}, {"fact": ""}]'
CLEANED = [("abort", "ses_1"), ("delete", "ses_1"), ("gone", "ses_1")]


class Bench:
    """A runner on a server in memory, with what it reported."""

    def __init__(self, server: Server | None = None, **settings: Any) -> None:
        self.server = server or Server(answer(FOUND))
        self.own = Own(self.server.log)
        self.told: list[Observation] = []
        ticks = itertools.count(1000, 5)
        self.runner = Runner(self.server, self.own, Settings(**settings), self.told.append, lambda: next(ticks))

    async def run(self, id: str = "x1") -> list[Observation]:
        await self.runner.run(job(id))
        return self.told

    async def failure(self) -> str:
        await self.run()
        failed = self.told[-1]
        assert isinstance(failed, ExtractionFailed)
        return failed.error


def job(id: str = "x1") -> Extract:
    return Extract(
        t=1,
        session="ses_root",
        id=id,
        steps=(
            step(
                1,
                call("xxd a.bin", "0000"),
            ),
        ),
        known=("old fact",),
    )


def forever() -> Callable[[], Any]:
    async def wait() -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    return wait


async def test_an_extraction_from_start_to_end() -> None:
    info = Info(tokens=Tokens(100, 20, 3, Cache(7, 8)), cost=0.25)
    bench = Bench(Server(answer(FOUND, info)))
    started, answered = await bench.run()
    assert isinstance(started, ExtractionStarted)
    assert (started.id, started.session, started.agent, started.model) == ("x1", "ses_root", "general", "p/small")
    assert started.prompt_chars == len(str(bench.server.prompts[0]["text"])) + len(SYSTEM)
    assert isinstance(answered, ExtractionAnswered)
    assert answered.items == (Candidate(fact="a1", topic="x:y"),)
    assert answered.rejected == 1
    assert answered.tokens == SeenTokens(input=100, output=20, reasoning=3, cache_read=7, cache_write=8)
    assert answered.cost == 0.25
    assert answered.ms > 0
    assert bench.server.there == {}


async def test_the_id_is_stored_before_the_first_use_and_the_session_deleted_after_it() -> None:
    bench = Bench()
    await bench.run()
    assert bench.server.log == [("create", "ses_1"), ("own", "ses_1"), ("prompt", "ses_1"), *CLEANED]


async def test_what_is_asked() -> None:
    bench = Bench()
    await bench.run()
    (asked,) = bench.server.prompts
    assert asked["tools"] == {"*": False}
    assert asked["system"] == SYSTEM
    assert '"xxd a.bin"' in str(asked["text"])
    assert '"old fact"' in str(asked["text"])


async def test_settings_bound_the_prompt_and_name_agent_and_model() -> None:
    bench = Bench(extraction_prompt_chars=1000, agent="build", extraction_model="q/own")
    bench.runner._client = bench.server
    await bench.run()
    (asked,) = bench.server.prompts
    assert len(str(asked["text"])) <= 1000
    assert (asked["agent"], asked["model"]) == ("build", "q/own")


async def test_without_a_known_model_the_server_chooses() -> None:
    bench = Bench(Server(config_value=Config("", "")))
    await bench.run()
    assert bench.server.prompts[0]["model"] is None


async def test_only_spoken_text_is_read() -> None:
    parts = (
        Part("text", "[]", synthetic=True),
        Part("text", "[]", ignored=True),
        Part("reasoning", FOUND),
        Part("tool"),
    )
    assert await Bench(Server(Reply(parts=parts))).failure() == "the answer is empty"


async def test_text_in_several_parts_is_joined() -> None:
    parts = (Part("text", '[{"fact": "a1", "topic": "x:y"},'), Part("text", '{"fact": "b1", "topic": "x:y"}]'))
    answered = (await Bench(Server(Reply(parts=parts))).run())[-1]
    assert isinstance(answered, ExtractionAnswered)
    assert [item.fact for item in answered.items] == ["a1", "b1"]


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (Server(answer("")), "the answer is empty"),
        (Server(answer("I cannot do that.")), "the model refused"),
        (
            Server(Reply(Info(Fault("APIError", Data("prompt is too long"))))),
            "the turn failed: APIError: prompt is too long",
        ),
        (
            Server(Reply(Info(Fault("MessageAbortedError")), (Part("text", FOUND),))),
            "the turn failed: MessageAbortedError",
        ),
        (Server(faults={"prompt": ServerError("POST failed with 500")}), "POST failed with 500"),
        (Server(faults={"prompt": Unreachable("It broke", "Start it")}), "It broke. Start it"),
    ],
)
async def test_failures_are_reported_and_the_session_is_deleted(server: Server, reason: str) -> None:
    bench = Bench(server)
    assert (await bench.failure()).startswith(reason)
    assert [type(told) for told in bench.told] == [ExtractionStarted, ExtractionFailed]
    assert bench.server.log[-3:] == CLEANED
    assert bench.server.there == {}


@pytest.mark.parametrize("method", ["agents", "create"])
async def test_failures_before_the_session_is_there(method: str) -> None:
    bench = Bench(Server(faults={method: Unreachable("Nothing answers")}))
    assert await bench.failure() == "Nothing answers"
    assert bench.server.log == []


async def test_an_agent_that_is_not_there_opens_no_session() -> None:
    bench = Bench(agent="momus")
    assert await bench.failure() == "There is no agent 'momus'. Set agent to one of: build, general."
    assert bench.server.log == []


async def test_what_an_unreadable_answer_cost_is_told() -> None:
    bench = Bench(Server(answer("I cannot do that.")))
    await bench.failure()
    failed = bench.told[-1]
    assert isinstance(failed, ExtractionFailed)
    assert failed.tokens is not None and failed.cost is not None
    bench = Bench(Server(faults={"prompt": ServerError("no")}))
    await bench.failure()
    failed = bench.told[-1]
    assert isinstance(failed, ExtractionFailed) and failed.tokens is None


async def test_a_fault_of_the_program_is_a_failure_too(caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> Reply:
        raise KeyError("x")

    bench = Bench(Server(broken))
    assert (await bench.failure()).startswith("fault of the ledger itself: KeyError")
    assert bench.server.log[-3:] == CLEANED
    assert "extraction x1 failed" in caplog.text


async def test_no_answer_in_time() -> None:
    bench = Bench(Server(forever()), extraction_timeout_seconds=0.01)
    assert await bench.failure() == "no answer within 0.01 s"
    assert bench.server.log[-3:] == CLEANED


async def test_no_answer_in_time_because_the_provider_is_tried_again_and_again() -> None:
    bench = Bench(Server(forever(), retried={"ses_1"}), extraction_timeout_seconds=0.01)
    assert "the provider keeps failing" in await bench.failure()
    bench = Bench(Server(forever(), faults={"statuses": Unreachable("down")}), extraction_timeout_seconds=0.01)
    assert await bench.failure() == "no answer within 0.01 s"


async def test_a_model_that_is_not_there_opens_no_session() -> None:
    bench = Bench(extraction_model="q/none")
    assert (await bench.failure()).startswith("There is no model 'q/none'. Set extraction_model to one of: q/own")
    assert bench.server.log == []


async def test_a_cancelled_extraction_is_cleaned_up_and_reported() -> None:
    bench = Bench(Server(forever()))
    task = asyncio.create_task(bench.runner.run(job()))
    await until(lambda: ("prompt", "ses_1") in bench.server.log)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # A second time, while it is cleaning up.
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bench.server.log[-3:] == CLEANED
    assert isinstance(bench.told[-1], ExtractionFailed)
    assert bench.told[-1].error == "stopped before the answer came"


async def test_one_that_waits_can_be_cancelled_too() -> None:
    bench = Bench(Server(forever()))
    first, second = (asyncio.create_task(bench.runner.run(job(id))) for id in ("x1", "x2"))
    await until(lambda: ("prompt", "ses_1") in bench.server.log)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert isinstance(bench.told[-1], ExtractionFailed)
    assert bench.told[-1].id == "x2"
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_extractions_run_one_at_a_time() -> None:
    bench = Bench()
    await asyncio.gather(*(bench.runner.run(job(f"x{n}")) for n in range(1, 4)))
    assert [type(told).__name__ for told in bench.told] == ["ExtractionStarted", "ExtractionAnswered"] * 3
    calls = [what for what, _ in bench.server.log]
    assert calls == ["create", "own", "prompt", "abort", "delete", "gone"] * 3


async def test_a_failing_abort_does_not_keep_the_session() -> None:
    bench = Bench(Server(answer("[]"), faults={"abort": ServerError("no")}))
    await bench.run()
    assert bench.server.there == {}
    assert bench.server.log[-1] == ("gone", "ses_1")


async def test_a_session_that_is_gone_already_counts_as_deleted() -> None:
    bench = Bench(Server(answer("[]"), faults={"delete": NotFound("gone")}))
    await bench.run()
    assert bench.server.log[-1] == ("gone", "ses_1")
    assert isinstance(bench.told[-1], ExtractionAnswered)


async def test_a_session_that_cannot_be_deleted_is_deleted_after_the_next_connect() -> None:
    bench = Bench(Server(answer("[]"), faults={"delete": Unreachable("down")}))
    await bench.run()
    assert bench.server.log[-1] == ("abandon", "ses_1")
    assert isinstance(bench.told[-1], ExtractionAnswered)
    bench.server.faults.clear()
    bench.own.left.clear()  # As a store would that is in memory only.
    assert await bench.runner.clean_up() == 1
    assert bench.server.there == {}
    assert await bench.runner.clean_up() == 0


async def test_a_server_that_hangs_while_cleaning_up_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hanging(Server):
        async def delete_session(self, session: str) -> None:
            await asyncio.Event().wait()

    monkeypatch.setattr(runner_module, "CLEANING_SECONDS", 0.01)
    bench = Bench(Hanging(answer("[]")))
    await bench.run()
    assert bench.server.log[-1] == ("abandon", "ses_1")


async def test_clean_up_deletes_what_nobody_works_with() -> None:
    there = {
        "ses_stored": Session("ses_stored", "renamed by the server"),
        "ses_titled": Session("ses_titled"),
        "ses_busy": Session("ses_busy"),
        "ses_other": Session("ses_other"),
        "ses_user": Session("ses_user", "ledger-extraction notes"),
    }
    bench = Bench(Server(there=there, busy={"ses_busy", "ses_stored"}))
    bench.own.ids = {"ses_stored", "ses_other"}
    bench.own.left = {"ses_stored", "ses_vanished"}
    assert await bench.runner.clean_up() == 3
    assert set(bench.server.there) == {"ses_busy", "ses_other", "ses_user"}
    assert bench.own.left == set()


async def test_clean_up_leaves_a_running_extraction_alone() -> None:
    bench = Bench(Server(forever()))
    task = asyncio.create_task(bench.runner.run(job()))
    await until(lambda: ("create", "ses_1") in bench.server.log)
    assert ("own", "ses_1") not in bench.server.log
    assert await bench.runner.clean_up() == 0
    await until(lambda: ("prompt", "ses_1") in bench.server.log)
    assert await bench.runner.clean_up() == 0
    assert "ses_1" in bench.server.there
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_clean_up_says_when_the_server_cannot_be_asked() -> None:
    with pytest.raises(Unreachable):
        await Bench(Server(faults={"sessions": Unreachable("down")})).runner.clean_up()


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not reached():  # noqa: ASYNC110 - the doubles signal nothing
            await asyncio.sleep(0)
