"""Reads a recorded event stream back: JSON lines, a raw SSE capture, either of them compressed with gzip.

Pure but for :func:`open_recording`: chunks in, one event's JSON out at a time, whatever the size of the chunks.
Nothing is read twice, so pipes do as well as files.
"""

from __future__ import annotations

import contextlib
import gzip
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import Final, cast

from core.errors import FileError

_CHUNK: Final = 1 << 18
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BOM: Final = b"\xef\xbb\xbf"
_GZIP: Final = b"\x1f\x8b"


class RecordedFrames:
    """Iterates over the events of a recording.

    A line that is a whole JSON object is an event, with or without `data:` before it; several `data:` lines up to a
    blank line are one. Other SSE fields and comments are passed over.

    Attributes:
        skipped: lines left out because they were longer than `max_frame_bytes`.
        broken: lines that are neither an event nor a part of one.
    """

    def __init__(self, chunks: Iterable[bytes], max_frame_bytes: int) -> None:
        self.skipped = 0
        self.broken = 0
        self._chunks = chunks
        self._limit = max_frame_bytes

    def __iter__(self) -> Iterator[bytes]:
        pending: list[bytes] = []
        for line in self._lines():
            text = line.strip(b" \t")
            if text.startswith(b"{") and text.endswith(b"}"):
                yield text
            elif text.startswith(b"data:"):
                value = text[5:].strip(b" \t")
                if not pending and value.startswith(b"{") and value.endswith(b"}"):
                    yield value
                else:
                    pending.append(value)
            elif not text:
                yield from self._joined(pending)
            elif not text.startswith((b":", b"event:", b"id:", b"retry:")):
                self.broken += 1
        yield from self._joined(pending)

    def _joined(self, pending: list[bytes]) -> Iterator[bytes]:
        frame = b"\n".join(pending)
        pending.clear()
        if frame.startswith(b"{"):
            yield frame
        elif frame:
            self.broken += 1

    def _lines(self) -> Iterator[bytes]:
        kept: list[bytes] = []
        size = 0
        after_cr, first = False, True
        for raw in self._chunks:
            chunk = raw.removeprefix(b"\n") if after_cr else raw
            if not chunk:
                after_cr = after_cr and not raw
                continue
            after_cr = chunk.endswith(b"\r")
            *whole, rest = _LINE_END.split(chunk)
            for part in whole:
                line = self._within(kept, part, size)
                kept, size = [], 0
                if line is not None:
                    yield line.removeprefix(_BOM) if first else line
                first = False
            size += len(rest)
            if size <= self._limit:
                kept.append(rest)
            else:
                kept.clear()
        line = self._within(kept, b"", size)
        if line:
            yield line.removeprefix(_BOM) if first else line

    def _within(self, kept: list[bytes], last: bytes, size: int) -> bytes | None:
        if size + len(last) > self._limit:
            self.skipped += 1
            return None
        return b"".join((*kept, last))


def open_recording(path: Path | None) -> Iterator[bytes]:
    """Chunks of a recording as they come, decompressed if it is compressed.

    Args:
        path: of a file or a pipe; None: standard input.

    Raises:
        FileError: it cannot be read, or its compressed data is damaged.
    """
    name = "standard input" if path is None else str(path)
    try:
        with _opened(path) as file:
            start = _Source(file)
            source = gzip.GzipFile(fileobj=start) if start.begins_with(_GZIP) else start
            while chunk := source.read1(_CHUNK):
                yield chunk
    except EOFError as error:
        raise FileError(f"{name} ends in the middle of its compressed data", "What came before was used.") from error
    except (OSError, ValueError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"cannot read {name}: {reason}", "Give a recording made by `ledger-tui record`.") from error


def _opened(path: Path | None) -> contextlib.AbstractContextManager[BufferedIOBase]:
    if path is not None:
        return path.open("rb")
    if sys.stdin is None:
        raise FileError("standard input is closed", "Give the recording as a file, or lead it into the command.")
    return contextlib.nullcontext(cast("BufferedIOBase", sys.stdin.buffer))


class _Source(BufferedIOBase):
    """Bytes of a file that cannot be rewound, the first of them looked at before they are read."""

    def __init__(self, file: BufferedIOBase) -> None:
        self._file = file
        self._ahead = b""

    def begins_with(self, start: bytes) -> bool:
        """Whether the bytes not read yet begin with these. A pipe may give them one by one."""
        while len(self._ahead) < len(start) and (more := self._file.read1(_CHUNK)):
            self._ahead += more
        return self._ahead.startswith(start)

    def readable(self) -> bool:
        return True

    def read1(self, size: int | None = -1, /) -> bytes:
        """What there is, at most `size` bytes; empty at the end only."""
        if not self._ahead:
            return self._file.read1(-1 if size is None else size)
        size = len(self._ahead) if size is None or size < 0 else size
        taken, self._ahead = self._ahead[:size], self._ahead[size:]
        return taken

    read = read1
