"""An answer to the agent's questions while it is put together: what is chosen, what comes next. No screen in here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from core.ledger.observations import Question

Next = Literal["", "write", "send", "nothing"]
"""What a step leads to: another look, the field for own words, the end, or no step as nothing is chosen."""


class Answering:
    """The questions of one request; after several of them comes a page that shows all answers.

    Attributes:
        questions: at least one is needed to answer anything.
        at: number of the question on screen from 0 on; `len(questions)` on the last page.
        cursor: row of the question on screen: its options, then the row for own words where they are an answer.
    """

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = tuple(questions)
        self.at = 0
        self.cursor = 0
        self._chosen: list[set[str]] = [set() for _ in self.questions]
        self._own = ["" for _ in self.questions]

    @property
    def question(self) -> Question | None:
        """The question on screen; None on the last page."""
        return self.questions[self.at] if self.at < len(self.questions) else None

    @property
    def rows(self) -> int:
        """Rows the cursor can be on."""
        asked = self.question
        return len(asked.options) + asked.custom if asked else 0

    @property
    def on_own(self) -> bool:
        """Whether the cursor is on the row for own words."""
        return self.question is not None and self.question.custom and self.cursor == self.rows - 1

    @property
    def own(self) -> str:
        """Own words for the question on screen."""
        return self._own[self.at] if self.question else ""

    @property
    def answers(self) -> tuple[tuple[str, ...], ...]:
        """By question the labels chosen, in their order, then the own words."""
        return tuple(map(self.answer, range(len(self.questions))))

    def answer(self, index: int) -> tuple[str, ...]:
        """The answer to one question."""
        labels = [o.label for o in self.questions[index].options if o.label in self._chosen[index]]
        own = self._own[index]
        return (*labels, own) if own and own not in labels else tuple(labels)

    def is_chosen(self, row: int) -> bool:
        """Whether this option of the question on screen is chosen."""
        asked = self.question
        return asked is not None and row < len(asked.options) and asked.options[row].label in self._chosen[self.at]

    def move(self, action: str) -> bool:
        """Carry out a movement of the cursor; False when it is none, or there is nothing to move over."""
        last = self.rows - 1
        to = {"down": self.cursor + 1, "up": self.cursor - 1, "top": 0, "bottom": last}.get(action)
        if to is None or last < 0:
            return False
        self.cursor = max(0, min(to, last))
        return True

    def go(self, by: int) -> None:
        """To the next question or the one before; the last page is only there for several."""
        last = len(self.questions) - (len(self.questions) < 2)
        self._to(max(0, min(self.at + by, last)))

    def number(self, index: int) -> Next:
        """A number was pressed: choose this option, or on the last page go to this question."""
        asked = self.question
        if asked is None:
            if index < len(self.questions):
                self._to(index)
            return ""
        if index >= len(asked.options):
            return ""
        self.cursor = index
        return self.tick()

    def tick(self) -> Next:
        """Choose the option under the cursor; of several, choose it or drop it."""
        asked = self.question
        if asked is None or not self.rows:
            return ""
        if self.on_own:
            return "write"
        label = asked.options[self.cursor].label
        if asked.multiple:
            self._chosen[self.at] ^= {label}
            return ""
        self._chosen[self.at] = {label}
        self._own[self.at] = ""
        return self._advance()

    def enter(self) -> Next:
        """Take what is under the cursor and go on; where several may be chosen, go on with those."""
        asked = self.question
        if asked is None:
            return "send" if any(self.answers) else "nothing"
        if not asked.multiple:
            return self.tick() if self.rows else "nothing"
        if self.on_own and not self.own:
            return "write"
        return self._advance() if self.answer(self.at) else "nothing"

    def write(self, words: str) -> Next:
        """Own words for the question on screen: in place of an option, or besides them; empty: none."""
        asked = self.question
        if asked is None or not asked.custom:
            return ""
        self.cursor = self.rows - 1
        self._own[self.at] = words.strip()
        if asked.multiple or not self.own:
            return ""
        self._chosen[self.at].clear()
        return self._advance()

    def _advance(self) -> Next:
        if len(self.questions) == 1:
            return "send"
        self._to(self.at + 1)
        return ""

    def _to(self, at: int) -> None:
        """To a question, the cursor on what was chosen there."""
        self.at, self.cursor = at, 0
        options = self.question.options if self.question else ()
        chosen = [row for row in range(len(options)) if self.is_chosen(row)]
        if chosen or self.own:
            self.cursor = chosen[0] if chosen else self.rows - 1
