"""The store of findings: add, cap, evict, pin, edit, delete, undo. Pure data structure, no I/O.

Every operation returns the changes it made, in order; the engine turns them into reports.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from core.ledger.finding import Event, Finding, Receipt, Source

UNDO_DEPTH: Final = 10

Kind = Literal["added", "rejected", "evicted", "pinned", "unpinned", "edited", "deleted", "restored"]


class Change(msgspec.Struct, frozen=True):
    """One thing that happened to a finding, and why.

    Attributes:
        fresh: for `added`: the fact was never in this ledger before, so it counts as learning.
    """

    kind: Kind
    finding: Finding
    reason: str = ""
    fresh: bool = False


class Origin(msgspec.Struct, frozen=True):
    """Where a new finding comes from; see the attributes of Finding."""

    step: int = 0
    session: str = ""
    call: str = ""
    receipt: Receipt = Receipt()
    note: str = "extracted"


class _Undo(msgspec.Struct):
    """How findings and tombstones looked before a user's change."""

    what: str
    before: dict[str, Finding | None]
    tombstones: frozenset[str]


class Ledger:
    """Findings of one root session.

    Args:
        per_topic: findings kept per topic, at least 1.
        overall: findings kept in all, at least 1.
    """

    def __init__(self, per_topic: int, overall: int) -> None:
        self.per_topic = per_topic
        self.overall = overall
        self._findings: dict[str, Finding] = {}
        self._topics: dict[str, dict[str, None]] = {}
        self._facts: dict[str, str] = {}
        self._seen: set[str] = set()
        self._deleted: frozenset[str] = frozenset()
        self._undo: deque[_Undo] = deque(maxlen=UNDO_DEPTH)
        self._moved: set[str] = set()
        self._shown: dict[str, tuple[Finding, ...]] = {}
        self._next = 1

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings.values())

    def get(self, id: str) -> Finding | None:
        """The finding with this id, None when it is gone."""
        return self._findings.get(id)

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics that have findings, in order of their first one."""
        return tuple(self._topics)

    def has_topic(self, topic: str) -> bool:
        """True when a finding of this topic is there."""
        return topic in self._topics

    def of_topic(self, topic: str) -> tuple[Finding, ...]:
        """Findings of a topic, oldest first."""
        return tuple(self._findings[id] for id in self._topics.get(topic, ()))

    def shown_of(self, topic: str) -> tuple[Finding, ...]:
        """Findings of a topic that notes may carry, oldest first; remembered until one of them changes."""
        known = self._shown.get(topic)
        if known is None:
            known = self._shown[topic] = tuple(f for f in self.of_topic(topic) if f.shown_to_agent)
        return known

    @property
    def facts(self) -> tuple[str, ...]:
        """All facts, oldest first."""
        return tuple(self._facts)

    @property
    def deleted(self) -> frozenset[str]:
        """Facts that a person deleted or corrected."""
        return self._deleted

    @property
    def made(self) -> int:
        """Number of the last finding, whatever became of it."""
        return self._next - 1

    @property
    def undoable(self) -> str:
        """What the next undo would take back; empty when there is nothing."""
        return self._undo[-1].what if self._undo else ""

    def moved_topics(self) -> set[str]:
        """Topics that gained or lost findings since this was last asked."""
        moved, self._moved = self._moved, set()
        return moved

    def has_fact(self, fact: str) -> bool:
        """True when this exact fact is in the ledger."""
        return fact in self._facts

    def was_deleted(self, fact: str) -> bool:
        """True when a person deleted or corrected this exact fact."""
        return fact in self._deleted

    def full_of_pins(self, topic: str | None = None) -> bool:
        """True when pinned findings alone fill the cap of a topic (None: the cap overall)."""
        size, cap = (len(self), self.overall) if topic is None else (len(self._topics.get(topic, ())), self.per_topic)
        return size >= cap and all(f.pinned for f in (self if topic is None else self.of_topic(topic)))

    def extracted(self, t: int, fact: str, topic: str, origin: Origin) -> list[Change]:
        """Accept a fact from an extraction; no change when it is a duplicate (see `has_fact`)."""
        if fact in self._facts:
            return []
        finding = self._make(t, fact, topic, "extraction", origin)
        if fact in self._deleted:
            return [Change("rejected", finding, "deleted or corrected by the user before")]
        if self.full_of_pins(topic):
            return [Change("rejected", finding, f"all {self.per_topic} places of its topic are pinned")]
        if self.full_of_pins():
            return [Change("rejected", finding, f"all {self.overall} places are pinned")]
        return self._accept(finding)

    def inherit(self, t: int, findings: Sequence[Finding]) -> list[Change]:
        """Take over copies of another ledger's findings (a forked session)."""
        changes: list[Change] = []
        for old in findings:
            if old.fact not in self._facts:
                copy = old.noted(t, "copied into the forked session", id=f"f{self._next}", seq=self._next)
                self._next += 1
                changes += self._accept(copy)
        return changes

    def adopt(self, findings: Sequence[Finding], deleted: Sequence[str], made: int) -> list[Change]:
        """Go on, while still empty, from the findings and deletions of another ledger of the same session.

        `made`: see :attr:`made`. Ids and order stay; a finding whose id or fact is there already is passed over.
        """
        if self._findings:
            return []
        self._deleted |= frozenset(deleted)
        self._next = max(self._next, made + 1)
        changes: list[Change] = []
        for finding in findings:
            if finding.id == f"f{finding.seq}" and finding.id not in self._findings and finding.fact not in self._facts:
                changes.append(Change("added", self._put(finding), "taken over from another ledger"))
                self._next = max(self._next, finding.seq + 1)
        return changes + self._evict("")

    def add(self, t: int, fact: str, topic: str) -> list[Change]:
        """Add a fact in a person's name; brings back one that was deleted. No change when it is there already."""
        if fact in self._facts:
            return []
        finding = self._make(t, fact, topic, "user", Origin(note="added by the user"))
        self._remember("adding", [finding.id])
        self._deleted -= {fact}
        return self._accept(finding, keep=finding.id)

    def pin(self, t: int, ids: Sequence[str], on: bool) -> list[Change]:
        """Pin or unpin; findings that are so already are left alone."""
        targets = [f for f in self._known(ids) if f.pinned is not on]
        if not targets:
            return []
        self._remember("pinning" if on else "unpinning", [f.id for f in targets])
        kind: Kind = "pinned" if on else "unpinned"
        changes = [Change(kind, self._put(f.noted(t, f"{kind} by the user", pinned=on))) for f in targets]
        return changes + self._evict("")

    def delete(self, ids: Sequence[str]) -> list[Change]:
        """Delete findings and remember their facts, so that an extraction cannot bring them back."""
        targets = self._known(ids)
        if not targets:
            return []
        self._remember("deleting", [f.id for f in targets])
        self._deleted |= {f.fact for f in targets}
        for finding in targets:
            self._drop(finding)
        return [Change("deleted", finding, "by the user") for finding in targets]

    def edit(self, t: int, id: str, fact: str, topic: str) -> list[Change]:
        """Change text or topic. No change when nothing differs, or when the new fact is another finding's."""
        old = self._findings.get(id)
        if old is None or (old.fact, old.topic) == (fact, topic) or self._facts.get(fact, id) != id:
            return []
        self._remember("editing", [id])
        if fact != old.fact:
            self._deleted = (self._deleted | {old.fact}) - {fact}
        self._drop(old)
        edited = old.edited or fact != old.fact
        new = self._put(old.noted(t, f"edited by the user, was: {old.fact}", fact=fact, topic=topic, edited=edited))
        return [Change("edited", new, fresh=False), *self._evict(id)]

    def undo(self, t: int) -> tuple[str, list[Change]]:
        """Take back the last change by a person: what it was (empty: nothing to undo) and the changes made."""
        if not self._undo:
            return "", []
        entry = self._undo.pop()
        self._deleted = entry.tombstones
        changes: list[Change] = []
        for id, before in entry.before.items():
            if id in self._findings or entry.what != "editing":
                changes += self._restore(t, id, before)
        return entry.what, changes

    def _restore(self, t: int, id: str, before: Finding | None) -> list[Change]:
        now = self._findings.get(id)
        if now is not None:
            self._drop(now)
        if before is None:
            return [Change("deleted", now, "undone")] if now is not None else []
        if self._facts.get(before.fact, id) != id:
            return []
        restored = self._put(before.noted(t, "restored by undo"))
        return [Change("restored", restored, "undone"), *self._evict(id)]

    def _remember(self, what: str, ids: Sequence[str]) -> None:
        self._undo.append(_Undo(what, {id: self._findings.get(id) for id in ids}, self._deleted))

    def _known(self, ids: Sequence[str]) -> list[Finding]:
        return [self._findings[id] for id in dict.fromkeys(ids) if id in self._findings]

    def _make(self, t: int, fact: str, topic: str, source: Source, origin: Origin) -> Finding:
        finding = Finding(
            id=f"f{self._next}",
            seq=self._next,
            fact=fact,
            topic=topic,
            established_at=t,
            step=origin.step,
            origin=origin.session,
            call=origin.call,
            source=source,
            receipt=origin.receipt,
            history=(Event(t, origin.note),),
        )
        self._next += 1
        return finding

    def _accept(self, finding: Finding, keep: str = "") -> list[Change]:
        fresh = finding.fact not in self._seen
        self._put(finding)
        return [Change("added", finding, fresh=fresh), *self._evict(keep, finding.topic)]

    def _put(self, finding: Finding) -> Finding:
        self._seen.add(finding.fact)
        in_order = not self._findings or finding.seq >= next(reversed(self._findings.values())).seq
        known = finding.id in self._findings
        self._findings[finding.id] = finding
        self._shown.pop(finding.topic, None)
        self._facts[finding.fact] = finding.id
        self._topics.setdefault(finding.topic, {})[finding.id] = None
        self._moved.add(finding.topic)
        if not known and not in_order:
            self._sort(finding.topic)
        return finding

    def _sort(self, topic: str) -> None:
        self._findings = dict(sorted(self._findings.items(), key=lambda item: item[1].seq))
        self._topics[topic] = dict.fromkeys(sorted(self._topics[topic], key=lambda id: self._findings[id].seq))

    def _drop(self, finding: Finding) -> None:
        del self._findings[finding.id]
        self._shown.pop(finding.topic, None)
        del self._facts[finding.fact]
        self._moved.add(finding.topic)
        members = self._topics[finding.topic]
        del members[finding.id]
        if not members:
            del self._topics[finding.topic]

    def _evict(self, keep: str, topic: str | None = None) -> list[Change]:
        """Bring every cap down to its size; `keep` (what a person just asked for) stays."""
        changes: list[Change] = []
        for name in [topic] if topic is not None else list(self._topics):
            while len(self._topics.get(name, ())) > self.per_topic:
                victim = next((f for f in self.of_topic(name) if not f.pinned and f.id != keep), None)
                if victim is None:
                    break
                self._drop(victim)
                changes.append(Change("evicted", victim, f"more than {self.per_topic} findings in its topic"))
        while len(self._findings) > self.overall:
            oldest = next((f for f in self if not f.pinned and f.id != keep), None)
            if oldest is None:
                break
            self._drop(oldest)
            changes.append(Change("evicted", oldest, f"more than {self.overall} findings"))
        return changes
