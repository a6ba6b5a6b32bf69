"""The connection itself, against servers on loopback."""

from __future__ import annotations

import asyncio

import pytest

from core.errors import Unreachable, WrongServer
from core.opencode.address import parse_address
from core.opencode.failures import TooLarge
from core.opencode.http import Http
from tests.unit.opencode.servers import EVENT_STREAM, http_answer, http_chunk, serving, unused_url


def http(url: str, *, timeout: float = 30, limit: int = 1 << 20) -> Http:
    return Http(parse_address(url), timeout=timeout, max_body_bytes=limit, transport=None)


async def test_nothing_listens() -> None:
    url = await unused_url()
    connection = http(url)
    with pytest.raises(Unreachable, match=url) as raised:
        await connection.call("GET", "/x")
    assert "opencode --port" in raised.value.hint
    await connection.close()


async def test_the_environment_is_not_asked_for_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    dead = await unused_url()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, dead)

    async def handler(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(http_answer(b"1"))

    async with serving(handler) as url:
        connection = http(url)
        assert (await connection.call("GET", "/x")).body == b"1"
        await connection.close()


@pytest.mark.parametrize("said", [b"220 smtp\r\n\r\n", b"\x00\x01\x02\x03\r\n\r\n"])
async def test_a_server_that_talks_something_else(said: bytes) -> None:
    async def handler(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(said)

    async with serving(handler) as url:
        connection = http(url)
        with pytest.raises(WrongServer):
            await connection.call("GET", "/x")
        await connection.close()


@pytest.mark.parametrize(
    "said", [b"", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n1"]
)
async def test_a_server_that_hangs_up(said: bytes) -> None:
    async def handler(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(said)

    async with serving(handler) as url:
        connection = http(url)
        with pytest.raises(Unreachable, match="closed the connection"):
            await connection.call("GET", "/x")
        await connection.close()


async def test_a_server_that_says_nothing() -> None:
    async def handler(_: bytes, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with serving(handler) as url:
        connection = http(url, timeout=0.01)
        with pytest.raises(Unreachable, match=r"GET /x brought nothing for 0\.01 s"):
            await connection.call("GET", "/x?secret=1")
        with pytest.raises(Unreachable, match=r"0\.02 s"):
            await connection.call("GET", "/x", patience=0.02)
        await connection.close()


async def test_a_body_without_a_length_is_cut_off_at_the_limit() -> None:
    cut_off = asyncio.Event()

    async def handler(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            while True:
                writer.write(http_chunk(b"1" * 10_000))
                await writer.drain()
        except ConnectionError:
            cut_off.set()

    async with serving(handler) as url:
        connection = http(url, limit=100_000)
        with pytest.raises(TooLarge):
            await connection.call("GET", "/x")
        await cut_off.wait()
        await connection.close()


async def test_a_body_of_another_type_is_not_read() -> None:
    async def handler(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(EVENT_STREAM + http_chunk(b"data: 1"))
        await asyncio.Event().wait()

    async with serving(handler) as url:
        connection = http(url)
        with pytest.raises(WrongServer, match="text/event-stream"):
            await connection.call("GET", "/x")
        await connection.close()


async def test_a_stream_gives_chunks_as_they_come_and_is_closed_with_its_reader() -> None:
    closed = asyncio.Event()
    go_on = asyncio.Event()

    async def handler(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(EVENT_STREAM + http_chunk(b"one"))
        await go_on.wait()
        try:
            while True:
                writer.write(http_chunk(b"two"))
                await writer.drain()
                await asyncio.sleep(0)
        except ConnectionError:
            closed.set()

    async with serving(handler) as url:
        connection = http(url, timeout=0.01)
        stream = connection.stream("/event")
        assert await anext(stream) == b"one"
        go_on.set()
        assert (await anext(stream)).startswith(b"two")
        await stream.aclose()
        await closed.wait()
        await connection.close()


async def test_a_stream_that_breaks_off() -> None:
    async def handler(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(EVENT_STREAM + http_chunk(b"one"))

    async with serving(handler) as url:
        connection = http(url)
        stream = connection.stream("/event")
        assert await anext(stream) == b"one"
        with pytest.raises(Unreachable, match="closed the connection"):
            await anext(stream)
        await connection.close()
