"""Which topics name a file: an index from base names to topics.

A topic is `category:subject`, written by a model: `file-format:model.ckpt`, `weights:model.ckpt:layer 3`,
`tokenizer: vocab.bpe and merges.txt`, `file:C:\\data\\my rows.csv`. Where words stand before a name it cannot be told
whether they belong to it, so `file:my model.ckpt` names both `my model.ckpt` and `model.ckpt`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.ledger.names import Matcher, Name, matcher_for, name_of

_PIECES = re.compile(r":(?![\\/])|[;\"'`“”‘’«»]|,\s|\s(?:and|vs\.?|versus|or)\s|\s[&+]\s")
_LONGEST = 1_000
"""Characters of a topic that are read; more are no topic."""


def label(topic: str) -> str:
    """What a topic is about, for people: its part after the first colon, or all of it."""
    return topic.partition(":")[2].strip() or topic


class TopicIndex:
    """Topics by the files they name. `add` and `discard` are idempotent: a topic is in the index or it is not.

    The time of `touched` grows with the topics that share a base name and its nearest folder with the call, not with
    the topics in the index.
    """

    def __init__(self, extensions: Iterable[str]) -> None:
        """An empty index for files with these extensions (without dot, any case)."""
        self._matcher = matcher_for(frozenset(extensions))
        self._added = 0
        self._order: dict[str, int] = {}
        self._names: dict[str, tuple[Name, ...]] = {}
        # base -> nearest folder ("" where the topic gives none) -> the topics and the name each of them gives
        self._bases: dict[str, dict[str, dict[tuple[str, Name], None]]] = {}

    def __len__(self) -> int:
        return len(self._order)

    def __contains__(self, topic: object) -> bool:
        return topic in self._order

    @property
    def topics(self) -> tuple[str, ...]:
        """All of them, in the order in which they were added."""
        return tuple(self._order)

    def add(self, topic: str) -> None:
        """Put a topic in; one that is there already keeps its place."""
        if topic in self._order:
            return
        self._added += 1
        self._order[topic] = self._added
        self._names[topic] = names_of_topic(topic, self._matcher)
        for name in self._names[topic]:
            self._bases.setdefault(name.base, {}).setdefault(_nearest(name), {})[topic, name] = None

    def discard(self, topic: str) -> None:
        """Take a topic out, if it is there; added again it comes last."""
        if self._order.pop(topic, None) is None:
            return
        for name in self._names.pop(topic):
            folders = self._bases[name.base]
            group = folders[_nearest(name)]
            group.pop((topic, name), None)
            if not group:
                del folders[_nearest(name)]
            if not folders:
                del self._bases[name.base]

    def touched(self, names: Iterable[Name]) -> tuple[str, ...]:
        """Topics that name one of these files, in the order in which they were added."""
        found: dict[str, int] = {}
        for name in names:
            folders = self._bases.get(name.base)
            if folders is None:
                continue
            near = (folders.get(""), folders.get(name.folders[-1])) if name.folders else folders.values()
            for group in near:
                for topic, other in group or ():
                    if topic not in found and name.agrees(other):
                        found[topic] = self._order[topic]
        return tuple(found) if len(found) < 2 else tuple(sorted(found, key=found.__getitem__))


def names_of_topic(topic: str, matcher: Matcher) -> tuple[Name, ...]:
    """All files a topic may mean, each once."""
    topic = topic[:_LONGEST]
    names = {name: None for _, name in matcher.prose(topic)}
    for piece in map(str.strip, _PIECES.split(topic)):
        if matcher.whole(piece) and (name := matcher.stem(name_of(piece))):
            names[name] = None
    seen = {(name.base, name.folders): name for name in reversed(names)}
    return tuple(reversed(seen.values()))


def _nearest(name: Name) -> str:
    return name.folders[-1] if name.folders else ""
