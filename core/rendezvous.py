"""Where a ledger and the plugin inside OpenCode find each other: small files in a folder only this user can enter.

The folder is :func:`core.paths.runtime_dir`; it is used only when it is a real folder of this user with no access for
others. A project's files bear its key, so that facts never cross projects:

- `<key>.ledger.json`: the ledger that hosts the project;
- `<key>.<pid>.door.json`: an OpenCode that listens on nothing itself and opened a door.

Each is written whole, mode 0600, and removed by its writer. What a killed writer left is recognised by its process id
and removed by whoever reads it. The plugin follows the same rules in JavaScript.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from core import paths, privatefolder
from core.errors import FileError
from core.privatefolder import PrivateFolder
from core.text import clean_line

FORMAT: Final = 1
MAX_BYTES: Final = 16 * 1024
"""A longer file is no announcement."""

_DOOR_NAME: Final = re.compile(r"([0-9a-f]{32})\.([1-9][0-9]{0,9})\.door\.json")
_PROC: Final = Path("/proc")
_TEXTS: Final = ("version", "opencode", "shim", "seat")

Kind = Literal["ledger", "door"]
Port = Annotated[int, msgspec.Meta(ge=1, le=65_535)]
Pid = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
Token = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=60_000)]

_T = TypeVar("_T", bound="Announced")


class Announced(msgspec.Struct, frozen=True, kw_only=True):
    """What both kinds say.

    Attributes:
        v: version of the format.
        port: where it listens, on 127.0.0.1.
        token: 64 hexadecimal digits that each request has to carry.
        pid: the process that listens.
        directory: real path of the project.
    """

    v: Literal[1]
    port: Port
    token: Token
    pid: Pid
    directory: str

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def __repr__(self) -> str:
        """Without the token."""
        return f"{type(self).__name__}(pid={self.pid}, port={self.port}, directory={self.directory!r})"


class LedgerFile(Announced, frozen=True, kw_only=True):
    """A ledger that hosts a project.

    Attributes:
        deadline_ms: how long the plugin waits for each of its answers.
        seat: the terminal it runs in, in words; empty: in none, or it does not say.
    """

    version: str = ""
    deadline_ms: Milliseconds = 250
    seat: str = ""


class Door(Announced, frozen=True, kw_only=True):
    """A way into an OpenCode that listens on nothing itself; with the versions of OpenCode and of the plugin."""

    opencode: str = ""
    shim: str = ""


class Announcement:
    """A file that was written by :func:`announce`."""

    def __init__(self, path: Path, written: os.stat_result) -> None:
        self.path = path
        self._written = written

    @property
    def is_current(self) -> bool:
        """Whether the name still stands for this file, and not for nothing or for another process's file."""
        try:
            return os.path.samestat(self.path.lstat(), self._written)
        except OSError:
            return False

    def remove(self) -> None:
        """Take the file away unless another process has put its own in its place; any number of times, never raises."""
        with contextlib.suppress(FileError), privatefolder.opened(self.path.parent) as folder:
            folder.remove(self.path.name, self._written)


def runtime_folder(environ: Mapping[str, str] | None = None) -> Path | None:
    """The folder of the announcements; None when it is not there or cannot be trusted."""
    path = paths.runtime_dir(environ)
    try:
        with privatefolder.opened(path):
            return path
    except FileError:
        return None


def ensure_runtime_folder(environ: Mapping[str, str] | None = None) -> Path:
    """The folder of the announcements, made if need be.

    Raises:
        FileError: it cannot be used; says why.
    """
    path = paths.runtime_dir(environ)
    with privatefolder.opened(path, create=True, parents=path.name == paths.RUNTIME):
        return path


def project_key(directory: str | Path) -> str:
    """What a project's files are named by: the first 32 hexadecimal digits of its real path's SHA-256."""
    real = os.path.realpath(directory)
    return hashlib.sha256(real.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def announce(
    kind: Kind, directory: str | Path, payload: Mapping[str, Any], *, environ: Mapping[str, str] | None = None
) -> Announcement:
    """Write this process's file for a project, in place of an older one of the same name.

    Args:
        kind: which of the two files.
        directory: the project.
        payload: `port`, `token` and what else the kind has; `v`, `pid` and `directory` are added.
        environ: tells the folder; that of the process when None.

    Raises:
        FileError: there is no folder that can be trusted, or the file cannot be written.
        ValueError: the payload is not what a reader takes.
    """
    real = os.path.realpath(directory)
    key = project_key(real)
    values = {"v": FORMAT, "pid": os.getpid(), "directory": real, **payload}
    content = json.dumps(values, separators=(",", ":")).encode()
    if _decoded(content, LedgerFile if kind == "ledger" else Door, key) is None:
        raise ValueError(f"this is no announcement of a {kind}")
    name = f"{key}.ledger.json" if kind == "ledger" else f"{key}.{values['pid']}.door.json"
    path = ensure_runtime_folder(environ) / name
    with privatefolder.opened(path.parent) as folder:
        try:
            return Announcement(path, folder.write(name, content))
        except OSError as error:
            raise FileError(f"cannot write {path}: {error.strerror}") from error


def doors(directory: str | Path | None = None, *, environ: Mapping[str, str] | None = None) -> list[Door]:
    """Doors of running OpenCode processes, of one project or of all, by name; stale ones are removed.

    Anything else in the folder is passed over. Never raises.
    """
    key = None if directory is None else project_key(directory)
    found = []
    with contextlib.suppress(FileError, OSError), privatefolder.opened(paths.runtime_dir(environ)) as folder:
        for name in folder.names():
            match = _DOOR_NAME.fullmatch(name)
            if match is not None and key in (None, match[1]):
                found.append(_read(folder, name, Door, match[1], int(match[2])))
    return [door for door in found if door is not None]


def ledger(directory: str | Path, *, environ: Mapping[str, str] | None = None) -> LedgerFile | None:
    """The running ledger that hosts the project, if there is one; the file of one that is gone is removed.

    Never raises.
    """
    key = project_key(directory)
    with contextlib.suppress(FileError), privatefolder.opened(paths.runtime_dir(environ)) as folder:
        return _read(folder, f"{key}.ledger.json", LedgerFile, key)
    return None


def _read(folder: PrivateFolder, name: str, kind: type[_T], key: str, named: int | None = None) -> _T | None:
    """What a file says, if its process runs; a stale one is removed. `named`: the process its name tells of."""
    found = folder.read(name, MAX_BYTES + 1)
    if found is None:
        return None
    content, seen = found
    said = _decoded(content, kind, key)
    process = named or (said and said.pid)
    if process and not _runs(process):
        folder.remove(name, seen)
        return None
    return said if said is not None and said.pid == process else None


def _decoded(content: bytes, kind: type[_T], key: str) -> _T | None:
    """The contents, if they are those of this kind and of the project with that key."""
    if len(content) > MAX_BYTES:
        return None
    try:
        said = msgspec.json.decode(content, type=kind)
        if project_key(said.directory) != key:
            return None
    except (msgspec.MsgspecError, ValueError, OSError, RecursionError):
        return None
    texts = {name: clean_line(getattr(said, name), 40) for name in _TEXTS if hasattr(said, name)}
    return msgspec.structs.replace(said, **texts)


def _runs(pid: int) -> bool:
    """Whether a process of this user has that id; one that has ended but was not collected yet does not count."""
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    process = _PROC / str(pid)
    try:
        state = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        return state not in ("Z", "X") and process.stat().st_uid == os.geteuid()
    except (OSError, IndexError):
        return True
