"""One truth for both paths: a call the plugin asks about, the event tells of, or both in either order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from core.delivery.receipts import Outcome
from core.host import inflight
from core.host.hooks import Ack, After, Answer, Hello
from core.host.inflight import InFlight
from core.ledger import observations as seen
from core.ledger.effects import Note
from core.ledger.note import strip

ROOT = "ses_root"
NOTED = "Size: 4096"
ASKED = After(
    session="ses_sub", call="call_1", message="msg_1", part="prt_1", tool="bash",
    args=msgspec.Raw(b'{"command": "stat model.ckpt"}'), output=NOTED, exit=0, started=1000, ended=1200,
)  # fmt: skip


class Double:
    """The host, of which each call gets one note the first time it is judged."""

    def __init__(self) -> None:
        self.clock: Callable[[], int] = lambda: 5000
        self.judged: list[seen.ToolFinished] = []
        self.ends: list[tuple[str, str]] = []
        self.said: list[str] = []
        self.changed = asyncio.Event()
        self._known: set[str] = set()

    def root_of(self, session: str) -> str | None:
        return ROOT if session in (ROOT, "ses_sub") else None

    def judge(self, root: str, told: seen.ToolFinished) -> Note | None:
        self.judged.append(told)
        new = told.call not in self._known
        self._known.add(told.call)
        return note_on(told.call, told.session) if new and told.output == NOTED else None

    def settled(self, root: str, outcome: Outcome, way: Literal["hook", "patch"]) -> None:
        self.ends.append((way, outcome.arrived))
        self.changed.set()

    def patch(self, root: str, note: Note) -> None:
        self.ends.append(("patch", note.call))
        self.changed.set()

    def in_flight(self, detail: str) -> None:
        self.said.append(detail)

    async def end(self) -> None:
        """Wait for a note's end."""
        async with asyncio.timeout(10):
            await self.changed.wait()


def note_on(call: str, session: str) -> Note:
    return Note(
        id="n1", call=call, part="prt_1", message="msg_1", origin=session, kind="gentle", findings=("f1",), text="known"
    )


class Both:
    """What is tested, and the two sides of it."""

    def __init__(self, flight: InFlight, host: Double) -> None:
        self.flight, self.host = flight, host

    def event(self, call: str = "call_1") -> None:
        """The stream tells of the call: as the host does, judge it and leave a note to the plugin's side."""
        told = inflight._finished(msgspec.structs.replace(ASKED, call=call), 6000)
        note = self.host.judge(ROOT, msgspec.structs.replace(told, via="event"))
        self.flight.observe(ROOT, told)
        if note is not None:
            self.flight.deliver(ROOT, note)

    def acked(self, appended: bool, ms: float = 1.5) -> None:
        self.flight.ack(Ack(session="ses_sub", call="call_1", note="n1", appended=appended, ms=ms))

    def idle(self) -> None:
        self.flight.observe(ROOT, seen.StatusChanged(t=1, session="ses_sub", state="idle"))

    def echo(self) -> None:
        self.flight.observe(ROOT, seen.NoteEchoed(t=1, session="ses_sub", call="call_1"))


@pytest.fixture
async def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Both]:
    """Nothing here ends by a timer, unless the test says so."""
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path))
    monkeypatch.setattr(inflight, "CLAIM_SECONDS", 60)
    monkeypatch.setattr(inflight, "CONFIRM_SECONDS", 60)
    host = Double()
    flight = InFlight(host, tmp_path, 10)
    assert await flight.start() == ""
    yield Both(flight, host)
    await flight.stop()


GIVEN = Answer(append="known", note="n1")


async def test_question_first(both: Both) -> None:
    assert both.flight.after(ASKED) == GIVEN
    both.event()
    both.acked(True)
    both.echo()
    both.idle()
    assert both.host.ends == [("hook", "next")]
    told = both.host.judged[0]
    assert (told.via, told.session, told.t) == ("hook", "ses_sub", 5000)
    assert (told.command, told.output, told.exit, told.ok) == ("stat model.ckpt", NOTED, 0, True)
    assert (told.started, told.ended, told.part, told.message) == (1000, 1200, "prt_1", "msg_1")


async def test_event_first_and_then_the_question(both: Both) -> None:
    both.flight.hello(Hello(shim="0.1.0"))
    both.event()
    assert both.host.ends == []
    assert both.flight.after(ASKED) == GIVEN
    both.acked(True)
    assert both.host.ends == [("hook", "next")]
    assert len(both.host.judged) == 1


async def test_event_first_and_the_plugin_is_late(both: Both) -> None:
    both.flight.hello(Hello(shim="0.1.0"))
    both.event()
    both.flight.after(ASKED)
    both.acked(False)
    assert both.host.ends == [("patch", "call_1")]


async def test_event_first_and_no_question(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflight, "CLAIM_SECONDS", 0.01)
    both.flight.hello(Hello(shim="0.1.0"))
    assert both.flight.answering
    both.event()
    await both.host.end()
    assert both.host.ends == [("patch", "call_1")]
    assert not both.flight.answering
    assert both.host.said[-1] == ""
    both.event("call_2")  # within one call: the next note does not wait
    assert both.host.ends[1:] == [("patch", "call_2")]
    assert both.flight.after(ASKED) == Answer()  # too late to have it, but the plugin is there again
    assert both.flight.answering


async def test_a_plugin_that_never_spoke_is_not_waited_for(both: Both) -> None:
    both.event()
    assert both.host.ends == [("patch", "call_1")]
    assert not both.flight.answering


async def test_the_same_question_twice_has_one_answer(both: Both) -> None:
    assert both.flight.after(ASKED) == GIVEN
    assert both.flight.after(ASKED) == Answer()
    both.acked(True)
    both.acked(True)
    assert both.host.ends == [("hook", "next")]


@pytest.mark.parametrize("event_first", [False, True])
async def test_a_late_plugin_is_patched_once_the_part_can_be(both: Both, event_first: bool) -> None:
    both.flight.after(ASKED)
    steps: list[Callable[[], None]] = [lambda: both.acked(False), both.event]
    for step in reversed(steps) if event_first else steps:
        assert both.host.ends == []
        step()
    both.idle()
    assert both.host.ends == [("patch", "call_1")]


async def test_a_plugin_that_never_confirms_counts_as_late(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflight, "CONFIRM_SECONDS", 0.01)
    both.flight.after(ASKED)
    both.event()
    await both.host.end()
    assert both.host.ends == [("patch", "call_1")]


async def test_a_note_that_came_back_unconfirmed_is_not_sent_again(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflight, "CONFIRM_SECONDS", 0.01)
    both.flight.after(ASKED)
    both.event()
    both.echo()
    await both.host.end()
    assert both.host.ends == [("hook", "unknown")]


async def test_a_turn_that_ends_unconfirmed_leaves_it_unknown(both: Both) -> None:
    both.flight.after(ASKED)
    both.event()
    both.idle()
    both.acked(True)
    assert both.host.ends == [("hook", "unknown")]


@pytest.mark.parametrize("changes", [{"session": "ses_other"}, {"message": ""}, {"part": ""}])
async def test_what_cannot_be_placed_is_not_judged(both: Both, changes: dict[str, str]) -> None:
    assert both.flight.after(msgspec.structs.replace(ASKED, **changes)) == Answer()
    assert both.host.judged == []
    assert both.flight.answering


async def test_confirmations_of_others_do_not_matter(both: Both) -> None:
    both.flight.after(ASKED)
    both.flight.ack(Ack(session="ses_other", call="call_1", note="n1", appended=True))
    both.flight.ack(Ack(session="ses_sub", call="call_2", note="n1", appended=True))
    both.flight.ack(Ack(session="ses_sub", call="call_1", appended=True))
    assert both.host.ends == []


async def test_the_doctor_is_no_plugin(both: Both) -> None:
    both.flight.hello(Hello(pid=7, directory="/p"))
    assert not both.flight.answering
    assert both.host.said == []
    both.event()
    assert both.host.ends == [("patch", "call_1")]


async def test_round_trips_are_said(both: Both) -> None:
    both.flight.hello(Hello(shim="0.1.0"))
    for ms in (1.0, 2.0, 9.0):
        both.acked(True, ms)
    assert both.host.said == ["in flight", *(f"in flight {x}" for x in TRIPS)]


TRIPS = ("1.0 ms, p95 1.0 ms", "2.0 ms, p95 2.0 ms", "2.0 ms, p95 9.0 ms")


async def test_a_call_that_has_the_note_already_is_judged_without_it(both: Both) -> None:
    text = "\n\n<ledger-note>\nknown\n</ledger-note>"
    assert strip(NOTED + text) == NOTED
    both.flight.after(msgspec.structs.replace(ASKED, output=NOTED + text))
    assert both.host.judged[0].output == NOTED


HOSTILE = {
    "list": {"args": msgspec.Raw(b"[1, 2]")},
    "text": {"args": msgspec.Raw(b'"rm"')},
    "types": {"args": msgspec.Raw(b'{"command": 7, "filePath": {}}')},
    "escapes": {"title": "\x1b[2J", "output": "\x1b]0;x\x07\ud800"},
    "times": {"started": -(2**70), "ended": 2**70},
    "exit": {"exit": 2**70},
    "names": {"call": "x" * 100_000, "tool": "\x1b[31m" * 1000},
}


@pytest.mark.parametrize("changes", HOSTILE.values(), ids=HOSTILE)
async def test_whatever_a_question_holds_it_is_taken(both: Both, changes: dict[str, object]) -> None:
    both.flight.after(msgspec.structs.replace(ASKED, **changes))
    (told,) = both.host.judged
    encoded = msgspec.json.encode(told)
    assert b"\\u001b" not in encoded
    assert len(told.call) < 1000 and len(told.tool) < 1000


async def test_nothing_is_sent_after_the_end(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflight, "CLAIM_SECONDS", 0.01)
    monkeypatch.setattr(inflight, "CONFIRM_SECONDS", 0.0)
    both.flight.after(ASKED)
    both.event()
    both.event("call_2")
    await both.flight.stop()
    await asyncio.sleep(0.1)
    assert both.host.ends == []


async def test_where_it_cannot_listen_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "file"))
    flight = InFlight(Double(), tmp_path, 10)
    assert (await flight.start()).startswith("notes go by patch only: ")
    await flight.stop()
