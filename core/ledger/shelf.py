"""The findings that are in the ledger, by id, topic and fact, with their caps. Pure data structure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.ledger.changes import Change, Pair
from core.ledger.finding import Finding


class Shelf:
    """Findings in order of acceptance.

    Args:
        per_topic: findings kept per topic, at least 1.
        overall: findings kept in all, at least 1.
        show_doubtful: gentle notes carry doubtful findings.

    Attributes:
        held: findings that wait for a person, by id, oldest first; they count towards no cap.
        pairs: findings about whose relation a person may decide, by the pair's id, oldest first.
    """

    def __init__(self, per_topic: int, overall: int, *, show_doubtful: bool = True) -> None:
        self.per_topic = per_topic
        self.overall = overall
        self.held: dict[str, Finding] = {}
        self.pairs: dict[str, Pair] = {}
        self._show_doubtful = show_doubtful
        self._findings: dict[str, Finding] = {}
        self._topics: dict[str, dict[str, None]] = {}
        self._facts: dict[str, str] = {}
        self._seen: set[str] = set()
        self._moved: set[str] = set()
        self._shown: dict[str, tuple[Finding, ...]] = {}

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings.values())

    def get(self, id: str) -> Finding | None:
        """The finding with this id, a held one included; None when it is gone."""
        return self._findings.get(id) or self.held.get(id)

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics that have findings, in order of their first one."""
        return tuple(self._topics)

    def sort_topics(self, order: Sequence[str]) -> None:
        """Let the topics come in this order; those that it does not name come last."""
        named = [topic for topic in order if topic in self._topics]
        self._topics = {topic: self._topics[topic] for topic in dict.fromkeys((*named, *self._topics))}

    def has_topic(self, topic: str) -> bool:
        """True when a finding of this topic is there."""
        return topic in self._topics

    def of_topic(self, topic: str) -> tuple[Finding, ...]:
        """Findings of a topic, oldest first."""
        return tuple(self._findings[id] for id in self._topics.get(topic, ()))

    def shown_of(self, topic: str) -> tuple[Finding, ...]:
        """Findings of a topic that gentle notes carry, oldest first; remembered until one of them changes."""
        known = self._shown.get(topic)
        if known is None:
            known = self._shown[topic] = tuple(f for f in self.of_topic(topic) if self._may_show(f))
        return known

    def firm_of(self, topic: str) -> tuple[Finding, ...]:
        """Those of :meth:`shown_of` that a hard stop may rest on."""
        return tuple(finding for finding in self.shown_of(topic) if finding.shown_to_agent)

    @property
    def known(self) -> tuple[str, ...]:
        """Facts that hold as far as anybody knows, oldest first: an extraction need not find them again."""
        return tuple(finding.fact for finding in self if finding.shown_to_agent)

    @property
    def facts(self) -> tuple[str, ...]:
        """All facts, oldest first."""
        return tuple(self._facts)

    def moved_topics(self) -> set[str]:
        """Topics that gained or lost findings since this was last asked."""
        moved, self._moved = self._moved, set()
        return moved

    def has_fact(self, fact: str) -> bool:
        """True when this exact fact is in the ledger."""
        return fact in self._facts

    def with_fact(self, fact: str) -> Finding | None:
        """The finding that says exactly this, a held one included."""
        id = self._facts.get(fact)
        if id is not None:
            return self._findings[id]
        return next((finding for finding in self.held.values() if finding.fact == fact), None)

    def full_of_pins(self, topic: str | None = None) -> bool:
        """True when pinned findings alone fill the cap of a topic (None: the cap overall)."""
        size, cap = (len(self), self.overall) if topic is None else (len(self._topics.get(topic, ())), self.per_topic)
        return size >= cap and all(f.pinned for f in (self if topic is None else self.of_topic(topic)))

    def put(self, finding: Finding) -> Finding:
        """Put a finding in its place, or another version of one that is there under the same topic and fact."""
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

    def drop(self, finding: Finding) -> None:
        """Take a finding out, and the pairs that name it."""
        self.held.pop(finding.id, None)
        self.pairs = {id: pair for id, pair in self.pairs.items() if finding.id not in (pair.old, pair.new)}
        if self._findings.pop(finding.id, None) is None:
            return
        self._shown.pop(finding.topic, None)
        del self._facts[finding.fact]
        self._moved.add(finding.topic)
        members = self._topics[finding.topic]
        del members[finding.id]
        if not members:
            del self._topics[finding.topic]

    def evict(self, keep: str, topic: str | None = None) -> list[Change]:
        """Bring every cap down to its size, superseded findings first; `keep` (what a person just asked for) stays."""
        changes: list[Change] = []
        for name in [topic] if topic is not None else list(self._topics):
            while len(self._topics.get(name, ())) > self.per_topic:
                victim = _victim(self.of_topic(name), keep)
                if victim is None:
                    break
                self.drop(victim)
                changes.append(Change("evicted", victim, f"more than {self.per_topic} findings in its topic"))
        while len(self._findings) > self.overall:
            oldest = _victim(tuple(self), keep)
            if oldest is None:
                break
            self.drop(oldest)
            changes.append(Change("evicted", oldest, f"more than {self.overall} findings"))
        return changes

    def _may_show(self, finding: Finding) -> bool:
        return finding.shown_to_agent or (self._show_doubtful and finding.state == "doubtful")

    def _sort(self, topic: str) -> None:
        self._findings = dict(sorted(self._findings.items(), key=lambda item: item[1].seq))
        self._topics[topic] = dict.fromkeys(sorted(self._topics[topic], key=lambda id: self._findings[id].seq))


def _victim(findings: Sequence[Finding], keep: str) -> Finding | None:
    """The one to go first."""
    loose = [finding for finding in findings if not finding.pinned and finding.id != keep]
    return next((finding for finding in loose if finding.state == "superseded"), loose[0] if loose else None)
