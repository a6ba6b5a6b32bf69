"""What the ledger must have reported, worked out from the server's own state and the model server's request log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tests.e2e.chat import ChatRequest

Snapshot = dict[str, Any]
Line = dict[str, Any]
StepKey = tuple[str, tuple[tuple[str, str, str], ...]]

OWN_TITLE = "ledger-extraction"


def steps_on_server(snapshot: Snapshot) -> Counter[StepKey]:
    """Every finished step of the agent and its sub-agents: (agent session, its calls with tool and status)."""
    steps: Counter[StepKey] = Counter()
    for session in snapshot["sessions"]:
        if session["title"] == OWN_TITLE:
            continue
        for message in snapshot["messages"][session["id"]]:
            steps.update(_steps(session["id"], message))
    return steps


def _steps(session: str, message: dict[str, Any]) -> Iterable[StepKey]:
    if message["info"]["role"] != "assistant" or message["info"].get("summary"):
        return
    calls = [
        (part["callID"], part["tool"], part["state"]["status"])
        for part in message["parts"]
        if part["type"] == "tool" and part["state"]["status"] in ("completed", "error")
    ]
    if any(part["type"] == "step-finish" for part in message["parts"]):
        yield session, tuple(sorted(calls))


def steps_reported(lines: Iterable[Line]) -> Counter[StepKey]:
    """The same from the `step` lines."""
    return Counter(
        (line["origin"], tuple(sorted((t["call"], t["tool"], t["status"]) for t in line["tools"])))
        for line in lines
        if line["type"] == "step"
    )


def of_type(lines: Iterable[Line], kind: str) -> list[Line]:
    """The lines of one type."""
    return [line for line in lines if line["type"] == kind]


def given(requests: Iterable[ChatRequest], call: str) -> list[str]:
    """What each request gave the model as the result of `call`, oldest first."""
    return [r.tool_messages[call] for r in requests if r.kind == "agent" and call in r.tool_messages]


def check_notes(lines: Iterable[Line], requests: list[ChatRequest]) -> None:
    """Each note is, whole, in the tool message of its call: in the first request if `next`, in a later one if `late`.

    A note the model could not be asked with any more (its turn was the last) is `unknown` or `late`.
    """
    for note in of_type(lines, "note"):
        seen = given(requests, note["call"])
        with_note = [note["text"] in text for text in seen]
        if note["arrived"] == "next":
            assert with_note, f"no request carries the call of {note}"
            assert all(with_note), f"said to have arrived at once, but: {with_note} {note}"
        elif note["arrived"] == "late":
            assert not any(with_note[:1]), f"said to be late, but the first request had it: {note}"
            assert all(with_note[1:2]), f"never arrived: {note}"
        else:
            assert note["arrived"] in ("unknown", "failed")
            assert not any(with_note), f"arrived, but said to be {note['arrived']}: {note}"
