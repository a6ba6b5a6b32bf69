"""Keeps the ledgers of one host: each goes on from what is stored, and each change is stored before it is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from core.errors import FileError
from core.host.desk import Desk
from core.ledger import observations as seen
from core.ledger.effects import Effect, ExtractionReport
from core.ledger.finding import Finding
from core.store.archive import Archive, expire
from core.store.journal import Journal

_log = logging.getLogger(__name__)

RETRY_SECONDS: Final = 1.0
"""Pause before what could not be stored is tried again."""


class Keeper(Protocol):
    """What is needed of the host."""

    clock: Callable[[], int]
    read_only: bool

    def warn(self, code: str, message: str) -> None:
        """Something a person should know."""
        ...

    def set_server(self, **changes: Any) -> None:
        """What the status line says."""
        ...

    def tell(self, root: str, told: seen.Observation) -> None:
        """Let the ledger of a root session know."""
        ...


class Storing:
    """The journal of one host.

    Args:
        keeper: the host.
        path: the database file.
        resume: session with whose findings the first session that works begins; None: with none.
    """

    def __init__(self, keeper: Keeper, path: Path, *, resume: str | None = None) -> None:
        self._keeper = keeper
        self._path = path
        self._resume = resume
        self._given: list[Finding] = []
        self._journal: Journal | None = None
        self._counts: dict[str, int] = {}
        self._begun: set[str] = set()
        self._retry: asyncio.TimerHandle | None = None
        self._said = ""

    async def open(self, retention_days: int) -> None:
        """Open the database, and remove what is older than the user wants it kept; never fails."""
        self._journal = await asyncio.to_thread(self._open, retention_days)
        self._say()

    def _open(self, retention_days: int) -> Journal:
        try:
            expire(self._path, retention_days, self._keeper.clock())
            if self._resume is not None and self._path.exists():
                with Archive(self._path) as archive:
                    self._given = archive.findings(self._resume)
        except FileError as error:
            _log.info("the archive cannot be used: %s", error)
        journal = Journal(self._path, self._keeper.warn, clock=self._keeper.clock)
        self._counts = journal.counts()
        return journal

    def begin(self, desk: Desk, *, anyway: bool = False) -> list[Effect]:
        """Go on, once, from what is stored of a session; what is to be done then.

        A host that only watches leaves that to the one that does not, unless it is to do so `anyway`.
        """
        root, journal = desk.engine.root, self._journal
        if journal is None or root in self._begun or (self._keeper.read_only and not anyway):
            return []
        if len(desk.engine.state.ledger):  # what is stored could not be read before: it must not be written over
            return []
        found = journal.load(root)
        if found is None and journal.problem:
            self._say()
            return []
        self._begun.add(root)
        desk.stored = 0
        effects: list[Effect] = []
        if found is not None:
            effects = desk.resume(self._keeper.clock(), found[0])
            journal.begun(desk.engine)
        self._spent([root])
        return effects

    def made(self, desk: Desk) -> None:
        """A new desk, perhaps of a session that had one before: nothing is gone on from yet."""
        root = desk.engine.root
        if root in self._begun:
            self._begun.discard(root)
            self._counts[root] = 0
        desk.stored = self._counts.get(root, 0)

    def has_begun(self, root: str) -> bool:
        """Whether a session goes on from what was stored, or has been found to be new."""
        return root in self._begun

    def works(self, desk: Desk, told: seen.Observation) -> list[Effect]:
        """The first session that is told to be at work begins with the findings that were asked for, if it has none."""
        if not self._given or not isinstance(told, seen.StatusChanged) or told.state != "busy":
            return []
        given, self._given = self._given, []
        effects = desk.engine.inherit(self._keeper.clock(), given)
        if not effects:
            text = "--resume has no effect: the session has facts of its own already."
            self._keeper.warn("resume", text)
        desk.log_all(effects)
        return effects

    def save(self, desk: Desk, effects: Sequence[Effect]) -> None:
        """Store what has changed; to be called before anything is told of `effects`."""
        journal = self._journal
        if journal is None or self._keeper.read_only or desk.engine.root not in self._begun:
            return
        if not journal.save(desk.engine, effects) and self._retry is None:
            self._later()
        self._say()
        if any(_ended(effect) for effect in effects):
            self._spent(root for root in self._begun if root != desk.engine.root)

    async def close(self) -> None:
        """Store what waits; from then on another process may go on with the sessions."""
        if self._retry is not None:
            self._retry.cancel()
        if self._journal is not None:
            await asyncio.to_thread(self._journal.close)

    # How

    def _later(self) -> None:
        self._retry = asyncio.get_running_loop().call_later(RETRY_SECONDS, self._again)

    def _again(self) -> None:
        self._retry = None
        if self._journal is not None and not self._journal.retry():
            self._later()
        self._say()

    def _say(self) -> None:
        """Let the screen say that facts are not stored, or that they are again."""
        if self._journal is not None and self._journal.problem != self._said:
            self._said = self._journal.problem
            self._keeper.set_server(store=self._said)

    def _spent(self, roots: Iterable[str]) -> None:
        """Tell ledgers what all of them together have used today."""
        if self._journal is None:
            return
        tokens = self._journal.day_tokens()
        for root in list(roots):
            self._keeper.tell(root, seen.DaySpent(t=self._keeper.clock(), session=root, tokens=tokens))


def _ended(effect: Effect) -> bool:
    return isinstance(effect, ExtractionReport) and effect.tokens is not None and effect.state in ("done", "failed")
