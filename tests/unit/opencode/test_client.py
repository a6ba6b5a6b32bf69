from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from core.errors import NotFound, Refused, ServerError, Unreachable, UsageError, WrongServer
from core.opencode.address import Credentials
from core.opencode.catalogue import Agent, Config, Models
from core.opencode.client import Client
from core.opencode.failures import TooLarge

URL = "http://127.0.0.1:4096"
SESSION = {"id": "ses_1", "title": "t", "directory": "/p", "parentID": "ses_0", "future": {"x": 1}}
MESSAGE = {"info": {"id": "msg_1", "role": "assistant", "sessionID": "ses_1"}, "parts": [{"id": "prt_1", "type": "x"}]}


class Script:
    """Answers every request with the same response and keeps the requests."""

    def __init__(self, body: Any = True, *, status: int = 200, **headers: str) -> None:
        self.content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status = status
        self.headers = {"content-type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(self.status, headers=self.headers, content=self.content)

    def client(self, **options: Any) -> Client:
        options = {"directory": "/p", **options}
        return Client(options.pop("url", URL), transport=httpx.MockTransport(self), **options)

    @property
    def request(self) -> httpx.Request:
        (request,) = self.requests
        return request

    @property
    def line(self) -> str:
        return f"{self.request.method} {self.request.url.path}"

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(str(self.request.url)).query)

    @property
    def sent(self) -> Any:
        return json.loads(self.request.content)


Call = Callable[[Client], Awaitable[Any]]


@pytest.mark.parametrize(
    ("call", "line", "sent"),
    [
        (lambda c: c.delete_session("ses_1"), "DELETE /session/ses_1", None),
        (lambda c: c.abort("ses_1"), "POST /session/ses_1/abort", None),
        (
            lambda c: c.patch_part("ses_1", "msg_1", "prt_1", {"id": "prt_1", "n": 1}),
            "PATCH /session/ses_1/message/msg_1/part/prt_1",
            {"id": "prt_1", "n": 1},
        ),
        (lambda c: c.reply_permission("per_1", "once"), "POST /permission/per_1/reply", {"reply": "once"}),
        (
            lambda c: c.reply_question("que_1", (("a", "b"), ())),
            "POST /question/que_1/reply",
            {"answers": [["a", "b"], []]},
        ),
        (lambda c: c.reject_question("que_1"), "POST /question/que_1/reject", None),
        (
            lambda c: c.toast("hello", title="T", variant="warning"),
            "POST /tui/show-toast",
            {"message": "hello", "title": "T", "variant": "warning"},
        ),
        (lambda c: c.toast("hello"), "POST /tui/show-toast", {"message": "hello", "variant": "info"}),
    ],
)
async def test_commands(call: Call, line: str, sent: Any) -> None:
    script = Script(True)
    async with script.client() as client:
        assert await call(client) is None
    assert script.line == line
    assert script.query == {"directory": ["/p"]}
    assert (script.sent if sent is not None else script.request.content or None) == sent


async def test_health() -> None:
    script = Script({"healthy": True, "version": "1.2\x1b[3m"})
    async with script.client() as client:
        assert await client.health() == "1.2"
    assert script.line == "GET /global/health"


@pytest.mark.parametrize("body", [[], {}, {"healthy": True}, {"version": "1"}, {"version": 3, "healthy": True}, b"x"])
async def test_health_of_something_else(body: Any) -> None:
    async with Script(body).client() as client:
        with pytest.raises(WrongServer, match=URL):
            await client.health()


@pytest.mark.parametrize(
    "script",
    [
        Script(b"<html>", content_type="text/html"),
        Script(b"<html>", status=404, content_type="text/html"),
        Script(b"", status=302, location="http://elsewhere/\x07"),
    ],
)
async def test_a_web_server_is_the_wrong_server(script: Script) -> None:
    async with script.client() as client:
        with pytest.raises(WrongServer) as raised:
            await client.health()
    assert raised.value.exit_code == 3
    assert "--server" in raised.value.hint
    assert str(raised.value).isprintable()


async def test_sessions() -> None:
    script = Script([SESSION, 7])
    async with script.client() as client:
        (session,) = await client.sessions(roots=True)
    assert (session.id, session.parent, session.directory) == ("ses_1", "ses_0", "/p")
    assert script.query == {"limit": ["1000"], "roots": ["true"], "directory": ["/p"]}


async def test_one_session_and_its_children() -> None:
    script = Script(SESSION)
    async with script.client() as client:
        assert (await client.session("ses_1")).title == "t"
    assert script.line == "GET /session/ses_1"
    script = Script([SESSION])
    async with script.client() as client:
        assert [s.id for s in await client.children("ses_0")] == ["ses_1"]
    assert script.line == "GET /session/ses_0/children"


async def test_a_session_as_it_came() -> None:
    script = Script(SESSION)
    async with script.client() as client:
        assert await client.raw_session("ses_1") == SESSION
    assert script.line == "GET /session/ses_1"
    async with Script([SESSION]).client() as client:
        with pytest.raises(WrongServer):
            await client.raw_session("ses_1")


async def test_create_session() -> None:
    script = Script(SESSION)
    async with script.client() as client:
        assert (await client.create_session("t", parent="ses_0")).id == "ses_1"
    assert script.line == "POST /session"
    assert script.sent == {"title": "t", "parentID": "ses_0"}


async def test_statuses_agents_config_and_models() -> None:
    async with Script({"ses_1": {"type": "busy"}}).client() as client:
        assert await client.statuses() == {"ses_1": "busy"}
    async with Script([{"name": "build"}]).client() as client:
        assert await client.agents() == [Agent(name="build")]
    async with Script({"small_model": "p/s"}).client() as client:
        assert await client.config() == Config(small_model="p/s")
    async with Script({"providers": [{"id": "p", "models": {"m": {}}}], "default": {}}).client() as client:
        assert await client.providers() == Models(names=("p/m",))


async def test_messages_in_pages() -> None:
    script = Script([MESSAGE], x_next_cursor="cur+sor=")
    async with script.client() as client:
        page = await client.message_page("ses_1", limit=5, before="a+b=")
    assert [m.info.id for m in page.messages] == ["msg_1"]
    assert page.before == "cur+sor="
    assert json.loads(page.body) == [MESSAGE]
    assert script.query == {"limit": ["5"], "before": ["a+b="], "directory": ["/p"]}
    script = Script([MESSAGE])
    async with script.client() as client:
        assert len(await client.messages("ses_1")) == 1
    assert script.query == {"directory": ["/p"]}


async def test_prompt() -> None:
    script = Script(MESSAGE)
    async with script.client() as client:
        answer = await client.prompt("ses_1", "hi", agent="a", model="p/x/y", system="s", tools={"*": False})
    assert answer.info.id == "msg_1"
    assert script.line == "POST /session/ses_1/message"
    assert script.sent == {
        "parts": [{"type": "text", "text": "hi"}],
        "agent": "a",
        "model": {"providerID": "p", "modelID": "x/y"},
        "system": "s",
        "tools": {"*": False},
    }
    script = Script(MESSAGE)
    async with script.client() as client:
        await client.prompt("ses_1", "hi", no_reply=True)
    assert script.sent == {"parts": [{"type": "text", "text": "hi"}], "noReply": True}


async def test_a_part_goes_back_as_it_came_lone_surrogates_included() -> None:
    part = {"id": "prt_2", "type": "tool", "state": {"output": "a\ud800b", "big": 1e21}, "unknown": [None]}
    script = Script({**MESSAGE, "parts": [*MESSAGE["parts"], part]})
    async with script.client() as client:
        raw = await client.raw_part("ses_1", "msg_1", "prt_2")
        assert raw == part
        await client.patch_part("ses_1", "msg_1", "prt_2", raw)
    read, patched = script.requests
    assert f"{read.method} {read.url.path}" == "GET /session/ses_1/message/msg_1"
    assert json.loads(patched.content) == part
    assert patched.content.isascii()


async def test_a_part_that_is_not_there() -> None:
    bodies: list[Any] = [MESSAGE, [], {"parts": 3}, {"parts": [1]}]
    for body in bodies:
        async with Script(body).client() as client:
            with pytest.raises(NotFound, match="prt_9"):
                await client.raw_part("ses_1", "msg_1", "prt_9")


@pytest.mark.parametrize("session", ["", "..", "../x", "xyz", "\x1b[2J"])
async def test_what_cannot_be_a_session_is_not_asked_for(session: str) -> None:
    script = Script(SESSION)
    async with script.client() as client:
        with pytest.raises(NotFound) as raised:
            await client.session(session)
    assert not script.requests
    assert str(raised.value).isprintable()


async def test_ids_stay_within_their_segment_of_the_path() -> None:
    script = Script(SESSION)
    async with script.client() as client:
        await client.session("ses_/../x?y#z")
        with pytest.raises(NotFound):
            await client.raw_part("ses_1", "..", "prt_1")
    assert script.request.url.raw_path == b"/session/ses_%2F..%2Fx%3Fy%23z?directory=/p"


async def test_the_directory_is_encoded_as_opencode_decodes_it() -> None:
    script = Script([])
    async with script.client(directory="/tmp/a b%20c#é?&=+") as client:
        await client.agents()
    assert script.request.url.query == b"directory=/tmp/a%20b%252520c%23%C3%A9%3F%26%3D%2B"
    script = Script([])
    async with script.client(directory="") as client:
        await client.agents()
    assert script.request.url.query == b""


async def test_a_path_in_front_of_the_routes() -> None:
    script = Script([])
    async with script.client(url="https://box.example/oc/") as client:
        await client.agents()
    assert str(script.request.url).startswith("https://box.example/oc/agent?")


async def test_a_password_is_sent_only_when_one_was_given() -> None:
    script = Script([])
    async with script.client() as client:
        await client.agents()
    assert "authorization" not in script.request.headers
    script = Script([])
    async with script.client(auth=Credentials(password="pä:ss")) as client:
        await client.agents()
    kind, _, token = script.request.headers["authorization"].partition(" ")
    assert (kind, base64.b64decode(token)) == ("Basic", "opencode:pä:ss".encode())
    script = Script([])
    async with script.client(url="http://me:pw@127.0.0.1:4096") as client:
        await client.agents()
        assert client.url == URL
    assert base64.b64decode(script.request.headers["authorization"].removeprefix("Basic ")) == b"me:pw"


async def test_nothing_is_sent_where_nobody_vouches_for_the_server() -> None:
    script, vouched = Script([]), True
    async with script.client(auth=Credentials(password="pw"), vouch=lambda: vouched) as client:
        await client.agents()
        vouched = False
        with pytest.raises(Unreachable, match="has ended"):
            await client.agents()
        with pytest.raises(Unreachable):
            async for _ in client.events():
                pass
    assert len(script.requests) == 1


@pytest.mark.parametrize("status", [401, 403])
async def test_refusal_says_what_to_do_and_never_the_password(status: int) -> None:
    async with Script(b"", status=status).client() as client:
        with pytest.raises(Refused) as raised:
            await client.agents()
    assert "OPENCODE_SERVER_PASSWORD" in raised.value.hint
    assert "--password-file" in raised.value.hint
    async with Script(b"", status=status).client(auth=Credentials(password="hunter2")) as client:
        with pytest.raises(Refused) as again:
            await client.agents()
    assert "not accepted" in again.value.hint
    assert "hunter2" not in repr(again.value)


async def test_not_found() -> None:
    body = {"name": "NotFoundError", "data": {"message": "Session not found: ses_nope"}}
    async with Script(body, status=404).client() as client:
        with pytest.raises(NotFound, match="Session not found: ses_nope"):
            await client.session("ses_nope")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"name": "UnknownError", "data": {"message": "Unexpected \x1b[2Jerror\n."}}, "500: Unexpected error ."),
        ({"_tag": "BadRequest"}, "500: BadRequest"),
        ({"message": "no key ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"}, "500: no key [masked:github-token]"),
        ({"data": 3, "message": "m" * 5000}, "500: " + "m" * 299 + "…"),
        (b"<html>", "500"),
        (b"[" * 50_000, "500"),
        ([1], "500"),
    ],
    ids=["message", "tag", "secret", "long", "page", "deep", "list"],
)
async def test_any_other_failure_carries_what_the_server_said(body: Any, said: str) -> None:
    async with Script(body, status=500).client() as client:
        with pytest.raises(ServerError) as raised:
            await client.agents()
    assert raised.value.message == f"GET /agent failed with {said}"
    assert type(raised.value) is ServerError


async def test_answers_are_bounded() -> None:
    script = Script([SESSION])
    size = len(script.content)
    async with script.client(max_body_bytes=size) as client:
        assert len(await client.sessions()) == 1
    async with script.client(max_body_bytes=size - 1) as client:
        with pytest.raises(TooLarge):
            await client.sessions()


async def test_an_answer_that_is_not_json_is_the_wrong_server() -> None:
    for body in (b"", b"{", b"7", b"\xff"):
        async with Script(body).client() as client:
            with pytest.raises(WrongServer):
                await client.sessions()
            with pytest.raises(WrongServer):
                await client.session("ses_1")


async def test_events() -> None:
    script = Script(b"data: 1\n\n", content_type="text/event-stream; charset=utf-8")
    async with script.client() as client:
        assert b"".join([chunk async for chunk in client.events()]) == b"data: 1\n\n"
    assert script.line == "GET /event"
    assert script.query == {"directory": ["/p"]}
    assert script.request.headers["accept-encoding"] == "identity"
    script = Script(b"", content_type="text/event-stream")
    async with script.client() as client:
        assert [chunk async for chunk in client.events(everywhere=True)] == []
    assert str(script.request.url) == f"{URL}/global/event"


async def test_events_of_something_else() -> None:
    async with Script([]).client() as client:
        with pytest.raises(WrongServer):
            await anext(client.events())
    async with Script(b"", status=401).client() as client:
        with pytest.raises(Refused):
            await anext(client.events())


async def test_a_closed_client_can_be_used_again() -> None:
    script = Script([])
    client = script.client()
    await client.agents()
    await client.aclose()
    await client.aclose()
    assert await client.agents() == []
    await client.aclose()


def test_a_bad_address_is_wrong_usage() -> None:
    with pytest.raises(UsageError):
        Client("not an address")
