"""A mirror of a real hook server in this process: what it shows, what it asks, and what it survives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core import rendezvous
from core.errors import ServerError
from core.host import mirror as mirroring
from core.host.mirror import Mirror
from core.host.mirror_link import MirrorLink, _is_harmless, decoded
from core.host.mirrored import Legacy, Mirrored
from core.host.reading_port import Count, ViewAnswer, ViewRequest
from core.ledger import commands as ask
from core.ledger.handover import Handover
from core.loopback.messages import Request, Response
from core.loopback.server import LoopbackServer
from core.text import clean
from core.views import FindingView, SessionView
from tests.unit.host.test_reading_port import ROOT, Port


class Watcher:
    """The screen of a ledger that only watches, and its mirror."""

    def __init__(self, project: Path, pace: Callable[[float], Coroutine[Any, Any, None]] | None = None) -> None:
        self.selected: str | None = ROOT
        self.listeners: list[Callable[[], None]] = []
        self.hosts: list[int] = []
        self.changes = asyncio.Event()
        self.mirror = Mirror(self, project, sleep=pace or self.soon)

    async def soon(self, seconds: float) -> None:
        await asyncio.sleep(0.01)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def mirrored(self) -> None:
        self.changes.set()

    def show(self, root: str) -> None:
        self.selected = root
        for listener in list(self.listeners):
            listener()

    def start(self) -> None:
        self.mirror.start(lambda said: self.hosts.append(said.pid))

    @property
    def view(self) -> SessionView:
        return self.mirror.view(own_view(self.selected or ""))

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until something holds that comes with a change."""
        async with asyncio.timeout(10):
            while not holds():
                self.changes.clear()
                await self.changes.wait()


def own_view(root: str) -> SessionView:
    """What the watcher would show by itself."""
    nothing: dict[str, Any] = dict.fromkeys(("steps", "running", "topics", "meters", "extractions", "log"), ())
    figures: dict[str, Any] = dict.fromkeys(
        ("buffered", "interval", "earlier", "findings", "max_findings", "held", "tokens"), 0
    )
    more: dict[str, Any] = dict.fromkeys(("cost", "ledger_tokens", "ledger_cost", "queued_note"), 0)
    texts: dict[str, Any] = {"title": "mine", "directory": "", "agent": "", "model": ""}
    return SessionView(
        root=root, state="idle", completed=7, cap_full_of_pins=False, origins={}, **nothing, **figures, **more, **texts
    )


def facts(view: SessionView) -> list[str]:
    return [finding.fact for topic in view.topics for finding in topic.findings]


@pytest.fixture
async def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Port]:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "ledger"))
    (tmp_path / "project").mkdir()
    here = Port(tmp_path / "project")
    await here.server.start()
    yield here
    await here.server.stop()


@pytest.fixture
async def watcher(port: Port) -> AsyncIterator[Watcher]:
    here = Watcher(port.project)
    yield here
    await here.mirror.stop()
    assert here.listeners == []


# ---- what is shown ----


async def test_it_shows_what_the_host_knows_and_follows_it(port: Port, watcher: Watcher) -> None:
    port.step("cat a.json")
    port.learn("a.json is a list")
    watcher.start()
    await watcher.until(lambda: facts(watcher.view))
    assert facts(watcher.view) == ["a.json is a list"]
    assert (watcher.view.completed, len(watcher.view.steps), watcher.view.extractions[0].added) == (1, 1, 1)
    before = watcher.mirror.revision
    port.step("cat b")
    await watcher.until(lambda: watcher.view.completed == 2)
    assert [step.calls[0].command for step in watcher.view.steps] == ["cat a.json", "cat b"]
    assert watcher.mirror.revision > before
    assert len(watcher.hosts) == 1
    assert watcher.mirror.findings(ROOT, 0) == 1 and watcher.mirror.findings("ses_none", 3) == 3


async def test_a_session_the_host_does_not_know_is_shown_as_it_is_here(port: Port, watcher: Watcher) -> None:
    port.step(root="ses_other")
    watcher.start()
    await port.until_waiting(1)
    assert watcher.view == own_view(ROOT)


async def test_another_session_on_screen_is_asked_for_at_once(port: Port, watcher: Watcher) -> None:
    port.step()
    port.learn("one")
    port.step(root="ses_b")
    port.learn("two", root="ses_b")
    watcher.start()
    await watcher.until(lambda: facts(watcher.view) == ["one"])
    await port.until_waiting(1)
    watcher.show("ses_b")
    await watcher.until(lambda: facts(watcher.view) == ["two"])
    kept = {known.handover.root: known for known in watcher.mirror.legacy()}
    assert [item.finding.fact for item in kept[ROOT].handover.kept] == ["one"]
    assert kept["ses_b"].steps is not None and len(kept["ses_b"].steps) == 1


async def test_what_is_not_on_screen_is_kept_for_a_take_over(port: Port, watcher: Watcher) -> None:
    port.step(root="ses_b")
    port.learn("two", root="ses_b")
    watcher.start()

    def kept() -> list[str]:
        return [item.finding.fact for known in watcher.mirror.legacy() for item in known.handover.kept]

    await watcher.until(lambda: kept() == ["two"])
    port.step(root="ses_b")
    port.learn("three", root="ses_b")
    await watcher.until(lambda: kept() == ["two", "three"])
    assert [known.steps for known in watcher.mirror.legacy()] == [None]


async def test_the_calls_of_a_finding_come_a_little_later(port: Port, watcher: Watcher) -> None:
    port.step("cat a.json", "[1]")
    port.learn("a.json is a list")
    watcher.start()
    await watcher.until(lambda: facts(watcher.view))
    assert watcher.mirror.receipt("f9") is None
    first = watcher.mirror.receipt("f1")
    assert first is not None and (first.fact, first.receipt) == ("a.json is a list", ())

    def calls() -> list[str]:
        found = watcher.mirror.receipt("f1")
        return [call.output for call in found.receipt] if found else []

    await watcher.until(calls)
    assert calls() == ["[1]"]


async def test_a_finding_without_calls_is_asked_for_once(port: Port, watcher: Watcher) -> None:
    port.tell(ask.Add(t=1, session=ROOT, fact="mine", topic="t"))
    watcher.start()
    await watcher.until(lambda: facts(watcher.view))
    before = watcher.mirror.revision
    watcher.mirror.receipt("f1")
    await watcher.until(lambda: watcher.mirror.revision > before)
    await asyncio.sleep(0)
    found = watcher.mirror.receipt("f1")
    assert found is not None and found.receipt == ()
    assert not watcher.mirror._fetches


# ---- what it survives ----


async def test_it_shows_the_facts_while_the_host_is_away_and_follows_the_next_one(port: Port, watcher: Watcher) -> None:
    port.step("cat a.json")
    port.learn("a fact")
    watcher.start()
    await watcher.until(lambda: facts(watcher.view))
    await port.server.stop()
    await watcher.until(lambda: watcher.view.title == "mine")
    assert watcher.mirror.lost.is_set()
    assert facts(watcher.view) == ["a fact"] and watcher.view.completed == 7
    again = Port(port.project)
    again.step()
    again.step()
    again.learn("another fact")
    await again.server.start()
    await watcher.until(lambda: facts(watcher.view) == ["another fact"])
    assert watcher.view.completed == 2
    await again.server.stop()


async def test_after_the_end_it_shows_nothing_and_keeps_what_it_knows(port: Port, watcher: Watcher) -> None:
    port.step()
    port.learn("a fact")
    watcher.start()
    await watcher.until(lambda: facts(watcher.view))
    before = watcher.mirror.revision
    await watcher.mirror.stop()
    assert watcher.view == own_view(ROOT)
    assert watcher.mirror.receipt("f1") is None and watcher.mirror.findings(ROOT, 0) == 0
    assert watcher.mirror.revision > before
    (known,) = watcher.mirror.legacy()
    assert [item.finding.fact for item in known.handover.kept] == ["a fact"]
    assert known.steps is not None and len(known.steps) == 1 and known.log


async def test_an_idle_host_is_asked_three_times_a_minute(port: Port) -> None:
    pauses: list[float] = []
    released = asyncio.Event()

    async def pace(seconds: float) -> None:
        pauses.append(seconds)
        await released.wait()

    watcher = Watcher(port.project, pace)
    port.step()
    watcher.start()
    await watcher.until(lambda: watcher.view.completed == 1)
    released.set()
    await port.until_waiting(1)
    assert pauses == [mirroring.GAP_SECONDS]
    assert mirroring.WAIT_MS >= 20_000
    await watcher.mirror.stop()


# ---- hosts that are none ----


class Strange:
    """Listens as a host does, and answers what the test wants."""

    def __init__(self, project: Path, answer: Callable[[Request], Response]) -> None:
        self.asked: list[ViewRequest] = []
        self.answer = answer
        self.server = LoopbackServer(self.handle)
        self.project = project

    async def handle(self, request: Request) -> Response:
        return self.answer(request)

    async def __aenter__(self) -> MirrorLink:
        await self.server.start()
        self.said = rendezvous.announce("ledger", self.project, {"port": self.server.port, "token": "0" * 64})
        found = rendezvous.ledger(self.project)
        assert found is not None
        self.link = MirrorLink(found)
        return self.link

    async def __aexit__(self, *_: object) -> None:
        await self.link.close()
        self.said.remove()
        await self.server.stop()


ANSWERS: dict[str, Response] = {
    "no json": Response(body=b"\x00\xff{"),
    "nothing": Response(),
    "a page": Response(body=b"<html>", content_type="text/html"),
    "other types": Response.of({"revision": "1"}),
    "a view that is none": Response.of({"revision": 1, "view": {"root": 5}}),
    "deep": Response(body=b'{"revision": ' + b"[" * 100_000),
    "another version": Response.of({"error": "there is nothing here"}, 404),
    "refused": Response.of({}, 401),
    "too many": Response.of({}, 429),
    "elsewhere": Response(status=302, headers=(("location", "http://evil.example/"),)),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_an_answer_that_makes_no_sense_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Response
) -> None:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "ledger"))
    async with Strange(tmp_path, lambda _: answer) as link:
        with pytest.raises(ServerError):
            await link.ask("/v1/view", ViewRequest(), ViewAnswer)


async def test_an_enormous_answer_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "ledger"))
    body = b'{"revision": 1, "x": "' + b"x" * (17 << 20) + b'"}'
    async with Strange(tmp_path, lambda _: Response(body=body)) as link:
        with pytest.raises(ServerError, match="16 MiB"):
            await link.ask("/v1/view", ViewRequest(), ViewAnswer)


async def test_an_answer_that_does_not_come_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "ledger"))
    monkeypatch.setattr("core.host.mirror_link.ANSWER_SECONDS", 0.1)

    class Silent(Strange):
        async def handle(self, request: Request) -> Response:
            await asyncio.Event().wait()
            raise AssertionError

    async with Silent(tmp_path, lambda _: Response()) as link:
        with pytest.raises(ServerError):
            await link.ask("/v1/view", ViewRequest(), ViewAnswer)


async def test_tries_become_rare_when_none_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "ledger"))
    pauses: list[float] = []
    enough = asyncio.Event()

    async def pace(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 7:
            enough.set()
            await asyncio.Event().wait()

    async with Strange(tmp_path, lambda _: Response.of({}, 500)):
        watcher = Watcher(tmp_path, pace)
        watcher.start()
        async with asyncio.timeout(10):
            await enough.wait()
        await watcher.mirror.stop()
    assert pauses == [2.0, 5.0, 10.0, 30.0, 30.0, 30.0, 30.0]


HOSTILE = {
    "escape": "a\x1b]52;c;aGk=\x07b",
    "C1": "a\x9b2Jb",
    "bidi": "a\u202eb",
    "NUL": "a\x00b",
    "tag": "a\U000e0041b",
    "selector": "a\U000e0100b",
    "written by number": None,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_texts_that_the_host_did_not_clean_are_cleaned_here(text: str | None) -> None:
    fields: dict[str, Any] = {"id": "f1", "topic": "t", "step": 1, "established_at": 1, "pinned": False}
    given = {
        **fields,
        "fact": text or "a\u200bb",
        "state": "accepted",
        "source": "user",
        "history": [text or "a\u200bb"],
    }
    found = decoded(json.dumps(given, ensure_ascii=text is None).encode(), FindingView)
    assert (found.fact, found.history) == ("ab", ("ab",))


def test_what_is_taken_as_it_is_needs_no_cleaning() -> None:
    for number in range(0x110000):
        if not 0xD800 <= number < 0xE000 and _is_harmless(f"a{chr(number)}b"):
            assert clean(f"a{chr(number)}b") == f"a{chr(number)}b", hex(number)


def test_ordinary_texts_stay_as_they_are() -> None:
    counts = {"C:\\users\\u0041 \n\tüß 日本": Count(findings=1, revision=2)}
    given = ViewAnswer(revision=1, counts=counts)
    assert decoded(msgspec.json.encode(given), ViewAnswer) == given


def test_without_an_answer_there_is_no_legacy(tmp_path: Path) -> None:
    found: list[Legacy] = Watcher(tmp_path).mirror.legacy()
    assert found == []


def test_a_held_finding_is_shown_too() -> None:
    fields: dict[str, Any] = {"topic": "t", "step": 1, "established_at": 1, "pinned": False, "source": "extraction"}
    waiting = FindingView(id="f1", fact="a", state="held", held_for="why", **fields)
    view = msgspec.structs.replace(own_view(ROOT), held=1, held_findings=(waiting,))
    known = Mirrored()
    assert known.take(ROOT, ViewAnswer(revision=1, view=view, handover=Handover(root=ROOT)))
    assert known.finding(ROOT, "f1") == waiting
    assert known.view(own_view(ROOT), answers=False).held_findings == (waiting,)
