"""Lines of an output that are records: what one line says does not hold for the name in another."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, Literal

from core.ledger.atoms import Statement
from core.ledger.lookup import Found
from core.ledger.outputs import Outputs
from core.ledger.values import fold
from core.ledger.wording import FUNCTION_WORDS, stem

MOST_LINES: Final = 24
"""Lines compared for one part of a statement in one call."""

MOST_PARTS: Final = 40
"""Parts of one clause that are compared with each other."""

TABLE: Final = 3
"""Cells a line must have for a number alone to mark it as a record."""

_RUN: Final = re.compile(r"[^\W_]+")
_TRIM: Final = "\"'`,;:()[]{}<>|"


def other_record(stated: Statement, found: Sequence[Found], outputs: Outputs) -> str:
    """A sentence when a name and what is said of it are printed on different records only; empty otherwise."""
    subjects: list[Found] = []
    for clause, text in enumerate(stated.clauses):
        known = runs_of(text)
        here = [one for one in found if one.atom.clause == clause and one.printed][:MOST_PARTS]
        subjects = [one for one in here if one.atom.need == "name"] or subjects
        heads = subjects or [one for one in here if one.atom.need == "value"]
        for head in heads:
            for said in here:
                if said is head or said.atom.need in ("measure", "digit"):
                    continue
                if _apart(head, said, known, outputs):
                    return f"the output says {said.atom.shown} of another one than {head.atom.shown}"
    return ""


def _apart(head: Found, said: Found, known: set[str], outputs: Outputs) -> bool:
    """True when no line has both and, in every call that has both, they stand on lines of the same build."""
    if not set(head.printed).isdisjoint(said.printed):
        return False
    heads, others = _by_call(head, outputs), _by_call(said, outputs)
    shared = heads.keys() & others.keys()
    return bool(shared) and all(
        any(_sibling(a, b, head, said, known, outputs) for a in heads[call] for b in others[call]) for call in shared
    )


def _by_call(one: Found, outputs: Outputs) -> dict[int, list[int]]:
    places: dict[int, list[int]] = defaultdict(list)
    for place in one.printed:
        call = outputs.lines[place].call
        if len(places[call]) < MOST_LINES:
            places[call].append(place)
    return places


def _sibling(place: int, other: int, head: Found, said: Found, known: set[str], outputs: Outputs) -> bool:
    """Whether the other line has something else of the same sort in the column of the head, not named by the fact."""
    mine, theirs = outputs.columns(place), outputs.columns(other)
    if said.atom.need == "word" and outputs.is_header(other):
        return False
    at = _column(mine, head)
    if at is None or at >= len(theirs):
        return False
    if head.atom.need == "value" and (len(theirs) < TABLE or (said.atom.need != "word" and len(mine) != len(theirs))):
        return False
    cell, rival = mine[at].strip(_TRIM), theirs[at].strip(_TRIM)
    if not rival or rival == cell or runs_of(rival) <= known:
        return False
    alike = _sort(cell) == _sort(rival) or (at == 0 and len(mine) == len(theirs) and _sort(rival) == "word")
    return alike and rival not in FUNCTION_WORDS


def _column(cells: Sequence[str], head: Found) -> int | None:
    key = fold(head.atom.key)
    last = key.rstrip("/").replace("/", ".").rpartition(".")[2]
    for wanted in dict.fromkeys((key, last, fold(head.atom.shown))):
        for at, cell in enumerate(cells):
            if wanted in cell:
                return at
    return None


def _sort(cell: str) -> Literal["number", "name", "word"]:
    if not any(letter.isalpha() for letter in cell):
        return "number"
    return "name" if any(letter.isdigit() or letter in "._/-" for letter in cell) else "word"


def runs_of(text: str) -> set[str]:
    """The runs of letters and digits of a text, as stems."""
    return set(map(stem, _RUN.findall(text)))
