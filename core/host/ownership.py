"""Which OpenCode process each root session belongs to: pure bookkeeping.

All processes of a project share one database, so each of them lists every session; but what happens in a session is
told as it happens, and its state known, only by the process that works in it. That one owns the session until another
process is seen at work there while it rests or is gone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

_L = TypeVar("_L")


class _Owned(Generic[_L]):
    def __init__(self, line: _L, *, has_worked: bool) -> None:
        self.line = line
        self.has_worked = has_worked
        """False: it only read the session; whoever works there first takes it."""
        self.is_busy = False
        self.rival: _L | None = None
        """Another one that was seen at work while the owner was busy: its turn comes after that."""


class Ownership(Generic[_L]):
    """Who owns what.

    Args:
        is_live: whether a line brings events at present.
    """

    def __init__(self, is_live: Callable[[_L], bool]) -> None:
        self._is_live = is_live
        self._owned: dict[str, _Owned[_L]] = {}
        self._owed: set[tuple[_L, str]] = set()
        """Lines that told something new of a session that was not theirs: it was passed over."""

    def owner(self, root: str) -> _L | None:
        """The line a root session belongs to; None when nobody told anything of it yet."""
        owned = self._owned.get(root)
        return owned.line if owned is not None else None

    def is_owner(self, line: _L, root: str) -> bool:
        """Whether a root session belongs to `line`; one that nobody has does so from now on."""
        owned = self._owned.get(root)
        if owned is None:
            self._owned[root] = owned = _Owned(line, has_worked=False)
        return owned.line == line

    def rests(self, root: str) -> bool:
        """Whether the owner is not at work: what others read of the session then is all there is."""
        owned = self._owned.get(root)
        return owned is None or not owned.is_busy

    def passed_over(self, line: _L, root: str) -> None:
        """Something new that `line` told does not count."""
        self._owed.add((line, root))

    def works(self, line: _L, root: str) -> bool:
        """The process of `line` is at work in a root session, which makes it the owner unless the other is at work too.

        Returns whether that line has to read the session anew, because another one told of it before.
        """
        owned = self._owned.get(root)
        if owned is not None and owned.line == line:
            owned.has_worked = True
            return False
        if owned is not None and owned.is_busy and self._is_live(owned.line):
            owned.rival = line
            return False
        return self.give(root, line) or (owned is not None and owned.has_worked)

    def give(self, root: str, line: _L) -> bool:
        """A root session belongs to `line` now. Returns whether something new that it told was passed over."""
        self._owned[root] = _Owned(line, has_worked=True)
        is_owed = (line, root) in self._owed
        self._owed.discard((line, root))
        return is_owed

    def busy(self, root: str) -> None:
        """The owner says that the root session is busy."""
        if (owned := self._owned.get(root)) is not None:
            owned.is_busy = True

    def idle(self, root: str) -> _L | None:
        """The owner says that it is idle. Returns the line that waited for that, if any."""
        owned = self._owned.get(root)
        if owned is None:
            return None
        owned.is_busy, rival, owned.rival = False, owned.rival, None
        return rival

    def forget(self, root: str) -> None:
        """Nobody has this root session any more."""
        self._owned.pop(root, None)
        self._owed = {owed for owed in self._owed if owed[1] != root}

    def of(self, line: _L) -> list[str]:
        """Root sessions of a line."""
        return [root for root, owned in self._owned.items() if owned.line == line]

    def drop(self, line: _L) -> list[tuple[str, _L | None]]:
        """A line is gone for good. Returns the root sessions it worked in, which nobody has now, and who waited."""
        left = [(root, self._owned.pop(root)) for root in self.of(line)]
        self._owed = {owed for owed in self._owed if owed[0] != line}
        for owned in self._owned.values():
            owned.rival = None if owned.rival == line else owned.rival
        return [(root, owned.rival) for root, owned in left if owned.has_worked]
