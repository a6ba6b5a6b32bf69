"""The store of findings: add, cap, evict, pin, edit, delete, undo. Pure data structure, no I/O.

Every operation returns the changes it made, in order; the engine turns them into reports.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from core.ledger.changes import Change, Kind, Origin, Pair
from core.ledger.finding import Event, Finding, Source
from core.ledger.shelf import Shelf

UNDO_DEPTH: Final = 10
_MAKING_ROOM: Final = ("adding", "accepting", "pinning", "unpinning")
"""Changes that may evict others; these come back only where there is room again."""


class Undo(msgspec.Struct, frozen=True):
    """How findings, tombstones and pairs looked before a user's change."""

    what: str
    before: dict[str, Finding | None]
    tombstones: frozenset[str]
    pairs: tuple[Pair, ...] = ()


class Ledger(Shelf):
    """Findings of one root session; see :class:`core.ledger.shelf.Shelf` for the arguments."""

    def __init__(self, per_topic: int, overall: int, *, show_doubtful: bool = True) -> None:
        super().__init__(per_topic, overall, show_doubtful=show_doubtful)
        self.undos: deque[Undo] = deque(maxlen=UNDO_DEPTH)
        self._deleted: frozenset[str] = frozenset()
        self._next = 1
        self._next_pair = 1

    @property
    def deleted(self) -> frozenset[str]:
        """Facts that a person deleted, rejected or corrected."""
        return self._deleted

    @property
    def made(self) -> int:
        """Number of the last finding, whatever became of it."""
        return self._next - 1

    @property
    def undoable(self) -> str:
        """What the next undo would take back; empty when there is nothing."""
        return self.undos[-1].what if self.undos else ""

    def was_deleted(self, fact: str) -> bool:
        """True when a person deleted, rejected or corrected this exact fact."""
        return fact in self._deleted

    def bury(self, facts: Sequence[str]) -> None:
        """Remember that a person does not want these facts: an extraction cannot bring them back."""
        self._deleted |= frozenset(facts)

    def extracted(
        self, t: int, fact: str, topic: str, origin: Origin, *, is_new: bool = True, evict: bool = True
    ) -> list[Change]:
        """Accept a fact from an extraction; no change when it is a duplicate (see `has_fact`).

        `is_new=False`: it says in other words what is known, so it is no learning. `evict=False`: the caller sees to
        the caps.
        """
        if fact in self._facts:
            return []
        finding = self.make(t, fact, topic, "extraction", origin)
        if fact in self._deleted:
            return [Change("rejected", finding, "deleted or corrected by the user before")]
        if self.full_of_pins(topic):
            return [Change("rejected", finding, f"all {self.per_topic} places of its topic are pinned")]
        if self.full_of_pins():
            return [Change("rejected", finding, f"all {self.overall} places are pinned")]
        return self.accept_one("added", finding, is_new=is_new, evict=evict)

    def inherit(self, t: int, findings: Sequence[Finding]) -> list[Change]:
        """Take over copies of another ledger's findings (a forked session)."""
        changes: list[Change] = []
        for old in findings:
            if old.fact not in self._facts:
                copy = old.noted(t, "copied into the forked session", id=f"f{self._next}", seq=self._next)
                self._next += 1
                changes += self.accept_one("added", copy)
        return changes

    def adopt(
        self, findings: Sequence[Finding], deleted: Sequence[str], made: int, *, evict: bool = True
    ) -> list[Change]:
        """Go on, while still empty, from the findings and deletions of another ledger of the same session.

        `made`: see :attr:`made`. `evict=False`: what is above a cap stays for the time being. Ids and order stay;
        a finding whose id or fact is there already is passed over.
        """
        if self._findings:
            return []
        self._deleted |= frozenset(deleted)
        self._next = max(self._next, made + 1)
        changes: list[Change] = []
        for finding in findings:
            if finding.id == f"f{finding.seq}" and self.get(finding.id) is None:
                if finding.state == "held":
                    self.held[finding.id] = finding
                elif finding.fact not in self._facts:
                    changes.append(Change("added", self.put(finding), "taken over from another ledger"))
                self._next = max(self._next, finding.seq + 1)
        return changes + (self.evict("") if evict else [])

    @property
    def paired(self) -> int:
        """Number of the last pair, whatever became of it."""
        return self._next_pair - 1

    def restore(self, pairs: Iterable[Pair], paired: int, gone: Iterable[str]) -> None:
        """Go on, after :meth:`adopt`, with the rest of what another process knew.

        `paired`: see :attr:`paired`; `gone`: facts that were evicted, so not new again.
        """
        self.pairs = {pair.id: pair for pair in pairs if self.get(pair.old) and self.get(pair.new)}
        self._next_pair = max(self._next_pair, paired + 1)
        self._seen.update(gone)

    def add(self, t: int, fact: str, topic: str, source: str = "") -> list[Change]:
        """Add a fact in a person's name; brings back one that was deleted. No change when it is there already.

        `source`: where the person took it from, for the history.
        """
        if fact in self._facts:
            return []
        note = f"added by the user from {source}" if source else "added by the user"
        finding = self.make(t, fact, topic, "user", Origin(note=note))
        self.remember("adding", [finding.id])
        self._deleted -= {fact}
        return self.by_hand(self.accept_one("added", finding, keep=finding.id))

    def pin(self, t: int, ids: Sequence[str], on: bool) -> list[Change]:
        """Pin or unpin; findings that are so already are left alone."""
        targets = [f for f in self.in_ledger(ids) if f.pinned is not on]
        if not targets:
            return []
        self.remember("pinning" if on else "unpinning", [f.id for f in targets])
        kind: Kind = "pinned" if on else "unpinned"
        changes = [Change(kind, self.put(f.noted(t, f"{kind} by the user", pinned=on))) for f in targets]
        return self.by_hand(changes + self.evict(""))

    def delete(self, ids: Sequence[str]) -> list[Change]:
        """Delete findings and remember their facts, so that an extraction cannot bring them back."""
        targets = self.in_ledger(ids)
        if not targets:
            return []
        self.remember("deleting", [f.id for f in targets])
        self.bury([f.fact for f in targets])
        for finding in targets:
            self.drop(finding)
        return [Change("deleted", finding, "by the user") for finding in targets]

    def edit(self, t: int, id: str, fact: str, topic: str) -> list[Change]:
        """Change text or topic; a held finding is accepted by that, and other words are a person's: they hold.

        No change when nothing differs, or when the new fact is another finding's.
        """
        old = self.get(id)
        if old is None or (old.fact, old.topic) == (fact, topic) or self._facts.get(fact, id) != id:
            return []
        self.remember("editing", [id])
        if fact != old.fact:
            self._deleted = (self._deleted | {old.fact}) - {fact}
        pairs = self.pairs
        self.drop(old)
        self.pairs = pairs
        edited = old.edited or fact != old.fact
        new = old.noted(t, f"edited by the user, was: {old.fact}", fact=fact, topic=topic, edited=edited)
        if old.state == "held" or (old.state in ("doubtful", "superseded") and fact != old.fact):
            new = msgspec.structs.replace(new, state="accepted", held_for="", stale_for="", superseded_by="")
        return [Change("edited", self.put(new), fresh=False), *self.evict(id)]

    def undo(self, t: int) -> tuple[str, list[Change]]:
        """Take back the last change by a person: what it was (empty: nothing to undo) and the changes made."""
        if not self.undos:
            return "", []
        entry = self.undos.pop()
        self._deleted = entry.tombstones
        changes: list[Change] = []
        for id, before in entry.before.items():
            if self.get(id) is not None or entry.what != "editing":
                changes += self._restore(t, id, before, entry.what)
        pairs = {pair.id: pair for pair in entry.pairs} | self.pairs
        self.pairs = {id: pair for id, pair in pairs.items() if self.get(pair.old) and self.get(pair.new)}
        return entry.what, changes

    # For core.ledger.review and core.ledger.judging

    def remember(self, what: str, ids: Sequence[str]) -> None:
        """Let undo take back what a person is about to change in these findings."""
        before = {id: self.get(id) for id in ids}
        self.undos.append(Undo(what, before, self._deleted, tuple(self.pairs.values())))

    def by_hand(self, changes: list[Change]) -> list[Change]:
        """Let undo bring back, too, what had to make room for the change that was remembered last."""
        for change in changes:
            if change.kind == "evicted":
                self.undos[-1].before.setdefault(change.finding.id, change.finding)
        return changes

    def in_ledger(self, ids: Sequence[str]) -> list[Finding]:
        """Those of the findings that are in the ledger, each once."""
        return [self._findings[id] for id in dict.fromkeys(ids) if id in self._findings]

    def make(self, t: int, fact: str, topic: str, source: Source, origin: Origin) -> Finding:
        """A new finding with the next id, in no place yet."""
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
            job=origin.job,
            evidence=origin.evidence,
            files=origin.files,
            mark=origin.mark,
            receipt=origin.receipt,
            history=(Event(t, origin.note),),
        )
        self._next += 1
        return finding

    def accept_one(
        self, kind: Kind, finding: Finding, keep: str = "", *, is_new: bool = True, evict: bool = True
    ) -> list[Change]:
        """Put a finding into the ledger and (`evict`) bring the caps down."""
        fresh = is_new and finding.fact not in self._seen
        self.put(finding)
        return [Change(kind, finding, fresh=fresh), *(self.evict(keep, finding.topic) if evict else ())]

    def pair(self, t: int, kind: str, old: Finding, new: Finding) -> None:
        """Let a person decide over two findings."""
        made = Pair(id=f"p{self._next_pair}", kind=kind, old=old.id, new=new.id, t=t)  # type: ignore[arg-type]
        self._next_pair += 1
        self.pairs[made.id] = made

    def _restore(self, t: int, id: str, before: Finding | None, what: str) -> list[Change]:
        now = self.get(id)
        if now is not None and before is not None:
            before = _unless_later(now, before, what)
        if now is not None:
            self.drop(now)
        if before is None:
            return [Change("deleted", now, "undone")] if now is not None else []
        needs_room = now is None and what in _MAKING_ROOM and before.state != "held"
        if self._facts.get(before.fact, id) != id or (needs_room and self._is_full(before)):
            return []
        restored = before.noted(t, "restored by undo")
        if before.state == "held":
            self.held[id] = restored
            return [Change("held", restored, "undone")]
        return [Change("restored", self.put(restored), "undone"), *self.evict(id)]

    def _is_full(self, finding: Finding) -> bool:
        return len(self) >= self.overall or len(self.of_topic(finding.topic)) >= self.per_topic


def _unless_later(now: Finding, before: Finding, what: str) -> Finding:
    """How a finding was before a person's change, but for what a file or an extraction did to it since."""
    if what in ("pinning", "unpinning"):
        return msgspec.structs.replace(now, pinned=before.pinned)
    if now.state == "doubtful" and before.shown_to_agent:
        return msgspec.structs.replace(before, state="doubtful", stale_for=now.stale_for, history=now.history)
    return before
