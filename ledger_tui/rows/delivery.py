"""How notes get to the agent, and what became of them: a few words for the status line, sentences for the help."""

from __future__ import annotations

from core.views import DeliveryView, ServerView, SessionView
from ledger_tui.format import fit, plural
from ledger_tui.rows.look import Line

_WORDS = {"patch": "notes by patch", "hook": "notes in flight", "off": "notes off", "none": ""}


def status_words(server: ServerView, view: SessionView) -> Line:
    """The way notes go, how long the plugin usually waits, and what went wrong if anything did; empty: no notes."""
    if server.delivery_detail:
        return [(fit(server.delivery_detail, 48), "waiting")]
    way = _way(server, view)
    if not _WORDS[way]:
        return []
    notes = server.notes
    typical = f" {notes.p50_ms:.1f} ms" if way == "hook" and notes.p50_ms is not None else ""
    line: Line = [(_WORDS[way] + typical, "waiting" if way == "off" else "muted")]
    return [*line, (", " + ", ".join(wrong), "waiting")] if (wrong := _wrong(notes)) else line


def figure_lines(server: ServerView, view: SessionView | None) -> list[Line]:
    """All figures, two lines; none where this ledger puts no notes in front of the agent."""
    if server.delivery not in ("hook", "patch") or server.replay or view is None:
        return []
    return [_notes_line(server, view), _plugin_line(server.notes)]


def _way(server: ServerView, view: SessionView) -> str:
    """`patch` for a session in an OpenCode without the plugin, though another one has it."""
    return "patch" if server.delivery == "hook" and view.root in server.notes.silent else server.delivery


def _wrong(notes: DeliveryView) -> list[str]:
    counts = ((notes.late, "late"), (notes.failed, "failed"), (notes.missed, "missed"))
    return [f"{count:,} {word}" for count, word in counts if count]


def _notes_line(server: ServerView, view: SessionView) -> Line:
    notes = server.notes
    line: Line = [(f"Notes go {'in flight' if _way(server, view) == 'hook' else 'by patch'}", "text")]
    counts = (
        (notes.in_flight, "in flight", "muted"),
        (notes.patched, "by patch in time", "muted"),
        (notes.late, "late by one request", "waiting"),
        (notes.failed, "failed", "waiting"),
        (notes.unknown, "arrival unknown", "muted"),
    )
    came = [(f"{count:,} {word}", style) for count, word, style in counts if count]
    line.append((": " if came else "; none went yet", "muted"))
    for text, style in came:
        line += [(", ", "muted"), (text, style)] if line[-1][0] != ": " else [(text, style)]
    return [*line, (".", "muted")]


def _plugin_line(notes: DeliveryView) -> Line:
    if not notes.questions and not notes.missed:
        return [("The plugin in OpenCode has not asked yet.", "muted")]
    asked = f"The plugin in OpenCode asked about {plural(notes.questions, 'call')}"
    if notes.p50_ms is not None and notes.p95_ms is not None:
        asked += f"; round trip p50 {notes.p50_ms:.1f} ms, p95 {notes.p95_ms:.1f} ms"
    missed = f"; {plural(notes.missed, 'answer')} did not come by the deadline" if notes.missed else ""
    return [(asked, "muted"), (missed, "waiting"), (".", "muted")]
