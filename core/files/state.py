"""What a file holds, as far as two looks at it can be told apart."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Final

import msgspec

MAX_HASHED: Final = 64 * 1024 * 1024
"""Bytes up to which contents are compared; of larger files size, time and inode."""

_CHUNK: Final = 1024 * 1024
_ABSENT: Final = (FileNotFoundError, NotADirectoryError, PermissionError, ValueError)


class Stamp(msgspec.Struct, frozen=True):
    """What the system says about a file without opening it; times in ns since the epoch."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int
    """When its contents, name, owner or mode last changed."""
    plain: bool
    """A regular file."""


class State(msgspec.Struct, frozen=True):
    """What a path holds."""

    stamp: Stamp | None
    """None: nothing is there."""
    digest: bytes = b""
    """Of the contents; empty where they are not compared."""
    steady: bool = True
    """False: the file changed while it was read."""

    def same_contents(self, other: State) -> bool:
        """Whether both can be the same contents."""
        if self.stamp is None or other.stamp is None:
            return self.stamp is other.stamp
        if self.digest and other.digest:
            return self.digest == other.digest
        mine, theirs = self.stamp, other.stamp
        if not (mine.plain and theirs.plain):
            return mine.plain == theirs.plain
        return (mine.size, mine.modified, mine.inode) == (theirs.size, theirs.modified, theirs.inode)


def stamp_of(path: str) -> Stamp | None:
    """The stamp of a path, links followed; None where nothing is or may be seen. Raises OSError for other failures."""
    try:
        found = os.stat(path)  # noqa: PTH116 - called for hundreds of paths at a time
    except _ABSENT:
        return None
    return Stamp(
        found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, stat.S_ISREG(found.st_mode)
    )


def state_of(path: str, known: State | None = None) -> State:
    """What is at a path now; nothing is read where the stamp is the one of `known`. Raises OSError."""
    stamp = stamp_of(path)
    if known is not None and stamp == known.stamp:
        return known
    if stamp is None or not stamp.plain or stamp.size > MAX_HASHED:
        return State(stamp)
    try:
        digest = _digest(path)
    except _ABSENT:
        return State(stamp)
    return State(stamp, digest, steady=stamp_of(path) == stamp)


def _digest(path: str) -> bytes:
    """The digest of at most :data:`MAX_HASHED` bytes; a file that grows meanwhile is not read further."""
    found = hashlib.blake2b(digest_size=16)
    left = MAX_HASHED
    # Opened so that a pipe that took the file's place does not block.
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb", buffering=0) as file:  # noqa: PTH123
        while left > 0 and (chunk := file.read(min(_CHUNK, left))):
            found.update(chunk)
            left -= len(chunk)
    return found.digest()
