"""What a write-ahead log beside a database holds, told without SQLite: opening one for that may create or delete files.

Format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")
_MAGIC: Final = 0x377F0682
"""Checksums over little-endian words; the next number: over big-endian ones."""
_WORD: Final = 0xFFFFFFFF


def holds_commits(path: Path) -> bool:
    """True when the log at `path` holds at least one transaction that SQLite would take in.

    Reads up to the end of the first transaction. Raises OSError.
    """
    with path.open("rb") as file:
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            return False
        magic, _, page, _, *salts, sum1, sum2 = _HEADER.unpack(header)
        if magic not in (_MAGIC, _MAGIC + 1) or not 512 <= page <= 65_536:
            return False
        order = "<" if magic == _MAGIC else ">"
        if _checksum(header[:24], order, 0, 0) != (sum1, sum2):
            return False
        frames = _frames_of_first_commit(file, page, tuple(salts))
        return frames > 0 and _is_sound(file, page, frames, order, (sum1, sum2))


def _frames_of_first_commit(file: BinaryIO, page: int, salts: tuple[int, ...]) -> int:
    """How many frames the first transaction has, going by its marks alone; 0 when there is none."""
    for number, (_, pages, salt1, salt2, _, _) in enumerate(_frame_headers(file, page), start=1):
        if (salt1, salt2) != salts:
            return 0
        if pages:
            return number
    return 0


def _frame_headers(file: BinaryIO, page: int) -> Iterator[tuple[int, ...]]:
    place = _HEADER.size
    size = file.seek(0, 2)
    while place + _FRAME.size + page <= size:
        file.seek(place)
        yield _FRAME.unpack(file.read(_FRAME.size))
        place += _FRAME.size + page


def _is_sound(file: BinaryIO, page: int, frames: int, order: str, sums: tuple[int, int]) -> bool:
    """True when the checksums of the first `frames` frames agree."""
    file.seek(_HEADER.size)
    for _ in range(frames):
        frame = file.read(_FRAME.size + page)
        sums = _checksum(frame[:8] + frame[_FRAME.size :], order, *sums)
        if sums != _FRAME.unpack(frame[: _FRAME.size])[4:]:
            return False
    return True


def _checksum(data: bytes, order: str, first: int, second: int) -> tuple[int, int]:
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for one, two in zip(words, words, strict=True):
        first = (first + one + second) & _WORD
        second = (second + two + first) & _WORD
    return first, second
