"""Whether steps hold anything that was not seen before: else an extraction of them would find nothing.

Seen means the same command with exactly the same output and exit code. Timings, dates and process ids are left as they
are: where only they differ, an extraction too many is paid for, and no changed value is ever taken for a known one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final

from core.ledger.steps import Call, Step

REMEMBERED: Final = 5_000
"""Calls that are remembered, unless told otherwise."""
DIGEST_BYTES: Final = 8


def digest(command: str, output: str, exit: int | None = None) -> bytes:
    """Eight bytes that stand for a command with its output, the same in every process.

    Args:
        command: the whole command, or what else tells the call from others.
        output: as the model was given it.
        exit: the exit code; None, unknown, counts as 0.
    """
    hashed = blake2b(digest_size=DIGEST_BYTES)
    for text in (command, output, str(exit or 0)):
        data = text.encode("utf-8", "surrogatepass")
        hashed.update(len(data).to_bytes(8))
        hashed.update(data)
    return hashed.digest()


def digest_of(call: Call) -> bytes:
    """The digest of a kept call. Of a long output the head, the tail and the length count: no more is extracted."""
    asked = "\0".join((call.tool, call.command or call.summary, call.path))
    return digest(asked, call.output, call.exit if call.exit is not None else int(not call.ok))


class Known:
    """The calls seen, at most so many; the one not seen for longest is forgotten first."""

    def __init__(self, limit: int = REMEMBERED) -> None:
        """Nothing is known yet; `limit` is at least 1."""
        self._limit = max(1, limit)
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._seen)

    def is_new(self, step: Step) -> bool:
        """Whether any call of the step is not known; a step without calls holds nothing new."""
        return any(digest_of(call) not in self._seen for call in step.calls)

    def nothing_new(self, steps: Iterable[Step]) -> bool:
        """Whether an extraction of these steps can be skipped."""
        return not any(map(self.is_new, steps))

    def add(self, step: Step) -> None:
        """Remember the calls of a step that was extracted, or skipped."""
        for call in step.calls:
            self._add(digest_of(call))

    def _add(self, seen: bytes) -> None:
        self._seen[seen] = None
        self._seen.move_to_end(seen)
        if len(self._seen) > self._limit:
            self._seen.popitem(last=False)

    def export(self) -> tuple[bytes, ...]:
        """All digests, the one not seen for longest first."""
        return tuple(self._seen)

    def restore(self, saved: Sequence[bytes]) -> None:
        """Know what `export` gave, and nothing else; what is no digest is left out."""
        self._seen.clear()
        for seen in saved:
            if len(seen) == DIGEST_BYTES:
                self._add(bytes(seen))
