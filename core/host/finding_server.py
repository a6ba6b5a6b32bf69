"""Which server to attach to: the one that was named, else this user's OpenCode for the folder."""

from __future__ import annotations

import asyncio

import msgspec

from core import rendezvous
from core.errors import ServerError, Unreachable
from core.host.options import HostOptions
from core.opencode.address import Credentials
from core.opencode.discovery import Found, discover

_FITTING = ("same", "tree", "inside")
"""How the folder may lie to those a server works in. One that works below the folder is named, not taken: its sessions
are those of another folder."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A server to attach to.

    Attributes:
        token: of a door that the plugin opened; empty for a server that listens itself.
        named: the user gave its address, so no other is looked for.
    """

    url: str
    credentials: Credentials | None
    named: bool
    token: str = ""

    def __repr__(self) -> str:
        """Without the token."""
        return f"Target(url={self.url!r}, named={self.named})"


async def find_server(options: HostOptions) -> Target:
    """The server to attach to.

    Without an address: the door that the plugin opened in an OpenCode of this folder, the last one started first; else
    OpenCode processes of this user that listen and work in the folder or above it. A password is sent to
    none but one that asked for it.

    Raises:
        Unreachable: there is none for this folder.
    """
    password = Credentials(password=options.password, username=options.username) if options.password else None
    if options.server is not None:
        return Target(url=options.server, credentials=password, named=True)
    doors = await asyncio.to_thread(rendezvous.doors, options.directory)
    if doors:
        door = max(doors, key=lambda candidate: candidate.pid)
        return Target(url=door.url, credentials=None, named=False, token=door.token)
    found = await discover(options.directory)
    best = next((candidate for candidate in found if candidate.match in _FITTING), None)
    if best is None:
        raise _none(options, found)
    return Target(url=best.url, credentials=password if best.needs_password else None, named=False)


def _none(options: HostOptions, found: list[Found]) -> ServerError:
    hint = "Start `opencode --port 4096` there, or name a server with --server."
    if found:
        others = ", ".join(f"{candidate.url} ({candidate.cwd or 'folder unknown'})" for candidate in found[:3])
        hint = f"There is OpenCode for other folders: {others}. {hint}"
    return Unreachable(f"No OpenCode found for {options.directory}", hint)
