"""Notes in the plugin's hands: confirmed, missed, lost."""

from __future__ import annotations

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
        "yes": lambda: delivery.confirmed("call_1", appended=True),
        "no": lambda: delivery.confirmed("call_1", appended=False),
        "completed": lambda: delivery.completed("call_1"),
        "echo": lambda: delivery.echoed("call_1"),
        "silent": lambda: delivery.silent("call_1"),
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
    delivery.confirmed("call_2", appended=True)
    delivery.idle("ses_2")
    assert ends == [] and len(delivery) == 1
