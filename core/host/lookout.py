"""Looks again and again which OpenCode processes a project has, at next to no cost while none comes or goes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from core.host import finding_server
from core.host.finding_server import Nowhere, Target
from core.host.options import HostOptions
from core.opencode import discovery, sockets

_PROC: Final = Path("/proc")
_MORE_LOOKS: Final = 3
"""After a change: an OpenCode that has just begun to listen may not answer yet."""
_SELDOM: Final = 10
"""Where a look costs a process (`lsof`), only one in so many is taken."""


class Lookout:
    """Looks for one project.

    Attributes:
        problem: why there was nothing at the last look.
    """

    def __init__(self, options: HostOptions) -> None:
        self.problem: Nowhere | None = None
        self._options = options
        self._listeners: list[Target] = []
        self._sockets: object = None
        self._processes: Sequence[object] | None = None
        self._looks = 0
        self._more = 0

    async def doors(self) -> list[Target]:
        """Doors that are open now."""
        return await asyncio.to_thread(finding_server.of_doors, self._options.directory)

    async def targets(self, doors: list[Target], *, eagerly: bool) -> list[Target]:
        """All that is there now, one way to each process: its door before its port.

        Args:
            doors: those open now.
            eagerly: ask the listening ones even if none seems to have come or gone.
        """
        if await asyncio.to_thread(self._has_changed):
            self._more = _MORE_LOOKS
        if eagerly or self._more > 0:
            self._more -= 1
            self._listeners, problem = await finding_server.of_listeners(self._options, alone=not doors)
            self.problem = None if doors else problem
        behind_doors = {door.pid for door in doors}
        return [*doors, *(target for target in self._listeners if target.pid not in behind_doors)]

    def _has_changed(self) -> bool:
        """Whether an OpenCode process began or ceased to listen: looked at only when any socket on the machine did."""
        self._looks += 1
        names = sockets.listening(_PROC) if sys.platform.startswith("linux") else self._looks // _SELDOM
        before, self._sockets = self._sockets, names
        if names == before:
            return False
        processes, self._processes = self._processes, discovery.listeners()
        return processes != self._processes
