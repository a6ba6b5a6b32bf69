"""The state a stream adds up to, against what the real server answers after the same stream."""

from __future__ import annotations

from core.demo.state import State
from tests.unit.demo.samples import CHILD, ROOT, Tape, session


def state_of(tape: Tape) -> State:
    state = State()
    for event in tape.events:
        state.apply(event)
    return state


def test_messages_hold_the_last_of_each_part_in_order() -> None:
    state = State()
    for event in session(steps=2):
        state.apply(event)
    messages, before = state.page(ROOT, None, "")
    assert before == ""
    assert [message["info"]["id"] for message in messages] == ["msg_000", "msg_001", "msg_002"]
    assert [part["type"] for part in messages[1]["parts"]] == ["step-start", "tool", "step-finish"]
    assert messages[1]["parts"][1]["state"]["output"] == "output 1\n"
    assert messages[1]["info"]["finish"] == "tool-calls"
    assert state.statuses == {}


def test_pages_follow_their_cursors_back_to_the_first_message() -> None:
    state = State()
    for event in session(steps=6):
        state.apply(event)
    seen: list[str] = []
    before = ""
    while True:
        page, before = state.page(ROOT, 3, before)
        seen = [message["info"]["id"] for message in page] + seen
        if not before:
            break
    assert seen == [f"msg_{n:03}" for n in range(7)]


def test_deltas_grow_a_text() -> None:
    tape = Tape()
    tape.message("m")
    tape.part("p", "m", type="text", text="")
    for delta in ("a", "b"):
        tape.add("message.part.delta", sessionID=ROOT, messageID="m", partID="p", field="text", delta=delta)
    tape.add("message.part.delta", sessionID=ROOT, messageID="m", partID="none", field="text", delta="x")
    assert state_of(tape).whole(ROOT, "m")["parts"][0]["text"] == "ab"


def test_sessions_come_and_go() -> None:
    tape = Tape()
    tape.session(ROOT)
    tape.session(CHILD, parentID=ROOT)
    tape.status("busy", CHILD)
    tape.message("m", session=CHILD)
    tape.session(ROOT, "New title", "updated")
    state = state_of(tape)
    assert [info["id"] for info in state.listed()] == [ROOT, CHILD]
    assert [info["title"] for info in state.listed(roots=True)] == ["New title"]
    assert [info["id"] for info in state.children(ROOT)] == [CHILD]
    assert state.statuses == {CHILD: {"type": "busy"}}
    tape.session(CHILD, kind="deleted")
    state = state_of(tape)
    assert (list(state.sessions), state.statuses, state.page(CHILD, None, "")) == ([ROOT], {}, ([], ""))


def test_removed_messages_and_parts_are_gone() -> None:
    tape = Tape()
    for name in ("m1", "m2"):
        tape.message(name)
        tape.part(f"p{name}", name, type="text", text="x")
    tape.add("message.removed", sessionID=ROOT, messageID="m1")
    tape.add("message.part.removed", sessionID=ROOT, messageID="m2", partID="pm2")
    page, _ = state_of(tape).page(ROOT, None, "")
    assert [(message["info"]["id"], message["parts"]) for message in page] == [("m2", [])]


def test_malformed_events_change_nothing() -> None:
    state = State()
    for kind in (
        "session.created",
        "message.updated",
        "message.part.updated",
        "message.part.delta",
        "session.status",
        "x",
    ):
        for properties in ({}, {"info": 3, "part": [], "status": None}, {"info": {"id": 7}, "part": {"id": None}}):
            state.apply({"type": kind, "properties": properties})
    assert (state.sessions, state.messages, state.parts, state.statuses) == ({}, {}, {}, {})
