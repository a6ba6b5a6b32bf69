"""The listening side of the loopback server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final

from core.loopback.connection import Connection
from core.loopback.messages import Limits, Request, Response

_BUSY: Final = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"

Handler = Callable[[Request], Awaitable[Response]]


class LoopbackServer:
    """Serves `handle` on a loopback address; use `start` and `stop`, or an `async with` block.

    Args:
        handle: called once per request; a :class:`Refusal` it raises is answered, any other exception is logged and
            answered with 500. It is cancelled when the client goes away.
        port: 0 takes a free one; see :attr:`port` after the start.
        host: `127.0.0.1` or `::1`.

    Raises:
        ValueError: `host` is no loopback address.
    """

    def __init__(
        self, handle: Handler, *, port: int = 0, host: str = "127.0.0.1", limits: Limits | None = None
    ) -> None:
        if host not in ("127.0.0.1", "::1"):
            raise ValueError(f"{host} is not a loopback address")
        self._handle = handle
        self.limits = limits or Limits()
        self.handlers = asyncio.Semaphore(self.limits.handlers)
        self._host, self._port = host, port
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], Connection] = {}
        """The oldest first."""

    @property
    def port(self) -> int:
        """The port it listens on; before the start, the one it was given."""
        return self._port

    @property
    def url(self) -> str:
        """Base address, without a slash at the end."""
        return f"http://{f'[{self._host}]' if ':' in self._host else self._host}:{self._port}"

    async def start(self) -> None:
        """Listen.

        Raises:
            OSError: the port is taken.
        """
        self._server = await asyncio.start_server(self._accept, self._host, self._port, backlog=256)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close the port and every connection; running handlers are cancelled."""
        if self._server is None:
            return
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    async def handle(self, request: Request) -> Response:
        """Pass a request to the handler."""
        return await self._handle(request)

    async def __aenter__(self) -> LoopbackServer:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= self.limits.connections and not self._makes_room():
            writer.write(_BUSY)
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = connection = Connection(self, reader, writer)
        try:
            # A cancellation only ever comes from stop(), which waits for the end of this task, or makes room.
            with contextlib.suppress(OSError, TimeoutError, asyncio.CancelledError):
                await connection.run()
        finally:
            self._connections.pop(task, None)
            writer.transport.abort()

    def _makes_room(self) -> bool:
        """End the oldest connection that never had a request granted, so that nobody can lock the others out."""
        oldest = next((task for task, connection in self._connections.items() if connection.is_stranger), None)
        if oldest is None:
            return False
        del self._connections[oldest]
        oldest.cancel()
        return True
