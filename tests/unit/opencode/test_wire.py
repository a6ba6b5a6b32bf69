from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.opencode.wire import (
    EventDecoder,
    FileEdited,
    MessageUpdated,
    Part,
    PartUpdated,
    PermissionAsked,
    SessionChanged,
    SessionError,
    SessionOnly,
    SessionStatus,
    decode_event,
    decode_message,
    decode_messages,
    decode_session,
    decode_sessions,
)

from .world import decoded, recorded


def frame(type: str, **properties: Any) -> bytes:
    """A frame as OpenCode writes it."""
    return json.dumps({"id": "evt_1", "type": type, "properties": properties}, separators=(",", ":")).encode()


def part_of(raw: bytes) -> Part:
    data = decoded(raw).data
    assert isinstance(data, PartUpdated)
    return data.part


def tool(state: Any) -> bytes:
    part = {"id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "tool", "callID": "c1", "tool": "bash"}
    return frame("message.part.updated", sessionID="ses_1", part={**part, "state": state}, time=7)


def test_a_tool_part_is_decoded() -> None:
    state = {
        "status": "completed",
        "input": {"command": "ls", "timeout": 5},
        "output": "a\nb",
        "metadata": {"exit": 3, "output": "a\nb"},
        "time": {"start": 1, "end": 2},
    }
    part = part_of(tool(state))
    assert (part.id, part.session, part.message, part.call, part.tool) == ("prt_1", "ses_1", "msg_1", "c1", "bash")
    assert part.state is not None
    assert part.state.metadata is not None
    assert (part.state.status, part.state.output, part.state.metadata.exit) == ("completed", "a\nb", 3)
    assert (part.state.time.start, part.state.time.end) == (1, 2)
    assert part.arguments == {"command": "ls", "timeout": 5}


@pytest.mark.parametrize(
    ("state", "status", "output", "arguments"),
    [
        ({"status": "completed", "input": "ls", "output": "x"}, "completed", "x", {}),
        ({"status": "completed", "input": [1], "output": 12}, "completed", "12", {}),
        ({"status": "completed", "input": {"a": 1}, "output": {"b": None}}, "completed", '{"b": null}', {"a": 1}),
        ({"status": "completed", "output": "x", "time": None}, "completed", "x", {}),
        ({"status": "completed", "output": "x", "time": {"start": "soon"}}, "completed", "x", {}),
        ({"status": "completed", "output": "x", "metadata": [1]}, "completed", "x", {}),
        ({"status": "completed", "output": "x", "metadata": {"exit": "zero"}}, "completed", "x", {}),
        ({"status": "completed", "input": None, "output": None}, "completed", "", {}),
        ({"status": 5, "output": "x"}, "5", "x", {}),
    ],
)
def test_a_field_of_the_wrong_type_costs_only_itself(
    state: Any, status: str, output: str, arguments: dict[str, Any]
) -> None:
    part = part_of(tool(state))
    assert (part.id, part.call) == ("prt_1", "c1")
    assert part.state is not None
    assert (part.state.status, part.state.output, part.arguments) == (status, output, arguments)


def test_a_state_that_is_no_object_leaves_the_part() -> None:
    part = part_of(tool("running"))
    assert (part.id, part.state) == ("prt_1", None)


def test_lone_surrogates_and_invalid_utf8_do_not_lose_the_event() -> None:
    raw = tool({"status": "completed", "input": {"command": "x"}, "output": "MARK"})
    part = part_of(raw.replace(b"MARK", b"a\\ud800b\xff"))
    assert part.state is not None
    assert part.state.output == "a\ud800b\ufffd"
    assert part.arguments == {"command": "x"}


@pytest.mark.parametrize(
    "raw", [b"", b"nul", b"[]", b"7", b'"x"', b"{}", b'{"id":"e"}', b'{"id":"e","type":', b"\xff\xfe", b"{" * 100_000]
)
def test_a_broken_frame_is_counted_and_skipped(raw: bytes) -> None:
    decoder = EventDecoder()
    assert decoder.decode(raw) is None
    assert decoder.broken == 1
    good = decoder.decode(frame("session.idle", sessionID="ses_1"))
    assert good is not None
    assert decoder.broken == 1


def test_a_truncated_frame_of_a_known_type_is_broken() -> None:
    decoder = EventDecoder()
    assert decoder.decode(tool({"status": "completed", "output": "x"})[:-20]) is None
    assert decoder.decode(frame("message.part.delta", sessionID="s", delta="x")[:-1]) is None
    assert decoder.broken == 2


def test_the_type_is_that_of_the_event_not_one_within() -> None:
    raw = b'{"id":"e","properties":{"type":"session.idle","sessionID":"ses_1"},"type":"session.compacted"}'
    event = decoded(raw)
    assert (event.type, event.data) == ("session.compacted", SessionOnly(session="ses_1"))
    assert decode_event(b'{"id":"e","x":{"type":"session.idle"}}') is None


def test_unknown_types_pass_and_are_counted() -> None:
    decoder = EventDecoder()
    for _ in range(3):
        event = decoder.decode(frame("plugin.added", id="x"))
        assert event is not None
        assert (event.id, event.type, event.data) == ("evt_1", "plugin.added", None)
    assert decoder.unknown == {"plugin.added": 3}


def test_hostile_type_names_are_counted_under_a_harmless_name() -> None:
    decoder = EventDecoder()
    decoder.decode(json.dumps({"type": "a\x1b[2Jb" + "c" * 500}).encode())
    (name,) = decoder.unknown
    assert name.startswith("ab")
    assert len(name) <= 80


def test_the_number_of_unknown_types_is_bounded() -> None:
    decoder = EventDecoder()
    for number in range(1_000):
        assert decoder.decode(frame(f"made.up.{number}")) is not None
    assert len(decoder.unknown) == 256


@pytest.mark.parametrize("type", ["message.part.delta", "server.heartbeat", "server.connected"])
def test_known_types_without_data_are_not_unknown(type: str) -> None:
    decoder = EventDecoder()
    event = decoder.decode(frame(type, sessionID="s"))
    assert event is not None
    assert (event.type, event.data) == (type, None)
    assert not decoder.unknown


@pytest.mark.parametrize(
    "dump",
    [
        lambda event: json.dumps(event).encode(),
        lambda event: json.dumps(event, separators=(",", ":")).encode(),
        lambda event: json.dumps(event, indent=1).encode(),
        lambda event: json.dumps(dict(reversed(event.items())), separators=(",", ":")).encode(),
        lambda event: json.dumps({"directory": "/d", "project": "p", "payload": event}, separators=(",", ":")).encode(),
    ],
)
def test_the_order_of_keys_and_white_space_do_not_matter(dump: Callable[[Any], bytes]) -> None:
    part = {"type": "tool", "id": "prt_1", "state": {"status": "running", "input": {"type": "session.idle"}}}
    event = {"id": "evt_9", "type": "message.part.updated", "properties": {"sessionID": "ses_1", "part": part}}
    found = decoded(dump(event))
    assert (found.id, found.type) == ("evt_9", "message.part.updated")
    assert isinstance(found.data, PartUpdated)
    assert (found.data.session, found.data.part.id) == ("ses_1", "prt_1")
    assert found.data.part.arguments == {"type": "session.idle"}


def test_the_global_form_brings_the_directory() -> None:
    event = {"id": "evt_1", "type": "session.idle", "properties": {"sessionID": "ses_1"}}
    found = decoded(json.dumps({"directory": "/d", "project": "p", "payload": event}).encode())
    assert (found.id, found.type, found.directory) == ("evt_1", "session.idle", "/d")


def test_sync_repeats_are_skipped_and_not_broken() -> None:
    decoder = EventDecoder()
    sync = {"type": "sync", "syncEvent": {"id": "evt_1", "type": "message.updated.1", "data": {}}}
    assert decoder.decode(json.dumps({"directory": "/d", "payload": sync}).encode()) is None
    assert decoder.broken == 0


def test_both_forms_of_a_recording_say_the_same() -> None:
    decoder = EventDecoder()
    plain = {e.id: e.data for raw in recorded("parallel") if (e := decoder.decode(raw)) and e.data}
    wrapped = {e.id: e.data for raw in recorded("parallel-global") if (e := decoder.decode(raw)) and e.data}
    assert decoder.broken == 0
    common = plain.keys() & wrapped.keys()
    assert len(common) > 50
    assert {id: plain[id] for id in common} == {id: wrapped[id] for id in common}


def test_diffs_of_a_user_message_are_skipped() -> None:
    diffs = [{"file": "a", "before": "x" * 1_000, "after": "y" * 1_000}] * 1_000
    info = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 5}, "summary": {"diffs": diffs}}
    data = decoded(frame("message.updated", sessionID="ses_1", info=info)).data
    assert isinstance(data, MessageUpdated)
    assert (data.info.id, data.info.role, data.info.is_summary) == ("msg_1", "user", False)
    assert len(repr(data)) < 1_000


def test_the_summary_of_a_compaction_is_told_from_that_of_a_user_message() -> None:
    info = {"id": "msg_1", "role": "assistant", "summary": True, "providerID": "p", "modelID": "m"}
    data = decoded(frame("message.updated", info=info)).data
    assert isinstance(data, MessageUpdated)
    assert data.info.is_summary
    assert data.info.model_name == "p/m"


def test_other_events_are_decoded() -> None:
    session = {"id": "ses_1", "parentID": "ses_0", "title": "T", "time": {"created": 1}, "revert": {"messageID": "m"}}
    changed = decoded(frame("session.updated", sessionID="ses_1", info=session)).data
    assert isinstance(changed, SessionChanged)
    assert changed.info is not None
    assert changed.info.revert is not None
    assert (changed.info.parent, changed.info.revert.message) == ("ses_0", "m")
    status = decoded(frame("session.status", sessionID="s", status={"type": "retry", "attempt": 2})).data
    assert isinstance(status, SessionStatus)
    assert (status.status.type, status.status.attempt) == ("retry", 2)
    error = decoded(frame("session.error", error={"name": "APIError", "data": {"message": "no"}})).data
    assert isinstance(error, SessionError)
    assert error.error is not None
    assert (error.session, error.error.name, error.error.data.message) == ("", "APIError", "no")
    asked = decoded(
        frame("permission.asked", id="per_1", sessionID="s", patterns=["a", "b"], tool={"callID": "c"})
    ).data
    assert isinstance(asked, PermissionAsked)
    assert (asked.patterns, asked.tool and asked.tool.call) == (("a", "b"), "c")
    edited = decoded(frame("file.edited", file="/x")).data
    assert edited == FileEdited(file="/x")


def test_a_known_type_without_properties_is_an_event_without_data() -> None:
    event = decode_event(b'{"id":"e","type":"session.idle"}')
    assert event is not None
    assert event.data is None


def test_lists_keep_their_good_items() -> None:
    body = b'[{"id":"ses_1","title":5},7,null,{"id":"ses_2","time":{"created":"x","updated":3}}]'
    sessions = decode_sessions(body)
    assert [(s.id, s.title, s.time.updated) for s in sessions] == [("ses_1", "5", 0), ("ses_2", "", 3)]


def test_a_bad_part_does_not_cost_its_message() -> None:
    body = b'[{"info":{"id":"m","role":"user"},"parts":[{"id":"a","text":"x"},"no",{"id":"b","text":[1]}]}]'
    (message,) = decode_messages(body)
    assert [(part.id, part.text) for part in message.parts] == [("a", "x"), ("b", "[1]")]


def test_invalid_utf8_in_a_list_is_replaced() -> None:
    (message,) = decode_messages(b'[{"info":{"id":"m"},"parts":[{"id":"a","text":"x\xff"}]}]')
    assert message.parts[0].text == "x\ufffd"


@pytest.mark.parametrize("body", [b"", b"{}", b"null", b"[", b"<html>"])
def test_a_body_that_is_no_list_is_an_error(body: bytes) -> None:
    with pytest.raises(ValueError):
        decode_sessions(body)


def test_single_items() -> None:
    session = decode_session(b'{"id":"ses_1","cost":0.5,"model":{"id":"m","providerID":"p"}}')
    assert session is not None
    assert (session.id, session.cost, session.model and session.model.id) == ("ses_1", 0.5, "m")
    message = decode_message(b'{"info":{"id":"m","finish":null},"parts":[]}')
    assert message is not None
    assert message.info.id == "m"
    assert decode_session(b"[]") is None


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=200) | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_nothing_raises(raw: bytes | str) -> None:
    decode_event(raw.encode() if isinstance(raw, str) else raw)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["message.part.updated", "message.updated", "session.updated", "session.status", "session.error"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["part", "info", "id", "state", "time", "input", "output", "status", "error", "metadata"]
                ),
                inner,
                max_size=4,
            )
        ),
    ),
)
def test_whatever_a_known_event_holds_it_passes(type: str, properties: Any) -> None:
    event = decode_event(json.dumps({"id": "e", "type": type, "properties": properties}).encode())
    assert event is not None
    assert event.type == type
