"""Small servers on loopback that answer as a test tells them to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Handler = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]

EVENT_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def http_answer(body: bytes, *, status: str = "200 OK", kind: str = "application/json") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def http_chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """Serve until the block ends; `handler` gets the head of each connection's first request. Gives the URL.

    Handlers that are at work at the end are cancelled. Until then they are kept here: asyncio itself holds tasks
    weakly, and one that waits for nothing would be collected.
    """
    at_work: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(await reader.readuntil(b"\r\n\r\n"), writer)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if server.is_serving():
            at_work.add(asyncio.create_task(answer(reader, writer)))
        else:
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await asyncio.sleep(0)  # a task that never began would not close its connection
        for task in at_work:
            task.cancel()
        ended = await asyncio.gather(*at_work, return_exceptions=True)
        await server.wait_closed()
    for error in ended:
        if error is not None and not isinstance(error, asyncio.CancelledError):
            raise error


async def unused_url() -> str:
    """An address of this machine at which nothing listens."""
    server = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return f"http://127.0.0.1:{port}"
