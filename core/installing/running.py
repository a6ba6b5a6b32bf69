"""Which OpenCode processes of this user run where, also those that listen on nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from core.opencode.sockets import from_lsof, is_opencode


class Running(msgspec.Struct, frozen=True, kw_only=True):
    """An OpenCode process.

    Attributes:
        cwd: empty where that cannot be told.
        started: seconds since the epoch, exact to about a second; 0 where that cannot be told.
    """

    pid: int
    cwd: str = ""
    started: float = 0.0


def running(
    folder: Path | None = None,
    *,
    proc: Path = Path("/proc"),
    uid: int | None = None,
    platform: str = sys.platform,
    run: Callable[[list[str]], str] | None = None,
) -> list[Running]:
    """OpenCode processes of this user that work in `folder` or below it; None: all of them.

    OpenCode without `--port` listens on nothing, so sockets do not tell: on Linux the processes are looked at
    themselves. Elsewhere only those that listen are found, with `lsof`. The other parameters replace the system in
    tests.
    """
    user = os.getuid() if uid is None else uid
    if platform.startswith("linux"):
        found = list(_processes(proc, user))
    else:
        found = [Running(pid=listener.pid, cwd=listener.cwd) for listener in from_lsof(user, run)]
    wanted = None if folder is None else os.path.realpath(folder)
    return [process for process in found if wanted is None or _is_below(process.cwd, wanted)]


def _processes(proc: Path, uid: int) -> Iterator[Running]:
    for pid in sorted(int(entry.name) for entry in proc.iterdir() if entry.name.isdigit()):
        process = proc / str(pid)
        try:
            if process.stat().st_uid != uid:
                continue
            arguments = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if arguments[0] and is_opencode(str((process / "exe").readlink()), arguments):
                cwd = str((process / "cwd").readlink())
                yield Running(pid=pid, cwd=cwd, started=_started(process))
        except OSError:
            continue


def _started(process: Path) -> float:
    """When the system was started, and the clock ticks from then to the process's own start (its 22nd field)."""
    try:
        boot = next(line for line in (process.parent / "stat").read_text().splitlines() if line.startswith("btime "))
        ticks = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()[19]
        return int(boot.split()[1]) + int(ticks) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, StopIteration):
        return 0.0


def _is_below(cwd: str, folder: str) -> bool:
    return bool(cwd) and Path(os.path.realpath(cwd)).is_relative_to(folder)
