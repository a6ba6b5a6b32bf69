"""What stands in the frames: the facts beside each pane's title, and the bar of steps to the next extraction."""

from __future__ import annotations

from core.views import BudgetView, SessionView
from ledger_tui.format import count, plural
from ledger_tui.rows.empty import from_file
from ledger_tui.rows.look import Line, Look
from ledger_tui.rows.meters import filled

MAX_BAR = 24
"""Longest bar, in cells; a longer interval is drawn to scale."""


def info_of(pane: str, view: SessionView, look: Look) -> Line:
    """The facts at the right of the pane's title."""
    parts = [] if from_file(view) and pane in ("steps", "meters", "extractions") else _INFO[pane](view, look)
    line: Line = []
    for text, style in parts:
        line += [(f" {look.signs.dot} ", "faint"), (text, style)] if line else [(text, style)]
    return line


def _steps(view: SessionView, look: Look) -> Line:
    parts: Line = [(f"{view.completed:,} done", "muted")]
    if view.earlier:
        parts.append((f"{view.earlier:,} from before", "waiting"))
    return parts


def _findings(view: SessionView, look: Look) -> Line:
    parts: Line = [(f"{view.findings:,} of {view.max_findings:,}", "muted")]
    topics = sum(1 for topic in view.topics if topic.findings)
    if topics and not (view.held and view.pairs):
        parts.append((plural(topics, "topic"), "muted"))
    if view.held:
        parts.append((f"{view.held} held: {look.key_of('extractions_pane')}", "held"))
    if view.pairs:
        parts.append((f"{plural(len(view.pairs), 'pair')}: {look.key_of('inbox')}", "held"))
    if view.cap_full_of_pins:
        parts = [("full of pinned facts: new ones find no place", "waiting")]
    return parts


def _meters(view: SessionView, look: Look) -> Line:
    stops = sum(1 for meter in view.meters if meter.action == "stop" and not meter.muted)
    if stops:
        return [(f"{stops} told to stop", "stop")]
    threshold = max((meter.threshold for meter in view.meters), default=0)
    return [(f"STOP at look {threshold}", "muted")] if threshold else [("looks", "muted")] if view.meters else []


def _extractions(view: SessionView, look: Look) -> Line:
    budget = budget_words(view.budget)
    if any(x.state == "running" for x in view.extractions):
        return [("running", "busy"), *budget]
    if view.budget.reached:
        return [("stopped", "waiting"), *budget]
    rest = view.interval - view.buffered
    return [(f"next in {plural(rest, 'step')}", "muted") if rest > 0 else ("next is due", "waiting"), *budget]


def budget_words(budget: BudgetView) -> Line:
    """What is used of the budget that is nearest to its end; empty without any."""
    limits = (
        (budget.day_tokens, budget.day_limit, "today"),
        (budget.session_tokens, budget.session_limit, "this session"),
    )
    set_ones = [one for one in limits if one[1]]
    if not set_ones:
        return []
    used, limit, when = max(set_ones, key=lambda one: one[0] / one[1])
    return [(f"budget {count(used)}/{count(limit)} {when}", "waiting" if used >= limit else "muted")]


def _log(view: SessionView, look: Look) -> Line:
    warnings = sum(1 for row in view.log if row.level == "error" or row.kind == "warning")
    parts: Line = [(plural(warnings, "warning"), "waiting")] if warnings else []
    waiting = len(view.permissions)
    return [*parts, (f"{plural(waiting, 'request')} open", "waiting")] if waiting else parts


_INFO = {"steps": _steps, "findings": _findings, "meters": _meters, "extractions": _extractions, "log": _log}


def interval_bar(view: SessionView, width: int, look: Look) -> list[Line]:
    """How far the buffer is towards the next extraction: bar and words, one line; none for a dump file."""
    if from_file(view):
        return []
    cells = max(1, min(MAX_BAR, view.interval, width - 38))
    full = filled(view.buffered, view.interval, cells)
    words = f"  {min(view.buffered, view.interval)} of {plural(view.interval, 'step')} to the next extraction"
    if view.buffered > view.interval:
        words = f"  {plural(view.buffered, 'step')} wait for extraction"
    return [[(look.signs.full * full, "busy"), (look.signs.empty * (cells - full), "gauge-rest"), (words, "muted")]]
