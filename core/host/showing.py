"""The half of the host that is read: its views of the server and the sessions, and who is told of changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from core.host.audience import Audience
from core.host.desks import Desks
from core.host.estimating import estimate
from core.host.logrows import ASKED
from core.ledger.effects import Report, WarningReport
from core.ledger.observations import PermissionAsked
from core.settings import Settings
from core.text import clean_line
from core.views import Estimate, FindingView, LogRow, Pane, ServerView, SessionItem, SessionView

if TYPE_CHECKING:
    from core.host.mirror import Mirror


class Showing:
    """What a screen reads (see :class:`core.views.LedgerHost`).

    Args:
        desks: the root sessions.
        server: the way to the server, to begin with.
        settings: see the README's table.
        clock: ms since the epoch.
    """

    def __init__(self, desks: Desks, server: ServerView, settings: Settings, clock: Callable[[], int]) -> None:
        self.settings = settings
        self.clock = clock
        self._desks = desks
        self._server = server
        self._audience = Audience()
        self._revisions = {"sessions": 0, "status": 0}
        self._mirror: Mirror | None = None
        self._url_of: Callable[[str], str] = lambda root: ""

    @property
    def server(self) -> ServerView:
        """The way to the server, as of now; of several, the address of the one that the session on screen is in."""
        url = self._url_of(self._desks.selected or "") if self._server.servers > 1 else ""
        return msgspec.structs.replace(self._server, url=url) if url else self._server

    @property
    def sessions(self) -> Sequence[SessionItem]:
        """Root sessions of the directory, the most recently active first."""
        items = [desk.item() for desk in sorted(self._desks, key=lambda desk: -desk.updated)]
        if self._server.servers > 1:
            items = [msgspec.structs.replace(item, server=self._url_of(item.root)) for item in items]
        if self._mirror is None:
            return items
        count = self._mirror.findings
        return [msgspec.structs.replace(item, findings=count(item.root, item.findings)) for item in items]

    @property
    def selected(self) -> str | None:
        """The root session on screen."""
        return self._desks.selected

    def revision(self, pane: Pane) -> int:
        """Changes whenever what `pane` shows of the selected session has changed."""
        desk = self._desks.on_screen
        own = self._revisions.get(pane, 0) + self._desks.switches * 1_000_003
        own += self._mirror.revision if self._mirror is not None else 0
        return own + (desk.revision(pane) if desk else 0)

    def view(self) -> SessionView | None:
        """The selected session."""
        desk = self._desks.on_screen
        own = desk.view() if desk else None
        return self._mirror.view(own) if self._mirror is not None and own is not None else own

    def receipt(self, finding: str) -> FindingView | None:
        """A finding of the selected session with its whole receipt."""
        desk = self._desks.on_screen
        if self._mirror is not None and (mirrored := self._mirror.receipt(finding)) is not None:
            return mirrored
        return desk.receipt(finding) if desk else None

    def estimate(self) -> Estimate:
        """What extracting everything that waits, earlier steps included, would send."""
        desk = self._desks.on_screen
        return estimate(desk.engine, self.settings) if desk else Estimate(steps=0, prompt_chars=0, tokens=0)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after any change; the result unsubscribes it."""
        return self._audience.subscribe(listener)

    def read_reports(self, reader: Callable[[Report], None]) -> None:
        """Call `reader` with every report, in order."""
        self._audience.add_reader(reader)

    def warn(self, code: str, message: str, root: str = "") -> None:
        """Something a person should know, of a root session where it concerns one."""
        self._audience.announce(WarningReport(t=self.clock(), session=root, code=code, message=message), self._desks)

    def waits_elsewhere(self, root: str, asked: PermissionAsked) -> None:
        """Another session than that on screen waits for an answer: the log on screen says so too."""
        desk, shown = self._desks.get(root), self._desks.on_screen
        if desk is not None and shown is not None and shown is not desk:
            title = clean_line(desk.engine.title or root, 80)
            text = f'another session waits for an answer: "{title}"'
            detail = clean_line(f"{asked.title} {asked.text}", 200)
            shown.add_row(LogRow(t=asked.t, kind=ASKED, text=text, detail=detail, level="warn"))

    def set_server(self, **changes: Any) -> None:
        """Change what the status line says of the server."""
        self._server = msgspec.structs.replace(self._server, **changes)
        self._revisions["status"] += 1
        self._audience.notify()

    def mirrored(self) -> None:
        """What is shown of the ledger that hosts the project has changed."""
        self._audience.notify()

    def _sessions_changed(self) -> None:
        self._revisions["sessions"] += 1
        self._desks.follow()
