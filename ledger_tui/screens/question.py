"""A question the agent waits for: options to choose from, own words where they are an answer, a key to refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from core.views import Answers, PermissionView
from ledger_tui.actions import Situation
from ledger_tui.answering import Answering, Next
from ledger_tui.desk import Desk
from ledger_tui.format import tame
from ledger_tui.keys import canonical, shown
from ledger_tui.rows.asked import question_lines
from ledger_tui.rows.look import Line
from ledger_tui.screens.form import TameInput
from ledger_tui.screens.request import Request
from ledger_tui.widgets.bars import Hint
from ledger_tui.widgets.framed import Thumb
from ledger_tui.widgets.reader import Reader

OWN_CHARS = 4_000
"""Characters of own words that are taken."""
_FIELD_LINES = 3
_TYPING: list[Hint] = [("enter", "take these words", True, 9, ""), ("esc", "back to the options", True, 9, "")]


class OptionReader(Reader):
    """Keeps the cursor's line in sight until the text is scrolled by hand."""

    cursor_line: int | None = None

    def body(self, width: int, height: int) -> tuple[list[Line], Thumb]:
        """The visible lines."""
        out = super().body(width, height)
        line = self.cursor_line
        if line is None or self.top <= line < self.top + height:
            return out
        self.top = line if line < self.top else line - height + 1
        return super().body(width, height)

    def scroll(self, lines: int) -> None:
        """By so many lines."""
        self.cursor_line = None
        super().scroll(lines)


class AskedQuestion(Request[str | None]):
    """Gives the answer to the host and is dismissed with what to say of it; None when there was no answer."""

    context: ClassVar[str] = "question"
    AUTO_FOCUS: ClassVar[str | None] = ""
    """The field for own words has the keys only while it is there."""

    def __init__(self, desk: Desk, asked: PermissionView) -> None:
        self.state = Answering(asked.questions)
        self._page, self._follows = 0, False
        self._pressed = ""
        super().__init__(desk, asked, "")
        self.words = TameInput(id="words", placeholder="Your own words", max_length=OWN_CHARS)
        self.words.display = False

    def make_reader(self, title: str, lines: Callable[[int], list[Line]]) -> Reader:
        """One in which a cursor moves."""
        return OptionReader(self.desk.brush, title, lines, id="box")

    def compose(self) -> ComposeResult:
        """The question, the field for own words below it, the keys."""
        self.words.cursor_blink = False
        with Vertical(id="asked"):
            yield self.reader
            yield self.words
        yield self.hints

    def situation(self) -> Situation:
        """What the question on screen allows."""
        host, question = self.desk.host, self.state.question
        return Situation(
            self.context,
            host.server,
            read_only=host.read_only,
            rows=len(question.options if question else self.state.questions),
            questions=len(self.state.questions),
            several=question is not None and question.multiple,
            own_words=question is not None and question.custom,
        )

    def footer(self) -> list[Hint]:
        """The keys that answer; those of the field while it is typed into."""
        if self.typing:
            return _TYPING
        return [self._hint(*hint) for hint in super().footer()]

    def _hint(self, key: str, label: str, possible: bool, rank: int, action: str) -> Hint:
        """A key of the table in the words of the page on screen."""
        question, last = self.state.question, min(self.situation().rows, len(self._numbers))
        if action == "answer" and (question is None or question.multiple):
            label = "send" if question is None else "go on"
        elif action == "option":
            key += f"-{shown(self._numbers[last - 1])}" if last > 1 else ""
            label = "option" if question else "question"
        return key, label, possible, rank, action

    @property
    def typing(self) -> bool:
        """Whether own words are being typed."""
        return bool(self.words.display)

    @property
    def _numbers(self) -> tuple[str, ...]:
        return self.desk.keys.keys("option")

    def lines(self, width: int) -> list[Line]:
        """The page on screen."""
        out, line = question_lines(self.state, self.who, self._numbers, width, self.look())
        if isinstance(self.reader, OptionReader):
            self.reader.cursor_line = line if self._follows else None
        return out

    def fit(self, below: int = 0) -> None:
        """Draw anew; the field below needs room while it is there."""
        several = len(self.state.questions) > 1
        page = f"{self.state.at + 1} of {len(self.state.questions)}" if self.state.question else "all"
        self.reader.info = [(page, "muted")] if several else []
        super().fit(_FIELD_LINES if self.typing else below)

    async def pressed(self, event: events.Key) -> None:
        """While own words are typed, only the keys that the field leaves; else those of the table."""
        if self.typing:
            self._typed(event)
            return
        self._pressed = canonical(event.key, event.character)
        await super().pressed(event)
        self._pressed = ""

    def _typed(self, event: events.Key) -> None:
        """Keys that the field has left; those of its own bindings must get through to it."""
        if event.key in ("escape", "ctrl+c"):
            event.stop()
            self._write(on=False)
        elif event.key == "enter":
            event.stop()
            words = self.words.value
            self._write(on=False)
            self._follow(self.state.write(words))

    async def act(self, action: str, now: Situation) -> None:
        """Choose, go to another question, send, refuse, move, go back."""
        steps: dict[str, Callable[[], Next]] = {
            "answer": self.state.enter,
            "tick": self.state.tick,
            "option": self._number,
            "own": lambda: "write",
        }
        if action in steps:
            self._follow(steps[action]())
        elif action in ("next_question", "previous_question"):
            self.state.go(1 if action == "next_question" else -1)
            self._redraw()
        elif action == "reject":
            self._send(None)
        elif self.state.move(action):
            self._follow("")
        else:
            await super().act(action, now)

    def _number(self) -> Next:
        """The option whose number was pressed; a click on the footer names none."""
        return self.state.number(self._numbers.index(self._pressed)) if self._pressed in self._numbers else ""

    def _follow(self, step: Next) -> None:
        if step == "send":
            self._send(self.state.answers)
            return
        if step == "write":
            self._write(on=True)
        elif step == "nothing":
            self.say(f"Nothing is chosen yet; {self.desk.keys.shown('reject')} refuses to answer.", ok=False)
        self._redraw()

    def _redraw(self) -> None:
        """Each page is shown from its start; after that the cursor stays in sight."""
        self._follows = self.state.at == self._page
        if not self._follows:
            self._page, self.reader.top = self.state.at, 0
        self.fit()

    def _write(self, *, on: bool) -> None:
        """Open the field for own words with those there are, or close it."""
        self.words.display = on
        if on:
            self.words.value = tame(self.state.own)
            self.words.cursor_position = len(self.words.value)
            self.words.focus()
        else:
            self.set_focus(None)
        self.fit()

    def _send(self, answers: Answers | None) -> None:
        self.desk.host.reply_question(self.asked.id, answers)
        self.dismiss("Refused to answer." if answers is None else "Answered.")
