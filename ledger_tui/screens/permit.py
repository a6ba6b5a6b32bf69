"""What the agent waits for, whole, and the keys that answer it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual import events
from textual.app import ComposeResult

from core.views import Pane, PermissionView, Reply, SessionView
from ledger_tui.actions import Situation
from ledger_tui.desk import Desk
from ledger_tui.format import cut, tame
from ledger_tui.keys import canonical
from ledger_tui.rows.look import Line, wrap_line
from ledger_tui.screens.dialog import Dialog
from ledger_tui.widgets.bars import Hint
from ledger_tui.widgets.reader import Reader

_WIDTH = 76
_MARGIN = 6
_ANSWERS: dict[str, Reply] = {"o": "once", "a": "always", "r": "reject"}


class Permit(Dialog[Reply | None]):
    """Dismissed with the answer; None for escape, and when somebody else answered."""

    context: ClassVar[str] = "help"
    """Its keys for moving; those for the answers are its own."""

    def __init__(self, desk: Desk, asked: PermissionView) -> None:
        super().__init__(desk)
        self._asked = asked
        title = "The agent asks" if asked.kind == "question" else "The agent asks for a permission"
        self.reader = Reader(desk.brush, title, self._lines, id="box")

    def compose(self) -> ComposeResult:
        """The request and the answers."""
        yield self.reader
        yield self.hints

    def on_mount(self) -> None:
        """As high as the text, as far as there is room."""
        self._fit()

    def on_resize(self, event: events.Resize) -> None:
        """Another size."""
        self._fit()

    def footer(self) -> list[Hint]:
        """The answers there are."""
        answers: list[Hint] = [(key, reply, True, 8, "") for key, reply in self._answers.items()]
        return [*answers, ("esc", "back", True, 9, "")]

    def changed(self, panes: frozenset[Pane], view: SessionView | None) -> None:
        """Close when the request was answered elsewhere, or its session left the screen."""
        if self.is_current and self._asked.id not in {asked.id for asked in (view.permissions if view else ())}:
            self.dismiss(None)

    async def pressed(self, event: events.Key) -> None:
        """Answer, move, or go back."""
        event.stop()
        event.prevent_default()
        key = canonical(event.key, event.character)
        action = self.desk.keys.action(key, self.context)
        if key in self._answers:
            self.dismiss(self._answers[key])
        elif action is not None:
            await self.act(action.id, self.situation())

    async def act(self, action: str, now: Situation) -> None:
        """Move or go back."""
        if not self.reader.act(action) and action == "close":
            self.dismiss(None)

    @property
    def _answers(self) -> dict[str, Reply]:
        return _ANSWERS if self._asked.kind == "permission" else {}

    def _fit(self) -> None:
        width = max(20, min(_WIDTH, self.size.width - 2))
        wanted = len(self._lines(width - _MARGIN)) + 2
        self.reader.styles.width = width
        self.reader.styles.height = max(4, min(wanted, self.size.height - 2))
        self.reader.remake()

    def _lines(self, width: int) -> list[Line]:
        asked = self._asked
        out: list[Line] = [[(tame(asked.title), "strong")], []]
        for text in asked.text.split("\n"):
            out += [[(piece, "text")] for piece in _pieces(text, width)]
        if asked.patterns and asked.patterns != asked.text:
            out += [[], *wrap_line([(f"This time for: {tame(asked.patterns)}", "muted")], width)]
        if asked.kind == "question":
            return [*out, [], *wrap_line([("Answer it in OpenCode.", "waiting")], width)]
        meanings: dict[Reply, str] = {
            "once": "allow this, and ask again next time",
            "always": f"allow {tame(asked.always) or 'it'} from now on, without asking",
            "reject": "refuse; the agent is told so",
        }
        out.append([])
        for key, reply in _ANSWERS.items():
            first, *more = wrap_line([(f"{reply}: {meanings[reply]}", "muted")], width - 5)
            out += [[(f"{key:>3}  ", "key"), *first], *([("     ", "text"), *line] for line in more)]
        return out


def _pieces(text: str, width: int) -> Iterator[str]:
    """A line broken wherever it is full: nothing of what is to be allowed may be missing."""
    rest = tame(text)
    while True:
        head = cut(rest, width) or rest[:1]
        yield head
        rest = rest[len(head) :]
        if not rest:
            return
