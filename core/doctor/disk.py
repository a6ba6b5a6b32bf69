"""Checks of files and folders: announcements, the dump, the ledger's database, OpenCode's."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final
from urllib.parse import quote

from core import paths, privatefolder, rendezvous
from core.doctor.lines import Line, fail, ok, warn
from core.doctor.reach import Reach
from core.doctor.surroundings import Surroundings
from core.errors import FileError
from core.store.database import DATABASE, MIGRATIONS
from core.store.guarded import GuardedFile
from core.text import clean_line

_ELSEWHERE: Final = "Remove it, or `ledger-tui config set dump_path` to another file."


def runtime(surroundings: Surroundings, _: Reach) -> Iterable[Line]:
    """The folder where the plugin and the ledger find each other; it is not made here."""
    path = paths.runtime_dir(surroundings.environ)
    if not os.path.lexists(path):
        nearest = _nearest(path) if path.name == paths.RUNTIME else path.parent
        if os.access(nearest, os.W_OK | os.X_OK):
            yield ok("runtime", f"{_name(path)}, made when it is needed")
        else:
            fix = "Set XDG_RUNTIME_DIR to a folder of yours, for OpenCode too."
            yield fail("runtime", f"{_name(path)} cannot be made", fix)
        return
    try:
        with privatefolder.opened(path):
            yield ok("runtime", _name(path))
    except FileError as error:
        yield fail("runtime", clean_line(error.message, 500), error.hint)


def dump(surroundings: Surroundings, _: Reach) -> Iterable[Line]:
    """Whether the dump file can be written where it is to be."""
    path = surroundings.settings.dump_path.expanduser().absolute()
    for file in (path, GuardedFile(path).lock_path):
        trouble = _in_the_way(file)
        if trouble:
            yield fail("dump", f"{_name(file)} {trouble}", _ELSEWHERE)
            return
    folder = path.parent
    if not folder.is_dir():
        yield fail("dump", f"there is no folder {_name(folder)}", "Create it, or set dump_path.")
    elif not os.access(folder, os.W_OK | os.X_OK):
        yield fail("dump", f"{_name(folder)} cannot be written to", "Set dump_path to a file you may write.")
    else:
        yield _writer(surroundings, path)


def _writer(surroundings: Surroundings, path: Path) -> Line:
    """Whether another ledger writes the dump already; one that hosts this project may."""
    holder = _lock_holder(GuardedFile(path).lock_path, surroundings.proc)
    if not holder:
        return ok("dump", _name(path))
    here = rendezvous.ledger(surroundings.directory, environ=surroundings.environ)
    if here is not None and here.pid == holder:
        return ok("dump", f"{_name(path)}, written by the ledger of process {holder}")
    text = f"{_name(path)} is written by another ledger (process {holder}), so one that starts here will not write it"
    return warn("dump", text, "Give this project a file of its own: `ledger-tui config set dump_path FILE --project`.")


def _lock_holder(path: Path, proc: Path) -> int:
    """Process that holds a lock on this file; 0: none, or the system does not tell."""
    try:
        inode = path.lstat().st_ino
        for line in (proc / "locks").read_text().splitlines():
            _, kind, _, _, pid, file, *_ = line.split()
            if kind == "FLOCK" and int(file.rpartition(":")[2]) == inode:
                return max(0, int(pid))
    except (OSError, ValueError):
        pass
    return 0


def _in_the_way(path: Path) -> str:
    try:
        found = path.lstat()
    except OSError:
        return ""
    if stat.S_ISLNK(found.st_mode):
        return "is a symbolic link and is not written through"
    if not stat.S_ISREG(found.st_mode):
        return "is not a plain file"
    return "belongs to another user" if found.st_uid != os.geteuid() else ""


def state(surroundings: Surroundings, _: Reach) -> Iterable[Line]:
    """The ledger's database. It is only read."""
    path = surroundings.state_dir / DATABASE
    name = _name(path)
    if not path.exists():
        nearest = _nearest(path)
        if os.access(nearest, os.W_OK | os.X_OK):
            yield ok("state", f"{name}, made at the first start")
        else:
            yield fail("state", f"{_name(nearest)} cannot be written to", "Set LEDGER_HOME to a folder of yours.")
        return
    import sqlite3  # noqa: PLC0415 - not needed elsewhere in the program's start

    try:
        database = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=1.0)
        try:
            version = int(database.execute("PRAGMA user_version").fetchone()[0])
        finally:
            database.close()
    except sqlite3.Error as error:
        yield fail("state", f"{name}: {clean_line(str(error), 200)}", "Move the file away to start with a new one.")
        return
    if version > len(MIGRATIONS):
        yield fail("state", f"{name} was written by a later version of ledger-tui", "Update ledger-tui.")
    elif not os.access(path, os.W_OK):
        yield fail("state", f"{name} cannot be written", "Make it writable, or set LEDGER_HOME.")
    else:
        yield ok("state", f"{name}, {_size(path)}")


def sessions(surroundings: Surroundings, _: Reach) -> Iterable[Line]:
    """OpenCode's database, which holds the past sessions."""
    environ = surroundings.environ
    base = environ.get("XDG_DATA_HOME")
    data = Path(base) if base else Path(environ.get("HOME") or Path.home()) / ".local" / "share"
    path = data / "opencode" / "opencode.db"
    if not path.is_file():
        yield warn("sessions", f"{_name(path)} is not there", "It comes with OpenCode's first session.")
    elif not os.access(path, os.R_OK):
        yield warn("sessions", f"{_name(path)} cannot be read", "Past sessions stay unknown to the ledger.")
    else:
        yield ok("sessions", f"{_name(path)}, {_size(path)}")


def _nearest(path: Path) -> Path:
    """The nearest folder above that is there."""
    return next(folder for folder in path.parents if folder.exists())


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"


def _name(path: Path) -> str:
    return clean_line(str(path), 300)
