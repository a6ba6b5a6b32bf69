"""What each key does here: made from the table of actions."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult

from ledger_tui.actions import ACTIONS, PANE_TITLES, Action, Situation
from ledger_tui.desk import Desk
from ledger_tui.format import width_of
from ledger_tui.keys import shown
from ledger_tui.rows.delivery import figure_lines
from ledger_tui.rows.look import Line, say, wrap_line
from ledger_tui.screens.base import LedgerScreen
from ledger_tui.widgets.reader import Reader

_ABOUT = {
    "steps": "What the agent does, oldest first: one line per call. The bar counts steps to the next extraction.",
    "findings": "What is established, by topic, pinned facts first.",
    "meters": "How often the agent looked again at what is known. Full gauge: it is told to stop.",
    "extractions": "Each time facts were distilled from the steps, and what came of it.",
    "held": "Facts that no output bears out, or that read like an order, wait here for you: they are not shown to the "
    "agent until you accept them. Choose several with {select}.",
    "inbox": "Facts of which one replaced the other, that may contradict each other, or that may say the same. Nothing "
    "has to be decided: until then a replaced fact is not shown to the agent, and of the others both are.",
    "repeats": "How often the same command gave the same output again, and what the ledger has cost.",
    "history": "What OpenCode has kept of earlier sessions, the newest first. It is only read, nothing is changed; "
    "secrets are masked. A filter that begins with ? searches all that was said.",
    "past": "One past session: the facts known of it, then what was said and done, tool calls folded.",
    "past_fact": "A fact that was established in this past session. Taken over, it is a fact of your own here.",
    "log": "All that the ledger noticed and did.",
    "welcome": "No session is shown yet.",
    "receipt": "Where it came from. Marked words are those of the fact, found in the output.",
    "held_receipt": "Where it came from, and what speaks against it. You decide whether it holds.",
    "picker": "The sessions of this folder, the most recently active first.",
    "permission": "The agent waits until this is allowed or refused, here or in OpenCode.",
    "question": "The agent waits for an answer, given here or in OpenCode. Several answers are shown again at the end.",
}
_TITLES = {
    **PANE_TITLES,
    **{"held": "Held facts", "held_receipt": "Receipt", "inbox": "Pairs of facts"},
    **{"history": "Past sessions", "past": "Past session", "past_fact": "Past session"},
}
_WITH_FIGURES = ("meters", "log")
"""Panes that are about notes: their help says what became of them."""
_SIGNS = (
    ("known", "a fact"),
    ("pinned", "pinned: never evicted"),
    ("fresh", "seen again after a doubt"),
    ("doubtful", "its file changed since"),
    ("held", "waits for you"),
    ("superseded", "replaced by a newer fact"),
    ("marked", "look twice before you believe it"),
)


class Help(LedgerScreen[None]):
    """A page of keys for what the user was looking at."""

    context: ClassVar[str] = "help"

    def __init__(self, desk: Desk, about: Situation) -> None:
        super().__init__(desk)
        self._about = about
        title = _TITLES.get(about.context, about.context.capitalize())
        self.reader = Reader(desk.brush, f"Help: {title}", self._lines)

    def compose(self) -> ComposeResult:
        """Text and footer."""
        yield self.reader
        yield self.hints

    async def act(self, action: str, now: Situation) -> None:
        """Move or go back."""
        if not self.reader.act(action) and action == "close":
            self.dismiss(None)

    def recolour(self) -> None:
        """Other colours."""
        super().recolour()
        self.reader.repaint(whole=True)

    def _lines(self, width: int) -> list[Line]:
        context = self._about.context
        out: list[Line] = wrap_line(self._about_lines(), width)
        if context in _WITH_FIGURES:
            for line in figure_lines(self._about.server, self._about.view):
                out += wrap_line(line, width)
        groups: dict[str, list[Action]] = {}
        for action in ACTIONS:
            if context in action.contexts:
                groups.setdefault(action.group, []).append(action)
        for group, actions in groups.items():
            out += [[], [(group, "topic")]]
            for action in actions:
                out += self._entry(action, width)
        return out + self._legend() if context == "findings" else out

    def _about_lines(self) -> Line:
        said = say(_ABOUT.get(self._about.context, ""), self.look())
        return [(text, "text" if style == "muted" else style) for text, style in said]

    def _entry(self, action: Action, width: int) -> list[Line]:
        keys = " ".join(map(shown, self.desk.keys.keys(action.id))) or "no key"
        reason = action.check(self._about)
        said: Line = [(action.help, "faint" if reason else "text")]
        if reason:
            said.append((f"  {reason}", "waiting"))
        first, *more = wrap_line(said, width - 18)
        style = "faint" if reason else "key"
        out: list[Line] = [[(f"  {keys}", style), (" " * max(1, 16 - width_of(keys)), "text"), *first]]
        return out + [[(" " * 18, "text"), *line] for line in more]

    def _legend(self) -> list[Line]:
        out: list[Line] = [[], [("Signs", "topic")]]
        return out + [[(f"  {self.desk.brush.signs.of(role):<16}", role), (text, "text")] for role, text in _SIGNS]


def help_screen(desk: Desk, about: Situation) -> Help:
    """The help for what the user looks at."""
    return Help(desk, about)
