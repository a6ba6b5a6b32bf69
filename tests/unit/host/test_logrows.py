"""Reports as rows of the log: short sentences for people."""

from __future__ import annotations

from typing import Any

import pytest

from core.host.logrows import row
from core.ledger.effects import ConnectionReport, ExtractionReport, FindingReport, TouchReport, WarningReport
from core.views import LogRow


def written(report: Any) -> LogRow:
    made = row(report, lambda call: f"command of {call}")
    assert made is not None
    return made


def test_a_touch_says_why_it_is_one_where_that_is_not_plain() -> None:
    def touch(**why: str) -> str:
        report = TouchReport(
            t=1, session="s", call="c1", origin="s", names=(), topics=("db:users",), counts={"db:users": 2},
            action="gentle", why={f"db:{name}": text for name, text in why.items()},
        )  # fmt: skip
        return written(report).text

    assert touch() == "users × 2: gentle"
    assert touch(users="table `users` in the command") == "users × 2: gentle (table `users` in the command)"


def test_only_trouble_is_a_warning() -> None:
    def warned(code: str) -> tuple[str, str]:
        made = written(WarningReport(t=1, session="s", code=code, message="text"))
        return made.kind, made.level

    assert warned("took_over") == warned("hosted_elsewhere") == ("ledger", "info")
    assert warned("permission_asked") == ("request", "warn")
    assert warned("hook_server") == ("warning", "warn")
    for state, level in (("closed", "info"), ("reconnecting", "info"), ("refused", "warn")):
        report = ConnectionReport(t=1, session="s", state=state, detail="")  # type: ignore[arg-type]
        assert written(report).level == level


@pytest.mark.parametrize(
    ("change", "reason", "text", "detail"),
    [
        ("held", "no output says 128", "held, waits for you: a.bin", "it has 128 bytes (no output says 128)"),
        ("doubtful", "a.bin changed", "doubtful: a.bin", "it has 128 bytes (a.bin changed)"),
        ("fresh", "a later output says the same", "confirmed again: a.bin",
         "it has 128 bytes (a later output says the same)"),
        ("superseded", "by f7", "superseded: a.bin", "it has 128 bytes (a newer fact took its place)"),
        ("merged", "with f7", "merged: a.bin", "it has 128 bytes (into the fact that says the same)"),
        ("added", "", "added: a.bin", "it has 128 bytes"),
    ],
)  # fmt: skip
def test_what_becomes_of_a_finding_is_readable(change: Any, reason: str, text: str, detail: str) -> None:
    report = FindingReport(
        t=1, session="s", change=change, id="f1", fact="it has 128 bytes", topic="file:a.bin", step=1, origin="s",
        call="c", reason=reason,
    )  # fmt: skip
    made = written(report)
    assert (made.text, made.detail) == (text, detail)


def test_an_extraction_counts_what_waits() -> None:
    done = ExtractionReport(t=1, session="s", id="x1", state="done", steps=3, added=2, duplicates=0, rejected=0, held=1)
    assert written(done).text == "x1 2 new, 1 held"
    skipped = ExtractionReport(t=1, session="s", id="x2", state="skipped", steps=3, error="nothing new")
    assert (written(skipped).text, written(skipped).detail) == ("x2 skipped", "nothing new")
