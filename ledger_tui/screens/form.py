"""The form for a fact and its topic: enter saves, escape leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.suggester import SuggestFromList
from textual.widgets import Input, TextArea

from ledger_tui.desk import Desk
from ledger_tui.format import tame
from ledger_tui.rows.look import Line, clip, measure
from ledger_tui.screens.dialog import Dialog
from ledger_tui.widgets.bars import Bar, Hint, fitting

_KEYS: list[Hint] = [
    ("enter", "save", True, 9, ""),
    ("esc", "leave", True, 9, ""),
    ("tab", "other field", True, 3, ""),
    ("ctrl+j", "new line", True, 2, ""),
]

NOTE_CHARS = 400
"""Characters of a fact that fit into a note."""


def tame_lines(text: str) -> str:
    """`text` with every line tame; Textual's own input widgets would hand control characters to the terminal."""
    return "\n".join(map(tame, text.split("\n")))


class FactArea(TextArea):
    """Several lines of soft-wrapped text in which enter saves and ctrl+j begins a new line.

    Textual calls the handlers of all base classes too, unless the default is prevented.
    """

    async def _on_key(self, event: events.Key) -> None:
        if event.key in ("enter", "escape"):
            event.prevent_default()
        elif event.key == "ctrl+j":
            event.stop()
            event.prevent_default()
            self.insert("\n")

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert(tame_lines(event.text.replace("\r\n", "\n").replace("\r", "\n")))


class TameInput(Input):
    """One line; what is pasted is made tame."""

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_text_at_cursor(tame(" ".join(event.text.split())))


class Form(Dialog[None]):
    """Calls `save(fact, topic)` with both stripped, once both are there."""

    def __init__(
        self, desk: Desk, title: str, fact: str, topic: str, topics: Sequence[str], save: Callable[[str, str], None]
    ) -> None:
        super().__init__(desk)
        self._title = title
        self._save = save
        self._complaint = ""
        self._before = (fact, topic)
        self.fact = FactArea(tame_lines(fact), id="fact", soft_wrap=True, tab_behavior="focus", show_line_numbers=False)
        self.topic = TameInput(
            tame(topic),
            id="topic",
            placeholder="file:model.ckpt",
            suggester=SuggestFromList(list(map(tame, topics)), case_sensitive=False),
        )
        self.below = Bar(desk.brush, self._below, id="below")

    def compose(self) -> ComposeResult:
        """Labels, fields and a line for what is wrong."""
        brush = self.desk.brush
        self.fact.cursor_blink = False
        self.topic.cursor_blink = False
        with Vertical(id="form"):
            yield Bar(brush, lambda width, height: [[(f" {self._title} ", "title-active")]], id="form-title")
            yield Bar(brush, lambda width, height: [[("Fact", "muted")]], id="fact-label")
            yield self.fact
            yield Bar(
                brush,
                lambda width, height: [[("Topic", "muted"), ("  the file or subject it is about", "faint")]],
                id="topic-label",
            )
            yield self.topic
            yield self.below

    def on_mount(self) -> None:
        """Start in the fact, at its end."""
        self.fact.focus()
        self.fact.move_cursor(self.fact.document.end)

    def _below(self, width: int, height: int) -> list[Line]:
        if self._complaint:
            return [[(f"{self.desk.brush.signs.warn} {self._complaint}", "error")]]
        length = len(self.fact.text.strip())
        line: Line = []
        if length > NOTE_CHARS:
            line = [(f"{length} characters; a note shows the first {NOTE_CHARS}.   ", "waiting")]
        for key, label, *_ in fitting(_KEYS, width - measure(line)):
            line += [(key, "key"), (f" {label}   ", "muted")]
        return [clip(line, width)]

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """What was complained about may be right now."""
        self._complaint = ""
        self.below.repaint()

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was complained about may be right now."""
        self._complaint = ""
        self.below.repaint()

    async def pressed(self, event: events.Key) -> None:
        """Keys that the fields leave: enter saves, escape leaves."""
        if event.key in ("escape", "ctrl+c"):
            event.stop()
            self.dismiss(None)
        elif event.key == "enter":
            event.stop()
            self._try()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in the topic saves too."""
        event.stop()
        self._try()

    def _try(self) -> None:
        fact, topic = self.fact.text.strip(), self.topic.value.strip()
        if not fact:
            self._complain("A fact needs words.", self.fact)
        elif not topic:
            self._complain("A fact needs a topic, for example file:model.ckpt.", self.topic)
        else:
            self.dismiss(None)
            self._save(*self._as_before(fact, topic))

    def _as_before(self, fact: str, topic: str) -> tuple[str, str]:
        """What was not changed keeps characters that the form does not show."""
        old_fact, old_topic = self._before
        if fact == tame_lines(old_fact).strip():
            fact = old_fact
        return fact, old_topic if topic == tame(old_topic).strip() else topic

    def _complain(self, text: str, field: TextArea | Input) -> None:
        self._complaint = text
        field.focus()
        self.below.repaint()
