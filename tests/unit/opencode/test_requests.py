"""Permissions and questions: told once, by events and after reading back alike."""

from __future__ import annotations

from collections.abc import Sequence

import httpx
import pytest

from core.errors import NotFound, WrongServer
from core.ledger.observations import PermissionAnswered, PermissionAsked
from core.opencode.assemble import Assembler
from core.opencode.client import Client
from core.opencode.events import PermissionAsked as Wire
from core.opencode.events import Question, QuestionAsked
from core.opencode.requests import LABEL_CHARS, MAX_QUESTIONS, Request

from .following import following
from .told import only, read_back, told_of
from .world import World


def ask(world: World, session: str, id: str = "per_1", **more: object) -> None:
    fields: dict[str, object] = {"permission": "bash", "patterns": ["cat /etc/hosts"], "always": ["cat *"], **more}
    world.emit("permission.asked", id=id, sessionID=session, metadata={"command": "cat /etc/hosts"}, **fields)


def reply(world: World, session: str, id: str = "per_1") -> None:
    world.emit("permission.replied", sessionID=session, requestID=id, reply="once")


def pending(session: str, id: str = "per_1") -> Wire:
    return Wire(id=id, session=session, permission="edit", patterns=("a.py",))


@pytest.mark.parametrize("of_child", [False, True])
def test_a_permission_is_told_with_all_that_is_asked(world: World, of_child: bool) -> None:
    root = world.session()
    session = world.session(root) if of_child else root
    ask(world, session)
    ask(world, session)
    reply(world, session)
    reply(world, session)
    told = told_of(world)
    (asked,) = only(PermissionAsked, told)
    assert (asked.session, asked.id, asked.title, asked.text) == (session, "per_1", "bash", "cat /etc/hosts")
    assert (asked.patterns, asked.always, asked.kind) == ("cat /etc/hosts", "cat *", "permission")
    assert [answered.id for answered in only(PermissionAnswered, told)] == ["per_1"]
    assert {of for of, _ in told} == {root}


def test_the_call_that_waits_is_told(world: World) -> None:
    root = world.session()
    ask(world, root, tool={"messageID": "msg_1", "callID": "call_1"})
    world.emit("question.asked", id="que_1", sessionID=root, questions=[], tool={"messageID": "m", "callID": "call_2"})
    assert [asked.call for asked in only(PermissionAsked, told_of(world))] == ["call_1", "call_2"]


def test_hostile_text_is_cleaned(world: World) -> None:
    root = world.session()
    world.emit(
        "permission.asked",
        id="per_\x1b[2J",
        sessionID=root,
        permission="ba\x1b]0;x\x07sh",
        patterns=[1, "x\u202e"],
        metadata={"command": "cat a\r\nrm\x1b[8m -rf /"},
    )
    (asked,) = only(PermissionAsked, told_of(world))
    assert (asked.title, asked.text) == ("bash", "cat a\nrm -rf /")
    assert "\x1b" not in asked.id
    assert "\u202e" not in asked.patterns


@pytest.mark.parametrize(("metadata", "text"), [({"filepath": "/x/a.py"}, "/x/a.py"), ({}, "p1\np2"), (7, "p1\np2")])
def test_what_it_is_about(world: World, metadata: object, text: str) -> None:
    fields = {"permission": "edit", "patterns": ["p1", "p2"], "metadata": metadata}
    world.emit("permission.asked", id="per_1", sessionID=world.session(), **fields)
    assert only(PermissionAsked, told_of(world))[0].text == text


@pytest.mark.parametrize("end", ["question.replied", "question.rejected"])
def test_a_question(world: World, end: str) -> None:
    root = world.session()
    questions = [{"header": "DB", "question": "Which database?", "options": []}]
    world.emit("question.asked", id="que_1", sessionID=root, questions=questions)
    world.emit(end, sessionID=root, requestID="que_1")
    told = told_of(world)
    (asked,) = only(PermissionAsked, told)
    assert (asked.kind, asked.text) == ("question", "Which database?")
    assert [answered.id for answered in only(PermissionAnswered, told)] == ["que_1"]


def test_all_that_a_question_asks(world: World) -> None:
    session = world.session()
    lite, server = {"label": "SQLite", "description": "one\nfile"}, {"label": " Post\x1b[8mgres ", "description": 7}
    questions = [
        {"header": "DB", "question": "Which\r\ndatabase?", "options": [lite, server, {"label": ""}, "x", lite]},
        {"question": "Which extras?", "options": [lite], "multiple": True, "custom": False},
        {"header": "Else", "options": None, "custom": None},
        7,
    ]
    world.emit("question.asked", id="que_1", sessionID=session, questions=questions)
    (asked,) = only(PermissionAsked, told_of(world))
    first, second, third = asked.questions
    assert (first.header, first.text, first.multiple, first.custom) == ("DB", "Which\ndatabase?", False, True)
    assert [(option.label, option.description) for option in first.options] == [
        ("SQLite", "one file"),
        ("Postgres", "7"),
    ]
    assert (second.multiple, second.custom, len(second.options)) == (True, False, 1)
    assert (third.text, third.options, third.custom) == ("Else", (), True)
    assert asked.text == "Which\ndatabase?\nWhich extras?\nElse"


def test_secrets_in_a_question_are_masked(world: World) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    option = {"label": "yes", "description": f"use {secret}"}
    questions = [{"header": f"K {secret}", "question": f"Use {secret}?", "options": [option]}]
    world.emit("question.asked", id="que_1", sessionID=world.session(), questions=questions)
    assert secret not in str(only(PermissionAsked, told_of(world)))


def test_questions_without_end_are_bounded(world: World) -> None:
    option = {"label": "x" * 10_000, "description": "y" * 10_000}
    many = [{"label": f"{n} {'z' * 5_000}", "description": ""} for n in range(1_000)]
    questions = [{"header": "h" * 10_000, "question": "q" * 200_000, "options": [option, *many]}] * 200
    world.emit("question.asked", id="que_1", sessionID=world.session(), questions=questions)
    (asked,) = only(PermissionAsked, told_of(world))
    assert len(asked.questions) == MAX_QUESTIONS
    first = asked.questions[0]
    assert len(first.options) == MAX_QUESTIONS
    assert all(len(option.label) <= LABEL_CHARS for option in first.options)
    assert len(first.text) < 40_000
    assert len(asked.text) < 40_000


@pytest.mark.parametrize(
    ("event", "fields", "answer"),
    [
        ("permission.replied", {"reply": "always"}, "always"),
        (
            "question.replied",
            {"answers": [["SQLite"], ["Tests", "a\x1b[8mb\nc"], []]},
            "SQLite; Tests, ab c; no answer",
        ),
        ("question.replied", {"answers": 7}, ""),
        ("question.rejected", {}, "refused"),
    ],
)
def test_what_was_answered(world: World, event: str, fields: dict[str, object], answer: str) -> None:
    root = world.session()
    ask(world, root)
    world.emit(event, sessionID=root, requestID="per_1", **fields)
    assert [answered.answer for answered in only(PermissionAnswered, told_of(world))] == [answer]


def test_what_is_read_back_and_what_comes_as_an_event_is_told_once(world: World) -> None:
    root = world.session()
    child = world.session(root)
    other = world.session()
    assembler = Assembler()
    read_back(world.state, assembler)
    requests: Sequence[Request] = [pending(child), pending(other, "per_2")]
    told = assembler.pending(root, requests, 5)
    assert [(of, asked.session, asked.t) for of, asked in told if isinstance(asked, PermissionAsked)] == [
        (root, child, 5)
    ]
    ask(world, child)
    assert not assembler.feed(world.events[-1], 6)
    assert not assembler.pending(root, requests, 7)
    (answered,) = assembler.pending(root, [], 8)
    assert answered == (root, PermissionAnswered(t=8, session=child, id="per_1"))


def test_an_answer_after_the_end_of_the_turn_is_none(world: World) -> None:
    root = world.session()
    ask(world, root)
    world.idle(root)
    reply(world, root)
    assert not only(PermissionAnswered, told_of(world))


async def test_pending_requests_are_read_after_each_connect(world: World) -> None:
    root = world.session()
    world.status(root, "busy")
    async with following(world) as setup:
        setup.client.pending_now = [pending(root), QuestionAsked(id="que_1", session=root, questions=(Question(),))]
        await setup.connect()
        assert [asked.id for asked in setup.sink.only(PermissionAsked)] == ["per_1", "que_1"]
        await setup.lose()
        setup.client.pending_now.pop(0)
        await setup.connect()
        assert len(setup.sink.only(PermissionAsked)) == 2
        assert [answered.id for answered in setup.sink.only(PermissionAnswered)] == ["per_1"]


@pytest.mark.parametrize("error", [NotFound("no such route"), WrongServer("a page")])
async def test_a_server_that_cannot_tell_is_followed_all_the_same(world: World, error: NotFound | WrongServer) -> None:
    root = world.session()
    world.status(root, "busy")
    async with following(world) as setup:
        setup.client.failures["pending"] = [error]
        await setup.connect()
        assert setup.sink.state == ("live", "")


async def test_the_client_reads_permissions_and_questions() -> None:
    answers = {
        "/permission": [{"id": "per_1", "sessionID": "ses_1", "permission": "bash", "metadata": {"command": "ls"}}, 7],
        "/question": [{"id": "que_1", "sessionID": "ses_1", "questions": [{"question": "Which?"}]}],
    }
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=answers[request.url.path]))
    async with Client("http://127.0.0.1:4096", transport=transport) as client:
        permission, question = await client.pending()
    assert isinstance(permission, Wire) and permission.metadata is not None
    assert (permission.id, permission.metadata.command) == ("per_1", "ls")
    assert isinstance(question, QuestionAsked)
    assert question.questions == (Question(question="Which?"),)


async def test_nothing_is_asked_for_while_all_are_idle(world: World) -> None:
    world.session()
    async with following(world) as setup:
        await setup.connect()
        assert "pending" not in setup.client.calls
