"""Is it worth it? What came again in the session on screen, beside what the ledger spent."""

from __future__ import annotations

from typing import ClassVar

from core.ledger.repeats import RepeatsView
from core.views import Pane
from ledger_tui.desk import Desk
from ledger_tui.rows.look import Line, Look
from ledger_tui.rows.repeats import repeats_lines, repeats_text
from ledger_tui.screens.reading import Reading


class Repeats(Reading):
    """Kept up to date while it is open."""

    context: ClassVar[str] = "repeats"

    def __init__(self, desk: Desk) -> None:
        def seen() -> RepeatsView:
            view = desk.host.view()
            return view.repeats if view else RepeatsView()

        def content(width: int, look: Look, everything: bool) -> list[Line]:
            return repeats_lines(seen(), width, look)

        follows: frozenset[Pane] = frozenset({"steps", "meters", "extractions", "sessions"})
        super().__init__(
            desk, "Is it worth it?", content, lambda: (repeats_text(seen()), "the table"), follows=follows, whole=True
        )
