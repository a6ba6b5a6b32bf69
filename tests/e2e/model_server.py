"""A scripted model provider on loopback: OpenCode's only model in the end-to-end tests and demos.

Answers `POST …/chat/completions` as a :data:`~tests.e2e.scripts.Script` decides and remembers every request, so that
a test can ask what the model was really given. Also runs by itself::

    python -m tests.e2e.model_server --script probes --port 8123 --log /tmp/requests.jsonl
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import h11

from tests.e2e.chat import ChatRequest, Turn, chunks
from tests.e2e.scripts import SCRIPTS, Script


class ModelServer:
    """Serves one script on 127.0.0.1; use as an async context manager.

    Attributes:
        script: decides each answer; may be replaced while running.
        requests: every chat request received, oldest first.
    """

    def __init__(self, script: Script, *, port: int = 0, log: Path | None = None) -> None:
        self.script = script
        self.requests: list[ChatRequest] = []
        self.arrived = asyncio.Condition()
        self._port = port
        self._log = log
        self._calls = 0
        self._failed: dict[tuple[str, ...], int] = {}
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """The port it listens on."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def url(self) -> str:
        """Base address for the provider's `baseURL`."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> ModelServer:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    def of_kind(self, kind: str) -> list[ChatRequest]:
        """The requests of one kind: title, summary, extraction, agent."""
        return [r for r in self.requests if r.kind == kind]

    def results(self, call: str) -> list[str]:
        """What each request that carries the call gave as its result, oldest first; the first is what counts."""
        return [r.tool_messages[call] for r in self.requests if call in r.tool_messages]

    async def until(self, wanted: Callable[[ChatRequest], bool], seconds: float = 60) -> ChatRequest:
        """Wait for a request (an earlier one counts) that `wanted` accepts. Raises TimeoutError."""
        async with asyncio.timeout(seconds), self.arrived:
            while True:
                for request in self.requests:
                    if wanted(request):
                        return request
                await self.arrived.wait()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with contextlib.suppress(ConnectionError, h11.RemoteProtocolError, asyncio.CancelledError):
                await self._serve(reader, writer)
        finally:
            self._open.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        http = h11.Connection(h11.SERVER)
        request: h11.Request | None = None
        body = b""
        while True:
            event = http.next_event()
            if event is h11.NEED_DATA:
                http.receive_data(await reader.read(65536))
            elif isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage) and request is not None:
                await self._answer(http, writer, request, body)
                return
            else:
                return

    async def _answer(self, http: h11.Connection, out: asyncio.StreamWriter, asked: h11.Request, body: bytes) -> None:
        if not asked.target.endswith(b"/chat/completions"):
            models = {"object": "list", "data": [{"id": "m1", "object": "model"}]}
            await self._reply(http, out, 200, json.dumps(models).encode())
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in asked.headers}
        request = ChatRequest(len(self.requests) + 1, json.loads(body), asked.target.decode("latin-1"), headers)
        await self._remember(request)
        turn = self.script(request)
        await asyncio.sleep(turn.delay)
        if self._fails(request, turn):
            error = {"error": {"message": turn.error, "type": "scripted", "code": turn.status}}
            await self._reply(http, out, turn.status, json.dumps(error).encode())
            return
        await self._stream(http, out, request, turn)

    async def _remember(self, request: ChatRequest) -> None:
        if self._log is not None:
            entry = {"n": request.n, "kind": request.kind, "turn": request.turn, "body": request.body}
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
        async with self.arrived:
            self.requests.append(request)
            self.arrived.notify_all()

    def _fails(self, request: ChatRequest, turn: Turn) -> bool:
        if turn.status == 200:
            return False
        place = (*request.users, str(request.turn), turn.error)
        self._failed[place] = self._failed.get(place, 0) + 1
        return not turn.failures or self._failed[place] <= turn.failures

    async def _reply(self, http: h11.Connection, out: asyncio.StreamWriter, status: int, body: bytes) -> None:
        headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
        out.write(http.send(h11.Response(status_code=status, headers=headers)) or b"")
        out.write(http.send(h11.Data(data=body)) or b"")
        out.write(http.send(h11.EndOfMessage()) or b"")
        await out.drain()

    async def _stream(self, http: h11.Connection, out: asyncio.StreamWriter, request: ChatRequest, turn: Turn) -> None:
        headers = [("content-type", "text/event-stream"), ("connection", "close")]
        out.write(http.send(h11.Response(status_code=200, headers=headers)) or b"")
        for sent, chunk in enumerate(chunks(request, turn, self._ids(turn))):
            if turn.drop and sent == 3:
                return
            out.write(http.send(h11.Data(data=chunk)) or b"")
            await out.drain()
            if turn.pace:
                await asyncio.sleep(turn.pace)
        out.write(http.send(h11.EndOfMessage()) or b"")
        await out.drain()

    def _ids(self, turn: Turn) -> list[str]:
        ids = []
        for call in turn.calls:
            self._calls += 1
            ids.append(call.id or f"call_{self._calls:04d}_{call.name}")
        return ids


async def _serve_forever(script: Script, port: int, log: Path | None) -> None:
    async with ModelServer(script, port=port, log=log) as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Run one named script until interrupted; prints the base address first."""
    parser = argparse.ArgumentParser(description="Scripted model server on loopback.")
    parser.add_argument("--script", choices=sorted(SCRIPTS), default="probes")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, help="append every request as a JSON line; keep it out of the project")
    asked = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve_forever(SCRIPTS[asked.script](), asked.port, asked.log))


if __name__ == "__main__":
    main()
