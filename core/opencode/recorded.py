"""Reads a recorded event stream back: JSON lines, a raw SSE capture, either of them compressed with gzip.

Pure but for :func:`open_recording`: chunks in, one event's JSON out at a time, whatever the size of the chunks.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final

from core.errors import FileError

_CHUNK: Final = 1 << 18
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BOM: Final = b"\xef\xbb\xbf"


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


def open_recording(path: Path) -> Iterator[bytes]:
    """Chunks of the file at `path`, decompressed if it is compressed.

    Raises:
        FileError: it cannot be read, or its compressed data is damaged.
    """
    try:
        with path.open("rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            source: IO[bytes] | gzip.GzipFile = gzip.GzipFile(fileobj=file) if compressed else file
            while chunk := source.read(_CHUNK):
                yield chunk
    except EOFError as error:
        raise FileError(f"{path} ends in the middle of its compressed data", "What came before was used.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"cannot read {path}: {reason}", "Give a recording made by `ledger-tui record`.") from error
