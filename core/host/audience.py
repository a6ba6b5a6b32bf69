"""Everybody who listens to a host: screens that want to know that something changed, readers who want every report."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable

from core.host.desk import LOG_ROWS, Desk
from core.host.logrows import row
from core.ledger.effects import Report
from core.views import LogRow

_log = logging.getLogger(__name__)


class Audience:
    """Listeners, readers, and the log of what concerns no session. A listener that fails does not stop the others."""

    def __init__(self) -> None:
        self.log: deque[LogRow] = deque(maxlen=LOG_ROWS)
        self._listeners: list[Callable[[], None]] = []
        self._readers: list[Callable[[Report], None]] = []

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after any change; the result unsubscribes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def add_reader(self, reader: Callable[[Report], None]) -> None:
        """Call `reader` with every report, in order."""
        self._readers.append(reader)

    def read(self, report: Report) -> None:
        """Pass a report on."""
        for reader in self._readers:
            reader(report)

    def announce(self, report: Report, desks: Iterable[Desk]) -> None:
        """A report of the host itself: it goes to its own log and to that of every session it concerns."""
        entry = row(report, lambda call: "")
        if entry is not None:
            self.log.append(entry)
        for desk in desks:
            if report.session in ("", desk.engine.root):
                desk.report(report)
        self.read(report)
        self.notify()

    def notify(self) -> None:
        """Something changed."""
        for listener in list(self._listeners):
            try:
                listener()
            except Exception:
                _log.exception("a listener failed")
