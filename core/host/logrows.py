"""Reports as rows of the event log: short sentences for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.ledger import effects as told
from core.ledger.injection import label
from core.text import clean_line
from core.views import LogRow

LATE = (
    'the server has "snapshot": false, so patched notes arrive one request late;'
    " with the plugin that `ledger-tui init` installs they are in time"
)
"""How patched notes arrive where snapshots are off."""

_CHARS = 200
_ARRIVED = {
    "next": "read with the next request",
    "late": "arrived one request late",
    "failed": "could not be delivered",
    "unknown": "arrival unknown",
}


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
    text = f"{counts}: {report.action}"
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
        counts = ((report.added, "new"), (report.duplicates, "known"), (report.rejected, "rejected"))
        text = ", ".join(f"{n} {word}" for n, word in counts if n) or "nothing new"
    else:
        text = report.state
    detail = report.error or (f"{report.steps} steps" if report.state == "running" else "")
    level: Any = "error" if report.state == "failed" else "info"
    return LogRow(t=report.t, kind="extraction", text=f"{report.id} {text}", detail=_line(detail), level=level)


def _finding(report: told.FindingReport, _: Callable[[str], str]) -> LogRow:
    detail = report.fact if not report.reason else f"{report.fact} ({report.reason})"
    text = f"{report.change} {label(report.topic)}"
    return LogRow(t=report.t, kind="finding", text=_line(text), detail=_line(detail))


def _warning(report: told.WarningReport, _: Callable[[str], str]) -> LogRow:
    return LogRow(t=report.t, kind="warning", text=_line(report.message), level="warn")


def _connection(report: told.ConnectionReport, _: Callable[[str], str]) -> LogRow:
    level: Any = "info" if report.state in ("connecting", "live", "resyncing") else "warn"
    return LogRow(t=report.t, kind="connection", text=report.state, detail=_line(report.detail), level=level)


def _line(text: str) -> str:
    return clean_line(text, _CHARS)


_WRITERS: dict[type[told.Report], Callable[[Any, Callable[[str], str]], LogRow | None]] = {
    told.SessionReport: _session,
    told.TouchReport: _touch,
    told.NoteReport: _note,
    told.ExtractionReport: _extraction,
    told.FindingReport: _finding,
    told.WarningReport: _warning,
    told.ConnectionReport: _connection,
}
