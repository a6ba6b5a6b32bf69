"""Reports as rows of the event log: short sentences for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.ledger import effects as told
from core.ledger.topics import label
from core.text import mask_line
from core.views import LogRow

LATE = (
    'the server has "snapshot": false, so patched notes arrive one request late;'
    " with the plugin that `ledger-tui init` installs they are in time"
)
"""How patched notes arrive where snapshots are off."""

ASKED = "request"
"""Kind of the row for a permission or a question: it matters no more once it is answered."""

_NO_TROUBLE = frozenset({"hosted_elsewhere", "took_over", "leftovers", "plugin_back"})
"""Codes of warnings that tell of something which is as it should be."""

_CHARS = 200
_ARRIVED = {
    "next": "read with the next request",
    "late": "arrived one request late",
    "failed": "could not be delivered",
    "unknown": "arrival unknown",
}


_CHANGES = {"held": "held, waits for you", "fresh": "confirmed again"}
_REASONS = {"superseded": "a newer fact took its place", "merged": "into the fact that says the same"}
"""In place of reasons that name another finding by its id."""


def row(report: told.Report, summary_of: Callable[[str], str]) -> LogRow | None:
    """The row for a report, None when it is shown elsewhere only (steps).

    `summary_of` gives the command line of a call id.
    """
    writer = _WRITERS.get(type(report))
    return writer(report, summary_of) if writer else None


def missed_row(t: int, call: str, ms: float, deadline_ms: int) -> LogRow:
    """The row for a call whose output the plugin let go on after waiting `ms` for the ledger."""
    text = f"call {call}: the plugin waited {ms:.0f} ms, {deadline_ms} at most; the output went on without an answer"
    return LogRow(t=t, kind="warning", text=_line(text), level="warn")


def _session(report: told.SessionReport, _: Callable[[str], str]) -> LogRow:
    level: Any = "error" if report.state in ("error", "deleted") else "info"
    return LogRow(
        t=report.t, kind="session", text=report.state, detail=_line(report.detail or report.title), level=level
    )


def _touch(report: told.TouchReport, summary_of: Callable[[str], str]) -> LogRow:
    names = [label(topic) for topic in report.counts]
    shown = zip(names if len(set(names)) == len(names) else report.counts, report.counts.values(), strict=True)
    counts = ", ".join(f"{name} × {n}" for name, n in shown)
    level: Any = "warn" if report.action == "stop" else "info"
    why = "; ".join(dict.fromkeys(report.why.values()))
    text = f"{counts}: {report.action} ({why})" if why else f"{counts}: {report.action}"
    return LogRow(t=report.t, kind="touch", text=_line(text), detail=_line(summary_of(report.call)), level=level)


def _note(report: told.NoteReport, summary_of: Callable[[str], str]) -> LogRow:
    facts = f"{len(report.findings)} fact{'' if len(report.findings) == 1 else 's'}"
    text = f"{report.kind}, {facts}, {_ARRIVED[report.arrived]}"
    level: Any = "warn" if report.arrived in ("late", "failed") or report.kind == "stop" else "info"
    return LogRow(t=report.t, kind="note", text=text, detail=_line(summary_of(report.call)), level=level)


def _extraction(report: told.ExtractionReport, _: Callable[[str], str]) -> LogRow | None:
    if report.state == "queued":
        return None
    if report.state == "done":
        counts = (
            (report.added, "new"),
            (report.duplicates, "known"),
            (report.held, "held"),
            (report.rejected, "rejected"),
        )
        text = ", ".join(f"{n} {word}" for n, word in counts if n) or "nothing new"
    else:
        text = report.state
    detail = report.error or (f"{report.steps} steps" if report.state == "running" else "")
    level: Any = "error" if report.state == "failed" else "info"
    return LogRow(t=report.t, kind="extraction", text=f"{report.id} {text}", detail=_line(detail), level=level)


def _finding(report: told.FindingReport, _: Callable[[str], str]) -> LogRow:
    reason = _REASONS.get(report.change, report.reason)
    detail = f"{report.fact} ({reason})" if reason else report.fact
    text = f"{_CHANGES.get(report.change, report.change)}: {label(report.topic)}"
    return LogRow(t=report.t, kind="finding", text=_line(text), detail=_line(detail))


def _warning(report: told.WarningReport, _: Callable[[str], str]) -> LogRow:
    if report.code in _NO_TROUBLE:
        return LogRow(t=report.t, kind="ledger", text=_line(report.message))
    kind = ASKED if report.code == "permission_asked" else "warning"
    return LogRow(t=report.t, kind=kind, text=_line(report.message), level="warn")


def _connection(report: told.ConnectionReport, _: Callable[[str], str]) -> LogRow:
    level: Any = "warn" if report.state == "refused" else "info"
    return LogRow(t=report.t, kind="connection", text=report.state, detail=_line(report.detail), level=level)


def _line(text: str) -> str:
    return mask_line(text, _CHARS)


_WRITERS: dict[type[told.Report], Callable[[Any, Callable[[str], str]], LogRow | None]] = {
    told.SessionReport: _session,
    told.TouchReport: _touch,
    told.NoteReport: _note,
    told.ExtractionReport: _extraction,
    told.FindingReport: _finding,
    told.WarningReport: _warning,
    told.ConnectionReport: _connection,
}
