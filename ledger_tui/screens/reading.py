"""Full-screen texts: a receipt, a step, an extraction, an event."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult

from core.ledger.steps import Step
from core.views import ExtractionView, FindingView, LogRow, Pane, SessionView
from ledger_tui.actions import Situation
from ledger_tui.desk import Desk
from ledger_tui.rows import reading
from ledger_tui.rows.look import Line, Look
from ledger_tui.screens.base import LedgerScreen
from ledger_tui.widgets.reader import Reader

Content = Callable[[int, Look, bool], list[Line]]
"""Makes the lines for a width; the flag asks for all lines of the outputs."""


class Reading(LedgerScreen[None]):
    """A text with its own keys; `copied` gives what `copy` copies."""

    context: ClassVar[str] = "receipt"

    def __init__(
        self,
        desk: Desk,
        title: str,
        content: Content,
        copied: Callable[[], tuple[str, str]],
        *,
        live: bool = False,
        whole: bool = False,
    ) -> None:
        super().__init__(desk)
        self._content = content
        self._copied = copied
        self._live = live
        self._whole = whole
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
        return Situation(self.context, host.server, read_only=host.read_only, rows=1, whole=self._whole)

    def changed(self, panes: frozenset[Pane], view: SessionView | None) -> None:
        """A receipt follows its finding."""
        if self._live and "findings" in panes:
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


def receipt(desk: Desk, finding: FindingView) -> Reading:
    """The receipt of a finding, kept up to date while it is open."""

    def current() -> FindingView:
        return desk.host.receipt(finding.id) or finding

    def content(width: int, look: Look, everything: bool) -> list[Line]:
        gone: list[Line] = (
            [] if desk.host.receipt(finding.id) else [[("This finding is no longer in the ledger.", "waiting")], []]
        )
        return gone + reading.receipt_lines(current(), width, look, everything=everything)

    return Reading(
        desk, "Receipt", content, lambda: (reading.receipt_text(current()), "the fact and its calls"), live=True
    )


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


def event(desk: Desk, shown: LogRow) -> Reading:
    """An event of the log."""

    def content(width: int, look: Look, everything: bool) -> list[Line]:
        return reading.event_lines(shown, width, look)

    text = f"{shown.kind} {shown.text}\n{shown.detail}".strip()
    return Reading(desk, "Log", content, lambda: (text, "the event"), whole=True)
