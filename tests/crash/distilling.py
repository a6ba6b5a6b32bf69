"""A distil run in a process of its own, and the scripted model server that it asks.

Run as a program it distils all sessions of a database and tells each one that is through:
`python -m tests.crash.distilling DATABASE OUT ENDPOINT JOBS`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from core.history.distil import Options, Run
from core.history.endpoint import EndpointDistiller
from core.history.fates import Fate, Progress
from core.history.folder import STATE, Folder
from core.history.listing import list_sessions
from core.history.material import Work
from core.history.sinks import FilesSink
from core.history.source import Source
from core.history.state import Book
from tests.history_data import BASE, Builder, text

MARK = "The number of this session is "


def sessions(path: Path, count: int) -> Path:
    """A database of so many sessions, each with a number of its own."""
    with Builder(path) as b:
        for n in range(count):
            id, at = f"ses_{n:03}", BASE + n * 1_000
            b.session(id, at)
            b.message(id, f"msg_{n:03}", "user", at + 1)
            b.part(f"msg_{n:03}", f"prt_{n:03}", text(f"{MARK}{n:03}."), at + 2)
    return path


class ModelServer:
    """Answers each question with a note that holds the session's number; counts the questions about each."""

    def __init__(self, seconds: float) -> None:
        self.asked = Counter[str]()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"][-1]["content"]
                number = asked.split(MARK)[1][:3]
                outer.asked[number] += 1
                time.sleep(seconds)
                body = json.dumps(completion(number)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """The other end was killed."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    @property
    def url(self) -> str:
        """Address of the endpoint."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def stop(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def body(number: str) -> str:
    """The sections of a session's note: long enough for a half one to be known."""
    return f"## Findings & Learnings\n\n{' '.join([f'It is {number}.'] * 500)}\n\n## Follow-ups\n\nNone but {number}.\n"


def completion(number: str) -> dict[str, Any]:
    """The answer about a session."""
    return {
        "model": "m1",
        "choices": [{"message": {"role": "assistant", "content": body(number)}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
    }


async def distil(database: Path, out: Path, endpoint: str, jobs: int) -> Progress:
    """One run."""
    with Source.open(database) as source:
        works = [Work(row=row, database=database) for row in list_sessions(source)]
    distiller = EndpointDistiller(endpoint, model="m1")
    with Folder.open(out) as folder:
        book = Book.open(folder.path / STATE)
        try:
            run = Run(folder, book, distiller, [FilesSink(folder)], Options(jobs=jobs), on_progress=_tell)
            return await run.run(works)
        finally:
            await distiller.aclose()
            book.close()


def _tell(progress: Progress) -> None:
    if progress.done == 0 or progress.count(Fate.KEPT) < progress.done:
        sys.stdout.write(f"{progress.done} {progress.count(Fate.NOTE)} {progress.count(Fate.KEPT)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(distil(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
