"""From the ledger's changes to repaints: many changes, few repaints, none while nothing changes.

The host's listener only notes that something changed. At most twelve times a second, and every half second while the
terminal is not in front, the panes whose revision moved are told. A clock ticks once a second, and only while something
on screen counts seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, get_args

from core.views import Pane, SessionView

if TYPE_CHECKING:
    from core.views import LedgerHost

FLUSH_SECONDS = 1 / 12
BLURRED_SECONDS = 0.5
TICK_SECONDS = 1.0
BLURRED_TICK_SECONDS = 5.0

PANES: tuple[Pane, ...] = get_args(Pane)


class Feed:
    """Subscribes to a host; calls `deliver(changed panes, view)`, and `tick()` each second while one is counted.

    Both are called through `run`, which puts a callback into the application's own queue.
    """

    def __init__(
        self,
        host: LedgerHost,
        deliver: Callable[[frozenset[Pane], SessionView | None], None],
        tick: Callable[[], None],
        run: Callable[[Callable[[], None]], object],
        *,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._host = host
        self._deliver = deliver
        self._tick = tick
        self._loop = loop or asyncio.get_running_loop()
        self._run = run
        self._seen: dict[Pane, int] = {}
        self._root: str | None = None
        self._last = float("-inf")
        self._flushing: asyncio.TimerHandle | None = None
        self._ticking: asyncio.TimerHandle | None = None
        self.blurred = False
        self._stopped = False
        self._unsubscribe = host.subscribe(self.mark)

    def stop(self) -> None:
        """No further calls."""
        self._stopped = True
        self._unsubscribe()
        for handle in (self._flushing, self._ticking):
            if handle:
                handle.cancel()
        self._flushing = self._ticking = None

    def mark(self) -> None:
        """Something changed: flush soon, unless a flush is due already."""
        if self._flushing is None:
            due = self._last + (BLURRED_SECONDS if self.blurred else FLUSH_SECONDS)
            wait = max(0.0, due - self._loop.time())
            self._flushing = self._loop.call_later(wait, self._run, self.flush)

    def flush(self) -> None:
        """Tell now what changed since the last time."""
        if self._stopped:
            return
        if self._flushing:
            self._flushing.cancel()
            self._flushing = None
        self._last = self._loop.time()
        revisions = {pane: self._host.revision(pane) for pane in PANES}
        changed = frozenset(pane for pane in PANES if self._seen.get(pane) != revisions[pane])
        selected = self._host.selected
        if selected != self._root:
            changed, self._root = frozenset(PANES), selected
        self._seen = revisions
        if changed:
            view = self._host.view()
            self._deliver(changed, view)
            self._keep_time(view)

    def focus(self, front: bool) -> None:
        """The terminal came to the front or went away."""
        self.blurred = not front
        if front and self._flushing:
            self.flush()

    def _keep_time(self, view: SessionView | None) -> None:
        """Start the second hand when something counts seconds; it stops by itself."""
        if self._ticking is None and counts_seconds(self._host, view):
            wait = BLURRED_TICK_SECONDS if self.blurred else TICK_SECONDS
            self._ticking = self._loop.call_later(wait, self._run, self._second)

    def _second(self) -> None:
        self._ticking = None
        if self._stopped:
            return
        self._tick()
        self._keep_time(self._host.view())


def counts_seconds(host: LedgerHost, view: SessionView | None) -> bool:
    """Whether anything on screen shows a running duration or a countdown."""
    if host.server.retry_at:
        return True
    if view is None:
        return False
    return bool(view.running) or any(x.state == "running" or x.retry_at for x in view.extractions)
