"""The loopback server under ordinary use and under attack, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from core.loopback import Handler, Limits, LoopbackServer, Refusal, Request, Response

MIB = 1024 * 1024


async def echo(request: Request) -> Response:
    return Response.of(
        {"method": request.method, "path": request.path, "query": request.query, "size": len(request.body)}
    )


@contextlib.asynccontextmanager
async def served(handle: Handler = echo, **limits: Any) -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(handle, limits=Limits(**limits)) as server:
        yield server


@contextlib.asynccontextmanager
async def dialled(server: LoopbackServer) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield reader, writer
    finally:
        await hang_up(writer)


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def talk(server: LoopbackServer, data: bytes, *, end: bool = False) -> bytes:
    """Send bytes as they are, return all that comes back until the server closes."""
    async with dialled(server) as (reader, writer):
        writer.write(data)
        if end:
            writer.write_eof()
        return await reader.read()


def get(server: LoopbackServer, path: str = "/", *more: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *more, "", ""]
    return "\r\n".join(lines).encode()


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


async def test_a_request_is_taken_apart_and_answered() -> None:
    async with served() as server, httpx.AsyncClient(base_url=server.url) as client:
        answer = await client.post("/a%20b/c", params={"x": "1&2", "empty": ""}, content=b"12345")
    assert answer.json() == {"method": "POST", "path": "/a b/c", "query": {"x": "1&2", "empty": ""}, "size": 5}
    assert answer.headers["content-type"] == "application/json"


async def test_a_connection_is_kept_for_the_next_request() -> None:
    async with served() as server, dialled(server) as (reader, writer):
        for number in range(5):
            writer.write(get(server, f"/{number}"))
            await reader.readuntil(b"\r\n\r\n")
            body = await reader.readuntil(b'"size": 0}')
            assert json.loads(body)["path"] == f"/{number}"


async def test_requests_sent_ahead_are_answered_in_order() -> None:
    async with served() as server:
        ahead = [get(server, f"/{n}") for n in range(20)]
        answer = await talk(server, b"".join([*ahead, get(server, "/x", "Connection: close")]))
    paths = [part.split(b'"', 1)[0].decode() for part in answer.split(b'"path": "')[1:]]
    assert paths == [*(f"/{n}" for n in range(20)), "/x"]


async def test_http_1_0_gets_an_answer_and_the_end() -> None:
    async with served() as server:
        answer = await talk(server, f"GET / HTTP/1.0\r\nHost: localhost:{server.port}\r\n\r\n".encode())
    assert status(answer) == 200


async def test_head_has_no_body() -> None:
    async with served() as server:
        answer = await talk(server, get(server, "/", "Connection: close").replace(b"GET", b"HEAD"))
    assert status(answer) == 200
    assert answer.endswith(b"\r\n\r\n")


async def test_a_client_that_asks_first_is_told_to_go_on() -> None:
    async with served() as server, dialled(server) as (reader, writer):
        writer.write(get(server, "/", "Content-Length: 3", "Expect: 100-continue").replace(b"GET", b"POST"))
        assert b" 100 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"abc")
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")


async def test_a_stream_arrives_piece_by_piece() -> None:
    taken = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        yield b"data: 1\n\n"
        await taken.wait()
        yield b"data: 2\n\n"

    async def handle(request: Request) -> Response:
        return Response(body=pieces(), content_type="text/event-stream")

    async with served(handle) as server, httpx.AsyncClient(base_url=server.url) as client:
        seen = []
        async with client.stream("GET", "/event") as answer:
            async for piece in answer.aiter_raw():
                seen.append(piece)
                taken.set()
    assert b"".join(seen) == b"data: 1\n\ndata: 2\n\n"
    assert len(seen) == 2


async def test_a_stream_is_closed_when_its_client_leaves() -> None:
    closed = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        try:
            yield b"x"
            await asyncio.Event().wait()
        finally:
            closed.set()

    async def handle(request: Request) -> Response:
        return Response(body=pieces())

    async with served(handle) as server, dialled(server) as (reader, writer):
        writer.write(get(server))
        await reader.readuntil(b"x")
        writer.close()
        async with asyncio.timeout(10):
            await closed.wait()


async def test_a_handler_is_cancelled_when_its_client_leaves() -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def handle(request: Request) -> Response:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError

    async with served(handle) as server, dialled(server) as (_, writer):
        writer.write(get(server))
        async with asyncio.timeout(10):
            await begun.wait()
            writer.close()
            await cancelled.wait()


async def test_a_failing_handler_is_a_500_without_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    async def handle(request: Request) -> Response:
        raise RuntimeError("a secret")

    async with served(handle) as server, httpx.AsyncClient(base_url=server.url) as client:
        answer = await client.get("/")
        again = await client.get("/")
    assert (answer.status_code, again.status_code) == (500, 500)
    assert "secret" not in answer.text
    assert "a secret" in caplog.text


async def test_a_refusal_of_the_handler_keeps_the_connection() -> None:
    async def handle(request: Request) -> Response:
        raise Refusal(404, "no such thing")

    async with served(handle) as server, httpx.AsyncClient(base_url=server.url) as client:
        answer = await client.get("/")
    assert (answer.status_code, answer.json()) == (404, {"error": "no such thing"})
    assert answer.headers.get("connection") != "close"


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[" * 100_000, b"nul"])
async def test_a_body_that_is_no_json_is_a_400(body: bytes) -> None:
    async def handle(request: Request) -> Response:
        return Response.of(request.json())

    async with served(handle) as server, httpx.AsyncClient(base_url=server.url) as client:
        answer = await client.post("/", content=body)
    assert answer.status_code == 400


@pytest.mark.parametrize("host", ["0.0.0.0", "example.org", "", "localhost"])
def test_only_loopback_addresses_are_bound(host: str) -> None:
    with pytest.raises(ValueError, match="loopback"):
        LoopbackServer(echo, host=host)


@pytest.mark.parametrize(
    "lines",
    [
        ["Host: evil.example"],
        ["Host: 127.0.0.1.evil.example"],
        ["Host: 127.0.0.1:1"],
        ["Host: "],
        ["Host: 127.0.0.1", "Origin: http://evil.example"],
        ["Host: 127.0.0.1", "Origin: null"],
    ],
)
async def test_what_a_web_page_could_send_is_refused(lines: list[str]) -> None:
    async with served() as server:
        answer = await talk(server, "\r\n".join(["GET / HTTP/1.1", *lines, "", ""]).encode())
    assert status(answer) == 403


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nx: a\x00b\r\n\r\n",
        b"GET http://[::1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /?" + b"a&" * 200 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
async def test_garbage_is_refused_and_the_server_goes_on(data: bytes) -> None:
    async with served() as server:
        answer = await talk(server, data, end=True)
        assert 400 <= status(answer) < 600
        assert status(await talk(server, get(server, "/", "Connection: close"))) == 200


async def test_random_bytes_never_end_the_server(caplog: pytest.LogCaptureFixture) -> None:
    dice = random.Random(7)
    async with served() as server:
        for _ in range(100):
            await talk(server, dice.randbytes(dice.randrange(1, 400)) + b"\r\n\r\n", end=True)
        assert status(await talk(server, get(server, "/", "Connection: close"))) == 200
    assert not caplog.records


async def test_headers_beyond_the_bound_are_refused() -> None:
    async with served(header_bytes=8192) as server:
        answer = await talk(server, get(server, "/", "x: " + "a" * 5 * MIB))
    assert status(answer) == 431


async def test_headers_without_end_are_refused() -> None:
    async with served(header_bytes=8192) as server:
        answer = await talk(
            server, f"GET / HTTP/1.1\r\nHost: localhost:{server.port}\r\n".encode() + b"x: y\r\n" * 100_000
        )
    assert status(answer) == 431


async def test_a_body_announced_too_large_is_refused_unread() -> None:
    async with served(body_bytes=1000) as server:
        answer = await talk(server, get(server, "/", "Content-Length: 104857600"))
    assert status(answer) == 413


async def test_a_client_that_sends_100_mb_gets_to_read_the_refusal() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"a" * MIB

    async with served() as server, httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        chunked = await client.post("/", content=pieces())
        announced = await client.post("/", content=pieces(), headers={"content-length": str(100 * MIB)})
    assert (chunked.status_code, announced.status_code) == (413, 413)


async def test_a_body_up_to_the_bound_is_taken() -> None:
    async with served(body_bytes=3 * MIB) as server, httpx.AsyncClient(base_url=server.url) as client:
        answer = await client.post("/", content=b"a" * 3 * MIB)
    assert answer.json()["size"] == 3 * MIB


async def test_slow_headers_are_cut_off_whatever_trickles_in() -> None:
    async with served(header_seconds=0.2) as server, dialled(server) as (reader, writer):

        async def trickle() -> None:
            writer.write(f"GET / HTTP/1.1\r\nHost: localhost:{server.port}\r\n".encode())
            while not writer.is_closing():
                writer.write(b"x: y\r\n")
                await asyncio.sleep(0.01)

        drip = asyncio.create_task(trickle())
        async with asyncio.timeout(10):
            assert status(await reader.readuntil(b"\r\n\r\n")) == 408
        drip.cancel()


async def test_a_slow_body_is_cut_off() -> None:
    async with served(body_seconds=0.1) as server:
        answer = await talk(server, get(server, "/", "Content-Length: 10") + b"abc")
    assert status(answer) == 408


async def test_a_silent_connection_is_closed() -> None:
    async with served(header_seconds=0.05, idle_seconds=0.05) as server:
        assert await talk(server, b"") == b""
        answer = await talk(server, get(server))
    assert status(answer) == 200


async def test_a_client_that_does_not_read_is_dropped() -> None:
    ended = asyncio.Event()

    async def flood() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"x" * MIB
        finally:
            ended.set()

    async def handle(request: Request) -> Response:
        return Response(body=flood())

    async with served(handle, send_seconds=0.2) as server, dialled(server) as (_, writer):
        writer.write(get(server))
        async with asyncio.timeout(20):
            await ended.wait()


async def test_200_parallel_requests_run_within_the_bound() -> None:
    running = most = 0

    async def handle(request: Request) -> Response:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1
        return Response.of(request.query["n"])

    async with served(handle, handlers=16) as server:
        answers = await asyncio.gather(
            *(talk(server, get(server, f"/?n={n}", "Connection: close")) for n in range(200))
        )
    assert [answer.rsplit(b"\r\n", 1)[1] for answer in answers] == [f'"{n}"'.encode() for n in range(200)]
    assert most == 16


async def test_connections_beyond_the_bound_are_told_so() -> None:
    async with served(connections=2) as server, dialled(server) as first, dialled(server) as second:
        for reader, writer in (first, second):
            writer.write(get(server))
            await reader.readuntil(b"}")
        assert status(await talk(server, b"")) == 503
        await hang_up(first[1])
        async with asyncio.timeout(10):
            while status(await talk(server, get(server, "/", "Connection: close"))) != 200:
                pass


async def test_stopping_ends_open_streams_and_frees_the_port() -> None:
    async def forever() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.Event().wait()

    async def handle(request: Request) -> Response:
        return Response(body=forever())

    server = LoopbackServer(handle)
    await server.start()
    async with dialled(server) as (reader, writer):
        writer.write(get(server))
        await reader.readuntil(b"x")
        await server.stop()
        with contextlib.suppress(ConnectionError):
            await reader.read()
        again = LoopbackServer(echo, port=server.port)
        await again.start()
        await again.stop()
