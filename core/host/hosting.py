"""Which of several ledgers hosts a project: the one that holds its lock, which the system frees when it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from core import rendezvous
from core.errors import FileError
from core.text import clean_line

LOOK_SECONDS: Final = 2.0
"""Pause between two looks whether the project is free."""
ENDING_SECONDS: Final = 0.2
"""Pause before a look when the host has just closed: it writes its files before it lets the project go."""


class ProjectLock:
    """The lock of one project, in the folder of the announcements.

    Args:
        directory: the project.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._file: int | None = None

    def acquire(self) -> bool:
        """Host the project if nobody does; whether this process hosts it now.

        Raises:
            FileError: there is no folder for the lock that can be trusted.
        """
        if self._file is not None:
            return True
        folder = rendezvous.ensure_runtime_folder()
        path = folder / f"{rendezvous.project_key(self._directory)}.lock"
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise FileError(f"cannot open {path}: {error.strerror}", "Remove it, or set LEDGER_HOME.") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Let another ledger host the project."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None

    def holder(self) -> str:
        """Who hosts the project, in words."""
        return named(rendezvous.ledger(self._directory))


def named(host: rendezvous.LedgerFile | None) -> str:
    """A ledger that hosts a project, in words; None: it has not announced itself."""
    if host is None:
        return "another process"
    return f"process {host.pid}{f' in {host.seat}' if host.seat else ''}"


def seat(environ: Mapping[str, str] | None = None) -> str:
    """The terminal this process runs in, in words; empty when it runs in none."""
    pane = (os.environ if environ is None else environ).get("TMUX_PANE", "")
    if pane:
        return f"tmux pane {clean_line(pane, 10)}"
    for stream in (0, 1, 2):
        with contextlib.suppress(OSError):
            return os.ttyname(stream).removeprefix("/dev/")
    return ""
