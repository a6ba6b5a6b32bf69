"""What keys do with past sessions: in the list of them, and in one of them."""

from __future__ import annotations

from ledger_tui.actions import action as at
from ledger_tui.actions import checks
from ledger_tui.actions.action import Action, Situation

_GROUP = "Past sessions"


def _noted(now: Situation) -> str:
    """A note was made of the session."""
    nothing = "No note has been made of this session; `ledger-tui history distil` makes notes."
    return checks.has_rows(now) or ("" if now.noted else nothing)


def _takeable(now: Situation) -> str:
    """The fact can be taken into the ledger."""
    return checks.writable(now) or now.refused


HISTORY_ACTIONS: tuple[Action, ...] = (
    Action(
        "read_past",
        ("enter",),
        "read",
        "Read the session under the cursor: its facts, then all that was said and done.",
        at.HISTORY,
        _GROUP,
        checks.has_rows,
        8,
    ),
    Action(
        "search_past",
        ("s",),
        "search texts",
        'Search all that was said: every word must occur, "two words" is a phrase, start* a beginning, -word must not.',
        at.HISTORY,
        _GROUP,
        footer=7,
    ),
    Action(
        "all_projects",
        ("a",),
        "all projects",
        "Show the sessions of all projects, or of this one again.",
        at.HISTORY,
        _GROUP,
        footer=6,
    ),
    Action("reread", ("r",), "read again", "Read the list again.", at.HISTORY, _GROUP, footer=1),
    Action(
        "take_fact",
        ("enter",),
        "take the fact",
        "Take the fact into the ledger of the session on screen; its history says where it comes from.",
        at.PAST_FACT,
        _GROUP,
        _takeable,
        8,
    ),
    Action(
        "unfold",
        ("enter",),
        "unfold",
        "Unfold the tool call under the cursor, or fold it.",
        frozenset({"past"}),
        _GROUP,
        checks.has_rows,
        7,
    ),
    Action(
        "unfold_all", ("o",), "unfold all", "Unfold all tool calls, or fold them.", at.PAST, _GROUP, checks.has_rows, 6
    ),
    Action(
        "past_note",
        ("N",),
        "note",
        "Read the note that was distilled from the session.",
        at.HISTORY | at.PAST,
        _GROUP,
        _noted,
        4,
    ),
    Action(
        "resume",
        ("y",),
        "copy opencode -s",
        "Copy the command that goes on with the session in OpenCode.",
        at.HISTORY | at.PAST,
        _GROUP,
        checks.has_rows,
        3,
    ),
)
"""In the order in which footer and help show them."""
