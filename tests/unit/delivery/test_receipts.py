"""The truth about a note's arrival, from the order of events."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.delivery.receipts import Outcome, Receipts
from core.ledger.effects import Note

NOTE = Note(
    id="n1", call="call_1", part="prt_1", message="msg_1", origin="ses_1", kind="gentle", findings=("f1",), text="…"
)


@pytest.mark.parametrize(
    ("events", "arrived"),
    [
        (["sent", "echo", "next"], "next"),
        (["echo", "sent", "next"], "next"),
        (["echo", "next", "sent"], "next"),
        (["next", "sent", "echo"], "late"),
        (["next", "echo", "sent"], "late"),
        (["sent", "next", "echo"], "late"),
        (["sent", "next", "idle"], "late"),
        (["failed"], "failed"),
        (["next", "failed"], "failed"),
        (["echo", "failed", "next"], "next"),
        (["sent", "echo", "idle"], "unknown"),
        (["idle"], "unknown"),
        (["sent", "blind", "echo", "next"], "unknown"),
        (["sent", "close"], "unknown"),
    ],
)
def test_order_decides(events: list[str], arrived: str) -> None:
    receipts = Receipts()
    receipts.sending(NOTE)
    steps: dict[str, Callable[[], list[Outcome] | None]] = {
        "sent": lambda: receipts.sent(NOTE),
        "failed": lambda: receipts.failed(NOTE),
        "echo": lambda: receipts.echoed("ses_1", "call_1"),
        "next": lambda: receipts.next_turn("ses_1"),
        "idle": lambda: receipts.idle("ses_1"),
        "close": receipts.close,
        "blind": receipts.blinded,
    }
    outcomes = [outcome for event in [*events, "close", "idle", "echo"] for outcome in steps[event]() or ()]
    assert [outcome.arrived for outcome in outcomes] == [arrived]
    assert len(receipts) == 0


def test_other_sessions_and_calls_do_not_matter() -> None:
    receipts = Receipts()
    receipts.sending(NOTE)
    assert receipts.next_turn("ses_2") == receipts.idle("ses_2") == receipts.echoed("ses_1", "call_2") == []
    assert receipts.echoed("ses_2", "call_1") == []  # some providers number the calls of each conversation alike
    assert receipts.next_turn("ses_1") == []
    assert len(receipts) == 1
