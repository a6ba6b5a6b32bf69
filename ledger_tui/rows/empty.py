"""What a pane says when it has nothing to show: a sentence, with the next key to press."""

from __future__ import annotations

from core.views import SessionView
from ledger_tui.format import plural
from ledger_tui.rows.look import Line, Look, say


def from_file(view: SessionView) -> bool:
    """Whether the view was made of a dump file, which holds findings only; the interval of a ledger is never 0."""
    return view.interval == 0


def was_extracted(view: SessionView) -> bool:
    """Whether an extraction has been made, whatever it found."""
    return any(extraction.state == "done" for extraction in view.extractions)


def empty_text(pane: str, view: SessionView | None, look: Look) -> Line:
    """The sentence for the pane `steps`, `findings`, `meters`, `extractions` or `log`."""
    if view is None:
        return say("No session yet.", look)
    return say(_FILE_TEXTS.get(pane, "") if from_file(view) else _TEXTS[pane](view), look)


def _steps(view: SessionView) -> str:
    if view.earlier:
        return (
            f"{plural(view.earlier, 'step')} happened before the ledger came; {{extract}} extracts facts from them. "
            "New steps appear here."
        )
    return "No steps yet. Whatever the agent does next appears here; {sessions} shows another session."


def _findings(view: SessionView) -> str:
    rest = max(0, view.interval - view.buffered)
    which = "next" if was_extracted(view) else "first"
    when = f"The {which} extraction comes after {plural(view.interval, 'step')}, {plural(rest, 'more', 'more')} to go"
    now = "{extract} does it now, " if view.buffered or view.earlier else ""
    return f"No facts yet. {when}; {now}{{add}} adds a fact by hand."


def _meters(view: SessionView) -> str:
    return "Nothing looked at twice. When the agent opens a file with known facts, its count starts here."


def _extractions(view: SessionView) -> str:
    rest = max(0, view.interval - view.buffered)
    now = "; {extract} starts it now" if view.buffered or view.earlier else ""
    return f"No extraction yet. The first comes in {plural(rest, 'step')}{now}."


def _log(view: SessionView) -> str:
    return "Nothing has happened yet. Notes, touches and extractions are written down here."


_TEXTS = {"steps": _steps, "findings": _findings, "meters": _meters, "extractions": _extractions, "log": _log}
_FILE_TEXTS = {
    "steps": "A dump file holds no steps; the ledger that writes it shows them.",
    "findings": "No facts in this file.",
    "meters": "A dump file holds no counts; the ledger that writes it shows them.",
    "extractions": "A dump file holds no extractions; the ledger that writes it shows them.",
    "log": "Nothing has happened yet. Changes of the file are written down here.",
}
