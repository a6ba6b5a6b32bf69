"""What an action is, where it applies, and what the user is looking at when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.views import FindingView, Pane, ServerView, SessionView

PANES: tuple[Pane, ...] = ("steps", "findings", "meters", "extractions", "log")
"""The panes in the order of their numbers."""

PANE_TITLES = {
    "steps": "Steps",
    "findings": "Findings",
    "meters": "Escalation",
    "extractions": "Extractions",
    "log": "Log",
}

PLACE_TITLES = {
    **PANE_TITLES,
    "held": "Extractions on a held fact",
    "held_receipt": "the receipt of a held fact",
    "receipt": "a receipt",
    "inbox": "the inbox of pairs",
    "repeats": "the repeats",
    "history": "the list of past sessions",
    "past": "a past session",
    "past_fact": "a past session on one of its facts",
}
"""What the places of the dashboard are called where a sentence names them."""

FINDINGS = frozenset({"findings"})
HELD = frozenset({"held"})
"""The Extractions pane while its cursor, or the choice, is on facts that wait for a person."""
TOPICS = frozenset({"findings", "meters"})
MAIN = frozenset(PANES) | HELD
INBOX = frozenset({"inbox"})
LISTS = MAIN | {"picker"}
RECEIPTS = frozenset({"receipt", "held_receipt"})
READING = RECEIPTS | {"repeats", "help"}
PERMISSION = frozenset({"permission"})
QUESTION = frozenset({"question"})
ASKED = PERMISSION | QUESTION
HISTORY = frozenset({"history"})
PAST_FACT = frozenset({"past_fact"})
"""A past session while its cursor is on one of its facts."""
PAST = frozenset({"past"}) | PAST_FACT
MOVING = LISTS | INBOX | READING | ASKED | HISTORY | PAST
ANYWHERE = MAIN | {"welcome"}
WINDOWS = READING | ASKED | INBOX | HISTORY | PAST | {"picker"}
"""The places that lie over the dashboard."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the user is looking at, as far as it decides whether an action is possible."""

    context: str
    """A pane, or `held` (a held fact in Extractions), `welcome`, `receipt`, `held_receipt`, `repeats`, `help`,
    `inbox`, `picker`, `permission`, `question`, `history`, `past`, `past_fact`."""
    server: ServerView
    view: SessionView | None = None
    read_only: bool = False
    findings: tuple[FindingView, ...] = ()
    """The chosen findings, else the one under the cursor."""
    topic: str = ""
    """Topic under the cursor, in Findings and Escalation."""
    pair: str = ""
    """Kind of the pair under the cursor, in the inbox."""
    rows: int = 0
    """Rows of the list that has the keys."""
    chosen: int = 0
    filtered: bool = False
    zoomed: bool = False
    demo: bool = False
    """Whether a demo can be started from here."""
    offered: bool = False
    """Whether the plugin is missing and can be installed from here."""
    local: bool = False
    """Whether OpenCode is on this machine, so that there is something to install the plugin into."""
    elsewhere: bool = False
    """Whether a session that is not on screen waits for an answer."""
    whole: bool = False
    """Whether a text being read has nothing more to show."""
    questions: int = 0
    """Questions the agent asks at once."""
    several: bool = False
    """Whether more than one option of the question may be chosen."""
    own_words: bool = False
    """Whether words of one's own are an answer to the question."""
    noted: bool = False
    """Whether a note was distilled from the past session under the cursor."""
    refused: str = ""
    """Why the fact of a past session cannot be taken over; empty when it can."""


Check = Callable[[Situation], str]
"""Returns why an action is not possible now; empty when it is."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a key can do."""

    id: str
    keys: tuple[str, ...]
    label: str
    """A word or two, for the footer."""
    help: str
    """One sentence, for the help and the palette."""
    contexts: frozenset[str]
    group: str
    check: Check = lambda _: ""
    footer: int = 0
    """How long it stays in a footer that gets narrower: 0 is never shown, 9 goes last."""
