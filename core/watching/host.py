"""The dashboard's host for `watch`: findings of a dump file, and a refusal for every command."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final

from core.clock import now_ms
from core.ledger.commands import Command
from core.ledger.topics import label
from core.store.dump import DumpContents
from core.text import clean_line
from core.views import Answers, Estimate, FindingView, LogRow, Pane, Reply, ServerView, SessionItem, SessionView
from core.watching.follow import follow
from core.watching.project import Sheet, finding_view, session_view, sheets
from core.watching.state import Change, Trouble, WatchedDump

_log = logging.getLogger(__name__)

LOG_ROWS: Final = 1_000
_ROWS_AT_ONCE: Final = 100
_LINE_CHARS: Final = 200


class WatchHost:
    """Implements :class:`core.views.LedgerHost` for a file that other processes write. Reads only.

    Args:
        path: the dump file; it need not exist yet.
        per_topic, overall: the caps to show; the file does not say which ones its writer has.
        clock: ms since the epoch, for the log.
        poll_seconds: see :func:`core.watching.follow.follow`.
    """

    def __init__(
        self,
        path: Path,
        *,
        per_topic: int = 5,
        overall: int = 50,
        clock: Callable[[], int] = now_ms,
        poll_seconds: float = 2.0,
    ) -> None:
        self.path = path
        self._name = clean_line(str(path), 300)
        self._per_topic, self._overall = per_topic, overall
        self._clock = clock
        self._poll_seconds = poll_seconds
        self._dump = WatchedDump()
        self._log: deque[LogRow] = deque(maxlen=LOG_ROWS)
        self._trouble: Trouble | None = None
        self._sheets: dict[str, Sheet] = {}
        self._view: SessionView | None = None
        self._chosen: str | None = None
        self._revision = 0
        self._read = False
        self._failure = ""
        self._listeners: list[Callable[[], None]] = []
        self._task: asyncio.Task[None] | None = None

    @property
    def server(self) -> ServerView:
        """The file as if it were a server; `detail` says what is wrong with it."""
        detail = self._failure or (f"{self._name}: {self._trouble.message}" if self._trouble else "")
        return ServerView(url=self._name, state="file" if self._read else "connecting", detail=detail)

    @property
    def sessions(self) -> Sequence[SessionItem]:
        """The root sessions in the file, the one with the newest finding first."""
        return [sheet.item for sheet in self._sheets.values()]

    @property
    def selected(self) -> str | None:
        """The session that was chosen, as long as the file has it; else the one with the newest finding."""
        return self._chosen if self._chosen in self._sheets else next(iter(self._sheets), None)

    @property
    def read_only(self) -> bool:
        """True."""
        return True

    def revision(self, pane: Pane) -> int:
        """One number for all panes: they change together."""
        return self._revision

    def view(self) -> SessionView | None:
        """The selected session; None while the file has none."""
        sheet = self._sheet()
        if sheet is None:
            return None
        if self._view is None or self._view.root != sheet.item.root:
            self._view = session_view(sheet, self._log, self._overall)
        return self._view

    def receipt(self, finding: str) -> FindingView | None:
        """The finding; the file does not hold the calls it came from."""
        sheet = self._sheet()
        entry = sheet.entries.get(finding) if sheet else None
        return finding_view(entry) if entry else None

    def estimate(self) -> Estimate:
        """Nothing: there is nothing to extract from."""
        return Estimate(steps=0, prompt_chars=0, tokens=0)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """See :class:`core.views.LedgerHost`."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return unsubscribe

    def select(self, root: str | None) -> None:
        """Show this session; None: the one with the newest finding."""
        self._chosen = root
        self._changed()

    def command(self, command: Command) -> tuple[str, bool]:
        """Always refused."""
        return f"{self._name} is only watched: nothing can be changed here.", False

    def reply_permission(self, id: str, reply: Reply) -> None:
        """No effect: a file asks nothing."""

    def reply_question(self, id: str, answers: Answers | None) -> None:
        """No effect: a file asks nothing."""

    def retry(self) -> None:
        """No effect: the file is looked at whenever it changes."""

    def set_speed(self, speed: float) -> None:
        """No effect: nothing is replayed."""

    async def start(self) -> None:
        """Begin to follow the file."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop following."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        try:
            async with aclosing(follow(self.path, poll_seconds=self._poll_seconds)) as readings:
                async for contents in readings:
                    self._show(*await asyncio.to_thread(self._digest, contents))
        except Exception as error:
            _log.exception("following the dump file failed")
            self._failure = f"{self._name} is no longer followed: {type(error).__name__}. Start again."
            self._changed()

    def _digest(self, contents: DumpContents) -> tuple[list[Change], dict[str, Sheet]]:
        """What a reading changed and what is shown from now on; for a thread, as there may be many thousand entries."""
        changes = self._dump.take(contents)
        return changes, sheets(self._dump.entries.values(), self.path.name, self._per_topic)

    def _show(self, changes: Sequence[Change], shown: dict[str, Sheet]) -> None:
        self._sheets = shown
        t = self._clock()
        if not self._read and changes:
            self._row(t, "session", f"{len(changes)} finding{'' if len(changes) == 1 else 's'} in the file")
        else:
            self._rows(t, changes)
        self._read = True
        before, self._trouble = self._trouble, self._dump.trouble
        if self._trouble != before:
            self._trouble_row(t, self._trouble)
        self._changed()

    def _rows(self, t: int, changes: Sequence[Change]) -> None:
        for change in changes[:_ROWS_AT_ONCE]:
            self._row(t, "finding", f"{change.kind} {label(change.entry.topic)}", change.entry.fact)
        left_out = len(changes) - _ROWS_AT_ONCE
        if left_out > 0:
            self._row(t, "finding", f"{left_out} more changes")

    def _trouble_row(self, t: int, trouble: Trouble | None) -> None:
        if trouble is None:
            self._row(t, "connection", "the file is readable again")
        else:
            self._log.append(LogRow(t=t, kind="warning", text=trouble.message, level="warn"))

    def _row(self, t: int, kind: str, text: str, detail: str = "") -> None:
        self._log.append(
            LogRow(t=t, kind=kind, text=clean_line(text, _LINE_CHARS), detail=clean_line(detail, _LINE_CHARS))
        )

    def _sheet(self) -> Sheet | None:
        return self._sheets.get(self.selected or "")

    def _changed(self) -> None:
        self._revision += 1
        self._view = None
        for listener in list(self._listeners):
            try:
                listener()
            except Exception:
                _log.exception("a listener failed")
