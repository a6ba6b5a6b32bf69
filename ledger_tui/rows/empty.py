"""What a pane says when it has nothing to show: a sentence, with the next key to press."""

from __future__ import annotations

from core.views import SessionView
from ledger_tui.format import count, plural
from ledger_tui.rows.look import Line, Look, say


def from_file(view: SessionView) -> bool:
    """Whether the view was made of a dump file, which holds findings only; the interval of a ledger is never 0."""
    return view.interval == 0


def was_extracted(view: SessionView) -> bool:
    """Whether an extraction has been made, whatever it found."""
    return any(extraction.state == "done" for extraction in view.extractions)


def running_now(view: SessionView) -> str:
    """Id of the extraction under way; empty while there is none."""
    return next((extraction.id for extraction in view.extractions if extraction.state == "running"), "")


def empty_text(pane: str, view: SessionView | None, look: Look, tokens: int = 0) -> Line:
    """The sentence for the pane `steps`, `findings`, `meters`, `extractions` or `log`.

    `tokens`: what an extraction of the steps that wait would send, about; 0: nothing, or it is not known.
    """
    if view is None:
        return say("No session yet.", look)
    if pane == "extractions" and not from_file(view):
        return say(_extractions(view, tokens), look)
    return say(_FILE_TEXTS.get(pane, "") if from_file(view) else _TEXTS[pane](view), look)


def _steps(view: SessionView) -> str:
    if view.earlier:
        return (
            f"{plural(view.earlier, 'step')} happened before the ledger came; {{extract}} extracts facts from them. "
            "New steps appear here."
        )
    return "No steps yet. Whatever the agent does next appears here; {sessions} shows another session."


def _findings(view: SessionView) -> str:
    if view.held:
        waits = "1 fact waits" if view.held == 1 else f"{view.held} facts wait"
        return f"{waits} for you: {{extractions_pane}} leads there."
    if running := running_now(view):
        return f"No facts yet. {running} is running: what it finds appears here; {{add}} adds a fact by hand."
    rest = max(0, view.interval - view.buffered)
    which = "next" if was_extracted(view) else "first"
    when = f"The {which} extraction comes after {plural(view.interval, 'step')}, {plural(rest, 'more', 'more')} to go"
    now = "{extract} does it now, " if view.buffered or view.earlier else ""
    return f"No facts yet. {when}; {now}{{add}} adds a fact by hand."


def _meters(view: SessionView) -> str:
    return "Nothing looked at twice. When the agent opens a file with known facts, its count starts here."


def _extractions(view: SessionView, tokens: int) -> str:
    rest = max(0, view.interval - view.buffered)
    now = "; {extract} starts it now" if view.buffered or view.earlier else ""
    size = f" First extraction ≈ {count(tokens)} tokens with the steps so far." if tokens else ""
    return f"No extraction yet. The first comes in {plural(rest, 'step')}{now}.{size}"


def _log(view: SessionView) -> str:
    return "Nothing has happened yet. Notes, touches and extractions are written down here."


_TEXTS = {"steps": _steps, "findings": _findings, "meters": _meters, "log": _log}
_FILE_TEXTS = {
    "steps": "A dump file holds no steps; the ledger that writes it shows them.",
    "findings": "No facts in this file.",
    "meters": "A dump file holds no counts; the ledger that writes it shows them.",
    "extractions": "A dump file holds no extractions; the ledger that writes it shows them.",
    "log": "Nothing has happened yet. Changes of the file are written down here.",
}
