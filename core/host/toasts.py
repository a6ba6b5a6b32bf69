"""What the ledger says in OpenCode's own screen: that it watches a session, and that it told the agent to stop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from core.ledger.effects import NoteReport, Report, TouchReport
from core.ledger.topics import label
from core.views import ServerView

PAUSE_MS: Final = 5_000
"""Between two toasts; OpenCode shows each for about as long."""
WATCHING: Final = "ledger-tui is watching this session"
_WAITING: Final = 3
_CALLS: Final = 200


class Shown(Protocol):
    """What is needed of the host."""

    read_only: bool

    @property
    def server(self) -> ServerView:
        """The way to the server."""
        ...

    @property
    def selected(self) -> str | None:
        """The root session on screen."""
        ...

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after any change."""
        ...

    def read_reports(self, reader: Callable[[Report], None]) -> None:
        """Call `reader` with every report."""
        ...


class Toasts:
    """Says each thing once; what comes too soon waits for the end of the pause.

    Args:
        host: whose server and sessions are meant; while it only watches, nothing is said.
        say: shows in the OpenCode of a root session, the first argument, a sentence.
        clock: ms since the epoch.
        later: calls back after so many seconds; the running event loop does, unless one is given.
    """

    def __init__(
        self,
        host: Shown,
        say: Callable[[str, str], None],
        clock: Callable[[], int],
        later: Callable[[float, Callable[[], None]], object] | None = None,
    ) -> None:
        self._host = host
        self._say = say
        self._clock = clock
        self._later = later
        self._planned = False
        self._last = -PAUSE_MS
        self._watched: set[str] = set()
        self._stopped: set[tuple[str, str]] = set()
        self._touches: dict[str, str] = {}
        self._waiting: deque[tuple[str, str]] = deque(maxlen=_WAITING)

    def begin(self) -> None:
        """Follow the host from now on."""
        self._host.subscribe(self.look)
        self._host.read_reports(self.read)

    def read(self, report: Report) -> None:
        """A report: the first stop that was put before the agent for a topic is worth a toast."""
        if isinstance(report, TouchReport) and report.action == "stop" and report.counts:
            if len(self._touches) >= _CALLS:
                del self._touches[next(iter(self._touches))]
            self._touches[report.call] = max(report.counts, key=lambda topic: report.counts[topic])
        elif isinstance(report, NoteReport) and report.kind == "stop" and report.arrived != "failed":
            topic = self._touches.pop(report.call, "")
            if topic and (report.session, topic) not in self._stopped:
                self._stopped.add((report.session, topic))
                text = f"ledger: told the agent to stop looking at {label(topic)}"
                self._waiting.append((report.session, text))
                self.look()

    def look(self) -> None:
        """Something changed: say what is due."""
        host = self._host
        is_new = host.selected is not None and host.selected not in self._watched
        if host.read_only or host.server.state != "live" or not (self._waiting or is_new):
            return
        now = self._clock()
        since = now - self._last
        if 0 <= since < PAUSE_MS:  # less than nothing: the clock was set back
            self._look_again((PAUSE_MS - since) / 1000)
            return
        self._last = now
        if self._waiting:
            self._say(*self._waiting.popleft())
        elif host.selected is not None:
            self._watched.add(host.selected)
            self._say(host.selected, WATCHING)
        self.look()

    def _look_again(self, seconds: float) -> None:
        """Plan one look, unless one is planned."""
        if not self._planned:
            self._planned = True
            later = self._later or asyncio.get_running_loop().call_later
            later(seconds, self._planned_look)

    def _planned_look(self) -> None:
        self._planned = False
        self.look()
