"""A file that only one process writes, replaced as a whole and never through somebody else's link.

The folder may be world-writable, as `/tmp` is: names there can be taken by other users, as files, links or pipes. So
every name is opened relative to one open folder, without following links, and what is found has to be a plain file of
this user. A file is replaced by a rename, which never writes through a link, even one that appears at the last moment.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from core.text import clean_line

_OPEN: Final = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DENIED: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_FOLDER: Final = (errno.ENOENT, errno.ENOTDIR)


class FileTrouble(Exception):  # noqa: N818 - a state of the file system that is reported, not a fault
    """The file could not be written.

    Attributes:
        code: locked, symlink, foreign, not_a_file, full, denied, no_folder or failed.
        message: what is wrong with which file and what can be done, for the user.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class GuardedFile:
    """One path, written by one process at a time. Not thread-safe: one call at a time.

    The lock is a `flock` on a file beside the path, so the system drops it when its holder dies, however it dies.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._lock: int | None = None

    @property
    def lock_path(self) -> Path:
        """The file whose lock decides who writes."""
        return self.path.with_name(f".{self.path.name}.lock")

    def write(self, data: bytes) -> None:
        """Replace the file's contents; the file gets mode 0600. Takes the lock first, and keeps it.

        Raises:
            FileTrouble: nothing was changed.
        """
        try:
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self._check_target(folder)
                self._hold_lock(folder)
                self._replace(folder, data)
            finally:
                os.close(folder)
        except OSError as error:
            raise self._trouble(error) from error

    def release(self) -> None:
        """Let another process write; the lock file is removed."""
        if self._lock is None:
            return
        with contextlib.suppress(OSError):
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                if self._is_current(folder, self._lock):
                    os.unlink(self.lock_path.name, dir_fd=folder)
            finally:
                os.close(folder)
        self._drop_lock()

    def _check_target(self, folder: int) -> None:
        try:
            found = os.stat(self.path.name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return
        if stat.S_ISLNK(found.st_mode):
            raise self._refusal("symlink", self.path, "is a symbolic link and is not written through")
        self._check_own(found, self.path)

    def _check_own(self, found: os.stat_result, path: Path) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise self._refusal("not_a_file", path, "is not a plain file")
        if found.st_uid != os.geteuid():
            raise self._refusal("foreign", path, "belongs to another user")

    def _refusal(self, code: str, path: Path, what: str) -> FileTrouble:
        way_out = "Remove it, or set dump_path to another file."
        return FileTrouble(code, f"{clean_line(str(path), 300)} {what}. {way_out}")

    def _hold_lock(self, folder: int) -> None:
        """Have the lock, on the file that bears its name now: a cleaner of temporary files may have removed ours."""
        if self._lock is not None:
            if self._is_current(folder, self._lock):
                return
            self._drop_lock()
        for _ in range(10):
            lock = self._open_lock(folder)
            if self._is_current(folder, lock):
                self._lock = lock
                self._sweep(folder)
                return
            os.close(lock)
        raise self._locked()

    def _open_lock(self, folder: int) -> int:
        lock = os.open(self.lock_path.name, os.O_RDWR | os.O_CREAT | _OPEN, 0o600, dir_fd=folder)
        try:
            self._check_own(os.fstat(lock), self.lock_path)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise self._locked() from None
        except BaseException:
            os.close(lock)
            raise
        return lock

    def _locked(self) -> FileTrouble:
        path = clean_line(str(self.path), 300)
        return FileTrouble(
            "locked",
            f"{path} is written by another ledger. This one leaves it alone until that one ends; "
            "set dump_path to have a file of its own.",
        )

    def _is_current(self, folder: int, lock: int) -> bool:
        try:
            named = os.stat(self.lock_path.name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(named, os.fstat(lock))

    def _drop_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _sweep(self, folder: int) -> None:
        """Remove what a killed writer left half-written; whoever holds the lock is the only writer."""
        prefix = self._temporary("")
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(prefix) and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                    os.unlink(entry.name, dir_fd=folder)

    def _temporary(self, token: str) -> str:
        return f".{self.path.name}.tmp-{token}"

    def _replace(self, folder: int, data: bytes) -> None:
        name = self._temporary(secrets.token_hex(8))
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600, dir_fd=folder)
        try:
            with os.fdopen(file, "wb") as out:
                os.fchmod(out.fileno(), 0o600)
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            os.replace(name, self.path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
            raise

    def _trouble(self, error: OSError) -> FileTrouble:
        path, folder = clean_line(str(self.path), 300), clean_line(str(self.path.parent), 300)
        reason = error.strerror or type(error).__name__
        if error.errno in _FULL:
            return FileTrouble("full", f"Cannot write {path}: {reason}. Free some space; the next change tries again.")
        if error.errno in _DENIED:
            return FileTrouble("denied", f"Cannot write {path}: {reason}. Set dump_path to a file you may write.")
        if error.errno in _NO_FOLDER:
            return FileTrouble("no_folder", f"Cannot write {path}: {reason}. Create {folder}, or set dump_path.")
        if error.errno == errno.ELOOP:
            return self._refusal("symlink", self.lock_path, "is a symbolic link and is not written through")
        return FileTrouble("failed", f"Cannot write {path}: {reason}. The next change tries again.")
