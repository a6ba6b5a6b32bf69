"""The same fact from two OpenCode processes."""

from __future__ import annotations

from typing import Any

import pytest

from core.host import once
from core.host.once import Once
from core.ledger import observations as seen

WHERE: dict[str, Any] = {"session": "ses_1", "message": "msg_1"}
CALL: dict[str, Any] = {**WHERE, "part": "prt_1", "call": "call_1", "tool": "bash", "summary": "ls"}


def finished(t: int = 1, **changes: Any) -> seen.ToolFinished:
    return seen.ToolFinished(t=t, ok=True, **{**CALL, **changes})


@pytest.mark.parametrize(
    ("first", "again", "other"),
    [
        (finished(), finished(9, output="differs"), finished(part="prt_2")),
        (
            seen.StepFinished(t=1, part="prt_9", **WHERE),
            seen.StepFinished(t=5, part="prt_9", cost=1.0, **WHERE),
            seen.StepFinished(t=1, part="prt_8", **WHERE),
        ),
        (seen.ToolStarted(t=1, **CALL), seen.ToolStarted(t=2, **CALL), seen.ToolStarted(t=1, **{**CALL, "part": "p"})),
        (
            seen.UserMessage(t=1, **WHERE),
            seen.UserMessage(t=7, backfill=True, **WHERE),
            seen.UserMessage(t=1, session="ses_1", message="msg_2"),
        ),
        (
            seen.Compacted(t=1, session="ses_1", n=1),
            seen.Compacted(t=9, session="ses_1", n=1),
            seen.Compacted(t=9, session="ses_1", n=2),
        ),
        (
            seen.PermissionAsked(t=1, session="ses_1", id="per_1", title="bash"),
            seen.PermissionAsked(t=2, session="ses_1", id="per_1", title="bash"),
            seen.PermissionAnswered(t=2, session="ses_1", id="per_1"),
        ),
        (
            seen.SessionInfo(t=1, session="ses_1", title="A"),
            seen.SessionInfo(t=2, session="ses_1", title="A"),
            seen.SessionInfo(t=2, session="ses_1", title="B"),
        ),
        (
            seen.SessionDeleted(t=1, session="ses_1"),
            seen.SessionDeleted(t=3, session="ses_1"),
            seen.SessionDeleted(t=1, session="ses_2"),
        ),
        (
            seen.NoteEchoed(t=1, session="ses_1", call="call_1"),
            seen.NoteEchoed(t=2, session="ses_1", call="call_1"),
            seen.NoteEchoed(t=1, session="ses_1", call="call_2"),
        ),
    ],
)
def test_it_is_known_by_its_identity(first: Any, again: Any, other: Any) -> None:
    told = Once()
    assert not told.knows(first)
    told.note(first)
    assert told.knows(again)
    assert not told.knows(other)


def test_a_state_is_known_until_another_is_told() -> None:
    told = Once()
    busy = seen.StatusChanged(t=1, session="ses_1", state="busy")
    idle = seen.StatusChanged(t=2, session="ses_1", state="idle")
    assert not told.knows(idle)
    told.note(busy)
    assert (told.knows(busy), told.knows(idle), told.busy) == (True, False, ["ses_1"])
    told.note(idle)
    assert (told.knows(busy), told.knows(idle), told.busy) == (False, True, [])


def test_a_revert_that_was_undone_can_be_made_again() -> None:
    told = Once()
    revert, undone = (seen.Reverted(t=1, session="ses_1", message=m) for m in ("msg_1", ""))
    assert told.knows(undone)
    for change in (revert, undone, revert):
        assert not told.knows(change)
        told.note(change)


def test_a_call_that_ended_did_not_just_begin() -> None:
    told = Once()
    told.note(finished())
    assert told.knows(seen.ToolStarted(t=9, **CALL))


def test_what_has_no_identity_is_new_each_time() -> None:
    told = Once()
    for fact in (
        seen.SessionFailed(t=1, session="ses_1", error="x"),
        seen.FileChanged(t=1, session="ses_1", path="x"),
        seen.Compacted(t=1, session="ses_1"),
    ):
        told.note(fact)
        assert not told.knows(fact)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(once, "MAX_FACTS", 2)
    told = Once()
    for n in range(3):
        told.note(finished(part=f"prt_{n}"))
    assert [told.knows(finished(part=f"prt_{n}")) for n in range(3)] == [False, True, True]
