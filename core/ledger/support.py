"""Whether the outputs of some steps bear out a fact, and which lines do. Pure, linear, never raises.

Numbers by value and quoted strings must be printed, names printed or in a command, of the other words a share. What is
found must belong together: see :mod:`core.ledger.bindings`. In doubt a fact is not supported: it waits for a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from core.ledger.atoms import Atom, statement
from core.ledger.bindings import contradiction
from core.ledger.evidence import evidence_of
from core.ledger.finding import Evidence
from core.ledger.lookup import Found, find
from core.ledger.observations import Candidate
from core.ledger.outputs import Outputs
from core.ledger.steps import Step
from core.ledger.wording import all_stems

__all__ = ["Evidence", "Outputs", "Support", "support"]

ENOUGH_WITH_VALUE: Final = 0.6
"""Share to be found of a fact with a value in an output; chosen on the open part of the labelled cases."""

ENOUGH_IN_WORDS: Final = 0.7
"""Share to be found of a fact of names and words alone."""

_DIGEST: Final = re.compile(r"[0-9a-fA-F]{12,}\Z")

WEIGHTS: Final = {"value": 2.0, "boolean": 1.0, "name": 1.0, "word": 1.0, "digit": 0.5, "measure": 0.0}


class Support(msgspec.Struct, frozen=True):
    """Whether a fact may be believed.

    Attributes:
        ok: True when the outputs bear it out.
        reason: why not, a sentence for people; empty when `ok`.
        score: share of the fact that was found, 0 to 1.
        evidence: the lines that hold what was found, also when `ok` is false.
    """

    ok: bool
    reason: str = ""
    score: float = 0.0
    evidence: tuple[Evidence, ...] = ()


def support(fact: str, topic: str, steps: Sequence[Step] | Outputs) -> Support:
    """Judge one fact by steps, or by the index of them where several facts are judged.

    `topic` says what the fact is about: its words need not be printed, and are no evidence either.
    """
    outputs = steps if isinstance(steps, Outputs) else Outputs(steps)
    known = outputs.judged.get((fact, topic))
    if not isinstance(known, Support):
        known = outputs.judged[fact, topic] = _judged(fact, topic, outputs)
    return known


def weighed(steps: Sequence[Step], items: Iterable[Candidate]) -> Outputs:
    """The index of the steps with all facts of an answer judged: for a thread, as it may take 0.2 s."""
    outputs = Outputs(steps)
    for item in items:
        support(item.fact, item.topic, outputs)
    return outputs


def _judged(fact: str, topic: str, outputs: Outputs) -> Support:
    stated = statement(fact)
    found = find(stated.atoms, outputs)
    firm = any(one.printed and (one.atom.need == "value" or _DIGEST.match(one.atom.key)) for one in found)
    score = _score(found, all_stems(topic) if firm else set())
    reason = _missing(found) or _too_little(found, score, firm) or contradiction(stated, fact, found, outputs)
    return Support(not reason, reason, round(score, 3), evidence_of(found, outputs))


def _missing(found: Sequence[Found]) -> str:
    """The value or name that is nowhere."""
    for one in found:
        atom = one.atom
        if atom.need in ("value", "boolean") and not one.printed:
            return f"no output says {atom.shown}"
        if atom.need == "name" and not one.printed and not one.commands:
            return f"no output or command names {atom.shown}"
    return ""


def _too_little(found: Sequence[Found], score: float, firm: bool) -> str:
    if not any(one.printed for one in found):
        return "no output says anything of it"
    if score >= (ENOUGH_WITH_VALUE if firm else ENOUGH_IN_WORDS):
        return ""
    words = dict.fromkeys(one.atom.shown for one in found if _counts(one.atom) and not one.printed and not one.commands)
    return f"no output says {', '.join(list(words)[:4])}" if words else "too little of it is in an output"


def _counts(atom: Atom) -> bool:
    return WEIGHTS[atom.need] > 0


def _score(found: Sequence[Found], known: set[str]) -> float:
    """Share found by weight; what only a command says counts neither way, nor do words of `known`."""
    hit = missed = 0.0
    for one in found:
        weight = WEIGHTS[one.atom.need]
        if one.printed:
            hit += weight
        elif not one.commands and one.atom.key not in known:
            missed += weight
    if hit + missed:
        return hit / (hit + missed)
    return 1.0 if any(one.printed for one in found) else 0.0
