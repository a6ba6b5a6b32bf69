"""Reading the state of an OpenCode server back over HTTP: which sessions there are, and what was said in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import msgspec

from core.errors import NotFound, WrongServer
from core.opencode.client import Page
from core.opencode.failures import TooLarge
from core.opencode.records import MessageWithParts, Session
from core.opencode.requests import Request

MAX_MESSAGES: Final = 2_000
"""Messages of a session that are read back at most; older ones are left out."""

PAGE_MESSAGES: Final = 100
MAX_SESSIONS: Final = 1_000
_MAX_DEPTH: Final = 16


class ServerClient(Protocol):
    """What is needed of :class:`core.opencode.client.Client`."""

    async def sessions(self, *, roots: bool = False, limit: int = 1000) -> list[Session]:
        """Sessions of the directory, the last updated first."""
        ...

    async def session(self, session: str) -> Session:
        """A session by its id."""
        ...

    async def children(self, session: str) -> list[Session]:
        """Sub-agents' sessions directly below a session."""
        ...

    async def statuses(self) -> dict[str, str]:
        """`busy` or `retry` by session id."""
        ...

    async def message_page(self, session: str, *, limit: int | None = None, before: str | None = None) -> Page:
        """The last `limit` messages before a cursor."""
        ...

    async def pending(self) -> Sequence[Request]:
        """Requests that wait for an answer."""
        ...


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions of the directory, and which of all sessions are at work."""

    sessions: list[Session]
    busy: frozenset[str]
    full: bool
    """As many sessions as were asked for: there may be more."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    """Messages of one session, oldest first."""

    messages: list[MessageWithParts]
    is_whole: bool
    """No older message was left out."""
    reaches_known: bool = False
    """What was left out is known already."""


class Reader:
    """Reads through a client; raises what the client raises."""

    def __init__(self, client: ServerClient, *, max_messages: int = MAX_MESSAGES, page: int = PAGE_MESSAGES) -> None:
        self._client = client
        self._max_messages = max_messages
        self._page = page

    async def listing(self) -> Listing:
        """Sessions and states. The states are older than the infos: what changes in between comes as an event."""
        busy = await self._client.statuses()
        sessions = await self._client.sessions(limit=MAX_SESSIONS)
        return Listing(sessions=sessions, busy=frozenset(busy), full=len(sessions) >= MAX_SESSIONS)

    async def busy(self) -> frozenset[str]:
        """Ids of the sessions at work."""
        return frozenset(await self._client.statuses())

    async def pending(self) -> Sequence[Request]:
        """Requests that wait for an answer; none where the server cannot tell."""
        try:
            return await self._client.pending()
        except (NotFound, WrongServer):
            return ()

    async def history(self, session: str, is_known: Callable[[str], bool]) -> History:
        """The messages of a session, in pages from the newest back to the first that is known, or to the limit."""
        pages: list[list[MessageWithParts]] = []
        count, cursor, reaches_known = 0, "", False
        while count < self._max_messages and not reaches_known:
            page = await self._page_before(session, cursor)
            pages.append(page.messages)
            count += len(page.messages)
            cursor = page.before if page.messages else ""
            if not cursor:
                break
            reaches_known = any(is_known(message.info.id) for message in page.messages)
        messages = [message for page_messages in reversed(pages) for message in page_messages]
        return History(messages=messages, is_whole=not cursor, reaches_known=reaches_known)

    async def _page_before(self, session: str, cursor: str) -> Page:
        """A page of messages; a smaller one where a page of the usual size is more than the client takes."""
        size = self._page
        while True:
            try:
                return await self._client.message_page(session, limit=size, before=cursor or None)
            except TooLarge:
                if size == 1:
                    raise
                size = max(1, size // 10)

    async def ancestry(self, session: str, is_known: Callable[[str], bool]) -> list[Session] | None:
        """A session and those above it up to a known one or the root; None when one of them is not there."""
        found: list[Session] = []
        for _ in range(_MAX_DEPTH):
            try:
                info = await self._client.session(session)
            except NotFound:
                return None
            found.append(info)
            if not info.parent or is_known(info.parent):
                return found
            session = info.parent
        return None

    async def descendants(self, root: str) -> list[Session]:
        """All sessions below `root`, parents first."""
        found: list[Session] = []
        level = [root]
        for _ in range(_MAX_DEPTH):
            level_infos = [info for id in level for info in await self._client.children(id)]
            if not level_infos:
                break
            found += level_infos
            level = [info.id for info in level_infos]
        return found
