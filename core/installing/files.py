"""A generated file as it is found on disk, and its writing."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

import msgspec

from core.errors import FileError
from core.installing.marks import Mark, read_mark
from core.text import clean_line

MAX_BYTES: Final = 1024 * 1024
"""A longer file is none of ours."""

_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
"""A file system without hard links."""

State = Literal["missing", "ours", "edited", "foreign"]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What is at a path.

    Attributes:
        state: nothing; a file as it was written; one that was edited since; anything else.
        text: of one of ours.
        mark: of one of ours.
        why: what is known about one that is foreign.
    """

    path: Path
    state: State
    text: str = ""
    mark: Mark | None = None
    why: str = ""

    @property
    def version(self) -> str:
        """The version that wrote it; empty when that was not us."""
        return self.mark.version if self.mark else ""


def look(path: Path) -> Found:
    """What is at `path`. Links are not followed: the program never makes one."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Found(path=path, state="missing")
    except OSError as error:
        why = "it is a symbolic link" if path.is_symlink() else f"it cannot be read: {error.strerror}"
        return Found(path=path, state="foreign", why=why)
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, file)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return Found(path=path, state="foreign", why="it is no plain file")
        content = os.read(file, MAX_BYTES + 1)
    try:
        text = content.decode() if len(content) <= MAX_BYTES else ""
    except UnicodeDecodeError:
        text = ""
    mark = read_mark(text)
    if mark is None:
        return Found(path=path, state="foreign", why="ledger-tui did not write it")
    return Found(path=path, state="edited" if mark.edited else "ours", text=text, mark=mark)


def missing_folders(path: Path) -> list[Path]:
    """The folders above `path` that are not there, the nearest first."""
    missing = []
    for folder in path.parents:
        if folder.exists() or folder.is_symlink():
            break
        missing.append(folder)
    return missing


def write(path: Path, text: str, *, replace: bool) -> None:
    """Write a file as a whole, its folders made if need be. Without `replace` only where there is nothing yet.

    Raises:
        FileError: it cannot be written, or something has appeared in its place; folders that were made are gone again.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    made = missing_folders(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("x", encoding="utf-8", newline="\n") as out:
            out.write(text)
        if replace:
            temporary.replace(path)
        else:
            _place(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        remove_empty(made)
        if not isinstance(error, OSError):
            raise
        raise FileError(f"cannot write {clean_line(str(path), 300)}: {error.strerror}") from error


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove these folders, in this order, as far as nothing is in them."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def leftovers(path: Path) -> list[Path]:
    """What a writer of `path` that was killed has left beside it."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{16}}")
    try:
        names = [other for other in path.parent.iterdir() if pattern.fullmatch(other.name)]
        return sorted(other for other in names if other.is_file() and not other.is_symlink())
    except OSError:
        return []


def _place(temporary: Path, path: Path) -> None:
    """Give the file its name unless that is taken."""
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_LINKS or os.path.lexists(path):
            raise
        temporary.replace(path)
    else:
        temporary.unlink()
