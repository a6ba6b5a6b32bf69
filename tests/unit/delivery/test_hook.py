"""Notes in the plugin's hands: confirmed, missed, lost."""

from __future__ import annotations

import msgspec
import pytest

from core.delivery.hook import HookDelivery
from tests.unit.delivery.test_receipts import NOTE


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (["yes", "completed", "echo", "idle"], ["next"]),
        (["completed", "echo", "yes"], ["next"]),
        (["no", "completed"], ["patch"]),
        (["completed", "no"], ["patch"]),
        (["no", "no", "completed", "completed"], ["patch"]),
        (["completed", "silent"], ["patch"]),
        (["completed", "echo", "silent"], ["unknown"]),
        (["completed", "silent", "yes"], ["patch"]),
        (["yes", "silent"], ["next"]),
        (["completed", "echo", "idle"], ["unknown"]),
        (["idle", "yes"], ["unknown"]),
        (["completed"], []),
    ],
)
def test_each_note_has_one_end(events: list[str], expected: list[str]) -> None:
    ends: list[str] = []
    delivery = HookDelivery(lambda outcome: ends.append(outcome.arrived), lambda note: ends.append("patch"))
    delivery.answered(NOTE)
    steps = {
        "yes": lambda: delivery.confirmed("ses_1", "call_1", appended=True),
        "no": lambda: delivery.confirmed("ses_1", "call_1", appended=False),
        "completed": lambda: delivery.completed("ses_1", "call_1"),
        "echo": lambda: delivery.echoed("ses_1", "call_1"),
        "silent": lambda: delivery.silent(NOTE),
        "idle": lambda: delivery.idle("ses_1"),
    }
    for event in events:
        steps[event]()
    assert ends == expected
    assert len(delivery) == (0 if expected else 1)


def test_calls_of_others_do_not_matter() -> None:
    ends: list[str] = []
    delivery = HookDelivery(lambda outcome: ends.append(outcome.arrived), lambda note: ends.append("patch"))
    delivery.answered(NOTE)
    delivery.confirmed("ses_1", "call_2", appended=True)
    delivery.idle("ses_2")
    assert ends == [] and len(delivery) == 1


def test_calls_of_two_agents_may_have_the_same_id() -> None:
    ends: list[tuple[str, str]] = []
    delivery = HookDelivery(
        lambda outcome: ends.append((outcome.note.origin, outcome.arrived)),
        lambda note: ends.append((note.origin, "patch")),
    )
    other = msgspec.structs.replace(NOTE, origin="ses_2")
    delivery.answered(NOTE)
    delivery.answered(other)
    delivery.confirmed("ses_1", "call_1", appended=True)
    delivery.completed("ses_1", "call_1")
    delivery.silent(NOTE)
    delivery.completed("ses_2", "call_1")
    delivery.silent(other)
    assert ends == [("ses_1", "next"), ("ses_2", "patch")]


def test_what_is_said_of_an_earlier_note_does_not_concern_a_later_call_with_the_same_id() -> None:
    ends: list[str] = []
    delivery = HookDelivery(lambda outcome: ends.append(outcome.arrived), lambda note: ends.append("patch"))
    later = msgspec.structs.replace(NOTE, id="n2")
    delivery.answered(NOTE)
    delivery.confirmed("ses_1", "call_1", appended=True)
    delivery.answered(later)
    delivery.completed("ses_1", "call_1")
    delivery.silent(NOTE)
    assert ends == ["next"]
    delivery.silent(later)
    assert ends == ["next", "patch"]
