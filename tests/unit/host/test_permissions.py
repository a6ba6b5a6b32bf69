"""Requests on which an agent waits, at the host; answers and toasts on their way to the server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import NotFound, Unreachable
from core.host import Host, HostOptions
from core.host.lines import Lines
from core.ledger import observations as seen
from core.ledger.effects import Report, WarningReport
from core.settings import Settings
from core.views import Answers
from tests.unit.host.lining import attach


@pytest.fixture
def host(tmp_path: Path) -> Host:
    host = Host(
        HostOptions(directory=tmp_path, state_dir=tmp_path), Settings(dump_path=tmp_path / "x"), clock=lambda: 9
    )
    host.root(seen.SessionInfo(t=1, session="ses_a", title="A"), 1)
    host.observe("ses_a", seen.StatusChanged(t=1, session="ses_a", state="busy"))
    return host


def asked(**more: Any) -> seen.PermissionAsked:
    fields: dict[str, Any] = {"t": 5, "session": "ses_child", "id": "per_1", "title": "bash", "text": "cat\n/etc/hosts"}
    return seen.PermissionAsked(**{**fields, "always": "cat *", **more})


def test_it_is_on_screen_until_it_is_answered(host: Host) -> None:
    reports: list[Report] = []
    host.read_reports(reports.append)
    before = host.revision("sessions"), host.revision("status")
    host.observe("ses_a", asked())
    view = host.view()
    assert view is not None
    (waiting,) = view.permissions
    assert (waiting.id, waiting.title, waiting.text, waiting.always) == ("per_1", "bash", "cat\n/etc/hosts", "cat *")
    assert (waiting.origin, waiting.since) == ("ses_child", 5)
    assert [item.state for item in host.sessions] == ["waiting"]
    assert [r.message for r in reports if isinstance(r, WarningReport)] == [
        "The agent waits for an answer: bash cat /etc/hosts"
    ]
    assert (host.revision("sessions") > before[0], host.revision("status") > before[1]) == (True, True)
    host.observe("ses_a", seen.PermissionAnswered(t=6, session="ses_child", id="per_1"))
    view = host.view()
    assert view is not None
    assert not view.permissions
    assert [item.state for item in host.sessions] == ["busy"]
    rows = [(row.kind, row.text, row.detail) for row in view.log][-2:]
    assert rows == [
        ("request", "The agent waits for an answer: bash cat /etc/hosts", ""),
        ("user", "answered: bash", "cat /etc/hosts"),
    ]


def test_the_log_on_screen_tells_of_one_in_another_session(host: Host) -> None:
    host.root(seen.SessionInfo(t=1, session="ses_b", title="B"), 1)
    host.select("ses_a")
    host.observe("ses_b", asked(session="ses_b", id="per_2"))
    view = host.view()
    assert view is not None and not view.permissions
    (row,) = [row for row in view.log if row.kind == "request"]
    assert row.text == 'another session waits for an answer: "B"' and row.detail == "bash cat /etc/hosts"
    assert {item.root: item.waits_for for item in host.sessions} == {"ses_a": "", "ses_b": "permission"}


def test_of_several_processes_that_of_the_session_is_shown(host: Host) -> None:
    host.root(seen.SessionInfo(t=1, session="ses_b", title="B"), 1)
    host.set_server(url="http://127.0.0.1:1", servers=1)
    host._url_of = lambda root: {"ses_a": "http://127.0.0.1:1", "ses_b": "http://127.0.0.1:2"}.get(root, "")
    host.select("ses_b")
    assert (host.server.url, {item.server for item in host.sessions}) == ("http://127.0.0.1:1", {""})
    host.set_server(servers=2)
    assert host.server.url == "http://127.0.0.1:2"
    assert {item.root: item.server[-1] for item in host.sessions} == {"ses_a": "1", "ses_b": "2"}


def test_a_question_of_a_sub_agent_is_shown_with_its_options(host: Host) -> None:
    questions = (seen.Question(text="Which?", options=(seen.Option(label="a"),)),)
    host.observe("ses_a", seen.SessionFailed(t=4, session="ses_a", error="an earlier one"))
    host.observe("ses_a", asked(kind="question", title="question", text="Which?", questions=questions))
    view = host.view()
    assert view is not None
    (waiting,) = view.permissions
    assert (waiting.kind, waiting.questions, waiting.origin) == ("question", questions, "ses_child")
    assert [(item.state, item.waits_for) for item in host.sessions] == [("waiting", "question")]
    host.observe("ses_a", seen.PermissionAnswered(t=6, session="ses_child", id="per_1", answer="a; b"))
    view = host.view()
    assert view is not None
    assert (view.log[-1].text, view.log[-1].detail) == ("answered: question", "a; b: Which?")
    assert [(item.state, item.waits_for) for item in host.sessions] == [("error", "")]


def test_it_is_dropped_when_its_session_is_idle(host: Host) -> None:
    host.observe("ses_a", asked())
    host.observe("ses_a", asked(id="per_2", session="ses_a"))
    host.observe("ses_a", seen.StatusChanged(t=7, session="ses_child", state="idle"))
    view = host.view()
    assert view is not None
    assert [waiting.id for waiting in view.permissions] == ["per_2"]


class FakeClient:
    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.calls: list[tuple[Any, ...]] = []

    async def reply_permission(self, id: str, reply: str) -> None:
        self.calls.append((id, reply))
        if self.error:
            raise self.error

    async def reply_question(self, id: str, answers: Answers) -> None:
        await self.reply_permission(id, answers)  # type: ignore[arg-type]

    async def reject_question(self, id: str) -> None:
        await self.reply_permission(id, "rejected")

    async def toast(self, text: str) -> None:
        self.calls.append((text,))
        if self.error:
            raise self.error


def attached(host: Host, error: Exception | None = None) -> FakeClient:
    """Give the host a line whose client only takes down what it is asked."""
    client: Any = FakeClient(error)
    host._line = Lines(host)
    attach(host._line, client)
    return client  # type: ignore[no-any-return]


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_an_answer_reaches_the_server(host: Host) -> None:
    host.reply_permission("per_1", "once")
    client = attached(host)
    host.reply_permission("per_1", "always")
    await settle()
    assert client.calls == [("per_1", "always")]


async def test_answers_to_questions_reach_the_server(host: Host) -> None:
    host.reply_question("que_1", (("a",),))
    client = attached(host)
    host.reply_question("que_1", (("a",), ()))
    host.reply_question("que_2", None)
    await settle()
    assert client.calls == [("que_1", (("a",), ())), ("que_2", "rejected")]


async def test_a_ledger_that_only_watches_does_not_answer(host: Host) -> None:
    client = attached(host)
    host.watch_only(True)
    host.reply_permission("per_1", "always")
    host.reply_question("que_1", None)
    await settle()
    assert not client.calls


@pytest.mark.parametrize("error", [NotFound("It was answered"), Unreachable("gone")])
async def test_an_answer_that_fails_is_a_warning(host: Host, error: Exception) -> None:
    attached(host, error)
    answers: list[Callable[[], None]] = [
        lambda: host.reply_permission("per_1", "once"),
        lambda: host.reply_question("que_1", (("a",),)),
    ]
    for reply in answers:
        reply()
        await settle()
        view = host.view()
        assert view is not None
        assert view.log[-1].text.startswith("The answer did not reach the agent: ")


async def test_a_toast_that_fails_is_nothing(host: Host) -> None:
    client = attached(host, Unreachable("gone"))
    view = host.view()
    assert view is not None
    rows = len(view.log)
    assert host._line is not None
    host._line.toast("ses_a", "x")
    await settle()
    assert client.calls == [("x",)]
    assert len(view.log) == rows
