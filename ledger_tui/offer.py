"""The dashboard's offer to install the plugin: whether it stands, and what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from core.errors import LedgerError

if TYPE_CHECKING:
    from core.installing.preparing import Told
    from core.views import LedgerHost, ServerView


class Preparing(Protocol):
    """Looks and works in files, so it is only called in threads; see :class:`core.installing.preparing.Preparation`."""

    def is_missing(self) -> bool:
        """Whether the plugin is installed nowhere."""
        ...

    def plan(self) -> Told:
        """What would be done. Raises LedgerError."""
        ...

    def carry_out(self) -> Told:
        """Do it. Raises LedgerError."""
        ...


class Offer:
    """Made for a live server on this machine only: a recording and a dump file have no project to prepare.

    Args:
        preparing: makes the preparation, in a thread.
        remark: writes a sentence into the log of the session on screen.

    Attributes:
        missing: no plugin was there at the last look.
    """

    def __init__(self, preparing: Callable[[], Preparing], remark: Callable[[str], None]) -> None:
        self.missing = False
        self._preparing = preparing
        self._remark = remark
        self._seen = ""
        self._hinted = False

    def stands(self, host: LedgerHost) -> bool:
        """Whether the plugin can be installed now, by this ledger, to some use."""
        server = host.server
        speaks = server.state == "live" and server.delivery == "hook"
        return self.missing and not host.read_only and not server.replay and not speaks

    def is_due(self, server: ServerView) -> bool:
        """Whether it is time for a look: the way to the server is another one than at the last."""
        changed = server.state not in (self._seen, "searching")
        self._seen = server.state
        return changed

    async def look(self) -> None:
        """See whether the plugin is there."""
        try:
            self.missing = await asyncio.to_thread(lambda: self._preparing().is_missing())
        except OSError:
            self.missing = False

    def hint(self, host: LedgerHost) -> bool:
        """Whether to point at the offer now, once: notes go by patch, and with the plugin they need not."""
        server = host.server
        if self._hinted or not self.stands(host) or server.state != "live" or server.delivery != "patch":
            return False
        self._hinted = host.selected is not None
        return self._hinted

    def remark(self, text: str) -> None:
        """Write into the log."""
        self._remark(text)

    async def plan(self) -> Told | str:
        """What would be done; else in one line why it cannot be."""
        told = await self._told(lambda: self._preparing().plan())
        if not isinstance(told, str) and not told.changes:
            self.missing = False
        return told

    async def carry_out(self) -> Told | str:
        """Do it; what was done, else in one line why it was not. The log tells it too."""
        done = await self._told(lambda: self._preparing().carry_out())
        if isinstance(done, str):
            self.remark(f"the plugin was not installed: {done}")
            return done
        self.missing = False
        if done.changes:
            self.remark(f"the plugin was installed. {done.then[0] if done.then else ''}".strip())
        return done

    async def _told(self, work: Callable[[], Told]) -> Told | str:
        try:
            return await asyncio.to_thread(work)
        except LedgerError as error:
            return str(error)
        except OSError as error:
            return f"the project cannot be looked at: {error.strerror or error}"
