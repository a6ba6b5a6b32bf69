"""Server-sent events without I/O: bytes in, the `data` payloads of the complete frames out.

Follows the event stream format of the HTML standard (LF, CRLF and CR line ends, comments, byte order mark, several
`data` lines of one frame joined with LF) as far as OpenCode needs it: `event`, `id` and `retry` fields are ignored, and
payloads stay bytes. Only the three line ends of the standard separate lines; U+2028, U+0085, \\x0b and \\x0c, which
JavaScript leaves raw inside JSON, do not.
"""

from __future__ import annotations

from io import SEEK_END, BytesIO

_BOM = b"\xef\xbb\xbf"
_PREFIX = b"data: "


class Splitter:
    """Cuts one event stream into frames, in linear time; make a new one for every connection.

    An unfinished frame grows in one buffer, which becomes the payload without being copied (copying 57 MB would stop
    an event loop for about 50 ms), so the memory held is at most one frame of `max_frame_bytes`, some room to grow, and
    one chunk, however small the pieces are in which it comes.

    Attributes:
        skipped: frames left out so far because they were larger than the limit.
    """

    def __init__(self, max_frame_bytes: int) -> None:
        """`max_frame_bytes`: largest frame to keep, field names and line ends within it included; at least 1."""
        self.skipped = 0
        self._limit = max_frame_bytes
        self._start: bytes | None = b""
        """First bytes of the stream while they may still be a byte order mark; None afterwards."""
        self._after_cr = False
        self._pending = BytesIO()
        """The unfinished frame: without `data: ` at its start when `_is_plain`, and without the LF it ends in."""
        self._size = 0
        """Bytes of the unfinished frame, also of one that is being skipped."""
        self._ends_in_lf = False
        self._is_plain = False
        """The unfinished frame is one `data: ` line as far as it is known."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take the next bytes of the stream; give the payloads of the frames they complete, in order."""
        if self._start is not None:
            chunk = self._without_bom(self._start + chunk)
        if self._after_cr or b"\r" in chunk:
            chunk = self._with_lf_only(chunk)
        if not chunk:
            return []
        payloads: list[bytes] = []
        if self._size:
            end, rest = self._end_of_pending(chunk)
            if end < 0:
                self._keep(chunk)
                return payloads
            self._keep(chunk[:end])
            self._finish_pending(payloads)
            chunk = chunk[rest:]
        self._split(chunk, payloads)
        return payloads

    def _split(self, chunk: bytes, payloads: list[bytes]) -> None:
        """Cut bytes that begin at a frame's start; the unfinished frame at their end becomes the pending one."""
        lines = chunk.split(b"\n")
        if len(chunk) <= self._limit and not any(lines[1::2]) and len(lines) % 2:
            # The ordinary stream: one line a frame, an empty line after each.
            frames, remainder = lines[:-1:2], lines[-1]
            plain = [frame[len(_PREFIX) :] for frame in frames if frame.startswith(_PREFIX)]
            if len(plain) == len(frames):
                payloads += plain
                self._keep(remainder)
                return
        *frames, remainder = chunk.split(b"\n\n")
        for frame in frames:
            self._finish(frame.lstrip(b"\n"), payloads)
        self._keep(remainder.lstrip(b"\n"))

    def _without_bom(self, start: bytes) -> bytes:
        """Withhold the first bytes until they are known to be a byte order mark, or not."""
        if len(start) < len(_BOM) and _BOM.startswith(start):
            self._start = start
            return b""
        self._start = None
        return start.removeprefix(_BOM)

    def _with_lf_only(self, chunk: bytes) -> bytes:
        """Turn CRLF and CR into LF; a CR at the end of a chunk ends its line at once, an LF after it is dropped."""
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if chunk.endswith(b"\r"):
            self._after_cr = True
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _end_of_pending(self, chunk: bytes) -> tuple[int, int]:
        """Where in `chunk` the pending frame ends and where the next begins; (-1, -1) when it does not end in it."""
        if self._ends_in_lf and chunk.startswith(b"\n"):
            return 0, 1
        end = chunk.find(b"\n")
        end = chunk.find(b"\n\n", end) if end >= 0 else -1
        return (end, end + 2) if end >= 0 else (-1, -1)

    def _keep(self, piece: bytes) -> None:
        """Add to the pending frame; above the limit only its size and last byte are remembered."""
        if not piece:
            return
        if not self._size and piece.startswith(_PREFIX):
            self._is_plain = True
            self._size = len(_PREFIX)
            piece = piece[len(_PREFIX) :]
        elif self._ends_in_lf:
            piece = b"\n" + piece
            self._size -= 1
        self._size += len(piece)
        self._ends_in_lf = piece.endswith(b"\n")
        if self._ends_in_lf:
            piece = piece[:-1]
        if self._size - self._ends_in_lf > self._limit:
            self._pending = BytesIO()
            return
        if self._is_plain and b"\n" in piece:
            self._is_plain = False
            self._pending = BytesIO(_PREFIX + self._pending.getvalue())
            self._pending.seek(0, SEEK_END)
        self._pending.write(piece)

    def _finish_pending(self, payloads: list[bytes]) -> None:
        pending, is_plain, size = self._pending, self._is_plain, self._size - self._ends_in_lf
        self._pending, self._is_plain, self._size, self._ends_in_lf = BytesIO(), False, 0, False
        if size > self._limit:
            self.skipped += 1
        elif is_plain:
            payloads.append(pending.getvalue())
        else:
            self._finish(pending.getvalue(), payloads)

    def _finish(self, frame: bytes, payloads: list[bytes]) -> None:
        if len(frame) > self._limit:
            self.skipped += 1
        elif frame.startswith(_PREFIX) and b"\n" not in frame:
            payloads.append(frame[len(_PREFIX) :])
        elif (payload := _payload(frame)) is not None:
            payloads.append(payload)


def _payload(frame: bytes) -> bytes | None:
    """The joined values of the `data` lines of a frame; None when it has none."""
    joined: bytearray | None = None
    start, length = 0, len(frame)
    while start < length:
        end = frame.find(b"\n", start)
        if end < 0:
            end = length
        if frame.startswith(b"data", start):
            value = _value(frame, start + 4, end)
            if value is not None and joined is None:
                joined = bytearray(value)
            elif value is not None and joined is not None:
                joined += b"\n"
                joined += value
        start = end + 1
    return None if joined is None else bytes(joined)


def _value(frame: bytes, start: int, end: int) -> bytes | None:
    """Value of a `data` line whose name ends at `start`; None when the name goes on (`database: x`)."""
    if start >= end:
        return b""
    if not frame.startswith(b":", start):
        return None
    start += 2 if frame.startswith(b" ", start + 1) else 1
    return frame[start:end]
