"""The dump file: all accepted findings of this process's root sessions, for people and other tools to read.

Reading is in :mod:`core.store.reading`; both ends are exported here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from core.store.entries import DumpEntry, encode
from core.store.guarded import FileTrouble, GuardedFile
from core.store.reading import MAX_BYTES, DumpContents, read_dump

__all__ = ["MAX_BYTES", "DumpContents", "DumpEntry", "DumpWriter", "read_dump"]

_log = logging.getLogger(__name__)


class DumpWriter:
    """Keeps one file in step with the findings. All methods are for the event loop's thread; writing has its own.

    Changes that come within `delay` seconds, or while a write is under way, are written once. What could not be written
    is tried again at the next change and by `flush`. While another process writes the same path this one does not; it
    takes over at its first change after the other has ended.

    Args:
        path: see :class:`core.store.guarded.GuardedFile` for what may be there.
        on_warning: gets a code (`dump_` and a code of :class:`~core.store.guarded.FileTrouble`) and a sentence; once
            per code until a write succeeds.
        delay: seconds between a change and its write.
    """

    def __init__(self, path: Path, on_warning: Callable[[str, str], None], *, delay: float = 0.05) -> None:
        self._file = GuardedFile(path)
        self._on_warning = on_warning
        self._delay = delay
        self._waiting: tuple[DumpEntry, ...] | None = None
        self._unwritten: tuple[DumpEntry, ...] | None = None
        self._hurry = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._warned: set[str] = set()
        self._closed = False

    def changed(self, entries: Iterable[DumpEntry]) -> None:
        """These are the findings now; ignored after `close`."""
        if not self._closed:
            self._waiting = tuple(entries)
            self._begin()

    async def flush(self) -> None:
        """Write what is waiting, now; return when it is written or has failed."""
        if self._waiting is None:
            self._waiting = self._unwritten
        if self._waiting is not None:
            self._begin()
        self._hurry.set()
        if self._task is not None:
            await self._task

    async def close(self) -> None:
        """Write what is waiting and let another process have the file."""
        self._closed = True
        await self.flush()
        await asyncio.to_thread(self._file.release)

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._hurry.clear()
            self._task = asyncio.create_task(self._write_all())

    async def _write_all(self) -> None:
        while self._waiting is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._delay):
                    await self._hurry.wait()
            entries, self._waiting = self._waiting, None
            await self._write(entries)

    async def _write(self, entries: tuple[DumpEntry, ...]) -> None:
        try:
            await asyncio.to_thread(lambda: self._file.write(encode(entries)))
        except FileTrouble as trouble:
            self._unwritten = entries
            self._warn(f"dump_{trouble.code}", trouble.message)
        except Exception as error:
            _log.exception("the dump file could not be written")
            self._unwritten = entries
            self._warn("dump_failed", f"Cannot write {self._file.path}: {type(error).__name__}.")
        else:
            self._unwritten = None
            self._warned.clear()

    def _warn(self, code: str, message: str) -> None:
        if code not in self._warned:
            self._warned.add(code)
            self._on_warning(code, message)
