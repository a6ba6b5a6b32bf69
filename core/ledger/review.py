"""Findings that wait for a person, and findings that later outputs or changed files put in question.

Functions over a :class:`core.ledger.ledger.Ledger`; each returns the changes it made, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from core.ledger.changes import Change, How, Origin, Pair
from core.ledger.files import is_about
from core.ledger.finding import Finding
from core.ledger.ledger import Ledger

MAX_HELD: Final = 100
"""Findings that wait for a person at most; beyond that the oldest is given up."""
MAX_PAIRS: Final = 100
"""Pairs in the inbox at most; beyond that the oldest is left as it is."""
_HOLDS: Final = "holds, the user says"


def hold(ledger: Ledger, t: int, fact: str, topic: str, origin: Origin, reason: str) -> list[Change]:
    """Let a fact wait for a person; no change when it waits already."""
    if ledger.with_fact(fact) is not None:
        return []
    made = ledger.make(t, fact, topic, "extraction", origin)
    finding = msgspec.structs.replace(made, state="held", held_for=reason)
    ledger.held[finding.id] = finding
    changes = [Change("held", finding, reason)]
    while len(ledger.held) > MAX_HELD:
        oldest = ledger.held.pop(next(iter(ledger.held)))
        changes.append(Change("rejected", oldest, f"more than {MAX_HELD} facts wait for a person"))
    return changes


def accept(ledger: Ledger, t: int, ids: Sequence[str]) -> list[Change]:
    """A person accepts held findings, whatever spoke against them."""
    targets = _held(ledger, ids)
    if targets:
        ledger.remember("accepting", [finding.id for finding in targets])
    changes: list[Change] = []
    for finding in targets:
        del ledger.held[finding.id]
        if ledger.has_fact(finding.fact):
            changes.append(Change("rejected", finding, "in the ledger already"))
            continue
        accepted = finding.noted(t, "accepted by the user", state="accepted", held_for="")
        changes += ledger.by_hand(ledger.accept_one("accepted", accepted, keep=finding.id))
    return changes


def reject(ledger: Ledger, ids: Sequence[str]) -> list[Change]:
    """A person does not want held findings: an extraction cannot bring them back."""
    targets = _held(ledger, ids)
    if targets:
        ledger.remember("rejecting", [finding.id for finding in targets])
        ledger.bury([finding.fact for finding in targets])
    for finding in targets:
        ledger.drop(finding)
    return [Change("rejected", finding, "by the user") for finding in targets]


def doubt(ledger: Ledger, t: int, path: str, only: str = "") -> list[Change]:
    """A file changed: facts about it may no longer hold. `only`: this finding alone is meant."""
    targets = [f for f in ledger if f.shown_to_agent and f.files and only in ("", f.id) and is_about(f.files, path)]
    reason = f"{path.rpartition('/')[2]} changed"
    return [
        Change("doubtful", ledger.put(f.noted(t, f"doubtful: {reason}", state="doubtful", stale_for=path)), reason)
        for f in targets
    ]


def confirm(ledger: Ledger, t: int, finding: Finding, origin: Origin) -> list[Change]:
    """A later extraction says the same: a doubtful finding holds again, with the newer receipt."""
    if finding.state != "doubtful":
        return []
    newer = {"evidence": origin.evidence, "receipt": origin.receipt} if origin.evidence else {}
    fresh = finding.noted(t, f"confirmed by {origin.job}", state="fresh", stale_for="", **newer)
    return [Change("fresh", ledger.put(fresh), "a later output says the same")]


def supersede(ledger: Ledger, t: int, old: Finding, new: Finding) -> list[Change]:
    """`new` takes the place of `old`, which stays to be seen; the pair waits for a person who knows better."""
    changes = [_step_back(ledger, t, old, new)]
    add_pair(ledger, t, "superseded", old, new)
    return changes


def is_by_hand(finding: Finding) -> bool:
    """Whether a person said, pinned or decided for it: such a fact gives way to nobody unasked."""
    decided = any(event.what == _HOLDS for event in finding.history)
    return finding.pinned or finding.edited or finding.source == "user" or decided


def bring_back(ledger: Ledger, t: int, finding: Finding, successor: Finding | None) -> list[Change]:
    """A superseded fact was found again: it holds, and what took its place (None: it is gone) does not."""
    if successor is not None and is_by_hand(successor):
        add_pair(ledger, t, "superseded", finding, successor)
        return []
    noted = finding.noted(t, "found again", state="fresh", superseded_by="", stale_for="")
    changes = [Change("fresh", ledger.put(noted), "found again")]
    if successor is None:
        return changes
    changes.append(_step_back(ledger, t, successor, finding))
    for id in [id for id, pair in ledger.pairs.items() if {pair.old, pair.new} == {finding.id, successor.id}]:
        del ledger.pairs[id]
    add_pair(ledger, t, "superseded", successor, noted)
    return changes


def add_pair(ledger: Ledger, t: int, kind: str, old: Finding, new: Finding) -> None:
    """Let a person decide over two findings, once."""
    if any({pair.old, pair.new} == {old.id, new.id} for pair in ledger.pairs.values()):
        return
    ledger.pair(t, kind, old, new)
    while len(ledger.pairs) > MAX_PAIRS:
        del ledger.pairs[next(iter(ledger.pairs))]


def resolve(ledger: Ledger, t: int, id: str, how: How) -> list[Change]:
    """A person decides over a pair; no change (but the pair is gone) where things are so already."""
    pair = ledger.pairs.get(id)
    if pair is None:
        return []
    old, new = ledger.get(pair.old), ledger.get(pair.new)
    ledger.remember("deciding", [] if how == "dismiss" else [pair.old, pair.new])
    del ledger.pairs[id]
    if old is None or new is None or how == "dismiss":
        return []
    if how == "swap":
        gone, kept = (new, old) if old.state == "superseded" else (old, new)
        return [_come_back(ledger, t, kept), _step_back(ledger, t, gone, kept)]
    if how == "keep_both":
        return [_come_back(ledger, t, finding) for finding in (old, new) if finding.state == "superseded"]
    return _merge(ledger, t, old, new)


def _merge(ledger: Ledger, t: int, old: Finding, new: Finding) -> list[Change]:
    """The newer wording stays, in the older one's place where that is pinned."""
    kept, gone = (old, new) if old.pinned and not new.pinned else (new, old)
    ledger.bury([gone.fact])
    ledger.drop(gone)
    said = kept.noted(t, f"merged with: {gone.fact}", state="fresh" if kept.state == "doubtful" else kept.state)
    ledger.put(said)
    return [Change("merged", gone, f"with {kept.id}")]


def _step_back(ledger: Ledger, t: int, finding: Finding, other: Finding) -> Change:
    noted = finding.noted(t, f"superseded by: {other.fact}", state="superseded", superseded_by=other.id)
    return Change("superseded", ledger.put(noted), f"by {other.id}")


def _come_back(ledger: Ledger, t: int, finding: Finding) -> Change:
    noted = finding.noted(t, _HOLDS, state="accepted", superseded_by="", stale_for="")
    return Change("accepted", ledger.put(noted), "by the user")


def _held(ledger: Ledger, ids: Sequence[str]) -> list[Finding]:
    return [ledger.held[id] for id in dict.fromkeys(ids) if id in ledger.held]


__all__ = ["Pair", "accept", "add_pair", "confirm", "doubt", "hold", "reject", "resolve", "supersede"]
