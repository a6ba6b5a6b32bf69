"""Which way notes go to the agent, and what is said of that."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from core.host.desks import Desks
from core.host.logrows import LATE
from core.host.options import HostOptions
from core.host.showing import Showing
from core.settings import Settings
from core.views import DeliveryView, ServerView

if TYPE_CHECKING:
    from core.host.inflight import InFlight


class Ways(Showing):
    """The part of the host that knows how notes are delivered.

    Args:
        desks: the root sessions.
        options: where to attach.
        settings: see the README's table.
        clock: ms since the epoch.

    Attributes:
        read_only: another process hosts the project: this one watches until it may take over.
    """

    def __init__(self, desks: Desks, options: HostOptions, settings: Settings, clock: Callable[[], int]) -> None:
        super().__init__(desks, ServerView(state="searching", replay=options.replay), settings, clock)
        self.options = options
        self.read_only = False
        self._flight: InFlight | None = None
        self._has_said_late = False

    def blinded(self, root: str) -> None:
        """Nobody can see at present what becomes of the notes of a root session: its process is out of sight."""
        desk = self._desks.get(root)
        if desk is not None and desk.delivery is not None:
            desk.delivery.receipts.blinded()

    def takes_snapshots(self, on: bool) -> None:
        """What the server's configuration says; without snapshots a patched note comes late."""
        if not self.settings.injection_enabled:
            self.set_server(delivery="off", delivery_detail="notes are switched off (injection_enabled is false)")
        elif not self.read_only and not (self._flight is not None and self._flight.answering):
            from core.installing.present import plugin_is_there  # noqa: PLC0415 - not needed for the first paint

            late = not on and not plugin_is_there(self.options.directory)
            self.set_server(delivery="patch", delivery_detail=LATE if late else "")
            if late and not self._has_said_late:
                self._has_said_late = True
                self.warn("notes_late", LATE)

    def delivers(self, notes: DeliveryView, *, in_flight: bool) -> None:
        """How notes go now, and what became of those that went."""
        changes: dict[str, Any] = {"notes": notes}
        way = "hook" if in_flight else "patch"
        if self.settings.injection_enabled and not self.read_only and self._server.delivery != way:
            changes |= {"delivery": way, "delivery_detail": ""}
        self.set_server(**changes)
