"""One truth for both paths: a call the plugin asks about, the event tells of, or both in either order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from core.host import asking, inflight
from core.host.hooks import Ack, Answer, Hello
from core.host.inflight import InFlight
from core.ledger.effects import NoteReport, WarningReport
from core.ledger.note import strip
from core.views import DeliveryView
from tests.unit.host.flight import ASKED, BARE, NOTED, ROOT, Both, Double


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
    on, notes = await both.shown()
    assert (on, notes.silent) == (False, (ROOT,))
    both.event("call_2")  # within one call: the next note does not wait
    assert both.host.ends[1:] == [("patch", "call_2")]
    assert both.flight.after(ASKED) == Answer()  # too late to have it, but the plugin is there again
    assert both.flight.answering
    on, notes = await both.shown()
    assert (on, notes.silent) == (True, ())
    codes = [(code, root) for code, _, root in both.host.warnings]
    assert codes == [("plugin_silent", ROOT), ("plugin_back", ROOT)]


async def test_a_session_without_the_plugin_waits_once_and_leaves_the_others_alone(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    both.flight.after(ASKED)
    monkeypatch.setattr(inflight, "CLAIM_SECONDS", 0.01)
    both.event("call_a", session=BARE, root=BARE)
    assert both.host.ends == []
    await both.host.end()
    assert both.host.ends == [("patch", "call_a")]
    both.event("call_b", session=BARE, root=BARE)
    assert both.host.ends == [("patch", "call_a"), ("patch", "call_b")]  # not waited for
    assert [text for _, text, root in both.host.warnings if root == BARE] == [asking.NEVER_THERE]
    monkeypatch.setattr(inflight, "CLAIM_SECONDS", 60)
    both.event("call_c")
    assert len(both.host.ends) == 2  # the other session's note waits for its question
    assert both.flight.after(msgspec.structs.replace(ASKED, call="call_c")) == GIVEN
    on, notes = await both.shown()
    assert (on, notes.silent, notes.questions) == (True, (BARE,), 2)


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


@pytest.mark.parametrize("changes", [{"session": "ses_other"}, {"message": ""}, {"part": ""}])
async def test_a_call_asked_about_too_early_is_patched_and_no_plugin_is_missed(
    both: Both, changes: dict[str, str]
) -> None:
    """The session became known, or the part, only after the question: the plugin is there all the same."""
    asked = msgspec.structs.replace(ASKED, **changes)
    both.flight.after(asked)
    both.event(session=asked.session)
    assert both.host.ends == [("patch", "call_1")]
    assert both.host.warnings == []
    assert both.flight.answering
    both.event("call_2")
    assert len(both.host.ends) == 1  # that one waits for its question


async def test_a_note_that_waits_is_given_even_if_the_plugin_does_not_know_the_part(both: Both) -> None:
    both.flight.hello(Hello(shim="0.1.0"))
    both.event()
    assert both.flight.after(msgspec.structs.replace(ASKED, message="", part="")) == GIVEN
    both.acked(True)
    assert both.host.ends == [("hook", "next")]


async def test_confirmations_of_others_do_not_matter(both: Both) -> None:
    both.flight.after(ASKED)
    both.flight.ack(Ack(session="ses_other", call="call_1", note="n1", appended=True))
    both.flight.ack(Ack(session="ses_sub", call="call_2", note="n1", appended=True))
    both.flight.ack(Ack(session="ses_sub", call="call_1", appended=True))
    assert both.host.ends == []


async def test_the_doctor_is_no_plugin(both: Both) -> None:
    both.flight.hello(Hello(pid=7, directory="/p"))
    await asyncio.sleep(0)
    assert not both.flight.answering
    assert both.host.said == []
    both.event()
    assert both.host.ends == [("patch", "call_1")]


async def test_round_trips_and_fates_are_shown(both: Both) -> None:
    both.flight.hello(Hello(shim="0.1.0"))
    assert await both.shown() == (True, DeliveryView())
    both.flight.after(msgspec.structs.replace(ASKED, call="call_2", last_ms=9.0))  # asked before, without a note
    both.flight.after(msgspec.structs.replace(ASKED, call="call_3"))  # by a plugin that does not tell that
    for ms in (1.0, 2.0):
        both.acked(True, ms)
    both.flight.read(fate("hook", "next"))
    both.flight.read(fate("patch", "late"))
    on, notes = await both.shown()
    assert (on, notes.p50_ms, notes.p95_ms, notes.questions) == (True, 2.0, 9.0, 2)
    assert (notes.in_flight, notes.patched, notes.late, notes.missed) == (1, 0, 1, 0)
    assert len(both.host.said) == 2  # what comes at once is shown at once


def fate(delivery: Literal["hook", "patch"], arrived: Literal["next", "late"]) -> NoteReport:
    return NoteReport(
        t=1, session=ROOT, call="call_1", kind="gentle", findings=("f1",), text="x", delivery=delivery, arrived=arrived
    )


# ---- deadlines ----


async def test_each_missed_deadline_is_a_row_and_warnings_do_not_flood(both: Both) -> None:
    for n in range(4):
        both.late(f"call_{n}", ms=10.4 + n)
    assert [(root, call) for root, call, _ in both.host.rows] == [(ROOT, f"call_{n}") for n in range(4)]
    assert all(row.kind == "warning" and row.level == "warn" for _, _, row in both.host.rows)
    assert both.host.rows[3][2].text.startswith("call call_3: the plugin waited 13 ms, 10 at most")
    (warning,) = both.host.reports
    assert isinstance(warning, WarningReport)
    assert (warning.code, warning.session, warning.message) == ("hook_deadline", ROOT, both.host.rows[0][2].text)
    both.host.clock = lambda: 5000 + 60_000
    both.late("call_4")
    assert isinstance(both.host.reports[1], WarningReport)
    assert both.host.reports[1].message.endswith("; 3 more since the last warning of this kind")
    assert (await both.shown())[1].missed == 5


async def test_a_deadline_missed_in_a_session_not_followed_is_a_warning(both: Both) -> None:
    both.late(session="ses_other")
    assert both.host.rows == []
    assert [report.session for report in both.host.reports] == [""]


@pytest.mark.parametrize("order", ["question, late, event", "late, question, event", "late, event, question"])
async def test_a_note_whose_deadline_was_missed_is_patched_once(both: Both, order: str) -> None:
    """A ledger that hung reads the question and the plugin's complaint in any order."""
    both.flight.hello(Hello(shim="0.1.0"))
    steps: dict[str, Callable[[], object]] = {
        "question": lambda: both.flight.after(ASKED),
        "late": both.late,
        "event": both.event,
    }
    for step in order.split(", "):
        steps[step]()
    both.idle()
    assert both.host.ends == [("patch", "call_1")]
    assert len(both.host.reports) == 1


async def test_a_note_that_waits_for_its_question_is_patched_when_the_plugin_gave_up(both: Both) -> None:
    both.flight.hello(Hello(shim="0.1.0"))
    both.event()
    both.late()
    assert both.host.ends == [("patch", "call_1")]
    assert both.flight.after(ASKED) == Answer()
    assert both.flight.answering
    assert both.host.warnings == []


async def test_a_note_the_plugin_could_not_append_is_no_missed_deadline(both: Both) -> None:
    both.flight.after(ASKED)
    both.acked(False)
    both.event()
    assert both.host.ends == [("patch", "call_1")]
    assert (both.host.rows, both.host.reports) == ([], [])


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
