"""Files that facts are about: watched on disk, and checked when a call says that it wrote them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from core.files.watch import FileWatch
from core.ledger import observations as seen
from core.ledger.engine import Engine
from core.ledger.files import is_about


class Keeper(Protocol):
    """What is needed of the host."""

    clock: Callable[[], int]

    @property
    def engines(self) -> Iterable[Engine]:
        """The ledgers of the project."""
        ...

    def file_changed(self, told: seen.FileChanged) -> None:
        """What is known about a file may not hold any more."""
        ...


class Filing:
    """Watches the files of all findings of a project that hold.

    Args:
        keeper: is told of changes.
    """

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._watch = FileWatch(self._changed)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, in the background."""
        self._task = asyncio.create_task(self._watch.run())

    async def stop(self) -> None:
        """Watch nothing any more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def follow(self) -> None:
        """The findings changed: watch the files of those that hold, the newest first."""
        files: dict[str, int] = {}
        findings = [finding for engine in self._keeper.engines for finding in engine.state.ledger]
        for finding in sorted(findings, key=lambda finding: -finding.established_at):
            if finding.shown_to_agent:
                for path in finding.files:
                    files[path] = max(files.get(path, 0), finding.read_at)
        self._watch.watch(files)

    def check(self, paths: Sequence[str]) -> None:
        """A call may have changed these files: those that are watched are looked at, of the others it is believed."""
        for path in paths:
            if self._watch.vouches_for(path):
                self._watch.check([path])
            else:
                self._changed(path)

    def edited(self, path: str) -> bool:
        """OpenCode says that a file was edited; whether the disk decides what that means."""
        about = [
            file
            for engine in self._keeper.engines
            for finding in engine.state.ledger
            if finding.files and is_about(finding.files, path)
            for file in finding.files
            if is_about((file,), path)
        ]
        watched = [file for file in dict.fromkeys(about) if self._watch.vouches_for(file)]
        self._watch.check(watched)
        return bool(watched)

    def _changed(self, path: str) -> None:
        self._keeper.file_changed(seen.FileChanged(t=self._keeper.clock(), session="", path=path))
