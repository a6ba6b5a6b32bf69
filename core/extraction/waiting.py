"""Waiting for the answer of an extraction without being kept waiting.

When a provider says that the prompt is too long, OpenCode compacts the extraction's own session and asks again, about
twice a second and without end, and the request for the answer never returns (seen with 1.18.33: 398 model calls in two
minutes). The session's messages show it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Sequence
from typing import Final, Protocol

from core.errors import LedgerError
from core.extraction.ports import Reply

LOOK_SECONDS: Final = 1.0
"""Pause between two looks at the session; ordinary answers are there after one or two."""
_LAST: Final = 20

TOO_LONG: Final = "the prompt is too long for the model (OpenCode began to compact the extraction); lower {setting}"


class Stuck(Exception):  # noqa: N818 - a state of the session
    """The answer will not come; the message says why."""


class Messages(Protocol):
    """The one call that is needed."""

    async def messages(self, session: str, *, limit: int | None = None) -> Sequence[Reply]:
        """The last messages of a session."""
        ...


async def answer_of(
    client: Messages, session: str, asking: Awaitable[Reply], *, look_seconds: float = LOOK_SECONDS
) -> Reply:
    """The result of `asking`, which is cancelled when the session shows that it will not come.

    Raises:
        Stuck: OpenCode compacts the session instead of answering.
    """
    task = asyncio.ensure_future(asking)
    try:
        while not (await asyncio.wait([task], timeout=look_seconds))[0]:
            if await _is_compacting(client, session):
                raise Stuck(TOO_LONG.format(setting="extraction_prompt_chars"))
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, LedgerError):
                await task


async def _is_compacting(client: Messages, session: str) -> bool:
    try:
        found = await client.messages(session, limit=_LAST)
    except LedgerError:
        return False
    return any(message.info.is_summary or any(part.type == "compaction" for part in message.parts) for message in found)
