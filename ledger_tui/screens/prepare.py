"""The offer to install the plugin: what would be written, whole, and the key that does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult

from ledger_tui.actions import Situation
from ledger_tui.desk import Desk
from ledger_tui.keys import canonical
from ledger_tui.offer import Offer
from ledger_tui.rows.look import Line, pieces, wrap_line
from ledger_tui.screens.dialog import Dialog
from ledger_tui.widgets.bars import Hint
from ledger_tui.widgets.reader import Reader

if TYPE_CHECKING:
    from core.installing.preparing import Told

_WIDTH = 76
_MARGIN = 6
_USE = (
    "With the plugin, notes reach the agent in its very next request, and an OpenCode without --port is found. "
    "OpenCode loads it when it starts; `ledger-tui uninit` takes it away again."
)


class Prepare(Dialog[None]):
    """Looks, asks, does, says what was done; escape leaves at any time."""

    context: ClassVar[str] = "help"
    """Its keys for moving; enter is its own."""

    def __init__(self, desk: Desk, offer: Offer) -> None:
        super().__init__(desk)
        self._offer = offer
        self._plan: Told | str | None = None
        self._done: Told | str | None = None
        self._working = False
        self.reader = Reader(desk.brush, "Install the plugin", self._lines, id="box")

    def compose(self) -> ComposeResult:
        """The text and the keys."""
        yield self.reader
        yield self.hints

    def on_mount(self) -> None:
        """Look what there is to do."""
        self._redraw()
        self.app.run_worker(self._look())

    def on_resize(self, event: events.Resize) -> None:
        """Another size."""
        self._fit()

    async def _look(self) -> None:
        self._plan = await self._offer.plan()
        self._redraw()

    async def _work(self) -> None:
        self._done = await self._offer.carry_out()
        self.desk.host.retry()  # what is said of OpenCode is another thing now
        self._redraw()

    @property
    def _may(self) -> bool:
        """Whether enter would do something."""
        plan = self._plan
        return not self._working and plan is not None and not isinstance(plan, str) and plan.changes

    def footer(self) -> list[Hint]:
        """Enter while it is asked, escape always."""
        return [*([("enter", "install", True, 9, "")] if self._may else []), ("esc", "back", True, 9, "")]

    async def pressed(self, event: events.Key) -> None:
        """Install, move, or go back."""
        event.stop()
        event.prevent_default()
        action = self.desk.keys.action(canonical(event.key, event.character), self.context)
        if event.key == "enter":
            self._enter()
        elif action is not None:
            await self.act(action.id, self.situation())

    def _enter(self) -> None:
        if self._may:
            self._working = True
            self._redraw()
            self.app.run_worker(self._work())
        elif self._done is not None or (self._plan is not None and not self._working):
            self.dismiss(None)

    async def act(self, action: str, now: Situation) -> None:
        """Move or go back."""
        if not self.reader.act(action) and action == "close":
            self.dismiss(None)

    def _redraw(self) -> None:
        if self.is_mounted and self.is_attached:
            self._fit()
            self.hints.repaint()

    def _fit(self) -> None:
        width = max(20, min(_WIDTH, self.size.width - 2))
        wanted = len(self._lines(width - _MARGIN)) + 2
        self.reader.styles.width = width
        self.reader.styles.height = max(4, min(wanted, self.size.height - 2))
        self.reader.remake()

    def _lines(self, width: int) -> list[Line]:
        told = self._done if self._done is not None else self._plan
        if told is None:
            return [[("Looking …", "muted")]]
        if isinstance(told, str):
            head = "It could not be installed; nothing was changed." if self._done else "It cannot be installed."
            return [*_text(head, "strong", width), [], *_text(told, "waiting", width)]
        files: list[Line] = [[(piece, "text")] for deed in told.deeds for piece in pieces(deed, width)]
        if self._done is not None:
            return [*files, *(line for text in told.then for line in [[], *_text(text, "text", width)])]
        if not told.changes:
            return [*files, [], *_text("There is nothing to do: all of it is there.", "muted", width)]
        if self._working:
            return [*files, [], [("Installing …", "muted")]]
        return [*files, [], *_text(_USE, "muted", width), [], *_KEYS]


_KEYS: list[Line] = [
    [("enter", "key"), ("  install", "muted")],
    [("  esc", "key"), ("  leave it; nothing is written", "muted")],
]


def _text(text: str, style: str, width: int) -> list[Line]:
    """Words on several lines; one that is longer than a line is broken too."""
    words = [piece for word in text.split() for piece in pieces(word, width)]
    return wrap_line([(" ".join(words), style)], width)
