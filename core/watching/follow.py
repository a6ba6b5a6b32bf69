"""A dump file's contents, again whenever they may have changed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Final

import msgspec

from core.store.dump import MAX_BYTES, DumpContents, read_dump

_STEP_MS: Final = 100
"""Changes closer together than this are taken as one. Smaller steps cost more while nothing happens: 50 ms 0.16 %,
100 ms 0.09 % of one core."""
_DEBOUNCE_MS: Final = 400
"""An unbroken series of changes is looked at this often."""


class _Stamp(msgspec.Struct, frozen=True):
    """Where a path leads, and what tells one state of the file there from another."""

    folder: tuple[int, int] | None
    real: str
    real_folder: tuple[int, int] | None
    file: tuple[int, int, int, int] | None

    @property
    def place(self) -> tuple[object, ...]:
        return (self.folder, self.real, self.real_folder)


def follow(path: Path, *, poll_seconds: float = 2.0, max_bytes: int = MAX_BYTES) -> AsyncGenerator[DumpContents, None]:
    """What is in the file now, then what is in it after each change; without end.

    The folder is watched, so that a file that is replaced, removed or not there yet is noticed at once. What the system
    does not report (a folder that goes or comes, a link that is led elsewhere, a network file system) is noticed within
    `poll_seconds`.
    """
    return _readings(path.absolute(), poll_seconds, max_bytes)


async def _readings(path: Path, poll_seconds: float, max_bytes: int) -> AsyncGenerator[DumpContents, None]:
    last: _Stamp | None = None
    async with aclosing(_moments(path, poll_seconds)) as moments:
        async for stamp in moments:
            if last is None or stamp != last:
                last = stamp
                yield await asyncio.to_thread(read_dump, path, max_bytes)


async def _moments(path: Path, poll_seconds: float) -> AsyncGenerator[_Stamp, None]:
    """Stamps, at the latest every `poll_seconds`."""
    while True:
        stamp = await asyncio.to_thread(_stamp, path)
        yield stamp
        try:
            async with aclosing(_watched(path, stamp, poll_seconds)) as stamps:
                async for later in stamps:
                    yield later
                    if later.place != stamp.place:
                        break
        except (OSError, RuntimeError):
            # No folder to watch, or the system has no watch left to give: look from time to time.
            await asyncio.sleep(poll_seconds)


async def _watched(path: Path, begin: _Stamp, poll_seconds: float) -> AsyncGenerator[_Stamp, None]:
    from watchfiles import awatch  # noqa: PLC0415 - takes long to import

    names = {path.name, os.path.basename(begin.real)}  # noqa: PTH119 - a plain text operation
    folders = {path.parent, Path(begin.real).parent}
    changes = awatch(
        *folders,
        watch_filter=lambda change, changed: os.path.basename(changed) in names,  # noqa: PTH119
        recursive=False,
        step=_STEP_MS,
        debounce=_DEBOUNCE_MS,
        rust_timeout=round(poll_seconds * 1000),
        yield_on_timeout=True,
    )
    async with aclosing(changes):
        # The file may have changed before the watch began.
        yield await asyncio.to_thread(_stamp, path)
        async for _ in changes:
            yield await asyncio.to_thread(_stamp, path)


def _stamp(path: Path) -> _Stamp:
    real = os.path.realpath(path)
    try:
        found = Path(real).stat()
        file = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    except (OSError, ValueError):
        file = None
    return _Stamp(_folder(path.parent), real, _folder(Path(real).parent), file)


def _folder(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
