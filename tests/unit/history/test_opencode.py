"""Asking through OpenCode."""

from __future__ import annotations

import asyncio

import pytest

from core.errors import Refused, ServerError, UsageError
from core.history.opencode import OpenCodeDistiller
from core.history.question import Question
from core.ledger.observations import Tokens
from tests.unit.extraction.doubles import Cache, Data, Fault, Info, Own, Reply, Server, answer
from tests.unit.extraction.doubles import Tokens as Counted

ASKED = Question(system="be brief", text="what?")
COUNTED = Info(tokens=Counted(10, 5, 2, Cache(3, 1)), cost=0.25)


def distiller(server: Server, **options: object) -> OpenCodeDistiller:
    return OpenCodeDistiller(server, Own(server.log), look_seconds=0.01, **options)  # type: ignore[arg-type]


async def test_a_question_is_asked_in_a_session_of_its_own_that_is_known_first_and_deleted_last() -> None:
    server = Server(reply=answer("a note", COUNTED))
    reply = await distiller(server).distil(ASKED)
    assert (reply.text, reply.cost, reply.model) == ("a note", 0.25, "p/small")
    assert reply.tokens == Tokens(input=10, output=5, reasoning=2, cache_read=3, cache_write=1)
    assert not reply.cut
    assert [what for what, _ in server.log] == ["create", "own", "prompt", "abort", "delete", "gone"]
    assert server.there == {}
    (asked,) = server.prompts
    assert (asked["text"], asked["system"], asked["tools"]) == ("what?", "be brief", {"*": False})
    assert asked["agent"] == "general"


async def test_an_answer_that_ends_at_the_output_limit_says_so() -> None:
    server = Server(reply=answer("half a no", Info(finish="length")))
    assert (await distiller(server).distil(ASKED)).cut


async def test_the_agent_and_the_model_can_be_named() -> None:
    server = Server()
    await distiller(server, agent="build", model="q/own").distil(ASKED)
    assert (server.prompts[0]["agent"], server.prompts[0]["model"]) == ("build", "q/own")


@pytest.mark.parametrize("wanted", [{"agent": "momus"}, {"model": "q/none"}])
async def test_what_is_not_there_is_a_usage_error_before_anything_is_opened(wanted: dict[str, str]) -> None:
    server = Server()
    with pytest.raises(UsageError):
        await distiller(server, **wanted).distil(ASKED)
    assert server.opened == 0


async def test_a_failed_turn_is_an_error_and_leaves_nothing() -> None:
    server = Server(reply=Reply(Info(error=Fault("APIError", Data("quota")))))
    with pytest.raises(ServerError, match="APIError: quota"):
        await distiller(server).distil(ASKED)
    assert server.there == {}


async def test_an_answer_that_does_not_come_is_given_up() -> None:
    async def never() -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    server = Server(reply=never)
    with pytest.raises(ServerError, match="no answer within"):
        await distiller(server, seconds=0.05).distil(ASKED)
    assert server.there == {}


async def test_a_session_is_deleted_though_the_run_is_stopped() -> None:
    asked = asyncio.Event()

    async def never() -> Reply:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    server = Server(reply=never)
    task = asyncio.create_task(distiller(server).distil(ASKED))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert server.there == {}


async def test_a_session_that_cannot_be_deleted_is_left_over() -> None:
    server = Server(reply=answer("a note"), faults={"delete": ServerError("no")})
    assert (await distiller(server).distil(ASKED)).text == "a note"
    assert server.log[-1] == ("abandon", "ses_1")


async def test_a_server_that_refuses_says_so() -> None:
    with pytest.raises(Refused):
        await distiller(Server(faults={"create": Refused("no")})).distil(ASKED)
