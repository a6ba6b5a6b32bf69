"""A folder that is this user's alone, and small files in it that come and go as a whole.

The folder may lie in one where everybody can write, as `/tmp` is: its name can be taken by other users, as a folder or
a link. So it is opened once, without following a link, checked, and all names in it are taken relative to that.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from core.errors import FileError
from core.text import clean_line

MAX_FILES: Final = 4096
"""Names looked at in one go."""

_OPEN: Final = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class PrivateFolder:
    """An open folder; see :func:`opened`."""

    def __init__(self, descriptor: int) -> None:
        self._folder = descriptor

    def names(self) -> list[str]:
        """Some :data:`MAX_FILES` of the names in it, sorted."""
        with os.scandir(self._folder) as entries:
            return sorted(entry.name for entry, _ in zip(entries, range(MAX_FILES), strict=False))

    def read(self, name: str, limit: int) -> tuple[bytes, os.stat_result] | None:
        """The first `limit` bytes of a plain file of this user that others cannot read; else None."""
        try:
            file = os.open(name, os.O_RDONLY | _OPEN, dir_fd=self._folder)
        except OSError:
            return None
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
                return None
            return os.read(file, limit), found
        except OSError:
            return None
        finally:
            os.close(file)

    def write(self, name: str, content: bytes) -> os.stat_result:
        """Write a file, mode 0600, in place of what bears the name. Raises OSError; nothing is changed then."""
        temporary = _aside(name)
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600, dir_fd=self._folder)
        try:
            with os.fdopen(file, "wb") as out:
                os.fchmod(out.fileno(), 0o600)
                out.write(content)
                out.flush()
                written = os.fstat(out.fileno())
            os.replace(temporary, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=self._folder)
            raise
        return written

    def remove(self, name: str, seen: os.stat_result) -> None:
        """Remove the file that was seen under that name; one that has replaced it meanwhile stays. Never raises."""
        aside = _aside(name)
        with contextlib.suppress(OSError):
            if not self._is(name, seen):
                return
            os.rename(name, aside, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            if not self._is(aside, seen):
                with contextlib.suppress(FileExistsError):
                    os.link(aside, name, src_dir_fd=self._folder, dst_dir_fd=self._folder, follow_symlinks=False)
            os.unlink(aside, dir_fd=self._folder)

    def _is(self, name: str, seen: os.stat_result) -> bool:
        return os.path.samestat(os.stat(name, dir_fd=self._folder, follow_symlinks=False), seen)


@contextlib.contextmanager
def opened(path: Path, *, create: bool = False, parents: bool = False) -> Iterator[PrivateFolder]:
    """The folder, once it is known to be a real one of this user into which nobody else can look.

    Args:
        path: the folder.
        create: make it, mode 0700, when it is not there.
        parents: make those above it too.

    Raises:
        FileError: it cannot be used; says why.
    """
    if create:
        _create(path, parents)
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        what = "is a symbolic link" if path.is_symlink() else f"cannot be opened: {error.strerror}"
        raise _unusable(path, what) from error
    try:
        found = os.fstat(folder)
        if found.st_uid != os.geteuid():
            raise _unusable(path, "belongs to another user")
        if found.st_mode & 0o077:
            raise _unusable(path, "lets other users in")
        yield PrivateFolder(folder)
    finally:
        os.close(folder)


def _create(path: Path, parents: bool) -> None:
    try:
        path.mkdir(mode=0o700, parents=parents)
    except FileExistsError:
        return
    except OSError as error:
        raise _unusable(path, f"cannot be created: {error.strerror}") from error


def _unusable(path: Path, what: str) -> FileError:
    hint = "It has to be a folder of yours with mode 0700: remove it, or set LEDGER_HOME to another place."
    return FileError(f"the folder {clean_line(str(path), 300)} {what}", hint)


def _aside(name: str) -> str:
    return f".{name}.{secrets.token_hex(8)}"
