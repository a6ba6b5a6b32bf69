"""A question with a key for each answer: only for what cannot be undone."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult

from core.views import Estimate
from ledger_tui.desk import Desk
from ledger_tui.format import count, plural
from ledger_tui.keys import shown
from ledger_tui.rows.look import Line, wrap_line
from ledger_tui.screens.dialog import Box, Dialog
from ledger_tui.widgets.bars import Hint

_WIDTH = 58


class Ask(Dialog[str | None]):
    """Dismissed with the key of the answer; None for escape."""

    def __init__(self, desk: Desk, title: str, text: str, answers: dict[str, str]) -> None:
        super().__init__(desk)
        self._title = title
        self._text = text
        self._answers = answers

    def compose(self) -> ComposeResult:
        """The question and a line per answer."""
        lines: list[Line] = [[], *wrap_line([(self._text, "text")], _WIDTH - 6), []]
        for key, meaning in {**self._answers, "escape": "leave it"}.items():
            lines.append([(f"{shown(key):>4}", "key"), (f"  {meaning}", "muted")])
        yield Box(self.desk.brush, self._title, [*lines, []], _WIDTH)
        yield self.hints

    def footer(self) -> list[Hint]:
        """The answers."""
        answers = [(shown(key), meaning, True, 8, "") for key, meaning in self._answers.items()]
        return [*answers, ("esc", "leave it", True, 9, "")]

    async def pressed(self, event: events.Key) -> None:
        """The answers' keys and escape."""
        event.stop()
        event.prevent_default()
        key = event.character if event.character in self._answers else event.key
        if key in self._answers:
            self.dismiss(key)
        elif key in ("escape", "q", "ctrl+c"):
            self.dismiss(None)


def extract_question(estimate: Estimate, buffered: int) -> tuple[str, str, dict[str, str]]:
    """Title, text and answers of the question whether steps from before the ledger are extracted as well."""
    sent = (
        f"To extract facts from them, about {estimate.tokens:,} tokens ({count(estimate.prompt_chars)} characters) go "
        "to the model. That cannot be taken back."
    )
    before = f"{plural(estimate.steps, 'step')} happened before the ledger came."
    text = f"{before} {sent if estimate.tokens else 'Rules read them; no model is asked.'}"
    answers = {"y": "extract the earlier steps too" if buffered else "extract the earlier steps"}
    if buffered:
        answers["n"] = f"only the {plural(buffered, 'step')} since then"
    return "Extract earlier steps?", text, answers
