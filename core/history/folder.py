"""The output folder of a run: one writer at a time, and files that are there as a whole or not at all.

::

    notes/<session>.md          written by the sink `files`
    transcripts/<session>.txt   what the model was asked, secrets masked
    .ledger-history.db          what became of each session
    .ledger-history.lock        held by the run that writes
    .ledger-history.partial/    files before they are whole; emptied at each start
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
from pathlib import Path
from typing import Final, Self

from core.errors import FileError
from core.text import clean_line

NOTES: Final = "notes"
TRANSCRIPTS: Final = "transcripts"
STATE: Final = ".ledger-history.db"
LOCK: Final = ".ledger-history.lock"
PARTIAL: Final = ".ledger-history.partial"

_PLAIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,119}")
_HINT: Final = "Name another folder with --out."


class Folder:
    """An output folder that this process alone writes; use it as a context manager."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock: int | None = lock

    @classmethod
    def open(cls, path: Path) -> Self:
        """Take the folder, created with mode 0700 if it is not there.

        Raises:
            FileError: it cannot be written, or another run writes it.
        """
        path = path.expanduser().absolute()
        try:
            for name in ("", NOTES, TRANSCRIPTS, PARTIAL):
                (path / name).mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise FileError(f"cannot use the folder {named(path)}: {error.strerror}", _HINT) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            hint = f"Wait for it to end, or name another folder with --out. ({error.strerror})"
            raise FileError(f"another run is writing to {named(path)}", hint) from error
        folder = cls(path, lock)
        folder._sweep()
        return folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let another run write. The lock file stays: whoever waits for it has it open."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def write(self, name: str, text: str) -> Path:
        """Write `name` (relative to the folder), mode 0600, in place of what is there; on disk when this returns.

        May wait for the disk: call it in a thread.

        Raises:
            FileError: nothing has changed.
        """
        target = self.path / name
        partial = self.path / PARTIAL / secrets.token_hex(8)
        try:
            try:
                _write(partial, text.encode("utf-8", "replace"))
                partial.replace(target)
            except BaseException:
                with contextlib.suppress(OSError):
                    partial.unlink()
                raise
            _sync(target.parent)
        except OSError as error:
            raise FileError(f"cannot write {named(target)}: {error.strerror}", _HINT) from error
        return target

    def remove(self, name: str) -> None:
        """Remove a file; it need not be there. Raises FileError."""
        target = self.path / name
        try:
            target.unlink(missing_ok=True)
        except OSError as error:
            raise FileError(f"cannot remove {named(target)}: {error.strerror}") from error

    def _sweep(self) -> None:
        """Remove what a run left that was killed."""
        with contextlib.suppress(OSError):
            for left in (self.path / PARTIAL).iterdir():
                left.unlink(missing_ok=True)


def file_name(session: str, ending: str) -> str:
    """Name of a session's file: its id, where that is a plain word, else a hash of it."""
    if _PLAIN.fullmatch(session):
        return f"{session}.{ending}"
    return f"id-{hashlib.sha256(session.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.{ending}"


def named(path: Path) -> str:
    """A path for a message."""
    return clean_line(str(path), 300)


def _write(path: Path, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())


def _sync(folder: Path) -> None:
    """Make a rename last; some file systems cannot."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
