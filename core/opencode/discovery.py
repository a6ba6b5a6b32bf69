"""Finds the OpenCode servers of this user that listen on this machine, the most fitting one first.

Only ports that a process of this user's OpenCode listens on are asked anything, and only `GET /global/health`: no
password is sent, so a server that wants one is listed as such.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from core.errors import LedgerError, Refused
from core.opencode.client import Client
from core.opencode.sockets import Listener, from_lsof, from_proc

if TYPE_CHECKING:
    import httpx

PROBE_SECONDS = 3.0
_MAX_PROBES = 64
_MAX_PROBE_BYTES = 64 * 1024

Match = Literal["same", "tree", "inside", "around", "other"]
_RANK: dict[Match, int] = {"same": 0, "tree": 1, "inside": 2, "around": 3, "other": 4}


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A server that answers."""

    url: str
    pid: int
    version: str = ""
    """Empty when it did not say because it wants a password."""
    needs_password: bool = False
    cwd: str = ""
    directories: tuple[str, ...] = ()
    """Folders it is known to work in: its working folder and the root of the work tree around that."""
    match: Match = "other"
    """How the asked directory lies to `cwd`: the same, in the same work tree, inside it, around it, or elsewhere."""
    started: int = 0


async def discover(
    directory: str | Path,
    *,
    proc: Path = Path("/proc"),
    uid: int | None = None,
    platform: str = sys.platform,
    run: Callable[[list[str]], str] | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    probe_seconds: float = PROBE_SECONDS,
) -> list[Found]:
    """Servers on loopback, best match for `directory` first; among equals those without a password, then the latest.

    Takes up to `probe_seconds` for a port that does not answer; never raises because of one. The other parameters
    replace the system in tests: the process file system, the user, `sys.platform`, running `lsof`, the network.
    """
    user = uid if uid is not None else os.getuid() if hasattr(os, "getuid") else -1
    listeners = await asyncio.to_thread(_listeners, proc, user, platform, run)
    probes = (_probe(listener, transport, probe_seconds) for listener in listeners[:_MAX_PROBES])
    answers = [found for found in await asyncio.gather(*probes) if found is not None]
    return await asyncio.to_thread(_ranked, _one_each(answers), Path(directory))


def listeners() -> Sequence[Listener]:
    """Ports of this machine that this user's OpenCode processes listen on; none is asked anything. Never raises."""
    return _listeners(Path("/proc"), os.getuid() if hasattr(os, "getuid") else -1, sys.platform, None)


def _listeners(proc: Path, uid: int, platform: str, run: Callable[[list[str]], str] | None) -> Sequence[Listener]:
    return from_proc(proc, uid) if platform.startswith("linux") else from_lsof(uid, run)


async def _probe(listener: Listener, transport: httpx.AsyncBaseTransport | None, seconds: float) -> Found | None:
    """Ask a port whether it is OpenCode, without a password."""
    found = Found(url=listener.url, pid=listener.pid, cwd=listener.cwd, started=listener.started)
    client = Client(listener.url, transport=transport, max_body_bytes=_MAX_PROBE_BYTES)
    try:
        async with asyncio.timeout(seconds), client:
            return msgspec.structs.replace(found, version=await client.health())
    except Refused:
        return msgspec.structs.replace(found, needs_password=True)
    except (LedgerError, TimeoutError):
        return None


def _one_each(answers: Sequence[Found]) -> list[Found]:
    """One address a process: rather one that needs no password."""
    by_process: dict[int, Found] = {}
    for found in sorted(answers, key=lambda found: found.needs_password):
        by_process.setdefault(found.pid, found)
    return list(by_process.values())


def _ranked(answers: Sequence[Found], directory: Path) -> list[Found]:
    wanted = _resolved(directory)
    ranked = [_place(found, wanted) for found in answers]
    ranked.sort(key=lambda item: (_RANK[item[1].match], item[1].needs_password, item[0], -item[1].started, item[1].url))
    return [found for _, found in ranked]


def _place(found: Found, wanted: Path) -> tuple[tuple[int, bool], Found]:
    """Sorting key among equal matches (steps between the folders, then rather upwards), and the server, placed."""
    if not found.cwd:
        return (0, False), found
    cwd = _resolved(Path(found.cwd))
    tree = _work_tree(cwd)
    match: Match = "other"
    if cwd == wanted:
        match = "same"
    elif tree is not None and tree == _work_tree(wanted):
        match = "tree"
    elif wanted.is_relative_to(cwd) and cwd != Path(cwd.anchor):
        match = "inside"
    elif cwd.is_relative_to(wanted) and wanted != Path(wanted.anchor):
        match = "around"
    folders = dict.fromkeys(str(folder) for folder in (cwd, tree) if folder is not None)
    distance = 0 if match == "other" else len(Path(os.path.relpath(wanted, cwd)).parts)
    below = match != "other" and not wanted.is_relative_to(cwd)
    return (distance, below), msgspec.structs.replace(found, directories=tuple(folders), match=match)


def _work_tree(folder: Path) -> Path | None:
    """The nearest folder upwards that holds a `.git`."""
    return next((path for path in (folder, *folder.parents) if _exists(path / ".git")), None)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()
