"""Who is told by :mod:`core.opencode.follow`, and what is handed to it: protocols and timing."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Literal, Protocol

import msgspec

from core.clock import now_ms
from core.ledger.observations import Observation, SessionInfo
from core.opencode.stream import Item, Pace

ConnectionState = Literal["searching", "none", "connecting", "live", "resyncing", "reconnecting", "refused", "closed"]
"""`searching` and `none` (no server found) are said by whoever looks for a server, all others by the follower."""


class Sink(Protocol):
    """Who is told. All methods are called from the event loop's thread and return quickly."""

    def root(self, info: SessionInfo, updated: int) -> None:
        """A root session of the directory, changed last at `updated` (ms): at each connect, when it appears, when its
        title changes.
        """
        ...

    def loading(self, root: str, on: bool) -> None:
        """A root session's history is being read, or no longer."""
        ...

    def activity(self, root: str, updated: int) -> None:
        """OpenCode changed this root session (or one of its sub-agents) at `updated`, in ms."""
        ...

    def observe(self, root: str, observation: Observation) -> None:
        """A fact, for the ledger of `root`; with an empty `root` it concerns all of the directory's ledgers."""
        ...

    def connection(self, state: ConnectionState, detail: str, attempt: int = 0, retry_at: int = 0) -> None:
        """State of the way to the server; `retry_at` in ms, 0 when no attempt is due."""
        ...

    def warn(self, code: str, message: str, root: str = "") -> None:
        """Something a person should know, of a root session where it concerns one."""
        ...


class Stream(Protocol):
    """What is needed of :class:`core.opencode.stream.EventStream`."""

    def __aiter__(self) -> AsyncIterator[Item]: ...

    async def aclose(self) -> None:
        """Close the connection; iterating again connects again."""
        ...

    def retry_now(self) -> None:
        """Do not wait for the next attempt."""
        ...


class Peers(msgspec.Struct, frozen=True, kw_only=True):
    """What a follower asks where others follow the same sessions at other processes; alone it needs none of it."""

    claim: Callable[[str], bool] = lambda root: False
    """The server of this follower is at work in that root session. True when another one was before: what that did
    has to be read first."""
    missing: Callable[[str], None] = lambda root: None
    """A session that was to be read anew is not there."""
    attached_at: Callable[[], int] = lambda: 0
    """When the first of them attached, in ms; 0 before."""


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Clock, chance and patience; tests bring their own."""

    now: Callable[[], int] = now_ms
    """Time of day in ms since the epoch, by the same clock as the server's."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Wait for a number of seconds."""
    chance: Callable[[], float] = random.random
    """A number in [0, 1), to spread attempts."""
    pace: Pace = Pace()

    def delay(self, attempt: int) -> float:
        """Seconds to wait after failure number `attempt` (from 1)."""
        return self.pace.delay(attempt, self.chance())
