"""The few lines that bear a fact out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from core.ledger.finding import Evidence
from core.ledger.lookup import Found
from core.ledger.outputs import Outputs

MOST_LINES: Final = 12
"""Lines given for one fact."""

_WORTH: Final = {"value": 8, "boolean": 4, "name": 6, "word": 2, "digit": 2, "measure": 1}


def evidence_of(found: Sequence[Found], outputs: Outputs) -> tuple[Evidence, ...]:
    """Lines that together hold every part that is printed, the fullest line first chosen; then names in commands."""
    chosen = _cover(found)
    lines: dict[int, set[int]] = defaultdict(set)
    for place in chosen:
        lines[outputs.lines[place].call].add(outputs.lines[place].n)
    for one in found:
        if one.atom.need == "name" and not one.printed and one.commands:
            lines[next((call for call in sorted(one.commands) if call in lines), min(one.commands))].add(0)
    return tuple(
        Evidence(part, call.call, tuple(sorted(lines[index])))
        for index, (part, call) in enumerate(outputs.calls)
        if index in lines
    )


def _cover(found: Sequence[Found]) -> list[int]:
    """Greedy cover of the atoms by lines."""
    open_atoms = {n: one for n, one in enumerate(found) if one.printed}
    gains: dict[int, set[int]] = defaultdict(set)
    for n, one in open_atoms.items():
        for place in one.printed[:64]:
            gains[place].add(n)
    full = {place: sum(_WORTH[found[n].atom.need] for n in atoms) for place, atoms in gains.items()}
    chosen: list[int] = []
    while open_atoms and len(chosen) < MOST_LINES:
        place = max(
            gains,
            key=lambda place: (
                sum(_WORTH[found[n].atom.need] for n in gains[place] if n in open_atoms),
                full[place],
                -place,
            ),
        )
        new = gains[place] & open_atoms.keys()
        if not new or (chosen and not any(_tells(found[n]) for n in new)):
            break
        chosen.append(place)
        for n in new:
            del open_atoms[n]
    return chosen


def _tells(one: Found) -> bool:
    """Whether a line is worth giving for this part alone: a value or name, or a word that few lines have."""
    need = one.atom.need
    return need in ("value", "boolean", "name") or (need in ("word", "digit") and len(one.printed) <= 2)
