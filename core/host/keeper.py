"""What the plugin's side needs of the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from core.delivery.receipts import Outcome
from core.ledger import observations as seen
from core.ledger.effects import Note, Report
from core.views import DeliveryView, LogRow


class Keeper(Protocol):
    """The host, as :class:`core.host.inflight.InFlight` sees it."""

    clock: Callable[[], int]

    def root_of(self, session: str) -> str | None:
        """Root session above an agent session; None when it is not followed."""
        ...

    def judge(self, root: str, told: seen.ToolFinished) -> Note | None:
        """Let the ledger of `root` know of a call, and give the note it decided on."""
        ...

    def settled(self, root: str, outcome: Outcome, way: Literal["hook", "patch"]) -> None:
        """The fate of a note is known."""
        ...

    def patch(self, root: str, note: Note) -> None:
        """Send a note the other way."""
        ...

    def delivers(self, notes: DeliveryView, *, in_flight: bool) -> None:
        """How notes go now, and what became of those that went."""
        ...

    def warn(self, code: str, message: str, root: str) -> None:
        """Something a person should know of a root session."""
        ...

    def log_call(self, root: str, call: str, row: LogRow) -> None:
        """A row for the log of a root session, beside which the command of that call stands."""
        ...

    def tell_readers(self, report: Report) -> None:
        """A report that is no row of the log."""
        ...
