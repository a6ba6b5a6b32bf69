"""What every screen shares: the ledger, the keys, the colours, the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import TYPE_CHECKING

from ledger_tui.keys import Keymap
from ledger_tui.offer import Offer
from ledger_tui.rows.look import Look
from ledger_tui.widgets.brush import Brush

if TYPE_CHECKING:
    from core.views import LedgerHost


def wall_clock() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class Desk:
    """One per program; `clock` and `zone` can be pinned for pictures and tests."""

    host: LedgerHost
    keys: Keymap
    brush: Brush
    clock: Callable[[], int] = wall_clock
    zone: tzinfo | None = None
    demo: Callable[[], LedgerHost] | None = None
    """Makes the host of the demo, where a demo can be started from the dashboard."""
    offer: Offer | None = None
    """Installs the plugin, where there is a project to install it for."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """The environment, to find the way to the clipboard and to OpenCode's database."""
    project: str = ""
    """Folder of the project, where it is known without a session."""

    def look(self) -> Look:
        """How to draw at this moment."""
        return Look(self.clock(), self.zone, self.brush.signs, self.keys.shown)
