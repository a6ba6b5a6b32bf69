"""Requests on which an agent waits, at the host; answers and toasts on their way to the server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from core.errors import NotFound, Unreachable
from core.host import Host, HostOptions
from core.host.line import Line
from core.host.toasts import PAUSE_MS, WATCHING, Toasts
from core.ledger import observations as seen
from core.ledger.effects import NoteReport, Report, TouchReport, WarningReport
from core.settings import Settings
from core.views import ServerView


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
        ("warning", "The agent waits for an answer: bash cat /etc/hosts", ""),
        ("user", "answered: bash", "cat /etc/hosts"),
    ]


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
        self.calls: list[tuple[str, ...]] = []

    async def reply_permission(self, id: str, reply: str) -> None:
        self.calls.append((id, reply))
        if self.error:
            raise self.error

    async def toast(self, text: str) -> None:
        self.calls.append((text,))
        if self.error:
            raise self.error


def attached(host: Host, error: Exception | None = None) -> FakeClient:
    """Give the host a line whose client only takes down what it is asked."""
    client: Any = FakeClient(error)
    line = Line(host)
    line._client = client
    host._line = line
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


async def test_a_ledger_that_only_watches_does_not_answer(host: Host) -> None:
    client = attached(host)
    host.watch_only(True)
    host.reply_permission("per_1", "always")
    await settle()
    assert not client.calls


@pytest.mark.parametrize("error", [NotFound("It was answered"), Unreachable("gone")])
async def test_an_answer_that_fails_is_a_warning(host: Host, error: Exception) -> None:
    attached(host, error)
    host.reply_permission("per_1", "once")
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
    host._line.toast("x")
    await settle()
    assert client.calls == [("x",)]
    assert len(view.log) == rows


class Shown:
    """What toasts look at."""

    def __init__(self) -> None:
        self.read_only = False
        self.selected: str | None = None
        self.server = ServerView(state="connecting")
        self.now = 0
        self.said: list[str] = []
        self.toasts = Toasts(self, self.said.append, lambda: self.now)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        raise AssertionError

    def read_reports(self, reader: Callable[[Report], None]) -> None:
        raise AssertionError

    def look(self, after: int = PAUSE_MS) -> list[str]:
        self.now += after
        self.toasts.look()
        return self.said

    def stop(self, call: str, topic: str = "file:model.ckpt", arrived: Literal["next", "failed"] = "next") -> None:
        counts = {"other:x.bin": 1, topic: 4}
        fields: dict[str, Any] = {"t": 1, "session": "ses_a", "call": call}
        touch: dict[str, Any] = {
            "origin": "ses_a",
            "names": (),
            "topics": tuple(counts),
            "counts": counts,
            "action": "stop",
        }
        self.toasts.read(TouchReport(**fields, **touch))
        note: dict[str, Any] = {"kind": "stop", "findings": (), "text": "", "delivery": "patch", "arrived": arrived}
        self.toasts.read(NoteReport(**fields, **note))


def test_each_session_shown_is_said_to_be_watched_once_it_is_live() -> None:
    shown = Shown()
    shown.selected = "ses_a"
    assert shown.look() == []
    shown.server = ServerView(state="live")
    assert shown.look() == [WATCHING]
    assert shown.look() == [WATCHING]
    shown.selected = "ses_b"
    assert shown.look() == [WATCHING] * 2
    shown.selected = "ses_a"
    assert shown.look() == [WATCHING] * 2


def test_who_only_watches_says_nothing() -> None:
    shown = Shown()
    shown.selected, shown.server, shown.read_only = "ses_a", ServerView(state="live"), True
    assert shown.look() == []


def test_the_first_stop_of_a_topic_is_said_and_never_two_toasts_in_five_seconds() -> None:
    shown = Shown()
    shown.selected, shown.server = "ses_a", ServerView(state="live")
    shown.look()
    shown.stop("c0", arrived="failed")
    shown.stop("c1")
    assert shown.said == [WATCHING]
    assert shown.look(PAUSE_MS - 1) == [WATCHING]
    stop = "ledger: told the agent to stop looking at model.ckpt"
    assert shown.look(1) == [WATCHING, stop]
    shown.stop("c2")
    assert shown.look() == [WATCHING, stop]
    shown.stop("c3", "file:vocab.bpe")
    assert shown.look(0)[2:] == ["ledger: told the agent to stop looking at vocab.bpe"]
