"""The demo: a ledger on a replay server, through the same client path as on a live one."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from core.demo.folder import make_folder
from core.demo.server import ReplayServer
from core.host.host import Host
from core.host.options import HostOptions
from core.ledger.commands import Command
from core.settings import Settings
from core.views import Answers, Estimate, FindingView, Pane, Reply, ServerView, SessionItem, SessionView

_WAITING = ServerView(state="searching", replay=True)


class DemoHost:
    """Implements :class:`core.views.LedgerHost` on a recording.

    The server starts with the host and ends with it. State and dump are in a temporary folder, which `stop` removes.

    Args:
        server: not started yet.
        settings: where they keep files is not used.
    """

    def __init__(self, server: ReplayServer, settings: Settings) -> None:
        self.replay = server
        self._settings = settings
        self._folder: Path | None = None
        self._host: Host | None = None
        self._end: asyncio.Task[None] | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def server(self) -> ServerView:
        """Says that this is a replay, and at which speed."""
        return self._host.server if self._host else _WAITING

    @property
    def sessions(self) -> Sequence[SessionItem]:
        """See :class:`core.views.LedgerHost`."""
        return self._host.sessions if self._host else ()

    @property
    def selected(self) -> str | None:
        """See :class:`core.views.LedgerHost`."""
        return self._host.selected if self._host else None

    @property
    def read_only(self) -> bool:
        """False: everything can be tried."""
        return False

    def revision(self, pane: Pane) -> int:
        """See :class:`core.views.LedgerHost`."""
        return self._host.revision(pane) if self._host else -1

    def view(self) -> SessionView | None:
        """See :class:`core.views.LedgerHost`."""
        return self._host.view() if self._host else None

    def receipt(self, finding: str) -> FindingView | None:
        """See :class:`core.views.LedgerHost`."""
        return self._host.receipt(finding) if self._host else None

    def estimate(self) -> Estimate:
        """See :class:`core.views.LedgerHost`."""
        return self._host.estimate() if self._host else Estimate(steps=0, prompt_chars=0, tokens=0)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """See :class:`core.views.LedgerHost`."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def select(self, root: str | None) -> None:
        """See :class:`core.views.LedgerHost`."""
        if self._host:
            self._host.select(root)

    def command(self, command: Command) -> tuple[str, bool]:
        """See :class:`core.views.LedgerHost`."""
        return self._host.command(command) if self._host else ("The demo has not begun yet.", False)

    def reply_permission(self, id: str, reply: Reply) -> None:
        """No effect: what a recording asked was answered."""

    def reply_question(self, id: str, answers: Answers | None) -> None:
        """No effect: what a recording asked was answered."""

    def retry(self) -> None:
        """See :class:`core.views.LedgerHost`."""
        if self._host:
            self._host.retry()

    def set_speed(self, speed: float) -> None:
        """Play at this multiple of the recorded speed from now on; 0 pauses."""
        if self._host:
            self._host.set_speed(speed)

    async def start(self) -> None:
        """Start the server and a ledger on it."""
        await self.replay.start()
        self._folder = await asyncio.to_thread(make_folder)
        options = HostOptions(
            directory=Path(self.replay.directory), server=self.replay.url, replay=True, state_dir=self._folder
        )
        settings = self._settings.model_copy(update={"dump_path": self._folder / "facts.json"})
        self._host = Host(options, settings)
        self._host.on_speed = self.replay.set_speed
        self._host.subscribe(self._notify)
        await self._host.start()
        self._host.set_speed(self.replay.speed)
        self._end = asyncio.create_task(self._tell_end(self._host), name="end of the recording")

    async def stop(self) -> None:
        """End both; nothing stays behind."""
        if self._end:
            self._end.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._end
        if self._host:
            await self._host.stop()
        await self.replay.stop()
        if self._folder:
            await asyncio.to_thread(shutil.rmtree, self._folder, True)

    async def _tell_end(self, host: Host) -> None:
        await self.replay.played()
        host.set_server(ended=True)
        host.remark("The recording has ended.", "session")

    def _notify(self) -> None:
        for listener in list(self._listeners):
            listener()
