"""Full-screen texts: a receipt, a step, an extraction, an event."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult

from core.ledger.steps import Step
from core.views import ExtractionView, FindingView, LogRow, PairView, Pane, SessionView
from ledger_tui.actions import Situation
from ledger_tui.desk import Desk
from ledger_tui.format import tame
from ledger_tui.rows import reading
from ledger_tui.rows.look import Line, Look, wrap_line
from ledger_tui.rows.receipt import receipt_lines, receipt_text
from ledger_tui.screens.base import LedgerScreen
from ledger_tui.widgets.reader import Reader

Content = Callable[[int, Look, bool], list[Line]]
"""Makes the lines for a width; the flag asks for all lines of the outputs."""


Copied = Callable[[], tuple[str, str]]
"""Gives the text to copy, and what to call it."""


class Reading(LedgerScreen[str | None]):
    """A text with its own keys. Dismissed with the id of an action that is not the text's own business.

    Args:
        desk: what all screens share.
        title: stands in the frame.
        content: makes the lines.
        copied: what `copy` copies.
        follows: panes whose changes change the text.
        whole: there is never more to show.
        held: the finding that is read, while it waits for a person.
    """

    context: ClassVar[str] = "receipt"

    def __init__(
        self,
        desk: Desk,
        title: str,
        content: Content,
        copied: Copied,
        *,
        follows: frozenset[Pane] = frozenset(),
        whole: bool = False,
        held: Callable[[], FindingView | None] = lambda: None,
    ) -> None:
        super().__init__(desk)
        self._content = content
        self._copied = copied
        self._follows = follows
        self._whole = whole
        self._held = held
        self._everything = False
        self.reader = Reader(desk.brush, title, self._lines)

    def _lines(self, width: int) -> list[Line]:
        return self._content(width, self.look(), self._everything)

    def compose(self) -> ComposeResult:
        """Text and footer."""
        yield self.reader
        yield self.hints

    def situation(self) -> Situation:
        """There is always something to copy here."""
        host = self.desk.host
        held = self._held()
        return Situation(
            "held_receipt" if held else self.context,
            host.server,
            host.view() if held else None,
            read_only=host.read_only,
            findings=(held,) if held else (),
            rows=1,
            whole=self._whole,
        )

    def changed(self, panes: frozenset[Pane], view: SessionView | None) -> None:
        """The text follows what it is about."""
        if self._follows & panes:
            self.reader.remake()

    def recolour(self) -> None:
        """Other colours."""
        super().recolour()
        self.reader.repaint(whole=True)

    async def act(self, action: str, now: Situation) -> None:
        """Move, copy, show more, go back."""
        if self.reader.act(action):
            return
        if action == "close":
            self.dismiss(None)
        elif action == "expand":
            self._everything = not self._everything
            self.reader.remake()
        elif action == "copy":
            from ledger_tui.clipboard import copy  # noqa: PLC0415

            self.say(await copy(self.app, *self._copied(), self.desk.environ))
        elif action == "help":
            from ledger_tui.screens.help import help_screen  # noqa: PLC0415

            await self.app.push_screen(help_screen(self.desk, now))
        else:
            self.dismiss(action)


def receipt(desk: Desk, finding: FindingView) -> Reading:
    """The receipt of a finding, kept up to date while it is open."""

    def current() -> FindingView:
        return desk.host.receipt(finding.id) or finding

    def content(width: int, look: Look, everything: bool) -> list[Line]:
        gone: list[Line] = (
            [] if desk.host.receipt(finding.id) else [[("This finding is no longer in the ledger.", "waiting")], []]
        )
        return gone + receipt_lines(current(), width, look, everything=everything)

    def held() -> FindingView | None:
        return current() if current().state == "held" and desk.host.receipt(finding.id) else None

    def copied() -> tuple[str, str]:
        return receipt_text(current()), "the fact and its calls"

    return Reading(desk, "Receipt", content, copied, follows=frozenset({"findings"}), held=held)


def pair(desk: Desk, shown: PairView) -> Reading:
    """The receipts of both facts of a pair, the newer one first."""

    def both() -> list[FindingView]:
        return [desk.host.receipt(finding.id) or finding for finding in (shown.new, shown.old)]

    def content(width: int, look: Look, everything: bool) -> list[Line]:
        newer, older = (receipt_lines(finding, width, look, everything=everything) for finding in both())
        line = look.signs.frame[4] * width
        return [[("The newer", "title")], [], *newer, [], [(line, "frame")], [], [("The older", "title")], [], *older]

    def copied() -> tuple[str, str]:
        return "\n\n\n".join(map(receipt_text, both())), "both facts and their calls"

    return Reading(desk, "Receipts", content, copied, follows=frozenset({"findings"}))


def step(desk: Desk, shown: Step, agent: str) -> Reading:
    """A finished step."""

    def content(width: int, look: Look, everything: bool) -> list[Line]:
        return reading.step_lines(shown, agent, width, look, everything=everything)

    return Reading(desk, "Step", content, lambda: ("\n\n".join(map(reading.call_text, shown.calls)), "the step"))


def extraction(desk: Desk, shown: ExtractionView) -> Reading:
    """An extraction as it was when opened."""

    def content(width: int, look: Look, everything: bool) -> list[Line]:
        return reading.extraction_lines(shown, width, look)

    return Reading(
        desk,
        "Extraction",
        content,
        lambda: (f"{shown.id} {shown.state} {shown.error}".strip(), "the extraction"),
        whole=True,
    )


def sentence(desk: Desk, title: str, text: str) -> Reading:
    """A sentence that has no room in its row."""

    def content(width: int, look: Look, everything: bool) -> list[Line]:
        return wrap_line([(tame(text[:2_000]), "text")], width)

    return Reading(desk, title, content, lambda: (text, "the sentence"), whole=True)


def event(desk: Desk, shown: LogRow) -> Reading:
    """An event of the log."""

    def content(width: int, look: Look, everything: bool) -> list[Line]:
        return reading.event_lines(shown, width, look)

    text = f"{shown.kind} {shown.text}\n{shown.detail}".strip()
    return Reading(desk, "Log", content, lambda: (text, "the event"), whole=True)
