"""The root sessions of one project, and which of them is on screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from core.host.desk import Desk
from core.ledger import observations as seen

MAX_DESKS: Final = 1_000
"""Root sessions followed at the same time."""

CHANGES_SESSIONS: Final = (
    seen.StatusChanged,
    seen.SessionDeleted,
    seen.PermissionAsked,
    seen.PermissionAnswered,
)
"""Observations after which a session has another state in the list of sessions."""


class Desks:
    """All desks by root session.

    Args:
        make: makes the desk of a root session.
        chosen: the root session the user named; None: the busy one is followed.

    Attributes:
        switches: how often another session came on screen.
    """

    def __init__(self, make: Callable[[str], Desk], chosen: str | None) -> None:
        self.switches = 0
        self._make = make
        self._chosen = chosen
        self._shown: str | None = None
        self._desks: dict[str, Desk] = {}

    def __iter__(self) -> Iterator[Desk]:
        return iter(list(self._desks.values()))

    def __bool__(self) -> bool:
        return bool(self._desks)

    @property
    def selected(self) -> str | None:
        """The root session on screen; it may not be there yet."""
        return self._chosen or self._shown

    @property
    def on_screen(self) -> Desk | None:
        """The desk on screen."""
        return self._desks.get(self.selected or "")

    @property
    def latest(self) -> Desk | None:
        """The one active last."""
        return max(self._desks.values(), key=lambda desk: desk.updated, default=None)

    def get(self, root: str) -> Desk | None:
        """The desk of a root session that is known."""
        return self._desks.get(root)

    def open(self, root: str) -> Desk:
        """The desk of a root session, made if need be."""
        desk = self._desks.get(root)
        if desk is None:
            desk = self._desks[root] = self._make(root)
            self._trim()
        return desk

    def choose(self, root: str | None) -> None:
        """Show this one from now on; None: follow the busy one again."""
        self._chosen = root
        self.switches += 1
        if root is None:
            self.follow()

    def follow(self) -> None:
        """Show the busy session, else the one active last; a busy one stays while it is busy."""
        shown = self._desks.get(self._shown or "")
        if shown is not None and shown.engine.session_state == "busy":
            return
        best = max(
            (desk for desk in self._desks.values() if desk.engine.session_state != "deleted"),
            key=lambda desk: (desk.engine.session_state == "busy", desk.updated),
            default=None,
        )
        if best is not None and best is not shown:
            self._shown = best.engine.root
            self.switches += 1

    def _trim(self) -> None:
        """Forget the session that was idle longest when there are too many."""
        if len(self._desks) > MAX_DESKS:
            idle = [d for d in self if d.engine.session_state != "busy" and d.engine.root != self.selected]
            if idle:
                del self._desks[min(idle, key=lambda desk: desk.updated).engine.root]
