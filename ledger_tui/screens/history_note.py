"""The note that was distilled from a past session."""

from __future__ import annotations

from ledger_tui.desk import Desk
from ledger_tui.rows.history_text import wrapped
from ledger_tui.rows.look import Line, Look
from ledger_tui.screens.reading import Reading


def note_screen(desk: Desk, title: str, text: str) -> Reading:
    """The note as it was written, headings set off."""

    def content(width: int, look: Look, everything: bool) -> list[Line]:
        return [
            line for raw in text.split("\n") for line in wrapped(raw, width, "topic" if raw.startswith("#") else "text")
        ]

    return Reading(desk, f"Note: {title}", content, lambda: (text, "the note"), whole=True)
