"""A text kept within a budget while it is made: its beginning, its end, and between them how much is left out.

The beginning states the problem, the end tells decisions and outcome. All lengths are in code points.
"""

from __future__ import annotations

from collections import deque
from typing import Final

MARKER_CHARS: Final = 200
"""Longest marker; it does not count towards the budget."""


class Budget:
    """Takes a text piece by piece, in memory that the budget bounds.

    A text of exactly `head` + `tail` stays whole.

    Args:
        head: how much of the beginning is kept.
        tail: how much of the end is kept.
    """

    def __init__(self, head: int, tail: int) -> None:
        self._head_room = head
        self._tail_size = tail
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self.total = 0

    def add(self, text: str) -> None:
        """The next piece of the text."""
        self.total += len(text)
        if self._head_room:
            first = text[: self._head_room]
            self._head_room -= len(first)
            self._head.append(first)
            text = text[len(first) :]
        if text and self._tail_size:
            text = text[-self._tail_size :]
            self._tail.append(text)
            self._tail_length += len(text)
            while self._tail_length - len(self._tail[0]) >= self._tail_size:
                self._tail_length -= len(self._tail.popleft())

    @property
    def left_out(self) -> int:
        """Code points that are not kept."""
        kept = sum(map(len, self._head)) + min(self._tail_length, self._tail_size)
        return self.total - kept

    def result(self) -> str:
        """What is kept, with the marker where something is left out."""
        tail = "".join(self._tail)[-self._tail_size :] if self._tail_size else ""
        left_out = self.left_out
        middle = marker(left_out, self.total) if left_out else ""
        return "".join((*self._head, middle, tail))


def marker(left_out: int, total: int) -> str:
    """Stands for what is left out; at most MARKER_CHARS."""
    return f"\n\n[… {left_out} of {total} characters of this transcript are left out here …]\n\n"
