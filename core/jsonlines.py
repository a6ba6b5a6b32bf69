"""Reports as JSON lines on standard output: the contract that other programs read.

One object per line, keys `t`, `type`, `session` first. A line is UTF-8, holds no line break of any alphabet, no control
character and no lone surrogate, whatever the text it reports.
"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import re
import select
import sys
import threading
from typing import Any, BinaryIO, Self, cast

import msgspec

from core.errors import FileError, OutputClosed
from core.ledger.effects import Report, fields

MAX_WAITING = 100_000
"""Lines that may wait for a slow reader; beyond that the writer waits for it."""

# DEL, C1 and the line separators of Unicode, as UTF-8. JSON lets them stand in a string; readers and terminals do not.
_UNSAFE = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]")

_SURROGATE = re.compile("[\ud800-\udfff]")


def encode(report: Report) -> bytes:
    """The report as one line, its line feed included."""
    values = fields(report)
    try:
        line = msgspec.json.encode(values)
    except UnicodeEncodeError:
        line = msgspec.json.encode(_whole(msgspec.to_builtins(values)))
    return _UNSAFE.sub(_escaped, line) + b"\n"


def standard_output() -> BinaryIO:
    """Standard output without a buffer of its own: nothing to flush, and no lock to hold when the program ends.

    Raises:
        FileError: the program was started with its standard output closed.
    """
    if sys.stdout is None:  # descriptor 1 may be any other file by now
        raise FileError("standard output is closed", "Start the command with its output led somewhere.")
    return cast("BinaryIO", io.FileIO(1, "wb", closefd=False))


class JsonLines:
    """Writes each report at once. What is written stays in order and whole."""

    def __init__(self, stream: BinaryIO) -> None:
        """`stream` may be unbuffered; it is flushed after each line."""
        self._stream = stream

    def write(self, report: Report) -> None:
        """Write one line.

        Raises:
            OutputClosed: nobody reads.
            FileError: the output cannot be written, for example because the disk is full.
        """
        self._put(encode(report))

    def check(self) -> None:
        """Raise what `write` would raise if there were a line to write, as far as that can be told without one.

        Raises:
            OutputClosed: whoever read a pipe has closed it.
        """
        poll = select.poll()
        try:
            poll.register(self._stream, 0)
        except (OSError, ValueError, AttributeError):
            return
        if any(event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0)):
            raise OutputClosed

    def close(self) -> None:
        """Write what is left; the stream itself stays open.

        Raises:
            OutputClosed, FileError: as `write`.
        """

    def _put(self, line: bytes) -> None:
        try:
            rest = memoryview(line)
            while rest:
                written = self._stream.write(rest)
                if written is None:  # the stream does not block, and is full
                    select.select([], [self._stream], [])
                rest = rest[written or 0 :]
            self._stream.flush()
        except BrokenPipeError as error:
            self._abandon()
            raise OutputClosed from error
        except (OSError, ValueError) as error:
            self._abandon()
            reason = getattr(error, "strerror", None) or error
            raise FileError(f"cannot write to standard output: {reason}", "Nothing was lost but the output.") from error

    def _abandon(self) -> None:
        """Lead the stream nowhere, so that what its buffer still holds raises nothing when the program ends."""
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


class BackgroundJsonLines(JsonLines):
    """Writes in a thread of its own, so that a reader who stops reading does not stop an event loop.

    As a context manager it is closed at the end; a failure of the block is not hidden by one of the output.
    """

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream)
        self._lines: queue.Queue[bytes | None] = queue.Queue(MAX_WAITING)
        self._failure: OutputClosed | FileError | None = None
        self._thread = threading.Thread(target=self._run, name="json lines", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        """The writer itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close."""
        try:
            self.close()
        except (OutputClosed, FileError):
            if kind is None:
                raise

    def write(self, report: Report) -> None:
        """Hand one line to the thread; raises what went wrong with an earlier one."""
        self._check()
        self._lines.put(encode(report))

    def check(self) -> None:
        """See :meth:`JsonLines.check`; also raises what went wrong with an earlier line."""
        self._check()
        super().check()

    def close(self, timeout: float = 5.0) -> None:
        """Wait up to `timeout` seconds for the lines that wait to be written."""
        with contextlib.suppress(queue.Full):
            self._lines.put(None, timeout=timeout)
            self._thread.join(timeout)
        self._check()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            if self._failure is None:
                try:
                    self._put(line)
                except (OutputClosed, FileError) as failure:
                    self._failure = failure


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found[0].decode())


def _whole(value: Any) -> Any:
    """The same with U+FFFD in place of each lone surrogate."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    return value
