"""What the list of past sessions and the view of one have in common: a list, a filter, work in threads."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult

from core.errors import LedgerError
from ledger_tui.desk import Desk
from ledger_tui.rows.look import Line, Look
from ledger_tui.screens.base import LedgerScreen
from ledger_tui.screens.history_job import Stopped
from ledger_tui.widgets.framed import Tab
from ledger_tui.widgets.listing import ListPane

Work = Callable[[], Coroutine[Any, Any, None]]
"""Makes the coroutine when it is run: one that is cancelled before would never be awaited."""


class PastScreen(LedgerScreen[None]):
    """One list that fills the screen; its content is read in threads, which end when the screen is left."""

    heading: ClassVar[str] = ""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.trouble = ""
        """Why there is nothing to show, as a sentence."""
        self.reading = ""
        """What is being read; empty when nothing is."""
        self.pane = ListPane(desk.brush, desk.look, self._empty, pane=self.context, tail=False)
        self.pane.active = True
        self.pane.tabs = (Tab(self.context, self.heading, True),)
        self.pane.header = self.header

    def compose(self) -> ComposeResult:
        """The list and the footer."""
        yield self.pane
        yield self.hints

    def header(self, width: int, look: Look) -> list[Line]:
        """Lines above the list."""
        return []

    def nothing(self) -> str:
        """The sentence for an empty list that was read without trouble."""
        raise NotImplementedError

    def _empty(self, look: Look) -> Line:
        if self.trouble:
            return [(f"{look.signs.warn} ", "warn"), (self.trouble, "text")]
        return [(f"{self.reading} …" if self.reading else self.nothing(), "muted")]

    def begin(self, work: Work, doing: str) -> None:
        """Start `work`, in place of what is still under way."""
        self.trouble, self.reading = "", doing
        self.start(partial(self._guarded, work), "reading")
        self.show_state()

    def start(self, work: Work, group: str) -> None:
        """Run `work` in place of what `group` still runs."""
        # mypy cannot tell the result of a worker that nobody waits for.
        self.run_worker(work, group=group, exclusive=True)  # type: ignore[arg-type]

    async def _guarded(self, work: Work) -> None:
        try:
            await work()
        except LedgerError as error:
            self.failed(str(error))
        except Stopped:
            pass
        self.reading = ""
        self.show_state()

    def failed(self, sentence: str) -> None:
        """Something could not be read."""
        self.trouble = sentence
        if self.pane.list.rows:
            self.say(sentence, ok=False)

    def give_up(self) -> bool:
        """Stop what is being read; False when nothing is."""
        if not self.reading:
            return False
        self.workers.cancel_group(self, "reading")
        self.reading = ""
        self.show_state()
        return True

    def show_state(self) -> None:
        """Draw list and footer again."""
        self.pane.repaint()
        self.hints.repaint()

    def recolour(self) -> None:
        """Other colours."""
        super().recolour()
        self.pane.repaint(whole=True)

    @property
    def typing(self) -> bool:
        """Whether the filter is being typed."""
        return self.pane.typing

    def takes_key(self, key: str, character: str | None) -> bool:
        """Text for the filter."""
        return self.pane.typing and self.pane.type_key(key, character)

    def on_paste(self, event: events.Paste) -> None:
        """Text for the filter."""
        if self.pane.typing:
            event.stop()
            self.pane.paste(event.text)

    async def copy_resume(self, id: str, directory: str) -> None:
        """Copy the command that goes on with session `id` in OpenCode."""
        from ledger_tui.clipboard import copy  # noqa: PLC0415

        command = f"opencode -s {shlex.quote(id)}"
        said = await copy(self.app, command, f"`{command}`", self.desk.environ)
        self.say(said if directory in ("", self.project()) else f"{said} Run it in {directory}.")

    def project(self) -> str:
        """Folder of the project: that of the session on screen, else the one the program was started for."""
        view = self.desk.host.view()
        return (view.directory if view else "") or self.desk.project

    async def show_note(self, id: str, title: str) -> None:
        """The note that was distilled from session `id`."""
        from ledger_tui.screens.history_job import in_thread  # noqa: PLC0415
        from ledger_tui.screens.history_note import note_screen  # noqa: PLC0415
        from ledger_tui.screens.history_reading import read_note  # noqa: PLC0415

        try:
            text = await in_thread(lambda job: read_note(job, id))
        except LedgerError as error:
            self.say(str(error), ok=False)
            return
        await self.app.push_screen(note_screen(self.desk, title, text))

    async def show_help(self) -> None:
        """Say what each key does here."""
        from ledger_tui.screens.help import help_screen  # noqa: PLC0415

        await self.app.push_screen(help_screen(self.desk, self.situation()))
