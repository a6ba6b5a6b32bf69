"""Which server to attach to: the one that was named, else this user's OpenCode for the folder."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from core import rendezvous
from core.errors import Unreachable
from core.host.options import HostOptions
from core.installing.places import all_places, project_place
from core.installing.present import plugin_is_there
from core.installing.running import Running, running
from core.opencode.address import Credentials
from core.opencode.discovery import Found, discover
from core.opencode.sockets import still_runs

_MOST_NAMED = 3
_FITTING = ("same", "tree", "inside")
"""How the folder may lie to those a server works in. One that works below the folder is named, not taken: its sessions
are those of another folder."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A server to attach to.

    Attributes:
        token: of a door that the plugin opened; empty for a server that listens itself.
        named: the user gave its address, so no other is looked for.
        pid: the process; 0 when unknown.
        started: when it was, as :class:`core.opencode.sockets.Listener` tells it.
    """

    url: str
    credentials: Credentials | None
    named: bool
    token: str = ""
    pid: int = 0
    started: int = 0

    @property
    def vouch(self) -> Callable[[], bool] | None:
        """Tells before each request whether a password may still go there: another user may have the port by now.

        None: nothing has to be asked.
        """
        if self.credentials is None or self.named or not self.pid:
            return None
        return lambda: still_runs(self.pid, self.started)

    @property
    def way(self) -> tuple[str, str]:
        """What tells two ways in apart: the same port may be that of another process's door by now."""
        return self.url, self.token

    def __repr__(self) -> str:
        """Without the token."""
        return f"Target(url={self.url!r}, named={self.named})"


class Nowhere(Unreachable):
    """There is no way in to any OpenCode of the folder.

    Attributes:
        closed: processes that work in the folder and let nobody in.
        others: servers for other folders, as address and folder.
    """

    def __init__(self, message: str, hint: str, closed: tuple[int, ...], others: tuple[str, ...]) -> None:
        super().__init__(message, hint)
        self.closed = closed
        self.others = others


def named(options: HostOptions) -> Target | None:
    """The server the user named."""
    return None if options.server is None else Target(url=options.server, credentials=_password(options), named=True)


def of_doors(directory: Path) -> list[Target]:
    """Doors that the plugin opened in OpenCode processes of this folder, the last one started first. Never raises."""
    doors = sorted(rendezvous.doors(directory), key=lambda door: door.pid, reverse=True)
    return [Target(url=door.url, credentials=None, named=False, token=door.token, pid=door.pid) for door in doors]


async def of_listeners(options: HostOptions, *, alone: bool) -> tuple[list[Target], Nowhere | None]:
    """OpenCode processes of this user that listen and work in this very folder.

    With none of them, and where `alone` says that there is no door either, the best of those that work in the same
    tree or above the folder; if there is none of these, why.
    """
    found = await discover(options.directory)
    fitting = [candidate for candidate in found if candidate.match in _FITTING]
    same = [candidate for candidate in fitting if candidate.match == "same"]
    open_ones = [candidate for candidate in same if options.password or not candidate.needs_password]
    chosen = open_ones or (fitting[:1] if alone else [])
    problem = None if chosen or not alone else await asyncio.to_thread(_nowhere, options.directory, found)
    return [_target(candidate, options) for candidate in chosen], problem


async def find_server(options: HostOptions) -> Target:
    """The server to attach to.

    Without an address: the door that the plugin opened in an OpenCode of this folder, the last one started first; else
    OpenCode processes of this user that listen and work in the folder or above it. A password is sent to
    none but one that asked for it.

    Raises:
        Unreachable: there is none for this folder.
    """
    if (target := named(options)) is not None:
        return target
    if doors := await asyncio.to_thread(of_doors, options.directory):
        return doors[0]
    found, problem = await of_listeners(options, alone=True)
    if problem is not None:
        raise problem
    return found[0]


def _target(found: Found, options: HostOptions) -> Target:
    password = _password(options) if found.needs_password else None
    return Target(url=found.url, credentials=password, named=False, pid=found.pid, started=found.started)


def _password(options: HostOptions) -> Credentials | None:
    return Credentials(password=options.password, username=options.username) if options.password else None


def _nowhere(directory: Path, found: list[Found]) -> Nowhere:
    """Why there is no way in, as it is on the disk and in the machine at this moment."""
    listening = {candidate.pid for candidate in found}
    closed = [process for process in working_in(directory) if process.pid not in listening]
    installed = plugin_since(directory)
    if closed:
        pids = ", ".join(str(process.pid) for process in closed[:_MOST_NAMED])
        where = "here" if Path(closed[0].cwd).resolve() == directory.resolve() else f"in {closed[0].cwd}"
        message = f"OpenCode runs {where} without a way in (process {pids})"
        if installed is None:
            hint = "Run `ledger-tui init` and restart OpenCode, or start it with `opencode --port 4096`."
        elif max(process.started for process in closed) < installed:
            hint = "Restart it: the plugin is installed, and OpenCode loads it when it starts."
        else:
            hint = (
                "It is found as soon as it has loaded the plugin: after half a minute, at its first start with it. "
                "If it is not, start it with `opencode --port 4096`."
            )
    else:
        message = f"No OpenCode found for {directory}"
        start = "`opencode --port 4096`" if installed is None else "`opencode`"
        hint = f"Start {start} in this folder, or name a server with --server."
    others = tuple(f"{one.url} ({one.cwd or 'folder unknown'})" for one in found[:_MOST_NAMED])
    return Nowhere(message, hint, tuple(process.pid for process in closed), others)


def working_in(directory: Path) -> list[Running]:
    """OpenCode processes of this user that work in the folder, or above it in its project; none if that is unknown."""
    try:
        found = running(project_place(directory).top)
    except OSError:
        return []
    wanted = directory.resolve()
    return [process for process in found if wanted.is_relative_to(Path(process.cwd).resolve())]


def plugin_since(directory: Path) -> float | None:
    """When the plugin that OpenCode loads for the folder was written, in seconds since the epoch; None: there is none.

    0 where that cannot be told.
    """
    if not plugin_is_there(directory):
        return None
    times = [0.0]
    for place in all_places(directory):
        with contextlib.suppress(OSError):
            times.append(place.plugin.stat().st_mtime)
    return max(times)
