"""How many of a session's facts are left when it is cut down to a transcript, and how much smaller that is.

A fact counts as kept when its exact string is there. What a model makes of it is not measured: the note is that of a
script that writes down every fact it is shown, so its size is the least a note of these facts can have.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from core.history.frontmatter import document
from core.history.listing import list_sessions
from core.history.notes import Note, parse_note
from core.history.parts import read_parts
from core.history.question import question
from core.history.rows import SessionRow
from core.history.source import Source
from core.history.transcript import Bounds, Transcript, transcript
from tests.bench import figures
from tests.bench.history_facts import LONG, LONG_SHARE, SHORT, Fact, Kind, Place, Told, generate

SIZES: Final = (40_000, 120_000, 400_000)
"""Code points of the sessions, in turns; all exceed the transcript's budget."""
_ALL: Final = 10**9
"""A bound that nothing reaches."""

DEFAULT: Final = Bounds()
UNBOUND: Final = Bounds(text=_ALL, reasoning=_ALL, tool_input=_ALL, tool_output=_ALL)
"""The same budget for the whole, none for single parts."""


class Share(msgspec.Struct):
    """How many facts there were, and how many are left."""

    kept: int = 0
    of: int = 0

    def __str__(self) -> str:
        return f"{self.kept / self.of:.0%}" if self.of else "–"


class Kept(msgspec.Struct, kw_only=True):
    """What is left of sessions.

    Attributes:
        what: in which form.
        chars: code points of that form, of all sessions together.
        total: of all facts.
        cells: of those of a kind and a place.
        sizes: of those of sessions of a size.
    """

    what: str
    chars: int = 0
    total: Share = msgspec.field(default_factory=Share)
    cells: dict[tuple[Kind, Place], Share] = msgspec.field(default_factory=dict)
    sizes: dict[int, Share] = msgspec.field(default_factory=dict)

    def add(self, told: Told, text: str) -> None:
        """One session in this form."""
        self.chars += len(text)
        for fact in told.facts:
            shares = (
                self.total,
                self.cells.setdefault((fact.kind, fact.place), Share()),
                self.sizes.setdefault(told.target, Share()),
            )
            for share in shares:
                share.of += 1
                share.kept += fact.said in text


Form = Callable[[Told, SessionRow, Source], str]


def cut(bounds: Bounds) -> Form:
    """The transcript within `bounds`."""
    return lambda told, row, source: _transcript(row, source, bounds).text


def noted(told: Told, row: SessionRow, source: Source) -> str:
    """The note file of a script that is asked as a model is, and writes down every fact it is shown."""
    asked = question(row, _transcript(row, source, DEFAULT))
    seen = [fact for fact in told.facts if fact.said in asked.text]
    note = parse_note(answer(seen))
    return document(row, DEFAULT, note.markdown) if isinstance(note, Note) else ""


def answer(seen: Sequence[Fact]) -> str:
    """What the script writes, in the form that the prompt asks for."""
    return "\n".join(("## Findings & Learnings", *(f"- {fact.said}" for fact in seen))) if seen else "JUNK"


FORMS: Final[dict[str, Form]] = {
    "all that was said and shown": lambda told, row, source: told.text,
    "what was said, without tool calls": lambda told, row, source: told.talk,
    "6,000 + 12,000 characters, parts not bounded": cut(UNBOUND),
    "transcript: 6,000 + 12,000, parts bounded": cut(DEFAULT),
    "transcript, twice that budget": cut(msgspec.structs.replace(DEFAULT, head=12_000, tail=24_000)),
    "transcript, four times that budget": cut(msgspec.structs.replace(DEFAULT, head=24_000, tail=48_000)),
    "transcript, parts bounded, no budget": cut(msgspec.structs.replace(DEFAULT, head=_ALL)),
    "note of a script that writes all facts it is shown": noted,
}


def measured(path: Path, sessions: Iterable[Told]) -> dict[str, Kept]:
    """What is left of each session of the database `path` in every form."""
    found = {what: Kept(what=what) for what in FORMS}
    with Source.open(path) as source:
        rows = {row.id: row for row in list_sessions(source)}
        for told in sessions:
            for what, form in FORMS.items():
                found[what].add(told, form(told, rows[told.id], source))
    return found


def _transcript(row: SessionRow, source: Source, bounds: Bounds) -> Transcript:
    return transcript(read_parts(source, row.id), bounds)


def main(path: Path, sessions: int) -> None:
    """Print the tables."""
    told = generate(path, [SIZES[n % len(SIZES)] for n in range(sessions)])
    kinds = Counter(fact.kind for one in told for fact in one.facts)
    figures.section(
        f"{sessions} sessions of {', '.join(f'{size:,}' for size in SIZES)} characters in turns that show"
        f" {kinds.total():,} known facts, one in each text and each output; {LONG_SHARE:.0%} of the outputs have"
        f" {LONG[0]:,} to {LONG[1]:,} characters, the others {SHORT[0]} to {SHORT[1]:,}"
    )
    found = measured(path, told)
    whole, _, _, ours, *_ = found.values()
    _write("", "characters a session", "smaller by", "facts kept", *(f"of {size // 1000}k" for size in SIZES))
    for kept in found.values():
        ratio = f"{whole.chars / kept.chars:.1f} ×"
        sizes = (str(kept.sizes[size]) for size in SIZES)
        _write(kept.what, f"{kept.chars / sessions:,.0f}", ratio, str(kept.total), *sizes)
    figures.section("Facts kept in the transcript, by what shows them and where in the session that stands")
    _write("", "facts", *Place, "all")
    for kind in Kind:
        cells = [ours.cells.get((kind, place), Share()) for place in Place]
        everywhere = Share(sum(cell.kept for cell in cells), sum(cell.of for cell in cells))
        _write(kind, f"{everywhere.of:,}", *map(str, (*cells, everywhere)))


def _write(what: str, *cells: str) -> None:
    sys.stdout.write(f"  {what:<50}{''.join(f'{cell:>14}' if len(cell) < 14 else f'  {cell}' for cell in cells)}\n")
    sys.stdout.flush()
