"""What is known of a dump file: its last good contents, what is wrong now, and what a new reading changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from core.store.dump import DumpContents, DumpEntry

Kind = Literal["added", "deleted", "edited", "pinned", "unpinned"]
Key = tuple[str, str]


class Change(msgspec.Struct, frozen=True):
    """One difference between two readings; `entry` is as it is now, for a deleted one as it was."""

    kind: Kind
    entry: DumpEntry


class Trouble(msgspec.Struct, frozen=True):
    """What is wrong with the file: a code for programs and a sentence for people."""

    code: Literal["dump_missing", "dump_damaged", "dump_partial", "dump_skipped"]
    message: str


class WatchedDump:
    """The entries worth showing. A damaged or missing file leaves the last good ones in place.

    Attributes:
        entries: by session and id, in the file's order.
        trouble: None while all is well.
    """

    def __init__(self) -> None:
        self.entries: dict[Key, DumpEntry] = {}
        self.trouble: Trouble | None = None
        self._had_good = False

    def take(self, contents: DumpContents) -> list[Change]:
        """Take in a reading; what it changed, deletions first."""
        self.trouble = self._trouble(contents)
        good = contents.state in ("whole", "partial")
        if not good and (self._had_good or not contents.entries):
            return []
        self._had_good = self._had_good or good
        before, self.entries = self.entries, {(entry.session, entry.id): entry for entry in contents.entries}
        return list(_changes(before, self.entries))

    def _trouble(self, contents: DumpContents) -> Trouble | None:
        kept = " What it held before is still shown." if self._had_good else ""
        if contents.state == "missing":
            wait = kept or " A running ledger writes it with its first finding."
            return Trouble("dump_missing", contents.problem + wait)
        if contents.state == "damaged":
            return Trouble("dump_damaged", contents.problem + kept)
        if contents.state == "partial":
            return Trouble("dump_partial", contents.problem)
        if contents.skipped:
            entries = "1 entry is" if contents.skipped == 1 else f"{contents.skipped} entries are"
            return Trouble("dump_skipped", f"{entries} no finding and left out.")
        return None


def _changes(before: dict[Key, DumpEntry], now: dict[Key, DumpEntry]) -> Iterable[Change]:
    for key, entry in before.items():
        if key not in now:
            yield Change("deleted", entry)
    for key, entry in now.items():
        known = before.get(key)
        if known is None:
            yield Change("added", entry)
            continue
        if (known.fact, known.topic) != (entry.fact, entry.topic):
            yield Change("edited", entry)
        if known.pinned != entry.pinned:
            yield Change("pinned" if entry.pinned else "unpinned", entry)
