"""`record`: the live stream as a file, one event a line, what was there before it first.

The file is what `replay` takes. It holds what the agent saw: treat it like the session itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from io import FileIO
from pathlib import Path
from typing import Any, Final

from core.errors import FileError, NotFound, Refused, ServerError
from core.host.finding_server import find_server
from core.host.options import HostOptions
from core.opencode import stream
from core.opencode.client import Client
from core.settings import Settings

_PAGE: Final = 100
_PROGRESS_SECONDS: Final = 0.5


async def record(options: HostOptions, settings: Settings, out: Path) -> int:
    """Write events to `out` (compressed when its name ends in .gz) until cancelled.

    Raises:
        FileError: `out` holds something already, or cannot be written.
        ServerError: no server at the start.
    """
    found = await find_server(options)
    directory = str(options.directory)
    client = Client(found.url, directory=directory, auth=found.credentials, token=found.token, vouch=found.vouch)
    async with client:
        await client.health()
        await _check_session(client, options.session)
        with _opened(out) as file, _Progress(out) as progress:
            packed = out.suffix == ".gz"
            with gzip.GzipFile(fileobj=file, mode="wb") if packed else contextlib.nullcontext(file) as sink:
                await _run(client, options, settings, sink, progress)
    return 0


async def _check_session(client: Client, session: str | None) -> None:
    if session is not None:
        await client.session(session)


async def _run(
    client: Client, options: HostOptions, settings: Settings, file: FileIO | gzip.GzipFile, progress: _Progress
) -> None:
    """The stream is opened first and read back state is written at each (re)connect, so nothing falls in between."""
    is_first = True
    async with stream.EventStream(client.events, max_frame_bytes=settings.max_frame_bytes) as events:
        async for item in events:
            if isinstance(item, stream.Connected):
                try:
                    async for line in _before(client, options.session):
                        _write(file, line)
                        progress.count()
                except ServerError as error:
                    if is_first or isinstance(error, Refused):
                        raise
                    progress.say(f"what happened meanwhile could not be read back ({error})")
                is_first = False
            elif isinstance(item, stream.Frame):
                _write(file, item.event.replace(b"\n", b" "))
                progress.count()
            elif isinstance(item, stream.Lost):
                progress.say(f"connection lost ({item.reason}), trying again")
            elif isinstance(item, stream.Refused):
                raise Refused(item.reason)


async def _before(client: Client, chosen: str | None) -> AsyncIterator[bytes]:
    """Sessions, messages and parts that are there already, as the events that would have announced them."""
    try:
        roots = await _roots(client, chosen)
        for root in roots:
            async for line in _session(client, root):
                yield line
    except NotFound:
        return


async def _roots(client: Client, chosen: str | None) -> list[str]:
    """The chosen session, else those that are busy and the one that was active last."""
    if chosen:
        return [chosen]
    sessions = await client.sessions(roots=True)
    busy = await client.statuses()
    latest = max(sessions, key=lambda session: session.time.updated, default=None)
    return [s.id for s in sessions if s.id in busy or s is latest]


async def _session(client: Client, id: str) -> AsyncIterator[bytes]:
    yield _event("session.updated", {"sessionID": id, "info": await client.raw_session(id)})
    pages: list[Any] = []
    before: str | None = None
    while True:
        page = await client.message_page(id, limit=_PAGE, before=before)
        pages.append(json.loads(page.body))
        before = page.before
        if not before:
            break
    for message in (message for page in reversed(pages) for message in page):
        for line in _message(id, message):
            yield line
    for child in await client.children(id):
        async for line in _session(client, child.id):
            yield line


def _message(session: str, message: dict[str, Any]) -> Iterator[bytes]:
    yield _event("message.updated", {"sessionID": session, "info": message.get("info")})
    for part in message.get("parts", ()):
        yield _event("message.part.updated", {"sessionID": session, "part": part})


def _event(kind: str, properties: dict[str, Any]) -> bytes:
    return json.dumps({"id": "", "type": kind, "properties": properties}, separators=(",", ":")).encode()


def _write(file: FileIO | gzip.GzipFile, line: bytes) -> None:
    try:
        file.write(line + b"\n")
    except OSError as error:
        raise FileError(
            f"the recording cannot be written: {error.strerror}", "What was written so far is kept."
        ) from error


def _opened(out: Path) -> FileIO:
    """A new file for this user only; an existing one is not overwritten unless it is empty."""
    try:
        descriptor = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if os.fstat(descriptor).st_size:
            os.close(descriptor)
            raise FileError(f"{out} holds something already", "Give another name, or remove it first.")
    except OSError as error:
        raise FileError(f"cannot write {out}: {error.strerror}", "Give a path that you can write to.") from error
    return os.fdopen(descriptor, "wb", buffering=0)


class _Progress:
    """Says on a terminal's standard error how many events were written."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._events = 0
        self._shown = sys.stderr.isatty()
        self._next = 0.0

    def __enter__(self) -> _Progress:
        self.say(f"recording to {self._out}, Ctrl-C ends it")
        return self

    def __exit__(self, *_: object) -> None:
        self.say(f"{self._events:,} events in {self._out}")

    def count(self) -> None:
        """One more event was written; say so twice a second at most."""
        self._events += 1
        now = asyncio.get_running_loop().time()
        if self._shown and now >= self._next:
            self._next = now + _PROGRESS_SECONDS
            sys.stderr.write(f"\r{self._events:,} events")
            sys.stderr.flush()

    def say(self, text: str) -> None:
        """A line of its own."""
        sys.stderr.write(f"{chr(13) if self._shown else ''}{text}\n")
        sys.stderr.flush()
