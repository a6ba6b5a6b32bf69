"""Where the parts of a statement stand in the outputs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from core.ledger.atoms import Atom
from core.ledger.outputs import Outputs
from core.ledger.values import fold

MOST_PARTS: Final = 6
"""Last parts of a name that are looked for one by one."""


class Found(msgspec.Struct, frozen=True):
    """Places (see Outputs) of an atom: lines of outputs, and calls whose command has it."""

    atom: Atom
    printed: tuple[int, ...]
    commands: frozenset[int]


def find(atoms: Sequence[Atom], outputs: Outputs) -> list[Found]:
    """Look each atom up; values in outputs of the calls that the names single out, if they do."""
    named = {atom.key: _named(atom, outputs) for atom in atoms if atom.need == "name"}
    homes = _homes([one for one in named.values() if one.printed or one.commands], outputs)
    return [
        named[atom.key] if atom.need == "name" else _kept(_look_up(atom, outputs), homes, outputs) for atom in atoms
    ]


def _homes(named: Sequence[Found], outputs: Outputs) -> frozenset[int]:
    """Calls that mention a name of the fact; empty when it has none."""
    return frozenset().union(*(one.commands | {outputs.lines[p].call for p in one.printed} for one in named))


def _kept(found: Found, homes: frozenset[int], outputs: Outputs) -> Found:
    if not homes:
        return found
    printed = tuple(place for place in found.printed if outputs.lines[place].call in homes)
    return Found(found.atom, printed, found.commands & homes)


def _look_up(atom: Atom, outputs: Outputs) -> Found:
    if atom.need in ("value", "digit"):
        places = outputs.phrase(atom.key) if atom.quoted else outputs.number(atom.key)
    elif atom.need == "boolean":
        places = [*outputs.phrase(atom.key), *(outputs.phrase(atom.shown) if fold(atom.shown) != atom.key else ())]
    elif atom.key.isdigit():
        places = outputs.number(atom.key)
    else:
        places = outputs.word(atom.key)
    return _split(atom, places, outputs)


def _split(atom: Atom, places: Sequence[int], outputs: Outputs) -> Found:
    lines = outputs.lines
    return Found(
        atom,
        tuple(place for place in places if lines[place].n),
        frozenset(lines[place].call for place in places if not lines[place].n),
    )


def _named(atom: Atom, outputs: Outputs) -> Found:
    """A name as it is, and, of a path or a dotted name, its last part alone where its other parts are mentioned."""
    whole = _split(atom, outputs.phrase(atom.key), outputs)
    parts = [part for part in atom.key.split("/" if "/" in atom.key else ".") if part][-MOST_PARTS:]
    if len(parts) < 2:
        return whole
    *above, end = (_split(atom, outputs.phrase(part), outputs) for part in parts)
    homes = [one.commands | {outputs.lines[place].call for place in one.printed} for one in above]
    shared = homes[0].intersection(*homes[1:])
    alone = re.compile(rf"(?<![\w./]){re.escape(fold(parts[-1]))}(?!\w)")
    lasts = (place for place in end.printed if outputs.lines[place].call in shared)
    found = {place for place in lasts if alone.search(outputs.lines[place].text)}
    return Found(atom, tuple(sorted(found | set(whole.printed))), whole.commands)
