"""One past session: the facts known of it, then what was said and done."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events

from core.ledger.commands import Add, Undo
from core.views import Pane, SessionView
from ledger_tui.actions import BY_ID, Situation
from ledger_tui.desk import Desk
from ledger_tui.format import fit, plural
from ledger_tui.rows.history import head_lines, moment
from ledger_tui.rows.history_facts import PastFactRow, fact_rows
from ledger_tui.rows.history_text import MORE, Folds, HeadingRow, TextRow, more_row, sentence_rows
from ledger_tui.rows.look import Line, Look, Row
from ledger_tui.screens.commanding import give
from ledger_tui.screens.history_base import PastScreen
from ledger_tui.screens.history_job import in_thread
from ledger_tui.screens.history_reading import read_facts, read_pieces
from ledger_tui.widgets.listing import ListPane

if TYPE_CHECKING:
    from core.history.rows import SessionRow
    from core.store.archive import StoredFact


class Past(PastScreen):
    """The session `id`; `noted`: a note was distilled from it."""

    context: ClassVar[str] = "past"
    heading: ClassVar[str] = "Past session"

    def __init__(self, desk: Desk, id: str, title: str, *, noted: bool) -> None:
        super().__init__(desk)
        self._session_id = id
        self._title = title
        self._noted = noted
        self.session: SessionRow | None = None
        self.folds = Folds(desk.zone, desk.brush.signs)
        self._facts: tuple[StoredFact, ...] = ()
        self._texts: list[Row] = []
        self._has_more = False
        self._width = 0

    def on_mount(self) -> None:
        """Read the session."""
        self.begin(self._read, "Reading the session")

    async def _read(self) -> None:
        """The facts, then the first parts."""
        self._facts = await in_thread(lambda job: read_facts(job, self._session_id))
        if self._facts:
            self._fill()
        await self._read_more()

    async def _read_more(self) -> None:
        skip = len(self.folds.pieces)
        row, pieces, self._has_more = await in_thread(lambda job: read_pieces(job, self._session_id, skip))
        self.session = row
        self.folds.pieces += pieces
        await self._lay_out()

    async def _lay_out(self) -> None:
        """Break the texts into lines, in a thread: there may be many."""
        width = self._width = self._room()
        self._texts = await in_thread(lambda job: self.folds.rows(width))
        self._fill()

    def _room(self) -> int:
        return max(20, self.size.width - 4)

    def on_resize(self, event: events.Resize) -> None:
        """Another width: the texts are broken anew."""
        if self._width and self._room() != self._width:
            self.start(self._lay_out, "lines")

    # -- rows

    def _fill(self) -> None:
        rows: list[Row] = []
        if self._facts:
            view = self.desk.host.view()
            here = {finding.fact for topic in view.topics for finding in topic.findings} if view else set[str]()
            known = f"{plural(len(self._facts), 'fact')} known of it"
            rows += [HeadingRow("facts", [(known, "topic")]), *fact_rows(self._facts, here)]
        if self.session is not None:
            rows += self._texts
            rows += [more_row(len(self.folds.pieces))] if self._has_more else []
            left_out = self.folds.left_out()
            rows += sentence_rows("left", left_out, self._room()) if left_out else []
        self.pane.list.update(rows)
        parts = len(self.folds.pieces)
        self.pane.info = [(plural(parts, "part") + (" and more" if self._has_more else ""), "muted")]
        self.show_state()

    def nothing(self) -> str:
        """There is nothing to show."""
        return "This session holds no text."

    def header(self, width: int, look: Look) -> list[Line]:
        """What is known of the session."""
        if self.session is None:
            return [[(fit(self._title, width), "strong")]]
        lines = head_lines(self.session, width, look)
        if self.reading and self.pane.list.rows:
            lines.append([(f"{self.reading} …", "muted")])
        return lines

    def changed(self, panes: frozenset[Pane], view: SessionView | None) -> None:
        """Facts were taken over, or taken back."""
        if self._facts and panes & {"findings", "sessions"}:
            self._fill()

    # -- what the keys do

    def situation(self) -> Situation:
        """The fact or the part under the cursor."""
        host, state = self.desk.host, self.pane.list
        row = state.current
        fact = row if isinstance(row, PastFactRow) else None
        return Situation(
            "past_fact" if fact else self.context,
            host.server,
            host.view(),
            read_only=host.read_only,
            rows=len(state.rows),
            filtered=bool(state.filter),
            noted=self._noted,
            refused=self._refused(fact) if fact else "",
        )

    def _refused(self, row: PastFactRow) -> str:
        if row.here:
            return "The ledger on screen has this fact already."
        if row.fact.finding.state == "superseded":
            return "A newer fact took the place of this one."
        if row.fact.finding.state == "held":
            return "It was held for review there; add it by hand if you know better."
        return ""

    async def act(self, action: str, now: Situation) -> None:
        """Move, unfold, take a fact over, go back."""
        row = self.pane.list.current
        if self.pane.list.act(action):
            self.pane.repaint()
        elif action == "close":
            self._close()
        elif action == "help":
            await self.show_help()
        elif action == "filter":
            self.pane.typing = True
        elif action == "undo":
            give(self, Undo)
        elif action == "resume":
            await self.copy_resume(self._session_id, self.session.directory if self.session else "")
        elif action == "past_note":
            await self.show_note(self._session_id, self._title)
        elif action == "unfold_all":
            self._unfold_all()
        elif isinstance(row, PastFactRow):
            self._take(row)
        elif isinstance(row, TextRow):
            self._unfold(row)
        self.pane.repaint()

    def _take(self, row: PastFactRow) -> None:
        began = self.session.time_created if self.session else 0
        when = moment(began, self.desk.zone)
        source = f"session {self._session_id}" + (f" of {when}" if when else "")
        finding = row.fact.finding
        give(self, Add, "Taken over. {undo} takes it back.", fact=finding.fact, topic=finding.topic, source=source)

    def _unfold(self, row: TextRow) -> None:
        if row.key == MORE:
            self.begin(self._read_more, "Reading on")
        elif self.folds.toggle(row.piece):
            self.start(partial(self._toggled, row.piece), "lines")
        else:
            self.say("Nothing is folded here.", ok=False)

    async def _toggled(self, piece: int) -> None:
        """Draw anew with the cursor on the first line of the part."""
        await self._lay_out()
        for index, row in enumerate(self.pane.list.rows):
            if isinstance(row, TextRow) and row.piece == piece:
                self.pane.list.to_row(index)
                break
        self.show_state()

    def _unfold_all(self) -> None:
        if not self.folds.foldable:
            self.say("There is no tool call in this session.", ok=False)
            return
        self.folds.toggle_all()
        self.start(self._lay_out, "lines")

    def _close(self) -> None:
        """One step back: the filter, then the screen."""
        if self.pane.list.filter:
            self.pane.list.set_filter("")
        else:
            self.dismiss(None)

    def on_list_pane_activated(self, message: ListPane.Activated) -> None:
        """A double click unfolds, or takes the fact."""
        message.stop()
        self.show_state()
        if message.opened:
            self.call_next(self.perform, BY_ID["take_fact" if self.situation().context == "past_fact" else "unfold"])
