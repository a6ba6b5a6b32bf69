"""The way to OpenCode, in the order in which the ledger takes it: named, announced door, loopback."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from core import rendezvous
from core.doctor.surroundings import Surroundings
from core.errors import LedgerError, Refused
from core.installing.places import project_place
from core.installing.running import Running, running
from core.opencode.address import Credentials
from core.opencode.client import Client
from core.opencode.discovery import Found, discover
from core.rendezvous import Door

PROBE_SECONDS: Final = 2.0

Way = Literal["named", "door", "loopback", "none"]


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """How OpenCode is reached.

    Attributes:
        way: none: there is no way.
        url: where it is asked.
        version: what it says it is; empty when it does not answer, or wants a password.
        pid: its process, where that is known.
        credentials: sent to it.
        token: of its door.
        wants_password: it said so.
        refused: it does not take the password.
        problem: why it does not answer.
        doors: all doors for the project.
        found: OpenCode servers on loopback, for the project first.
        here: OpenCode processes that work in the project, whether they can be reached or not.
    """

    way: Way = "none"
    url: str = ""
    version: str = ""
    pid: int = 0
    credentials: Credentials | None = None
    token: str = ""
    wants_password: bool = False
    refused: bool = False
    problem: str = ""
    doors: tuple[Door, ...] = ()
    found: tuple[Found, ...] = ()
    here: tuple[Running, ...] = ()

    def __repr__(self) -> str:
        """Without the token."""
        return f"Reach(way={self.way!r}, url={self.url!r}, pid={self.pid}, version={self.version!r})"

    @property
    def answers(self) -> bool:
        """Whether OpenCode can be asked things."""
        return bool(self.version)

    def client(self, directory: str) -> Client:
        """A connection to it."""
        return Client(self.url, directory=directory, auth=self.credentials, token=self.token)


async def reach(surroundings: Surroundings) -> Reach:
    """Look for the way in and ask for the version there. Raises nothing but what is a fault of the program."""
    options = surroundings.options
    password = Credentials(password=options.password, username=options.username) if options.password else None
    doors = tuple(rendezvous.doors(surroundings.directory, environ=surroundings.environ))
    here = tuple(running(project_place(surroundings.directory).top, proc=surroundings.proc))
    all_found = await discover(surroundings.directory, proc=surroundings.proc, probe_seconds=PROBE_SECONDS)
    found = tuple(server for server in all_found if server.match != "other")
    way = Reach(doors=doors, found=found, here=here)
    if options.server is not None:
        way = msgspec.structs.replace(way, way="named", url=options.server, credentials=password)
    elif doors:
        first = doors[0]
        way = msgspec.structs.replace(way, way="door", url=first.url, token=first.token, pid=first.pid)
    elif found:
        best = found[0]
        sent = password if best.needs_password else None
        way = msgspec.structs.replace(way, way="loopback", url=best.url, pid=best.pid, credentials=sent)
    else:
        return way
    return await _asked(way)


async def _asked(way: Reach) -> Reach:
    try:
        async with way.client("") as client:
            return msgspec.structs.replace(way, version=await client.health())
    except Refused as error:
        wants = way.credentials is None and not way.token
        return msgspec.structs.replace(way, wants_password=wants, refused=not wants, problem=error.message)
    except LedgerError as error:
        return msgspec.structs.replace(way, problem=str(error))
