"""A few places for requests that take long, each held until its answer has been taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from core.loopback.messages import Refusal

PIECE_BYTES: Final = 1 << 16
SEND_SECONDS: Final = 30.0
"""A client that has not taken its answer by then is cut off, however steadily it reads."""


class Places:
    """Counts who is being answered.

    Args:
        limit: at the same time.
    """

    def __init__(self, limit: int) -> None:
        self._free = limit

    @contextmanager
    def taken(self) -> Iterator[Callable[[], None]]:
        """Take a place; gives what frees it, to be called by whoever sends the answer. A failure frees it at once.

        Raises:
            Refusal: 429, all are taken.
        """
        if not self._free:
            raise Refusal(429, "too many are being answered")
        self._free -= 1
        free = _Once(self._leave)
        try:
            yield free
        except BaseException:
            free()
            raise

    def _leave(self) -> None:
        self._free += 1


class _Once:
    """Calls `work` once."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work: Callable[[], None] | None = work

    def __call__(self) -> None:
        work, self._work = self._work, None
        if work is not None:
            work()


class Sent:
    """A body in pieces; `done` is called when all is taken or nobody takes more.

    No generator, because closing one that was never begun runs none of its code.
    """

    def __init__(self, body: bytes, done: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._rest = memoryview(body)
        self._done = done
        self._clock = clock
        self._end = clock() + SEND_SECONDS

    def __aiter__(self) -> Sent:
        return self

    async def __anext__(self) -> bytes:
        """The next piece.

        Raises:
            TimeoutError: the client is too slow.
        """
        if not self._rest:
            raise StopAsyncIteration
        if self._clock() > self._end:
            raise TimeoutError
        piece, self._rest = self._rest[:PIECE_BYTES], self._rest[PIECE_BYTES:]
        return bytes(piece)

    async def aclose(self) -> None:
        """Nothing more is sent."""
        self._done()
