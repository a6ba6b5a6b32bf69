"""The one table of everything a key can do: id, keys, words, where it applies, when it is possible and why not.

The footer, the help of each pane, the palette, the key cheatsheet and the dispatch of key presses all read it.
"""

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

_MAIN = frozenset(PANES)
_LISTS = _MAIN | {"picker"}
_READING = frozenset({"receipt", "help"})
_PERMISSION = frozenset({"permission"})
_QUESTION = frozenset({"question"})
_ASKED = _PERMISSION | _QUESTION
_MOVING = _LISTS | _READING | _ASKED
_ANYWHERE = _MAIN | {"welcome"}


@dataclass(frozen=True, slots=True)
class Situation:
    """What the user is looking at, as far as it decides whether an action is possible."""

    context: str
    """A pane, or `welcome`, `receipt`, `help`, `picker`, `permission`, `question`."""
    server: ServerView
    view: SessionView | None = None
    read_only: bool = False
    findings: tuple[FindingView, ...] = ()
    """The chosen findings, else the one under the cursor."""
    topic: str = ""
    """Topic under the cursor, in Findings and Escalation."""
    rows: int = 0
    """Rows of the list that has the keys."""
    chosen: int = 0
    filtered: bool = False
    zoomed: bool = False
    demo: bool = False
    """Whether a demo can be started from here."""
    offered: bool = False
    """Whether the plugin is missing and can be installed from here."""
    whole: bool = False
    """Whether a text being read has nothing more to show."""
    questions: int = 0
    """Questions the agent asks at once."""
    several: bool = False
    """Whether more than one option of the question may be chosen."""
    own_words: bool = False
    """Whether words of one's own are an answer to the question."""


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


def _writable(now: Situation) -> str:
    if now.read_only:
        where = f"in {now.server.host}" if now.server.host else "in the ledger that writes the file"
        return f"This dashboard only watches; change facts {where}."
    return "" if now.view else "No session is shown yet."


def _on_findings(now: Situation) -> str:
    return _writable(now) or ("" if now.findings else "No finding is under the cursor.")


def _on_one_finding(now: Situation) -> str:
    return _on_findings(now) or ("" if len(now.findings) == 1 else "Edit one finding at a time; esc drops the choice.")


def _on_topic(now: Situation) -> str:
    return _writable(now) or ("" if now.topic else "No topic is under the cursor.")


def _steps_waiting(now: Situation) -> str:
    refused = _writable(now)
    if refused or now.view is None:
        return refused
    waits = now.view.buffered or now.view.earlier or now.view.broken_off
    return "" if waits else "No steps wait for extraction."


def _tellable(now: Situation) -> str:
    refused = _writable(now)
    if refused:
        return refused
    if now.server.delivery == "off":
        return "Notes are off: injection_enabled is false."
    if now.context == "findings":
        return _on_findings(now)
    return "" if now.findings else "This topic has no finding to tell."


def _has_rows(now: Situation) -> str:
    return "" if now.rows else "The list is empty."


def _filterable(now: Situation) -> str:
    return "" if now.rows or now.filtered else "The list is empty: nothing to filter."


def _replaying(now: Situation) -> str:
    return "" if now.server.replay else "Only a replay has a speed."


def _unconnected(now: Situation) -> str:
    if now.server.state in ("searching", "none"):
        return "A server is looked for all the time."
    return "" if now.server.state in ("reconnecting", "refused") else "The connection needs no help."


def _asked(now: Situation) -> str:
    if now.read_only:
        return "This dashboard only watches; answer in OpenCode."
    return "" if now.view and now.view.permissions else "The agent waits for no answer."


def _expandable(now: Situation) -> str:
    return "All of it is shown." if now.whole else ""


def _answerable(now: Situation) -> str:
    return "This dashboard only watches; answer in OpenCode." if now.read_only else ""


def _optional(now: Situation) -> str:
    return _answerable(now) or ("" if now.rows else "There is nothing to choose from.")


def _tickable(now: Situation) -> str:
    return _answerable(now) or ("" if now.several else "Only one option can be chosen here.")


def _own(now: Situation) -> str:
    return _answerable(now) or ("" if now.own_words else "Only the options are an answer here.")


def _several_questions(now: Situation) -> str:
    return "" if now.questions > 1 else "There is only one question."


def _demo(now: Situation) -> str:
    return "" if now.demo else "The demo can only be started where no server was found."


def _installable(now: Situation) -> str:
    if now.server.replay or now.server.state == "file":
        return "A recording and a file need no plugin."
    if now.read_only:
        return "This dashboard only watches; `ledger-tui init` installs the plugin."
    return "" if now.offered else "Nothing to install: the plugin is there, or OpenCode is on another machine."


_FINDINGS = frozenset({"findings"})
_TOPICS = frozenset({"findings", "meters"})

ACTIONS: tuple[Action, ...] = (
    Action(
        "pin",
        ("p",),
        "pin",
        "Pin or unpin: pinned facts are never evicted and come first.",
        _FINDINGS,
        "Findings",
        _on_findings,
        6,
    ),
    Action(
        "delete",
        ("d",),
        "delete",
        "Delete; an extraction cannot bring it back, undo can.",
        _FINDINGS,
        "Findings",
        _on_findings,
        6,
    ),
    Action("edit", ("e",), "edit", "Change the text or the topic.", _FINDINGS, "Findings", _on_one_finding, 4),
    Action("add", ("a",), "add", "Add a fact by hand.", _MAIN, "Findings", _writable, 4),
    Action(
        "undo", ("u",), "undo", "Take back the last change; ten can be taken back.", _MAIN, "Findings", _writable, 4
    ),
    Action(
        "tell",
        ("i",),
        "tell the agent",
        "Put these facts in front of the agent at its next call.",
        _TOPICS,
        "Agent",
        _tellable,
        5,
    ),
    Action(
        "extract", ("x",), "extract now", "Extract facts from the waiting steps now.", _MAIN, "Agent", _steps_waiting, 6
    ),
    Action(
        "mute",
        ("m",),
        "mute",
        "Mute or unmute the topic: no notes about it, its meter goes on.",
        _TOPICS,
        "Agent",
        _on_topic,
        3,
    ),
    Action("reset", ("r",), "reset meter", "Set the topic's counters to zero.", _TOPICS, "Agent", _on_topic, 3),
    Action(
        "open",
        ("enter",),
        "open",
        "Open what is under the cursor: a finding's receipt, a step's output.",
        _LISTS,
        "List",
        _has_rows,
        7,
    ),
    Action("select", ("space",), "choose", "Choose the row, to act on several at once.", _MAIN, "List", _has_rows, 2),
    Action("select_all", ("A",), "choose all", "Choose every row of the list.", _MAIN, "List", _has_rows),
    Action("copy", ("y",), "copy", "Copy to the clipboard.", _MAIN | {"receipt"}, "List", _has_rows, 2),
    Action(
        "filter", ("/",), "filter", "Show only rows that contain the words you type.", _LISTS, "List", _filterable, 5
    ),
    Action("back", ("escape",), "back", "Drop the choice, then the filter, then the zoom.", _MAIN, "List"),
    Action("down", ("j", "down"), "down", "One down.", _MOVING, "Move"),
    Action("up", ("k", "up"), "up", "One up.", _MOVING, "Move"),
    Action("top", ("g", "home"), "top", "To the first.", _MOVING, "Move"),
    Action("bottom", ("G", "end"), "end", "To the last, and follow what comes.", _MOVING, "Move"),
    Action("page_down", ("pagedown", "ctrl+f"), "page down", "One page down.", _MOVING, "Move"),
    Action("page_up", ("pageup", "ctrl+b"), "page up", "One page up.", _MOVING, "Move"),
    Action("steps_pane", ("1",), "steps", "Go to Steps.", _MAIN, "Panes"),
    Action("findings_pane", ("2",), "findings", "Go to Findings.", _MAIN, "Panes"),
    Action("meters_pane", ("3",), "escalation", "Go to Escalation.", _MAIN, "Panes"),
    Action("extractions_pane", ("4",), "extractions", "Go to Extractions.", _MAIN, "Panes"),
    Action("log_pane", ("5",), "log", "Go to the Log.", _MAIN, "Panes"),
    Action("next_pane", ("tab",), "next pane", "Go to the next pane.", _MAIN, "Panes", footer=1),
    Action("previous_pane", ("shift+tab",), "previous pane", "Go to the pane before.", _MAIN, "Panes"),
    Action("zoom", ("z",), "zoom", "Give the pane the whole screen, and back.", _MAIN, "Panes", footer=2),
    Action("faster", ("+", "="), "faster", "Play the replay faster.", _ANYWHERE, "Replay", _replaying, 8),
    Action("slower", ("-",), "slower", "Play the replay slower.", _ANYWHERE, "Replay", _replaying, 8),
    Action("pause", ("0",), "pause", "Pause the replay, and go on.", _ANYWHERE, "Replay", _replaying, 8),
    Action("sessions", ("s",), "sessions", "Choose the session to show.", _ANYWHERE, "Program", footer=5),
    Action("demo", ("d",), "demo", "Start the demo: a recorded session.", frozenset({"welcome"}), "Program", _demo, 7),
    Action(
        "permit",
        ("P",),
        "answer",
        "Read what the agent waits for: allow it once, always or not; answer its question.",
        _ANYWHERE,
        "Program",
        _asked,
        8,
    ),
    Action(
        "init",
        ("I",),
        "install plugin",
        "Install the plugin for OpenCode: notes in flight, and no --port needed. Asks first.",
        _ANYWHERE,
        "Program",
        _installable,
    ),
    Action("retry", ("R",), "connect", "Try to connect to the server at once.", _ANYWHERE, "Program", _unconnected, 7),
    Action("theme", ("T",), "theme", "Next theme: dark, light, the terminal's own colours.", _ANYWHERE, "Program"),
    Action("palette", ("ctrl+p", ":"), "palette", "Search every action by name.", _ANYWHERE, "Program", footer=1),
    Action(
        "expand",
        ("o",),
        "show all",
        "Show all calls and all lines, or only those that support the fact best.",
        frozenset({"receipt"}),
        "List",
        _expandable,
        6,
    ),
    Action("once", ("o",), "once", "Allow it, and ask again next time.", _PERMISSION, "Answer", _answerable, 8),
    Action("always", ("a",), "always", "Allow it from now on, without asking.", _PERMISSION, "Answer", _answerable, 8),
    Action(
        "answer",
        ("enter",),
        "choose",
        "Choose what is under the cursor, or go on with what is chosen; at the end, send the answer.",
        _QUESTION,
        "Answer",
        _answerable,
        8,
    ),
    Action(
        "tick",
        ("space",),
        "tick",
        "Choose or drop the option under the cursor, where several can be chosen.",
        _QUESTION,
        "Answer",
        _tickable,
        7,
    ),
    Action(
        "option",
        tuple("123456789"),
        "option",
        "Choose the option with this number, or drop it where several can be chosen.",
        _QUESTION,
        "Answer",
        _optional,
        5,
    ),
    Action("own", ("o",), "own words", "Answer in your own words.", _QUESTION, "Answer", _own, 6),
    Action(
        "next_question", ("tab", "l", "right"), "next", "Next question.", _QUESTION, "Answer", _several_questions, 4
    ),
    Action(
        "previous_question",
        ("shift+tab", "h", "left"),
        "previous",
        "Question before.",
        _QUESTION,
        "Answer",
        _several_questions,
        3,
    ),
    Action(
        "reject", ("r",), "reject", "Refuse; the agent is told so, and its turn ends.", _ASKED, "Answer", _answerable, 8
    ),
    Action(
        "close",
        ("escape", "q", "ctrl+c"),
        "back",
        "Go back to the dashboard.",
        _READING | _ASKED | {"picker"},
        "Program",
        footer=9,
    ),
    Action(
        "help",
        ("?",),
        "help",
        "Say what each key does here.",
        _ANYWHERE | _ASKED | {"receipt", "picker"},
        "Program",
        footer=9,
    ),
    Action("quit", ("q", "ctrl+c"), "quit", "Leave; the agent goes on undisturbed.", _ANYWHERE, "Program", footer=9),
)
"""Every action, in the order in which footer and help show them."""

BY_ID = {action.id: action for action in ACTIONS}
