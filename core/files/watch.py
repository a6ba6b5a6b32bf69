"""Watches some files and tells when what they hold is no longer what it was.

The system tells which names in the files' folders something happened to (:mod:`core.files.folders`), and every few
seconds the stamp of each file is compared as well: what is not told (network file systems, a folder that was replaced,
a link that leads elsewhere) is found then. A file with another stamp is read once it has been quiet for a moment.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Final

import msgspec

from core.files.due import Due
from core.files.folders import happenings
from core.files.state import Stamp, State, stamp_of, state_of
from core.files.threads import Threads

MAX_FILES: Final = 200
MAX_FOLDERS: Final = 100
QUIET: Final = 0.3
"""Seconds without a further change after which a file is read."""
PATIENCE: Final = 5.0
"""Seconds after which a file that never is quiet is read all the same."""
BEAT: Final = 5.0
"""Seconds between two looks at all stamps."""
READ_SECONDS: Final = 30.0
"""How long reading one file may take before it is given up until its next change."""
STAMP_SECONDS: Final = 2.0
"""How long the stamps of all files may take; one that hangs is left out while it does."""


class _Watched(msgspec.Struct):
    state: State
    folders: tuple[str, ...]
    """Where it is named, and where its links lead."""
    names: tuple[str, ...]


class FileWatch:
    """Tells of files whose contents change. All methods belong to the event loop's thread, and none of them blocks.

    Args:
        changed: called with the path, as it was given to :meth:`watch`, once for each time its contents were found to
            be others than before, or the file to be gone or there. It must not raise.
        beat: seconds between two looks at all stamps.
        quiet: seconds without a change before a file is read.
        read_seconds, stamp_seconds: how long a look may take.
    """

    def __init__(
        self,
        changed: Callable[[str], None],
        *,
        beat: float = BEAT,
        quiet: float = QUIET,
        patience: float = PATIENCE,
        read_seconds: float = READ_SECONDS,
        stamp_seconds: float = STAMP_SECONDS,
    ) -> None:
        self._changed = changed
        self._beat = beat
        self._read_seconds = read_seconds
        self._stamp_seconds = stamp_seconds
        self._wanted: dict[str, int] = {}
        self._files: dict[str, _Watched] = {}
        self._due = Due(quiet, patience)
        self._threads = Threads()
        self._stuck: list[set[str]] = []
        self._looking = ""
        self._moved = asyncio.Event()
        self._told = asyncio.Condition()
        self.left_out = 0
        """Files beyond :data:`MAX_FILES`, which are not watched."""

    def watch(self, files: Mapping[str, int]) -> None:
        """Watch these files, and no others any more.

        Args:
            files: absolute paths, the most important first; for each the time in ms since the epoch at which the agent
                had read it, 0 where that is not known. A new one that was modified after that time has changed already.
                Those watched before keep what they are compared with.
        """
        wanted = dict(list(files.items())[:MAX_FILES])
        self.left_out = len(files) - len(wanted)
        gone, new = self._wanted.keys() - wanted.keys(), wanted.keys() - self._wanted.keys()
        self._wanted = wanted
        for path in gone:
            self._files.pop(path, None)
            self._due.forget(path)
        for path in wanted:
            if path in new:
                self._due.now(path)
        if gone or new:
            self._moved.set()

    def check(self, paths: Iterable[str]) -> None:
        """Look at those of these paths that are watched at once: their writer has said that it is done."""
        for path in paths:
            if path in self._wanted:
                self._due.now(path)

    def vouches_for(self, path: str) -> bool:
        """Whether a change of the path would be seen: it is watched and a file is there.

        Otherwise (not looked at yet, on another machine, too many files) what a call says it did is all there is.
        """
        watched = self._files.get(path)
        return watched is not None and watched.state.stamp is not None and not self._hangs(path)

    async def settled(self) -> None:
        """Wait until every path that was to be looked at has been."""
        async with self._told:
            await self._told.wait_for(lambda: not self._due and not self._looking)

    async def run(self) -> None:
        """Watch, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._look_on())
            tasks.create_task(self._listen())

    async def _look_on(self) -> None:
        while True:
            path = await self._due.next()
            self._looking = path
            try:
                await self._look(path)
            finally:
                self._looking = ""
                self._due.done(path)
            async with self._told:
                self._told.notify_all()

    async def _look(self, path: str) -> None:
        watched = self._files.get(path)
        known = watched.state if watched else None
        at = {path}
        if self._hangs(path):
            return
        try:
            state, folders, names = await self._threads.call(self._read_seconds, _look_at, path, known, at)
        except TimeoutError:
            self._stuck.append(at)
            return
        except OSError:
            return  # the next beat finds it again, if it can be seen then
        if path not in self._wanted:
            return
        if not state.steady and not self._due.impatient(path):
            self._due.soon(path)
            return
        if watched is None or watched.folders != folders:
            self._moved.set()
        self._files[path] = _Watched(state, folders, names)
        changed = _newer(state, self._wanted[path]) if known is None else not state.same_contents(known)
        if changed:
            self._changed(path)

    async def _listen(self) -> None:
        """Turn what the system tells, and what the beats find, into paths that are due."""
        while True:
            if not self._wanted:
                self._moved.clear()
                await self._moved.wait()
                continue
            await self._compare()
            self._moved.clear()
            places = self._places()
            folders = dict.fromkeys(place.rpartition("/")[0] or "/" for place in places)
            names = {place.rpartition("/")[2] for place in places}
            before = await self._stamps(folders)
            present = [folder for folder in folders if before.get(folder)][:MAX_FOLDERS]
            async with aclosing(happenings(present, names, self._beat, self._moved)) as found:
                async for happened in found:
                    for place in happened:
                        for path in places.get(place, ()):
                            self._due.soon(path)
                    if not happened and await self._compare(before):
                        break

    def _places(self) -> dict[str, list[str]]:
        """Where the system may tell something of a file, and which files those are."""
        places: dict[str, list[str]] = {}
        for path, watched in self._files.items():
            for folder, name in zip(watched.folders, watched.names, strict=True):
                places.setdefault(folder.rstrip("/") + "/" + name, []).append(path)
        return places

    async def _compare(self, folders: Mapping[str, Stamp | None] | None = None) -> bool:
        """Look at all stamps; paths with another one are due. Returns whether one of the folders is another now."""
        folders = folders or {}
        stamps = await self._stamps([*self._files, *folders])
        for path, watched in self._files.items():
            if path in stamps and stamps[path] != watched.state.stamp and path not in self._due:
                self._due.soon(path)
        for path in self._wanted.keys() - self._files.keys():
            if path != self._looking:
                self._due.now(path)  # could not be seen before
        return any(_place(stamps.get(folder)) != _place(stamp) for folder, stamp in folders.items())

    async def _stamps(self, paths: Iterable[str]) -> dict[str, Stamp | None]:
        """The stamps of the paths that can be seen in time."""
        found: dict[str, Stamp | None] = {}
        at: set[str] = set()
        waiting = [path for path in paths if not self._hangs(path)]
        try:
            await self._threads.call(self._stamp_seconds, _collect, waiting, found, at)
        except TimeoutError:
            self._stuck.append(at)
        return dict(found)

    def _hangs(self, path: str) -> bool:
        """Whether a look at the path was given up and has not come back."""
        self._stuck = [at for at in self._stuck if at]
        return any(path in at for at in self._stuck)


def _collect(paths: Iterable[str], found: dict[str, Stamp | None], at: set[str]) -> None:
    """Put the stamps of the paths into `found`; `at` holds the one that is being looked at."""
    for path in paths:
        at.add(path)
        try:
            found[path] = stamp_of(path)
        except OSError:
            continue  # cannot be told now
        finally:
            at.discard(path)


def _look_at(path: str, known: State | None, at: set[str]) -> tuple[State, tuple[str, ...], tuple[str, ...]]:
    """The state, and the folders and names under which it is found; `at` is emptied at the end."""
    try:
        state = state_of(path, known)
        places = {path: None, os.path.realpath(path): None}
    finally:
        at.clear()
    folders = tuple(place.rpartition("/")[0] or "/" for place in places)
    return state, folders, tuple(place.rpartition("/")[2] for place in places)


def _newer(state: State, read_at: int) -> bool:
    """Whether a file was modified after it was read; a time in the future tells nothing."""
    stamp = state.stamp
    return stamp is not None and stamp.plain and 0 < read_at * 1_000_000 < stamp.modified <= time.time_ns()


def _place(stamp: Stamp | None) -> tuple[int, int] | None:
    return None if stamp is None else (stamp.device, stamp.inode)
