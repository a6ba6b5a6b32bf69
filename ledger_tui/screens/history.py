"""Past sessions: the list of them, filtered by title or searched by what was said."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events

from core.text import clean_line
from ledger_tui.actions import BY_ID, Situation
from ledger_tui.desk import Desk
from ledger_tui.format import plural
from ledger_tui.rows.history import HitRow, PastRow, Scope, is_in, project_name
from ledger_tui.rows.look import Line, Look, Row
from ledger_tui.screens.history_base import PastScreen
from ledger_tui.screens.history_job import in_thread
from ledger_tui.screens.history_reading import Known, read_known, read_list, search_texts
from ledger_tui.widgets.bars import Hint
from ledger_tui.widgets.listing import ListPane

if TYPE_CHECKING:
    from core.history.rows import SessionRow
    from core.history.search import Hit

_QUERY_CHARS = 300


class History(PastScreen):
    """Sessions of the project, or of all; the newest first."""

    context: ClassVar[str] = "history"
    heading: ClassVar[str] = "Past sessions"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.scope = Scope(every=not self.project())
        self.words: str | None = None
        """What is searched for, while it is typed."""
        self.asked = ""
        """What was searched for; empty while the list is shown."""
        self.known = Known()
        self._hits: list[Hit] = []
        self._newest: list[PastRow] = []
        self._older: list[PastRow] = []
        self._stood = ""
        """Key of the row the cursor stood on before the search."""
        self._progress = ""
        self._is_whole = False
        """Whether the list was read to its end: a search takes the place of the reading."""

    def on_mount(self) -> None:
        """Read the list."""
        self._read()

    def _read(self) -> None:
        self._newest, self._older, self._is_whole = [], [], False
        self.begin(self._read_all, "Reading OpenCode's database")

    async def _read_all(self) -> None:
        self.known = await in_thread(read_known)
        ended = await in_thread(lambda job: read_list(job, self._took))
        self._is_whole = True
        problems = [problem for problem in (self.known.problem, *ended.problems) if problem]
        if problems:
            self.say("; ".join(problems), ok=False)

    def _took(self, rows: list[SessionRow], newest: bool) -> None:
        """Sessions have been read, oldest first."""
        facts, scope = self.known.facts, self.scope
        made = [PastRow(row.id, row, facts.get(row.id, 0), scope) for row in rows]
        if newest:
            self._newest = made[::-1]
        else:
            self._older += made
        if not self.asked:
            self._fill()

    # -- rows

    def _fill(self) -> None:
        project = self.project()
        if self.asked:
            hits = [hit for hit in self._hits if self.scope.every or is_in(hit.directory, project)]
            self._list([HitRow(hit.id, hit, self.scope) for hit in hits])
            return
        found = (*self._newest, *reversed(self._older))
        self._list(found if self.scope.every else [row for row in found if is_in(row.session.directory, project)])

    def _list(self, rows: Sequence[Row]) -> None:
        self.pane.list.update(rows)
        what = plural(len(rows), "session")
        scope = "all projects" if self.scope.every else project_name(self.project())
        self.pane.info = [(scope, "muted")]
        if rows or not (self.asked and self.reading):
            self.pane.info += [(f" {self.desk.brush.signs.dot} ", "faint"), (what, "muted")]
        self.show_state()

    def nothing(self) -> str:
        """Why the list is empty, and what to press."""
        key = self.look().key_of
        if self.asked:
            wider = "" if self.scope.every else f" {key('all_projects')} searches all projects;"
            return f"No session holds these words.{wider} {key('close')} shows the list again."
        if self.scope.every:
            return "OpenCode has kept no session yet."
        others = len(self._newest) + len(self._older)
        return (
            f"No past session of {project_name(self.project())}. {key('all_projects')} shows"
            f" {plural(others, 'session')} of other projects."
            if others
            else "OpenCode has kept no session yet."
        )

    def header(self, width: int, look: Look) -> list[Line]:
        """What is searched for, or how far the reading is."""
        if self.words is not None:
            cursor = "_" if look.signs.plain else "▏"
            return [[("search texts ", "muted"), (f"{look.signs.crumb} ", "key"), (self.words, "strong"),
                     (cursor, "key")], []]  # fmt: skip
        if self.asked:
            state = self._progress or f"{look.key_of('close')} shows the list again"
            return [[("holding ", "muted"), (f"“{self.asked}”", "strong"), (f"  {state}", "muted")], []]
        if self.reading and self.pane.list.rows:
            read = len(self._newest) + len(self._older)
            return [[(f"{read:,} sessions read, older ones follow …", "muted")], []]
        return []

    # -- the search

    @property
    def typing(self) -> bool:
        """Whether the filter or a search is being typed."""
        return self.words is not None or super().typing

    def footer(self) -> list[Hint]:
        """While a search is typed, its keys."""
        if self.words is not None:
            return [("enter", "search", True, 9, ""), ("esc", "back", True, 9, "")]
        return super().footer()

    def takes_key(self, key: str, character: str | None) -> bool:
        """Text for the filter or the search; a filter that begins with a question mark becomes a search."""
        if self.words is None and self.pane.typing and character == "?" and not self.pane.list.filter:
            self.pane.typing = False
            self._ask("")
            return True
        if self.words is None:
            return super().takes_key(key, character)
        if key == "enter":
            self._search(self.words.strip())
        elif key == "escape":
            self.words = None
        elif key in ("backspace", "ctrl+h"):
            self.words = self.words[:-1]
        elif character and character.isprintable():
            self.words = (self.words + character)[:_QUERY_CHARS]
        else:
            return False
        self.pane.repaint()
        return True

    def on_paste(self, event: events.Paste) -> None:
        """Text for the filter or the search."""
        if self.words is None:
            super().on_paste(event)
            return
        event.stop()
        self.words = clean_line(self.words + event.text, _QUERY_CHARS)
        self.pane.repaint()

    def _ask(self, query: str) -> None:
        self.words = query
        self.show_state()

    def _search(self, query: str) -> None:
        self.words = None
        if not query:
            return
        if not self.asked:
            self._stood = self.pane.list.current.key if self.pane.list.current else ""
        self.asked, self._hits, self._progress = query, [], ""
        self.pane.list.reset()
        self.begin(partial(self._find, query), "Searching")
        self._fill()

    async def _find(self, query: str) -> None:
        try:
            self._hits = await in_thread(lambda job: search_texts(job, query, self._indexed))
        finally:
            self._progress = ""
        self._fill()

    def _indexed(self, done: int, of: int) -> None:
        """So many sessions have been looked at for the index."""
        self._progress = f"reading for the index: {done:,} of {of:,}; {self.look().key_of('close')} stops"
        self.pane.repaint()

    def _leave_search(self) -> None:
        self.asked, self._hits, self.trouble = "", [], ""
        self.pane.list.reset()
        self._fill()
        for index, row in enumerate(self.pane.list.rows):
            if row.key == self._stood:
                self.pane.list.to_row(index)
        if self._is_whole:
            self.show_state()
        else:
            self._read()

    # -- what the keys do

    def situation(self) -> Situation:
        """The session under the cursor."""
        host, state = self.desk.host, self.pane.list
        noted = bool(state.current) and self.known.has_note(state.current.key if state.current else "")
        return Situation(
            self.context,
            host.server,
            host.view(),
            read_only=host.read_only,
            rows=len(state.rows),
            filtered=bool(state.filter),
            noted=noted,
        )

    async def act(self, action: str, now: Situation) -> None:
        """Move, filter, search, read a session, go back."""
        row = self.pane.list.current
        if self.pane.list.act(action):
            self.pane.repaint()
        elif action == "close":
            self._close()
        elif action == "help":
            await self.show_help()
        elif action == "filter":
            self.pane.typing = True
        elif action == "search_past":
            self._ask(self.asked)
        elif action == "all_projects":
            self._widen()
        elif action == "reread":
            self._reread()
        elif isinstance(row, PastRow | HitRow):
            await self._act_on(action, row)
        self.pane.repaint()

    async def _act_on(self, action: str, row: PastRow | HitRow) -> None:
        about = row.session if isinstance(row, PastRow) else row.hit
        if action == "read_past":
            from ledger_tui.screens.history_session import Past  # noqa: PLC0415

            await self.app.push_screen(Past(self.desk, row.key, about.title, noted=self.known.has_note(row.key)))
        elif action == "resume":
            await self.copy_resume(row.key, about.directory)
        elif action == "past_note":
            await self.show_note(row.key, about.title)

    def _widen(self) -> None:
        if not self.project():
            self.say("The project's folder is not known here: all sessions are shown.", ok=False)
            return
        self.scope.every = not self.scope.every
        self._fill()

    def _reread(self) -> None:
        if self.asked:
            self._search(self.asked)
        else:
            self._read()

    def _close(self) -> None:
        """One step back: the search that is under way, what it found, the filter, the screen."""
        if self.asked:
            if self.give_up():
                self.say("Stopped. The index keeps what was read; the next search goes on from there.")
            self._leave_search()
        elif self.pane.list.filter:
            self.pane.list.set_filter("")
        else:
            self.dismiss(None)

    def on_list_pane_activated(self, message: ListPane.Activated) -> None:
        """A double click reads the session."""
        message.stop()
        self.pane.repaint()
        if message.opened:
            self.call_next(partial(self.perform, BY_ID["read_past"]))
