"""What a ledger that only watches shows of the one that hosts the project, and what it keeps for a take-over."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final, Protocol

from core import rendezvous
from core.errors import LedgerError
from core.host.mirror_link import MirrorLink
from core.host.mirrored import Legacy, Mirrored
from core.host.reading_port import HandoverRequest, ReceiptRequest, ViewAnswer
from core.ledger.handover import Handover
from core.views import FindingView, SessionView

_log = logging.getLogger(__name__)

WAIT_MS: Final = 20_000
"""How long the host may keep a request while nothing changes."""
GAP_SECONDS: Final = 0.5
"""Shortest pause between two answers of the host."""
PAUSES: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds before the next try after one, two, … failures in a row; the last one repeats."""

FoundHost = Callable[[rendezvous.LedgerFile], None]


class Screen(Protocol):
    """What is needed of the ledger that watches."""

    @property
    def selected(self) -> str | None:
        """The root session on screen."""
        ...

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after any change; the result unsubscribes it."""
        ...

    def mirrored(self) -> None:
        """What the mirror shows has changed."""
        ...


class Mirror:
    """Follows the host's view of the session on screen, through restarts and changes of the host.

    Args:
        screen: shows it.
        directory: the project.

    Attributes:
        revision: changes with whatever is shown.
        lost: set when a host does not answer any more; whoever waits for that clears it.
    """

    def __init__(
        self, screen: Screen, directory: Path, *, sleep: Callable[[float], Coroutine[Any, Any, None]] = asyncio.sleep
    ) -> None:
        self.revision = 0
        self.lost = asyncio.Event()
        self._screen = screen
        self._directory = directory
        self._sleep = sleep
        self._kept = Mirrored()
        self._link: MirrorLink | None = None
        self._active = False
        self._asked = ""
        self._moved = asyncio.Event()
        self._main: asyncio.Task[None] | None = None
        self._fetches: dict[str, asyncio.Task[None]] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self, on_host: FoundHost) -> None:
        """Begin in the background; `on_host` is told which ledger answers, each time another one does."""
        self._active = True
        self._unsubscribe = self._screen.subscribe(self._look)
        self._main = asyncio.create_task(self._run(on_host))

    async def stop(self) -> None:
        """Show nothing more; what is kept for a take-over stays."""
        if self._active:
            self._active = False
            self._unsubscribe()
            self.revision += 1
        tasks = [*self._fetches.values(), *([self._main] if self._main is not None else [])]
        for task in tasks:
            task.cancel()
        for failure in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(failure, Exception):
                _log.error("the mirror failed", exc_info=failure)

    def view(self, own: SessionView) -> SessionView:
        """What to show of a root session of which this process would show `own`."""
        return self._kept.view(own, answers=self._link is not None) if self._active else own

    def receipt(self, finding: str) -> FindingView | None:
        """A finding of the session on screen; its calls are fetched and come a little later."""
        root = self._screen.selected or ""
        shown = self._kept.finding(root, finding) if self._active else None
        if shown is not None and self._link is not None and not self._kept.has_receipt(root, finding):
            self._fetch(self._link, root, finding)
        return shown

    def findings(self, root: str, own: int) -> int:
        """How many findings a root session has, of which this process counts `own`."""
        count = self._kept.counts.get(root) if self._active else None
        return count.findings if count is not None else own

    def legacy(self) -> list[Legacy]:
        """What is known of each root session, for a take-over."""
        return self._kept.legacy()

    # How

    async def _run(self, on_host: FoundHost) -> None:
        failures, known = 0, 0
        while True:
            said = await asyncio.to_thread(rendezvous.ledger, self._directory)
            if said is not None:
                if said.pid != known:
                    known = said.pid
                    on_host(said)
                failures = 0 if await self._follow(said) else failures + 1
            await self._sleep(PAUSES[min(failures, len(PAUSES) - 1)] if said is not None else PAUSES[0])

    async def _follow(self, said: rendezvous.LedgerFile) -> bool:
        """Mirror this host until it fails; whether it answered at all."""
        answered = False
        link = MirrorLink(said)
        self._kept.begin()
        try:
            while True:
                answer = await self._poll(link)
                if answer is not None:
                    answered, self._link = True, link
                    if self._kept.take(self._asked, answer):
                        await self._others(link)
                        self._changed()
                    await self._sleep(GAP_SECONDS)
        except LedgerError as error:
            _log.info("the host does not answer: %s", error)
        finally:
            self.lost.set()
            if self._link is not None:
                self._link = None
                self._changed()
            await link.close()
        return answered

    async def _poll(self, link: MirrorLink) -> ViewAnswer | None:
        """The host's next answer; None when another session came on screen meanwhile."""
        self._asked = self._screen.selected or ""
        self._moved.clear()
        asked = self._kept.request(self._asked, WAIT_MS)
        poll = asyncio.create_task(link.ask("/v1/view", asked, ViewAnswer, wait_ms=asked.wait_ms))
        moved = asyncio.create_task(self._moved.wait())
        try:
            await asyncio.wait((poll, moved), return_when=asyncio.FIRST_COMPLETED)
            return await poll if poll.done() else None
        finally:
            for task in (poll, moved):
                task.cancel()
            await asyncio.gather(poll, moved, return_exceptions=True)

    async def _others(self, link: MirrorLink) -> None:
        """Keep, for a take-over, what the sessions have that are not on screen."""
        for root, count in self._kept.outdated(self._asked):
            with contextlib.suppress(LedgerError):
                found = await link.ask("/v1/handover", HandoverRequest(session=root), Handover)
                self._kept.keep(root, count, found)

    def _fetch(self, link: MirrorLink, root: str, finding: str) -> None:
        if finding not in self._fetches:
            task = self._fetches[finding] = asyncio.create_task(self._receipt(link, root, finding))
            task.add_done_callback(lambda _: self._fetches.pop(finding, None))

    async def _receipt(self, link: MirrorLink, root: str, finding: str) -> None:
        try:
            found = await link.ask("/v1/receipt", ReceiptRequest(session=root, finding=finding), FindingView)
        except LedgerError as error:
            _log.info("no receipt of %s: %s", finding, error)
            await self._sleep(PAUSES[0])  # it is asked for again each time it is drawn
            return
        self._kept.add_receipt(root, finding, found)
        self._changed()

    def _look(self) -> None:
        if (self._screen.selected or "") != self._asked:
            self._moved.set()

    def _changed(self) -> None:
        self.revision += 1
        self._screen.mirrored()
