"""How often the same command gave the same output again, before and after the first note of the session.

An observation, no proof: it says what came again, not what would have come again without the notes. A call counts as
before until the ledger has put any note in front of an agent of this session, whatever that note was about. Tokens of
outputs and notes are estimates: characters / 4. Those of extractions are OpenCode's own figures.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import msgspec

from core.text import clean_line

CHARS_PER_TOKEN: Final = 4
SHOWN_ROWS: Final = 50
"""Rows of a view."""
KEPT_ROWS: Final = 500
"""Repeated calls that are kept; of the others, the longest not seen, only the totals stay."""
KEPT_SINGLE: Final = 2_000
"""Calls seen once that are kept; an older one that comes again counts as new."""
COMMAND_CHARS: Final = 120
"""Characters of a command that a row keeps."""


class RepeatRow(msgspec.Struct, frozen=True, kw_only=True):
    """A command that gave the same output more than once."""

    command: str
    before: int
    """Times before the first note, the very first time included."""
    after: int
    tokens: int
    """Of the outputs from the second time on: characters / 4."""


class RepeatsView(msgspec.Struct, frozen=True, kw_only=True):
    """What came again in a session, beside what the ledger spent."""

    rows: tuple[RepeatRow, ...] = ()
    """At most 50, those with the most tokens first."""
    more: int = 0
    """Repeated calls that have no row here."""
    noted: bool = False
    """Whether there was a note yet."""
    calls_before: int = 0
    calls_after: int = 0
    repeats_before: int = 0
    """Calls before the first note that gave what they had given already."""
    repeats_after: int = 0
    repeated_tokens_before: int = 0
    """Estimate: characters / 4 of the outputs of those calls."""
    repeated_tokens_after: int = 0
    extraction_tokens: int = 0
    """As OpenCode counted them."""
    note_tokens: int = 0
    """Estimate: characters / 4 of the notes shown."""


class Side(msgspec.Struct, kw_only=True):
    """Counts on one side of the first note; `chars` are those of repeated outputs."""

    calls: int = 0
    repeats: int = 0
    chars: int = 0


class KeptRow(msgspec.Struct, kw_only=True):
    """A repeated call as it is kept; `chars` as in `Side`."""

    command: str
    before: int
    after: int
    chars: int


class KeptRepeats(msgspec.Struct, frozen=True, kw_only=True):
    """All of `Repeats` as plain data, each list with the longest not seen first."""

    single: tuple[tuple[bytes, bool], ...] = ()
    """Digest of a call, and whether it was after the first note."""
    rows: tuple[tuple[bytes, KeptRow], ...] = ()
    before: Side = msgspec.field(default_factory=Side)
    after: Side = msgspec.field(default_factory=Side)
    rows_ever: int = 0
    noted: bool = False
    note_chars: int = 0
    extraction_tokens: int = 0


class Repeats:
    """Counts repeated calls of one root session and its sub-agents. Memory is bounded."""

    def __init__(self) -> None:
        self._view: RepeatsView | None = None
        self.restore(KeptRepeats())

    def finished(self, command: str, digest: bytes, chars: int) -> None:
        """Count a finished call.

        Args:
            command: what to call it on the screen.
            digest: of the command and its output, own notes removed; see `core.ledger.novelty.digest`.
            chars: length of that output.
        """
        self._view = None
        side = self._after if self._noted else self._before
        side.calls += 1
        row = self._rows.pop(digest, None)
        if row is None:
            if digest not in self._single:
                self._keep_single(digest)
                return
            first_after = self._single.pop(digest)
            row = KeptRow(
                command=clean_line(command[: COMMAND_CHARS * 4], COMMAND_CHARS),
                before=int(not first_after),
                after=int(first_after),
                chars=0,
            )
            self._rows_ever += 1
        side.repeats += 1
        side.chars += chars
        row.chars += chars
        if self._noted:
            row.after += 1
        else:
            row.before += 1
        self._rows[digest] = row
        if len(self._rows) > KEPT_ROWS:
            self._rows.popitem(last=False)

    def _keep_single(self, digest: bytes) -> None:
        self._single[digest] = self._noted
        if len(self._single) > KEPT_SINGLE:
            self._single.popitem(last=False)

    def note(self, chars: int) -> None:
        """A note of so many characters was put in front of an agent."""
        self._view = None
        self._noted = True
        self._note_chars += chars

    def extracted(self, tokens: int) -> None:
        """An extraction ended, well or not, and cost so many tokens."""
        self._view = None
        self._extraction_tokens += tokens

    @property
    def counted(self) -> tuple[int, ...]:
        """Different whenever anything was counted."""
        return self._before.calls, self._after.calls, self._note_chars, self._extraction_tokens

    def view(self) -> RepeatsView:
        """What was counted so far; the same object until something is counted."""
        if self._view is None:
            self._view = self._now()
        return self._view

    def _now(self) -> RepeatsView:
        order = sorted(self._rows.values(), key=lambda row: (-row.chars, -row.before - row.after, row.command))
        rows = tuple(
            RepeatRow(command=row.command, before=row.before, after=row.after, tokens=row.chars // CHARS_PER_TOKEN)
            for row in order[:SHOWN_ROWS]
        )
        return RepeatsView(
            rows=rows,
            more=self._rows_ever - len(rows),
            noted=self._noted,
            calls_before=self._before.calls,
            calls_after=self._after.calls,
            repeats_before=self._before.repeats,
            repeats_after=self._after.repeats,
            repeated_tokens_before=self._before.chars // CHARS_PER_TOKEN,
            repeated_tokens_after=self._after.chars // CHARS_PER_TOKEN,
            extraction_tokens=self._extraction_tokens,
            note_tokens=self._note_chars // CHARS_PER_TOKEN,
        )

    def export(self) -> KeptRepeats:
        """All of it, to go on from later."""
        copy = msgspec.structs.replace
        return KeptRepeats(
            single=tuple(self._single.items()),
            rows=tuple((digest, copy(row)) for digest, row in self._rows.items()),
            before=copy(self._before),
            after=copy(self._after),
            rows_ever=self._rows_ever,
            noted=self._noted,
            note_chars=self._note_chars,
            extraction_tokens=self._extraction_tokens,
        )

    def restore(self, kept: KeptRepeats) -> None:
        """Go on from what `export` gave, and from nothing else."""
        copy = msgspec.structs.replace
        self._single = OrderedDict(kept.single[-KEPT_SINGLE:])
        self._rows = OrderedDict((digest, copy(row)) for digest, row in kept.rows[-KEPT_ROWS:])
        self._before, self._after = copy(kept.before), copy(kept.after)
        self._rows_ever = kept.rows_ever
        self._noted = kept.noted
        self._note_chars = kept.note_chars
        self._extraction_tokens = kept.extraction_tokens
        self._view = None
