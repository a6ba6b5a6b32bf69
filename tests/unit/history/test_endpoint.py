"""Asking an endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest

from core.errors import LedgerError, Refused, ServerError, Unreachable, UsageError, WrongServer
from core.history.endpoint import TRIES, EndpointDistiller
from core.history.question import Question

ASKED = Question(system="be brief", text="what?")
ANSWER = {"choices": [{"message": {"content": "this"}, "finish_reason": "stop"}]}

Handle = Callable[[httpx.Request], httpx.Response]


class Endpoint:
    """A distiller on a scripted endpoint; `answers` are used up, the last one stays."""

    def __init__(self, *answers: httpx.Response | Exception, model: str = "m1", key: str = "") -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []
        transport = httpx.MockTransport(self._handle)
        self.distiller = EndpointDistiller(
            "http://127.0.0.1:9/v1/", model=model, key=key, transport=transport, sleep=self._sleep
        )

    async def ask(self) -> str:
        try:
            return (await self.distiller.distil(ASKED)).text
        finally:
            await self.distiller.aclose()

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


def ok() -> httpx.Response:
    return httpx.Response(200, json=ANSWER)


async def test_a_question_is_one_request() -> None:
    endpoint = Endpoint(ok(), key="k1")
    assert await endpoint.ask() == "this"
    (request,) = endpoint.requests
    assert str(request.url) == "http://127.0.0.1:9/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer k1"
    sent = json.loads(request.content)
    assert (sent["model"], sent["stream"]) == ("m1", False)
    assert [(said["role"], said["content"]) for said in sent["messages"]] == [("system", "be brief"), ("user", "what?")]


async def test_without_a_key_none_is_sent() -> None:
    endpoint = Endpoint(ok())
    await endpoint.ask()
    assert "authorization" not in endpoint.requests[0].headers


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_an_endpoint_that_says_later_is_asked_later(status: int) -> None:
    endpoint = Endpoint(httpx.Response(status), httpx.Response(status), ok())
    assert await endpoint.ask() == "this"
    assert len(endpoint.pauses) == 2
    assert 1 <= endpoint.pauses[0] <= 2 <= endpoint.pauses[1] <= 4


async def test_the_pause_it_asks_for_is_kept_within_bounds() -> None:
    endpoint = Endpoint(
        httpx.Response(429, headers={"retry-after": "7"}),
        httpx.Response(429, headers={"retry-after": "9999"}),
        httpx.Response(429, headers={"retry-after": "soon"}),
        ok(),
    )
    await endpoint.ask()
    assert endpoint.pauses[:2] == [7, 60]
    assert 4 <= endpoint.pauses[2] <= 8


async def test_it_gives_up_at_last() -> None:
    endpoint = Endpoint(httpx.Response(503, json={"error": {"message": "overloaded"}}))
    with pytest.raises(ServerError, match="503: overloaded"):
        await endpoint.ask()
    assert len(endpoint.requests) == TRIES


@pytest.mark.parametrize(
    ("answer", "error", "times"),
    [
        (httpx.Response(401), Refused, 1),
        (httpx.Response(403), Refused, 1),
        (httpx.Response(404), WrongServer, 1),
        (httpx.Response(302, headers={"location": "http://x"}), WrongServer, 1),
        (httpx.Response(400, json={"error": {"message": "too long"}}), ServerError, 1),
        (httpx.Response(200, text="<html>"), WrongServer, 1),
        (httpx.ConnectError("no"), Unreachable, TRIES),
        (httpx.ConnectTimeout("no"), Unreachable, TRIES),
        (httpx.ReadTimeout("no"), ServerError, 1),
        (httpx.RemoteProtocolError("closed"), ServerError, 1),
    ],
)
async def test_what_may_have_been_paid_for_is_not_asked_again(
    answer: httpx.Response | Exception, error: type[LedgerError], times: int
) -> None:
    endpoint = Endpoint(answer)
    with pytest.raises(LedgerError) as caught:
        await endpoint.ask()
    assert type(caught.value) is error
    assert len(endpoint.requests) == times


async def test_the_key_is_in_no_message() -> None:
    endpoint = Endpoint(
        httpx.Response(401, json={"error": "bad key sk-proj-abcdefghijklmnopqrstuvwxyz123456"}), key="k1"
    )
    with pytest.raises(Refused) as caught:
        await endpoint.ask()
    assert "abcdefghij" not in str(caught.value)
    assert "LEDGER_ENDPOINT_KEY" in str(caught.value)


async def test_an_endpoint_that_repeats_the_key_does_not_give_it_away() -> None:
    endpoint = Endpoint(httpx.Response(401, json={"error": "no user hunter two"}), key="hunter two")
    with pytest.raises(Refused, match=r"no user \[masked:key\]") as caught:
        await endpoint.ask()
    assert "hunter" not in str(caught.value)


async def test_the_only_model_is_taken() -> None:
    endpoint = Endpoint(httpx.Response(200, json={"data": [{"id": "solo"}]}), ok(), model="")
    await endpoint.ask()
    assert endpoint.requests[0].url.path == "/v1/models"
    assert json.loads(endpoint.requests[1].content)["model"] == "solo"


async def test_of_several_models_one_has_to_be_named() -> None:
    endpoint = Endpoint(httpx.Response(200, json={"data": [{"id": "a"}, {"id": "b"}]}), model="")
    with pytest.raises(UsageError, match=r"a, b.*--model"):
        await endpoint.ask()


@pytest.mark.parametrize(
    "url", ["", "x", "ftp://h/v1", "http://", "http://h:x/v1", "http://u:p@h/v1", "http://h/v1?key=1", "http://h/a b"]
)
def test_an_address_is_looked_at_first(url: str) -> None:
    with pytest.raises(UsageError):
        EndpointDistiller(url)


async def test_the_address_of_the_completions_will_do() -> None:
    paths: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.path)
        return ok()

    distiller = EndpointDistiller("http://h/v1/chat/completions", model="m", transport=httpx.MockTransport(handle))
    await distiller.distil(ASKED)
    await distiller.aclose()
    assert paths == ["/v1/chat/completions"]
