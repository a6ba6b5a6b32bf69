"""Words of a command line after expansion: variables whose values the command itself sets, and braces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from core.ledger.shellwords import Word

_MAX_EXPANDED = 262_144
"""Characters that words may grow to with the values of variables; what is larger stays unknown."""
_MAX_VALUES = 64
"""Alternatives of a word with braces or a loop variable."""
_MAX_VALUE = 1_024
"""Characters of a variable's value, and of a word whose braces are expanded."""

_BRACES = re.compile(r"\{([^{}]*,[^{}]*|-?\d{1,6}\.\.-?\d{1,6})\}")
_USE = re.compile(r"\$(?:(\w+)|\{(\w+)(?:\[[@*]\])?\})")


class Variables:
    """Variables that a command line has set so far."""

    def __init__(self) -> None:
        self._values: dict[str, list[str]] = {}
        self._room = _MAX_EXPANDED
        self.used: set[str] = set()
        """Variables of which a value was put into a word."""

    def __bool__(self) -> bool:
        return bool(self._values)

    def set(self, name: str, values: Sequence[Word]) -> None:
        """Remember the value of a variable, several for the variable of a loop; patterns are no values."""
        texts = (text for word in values if not word.glob for text in self.expanded(word))
        self._values[name] = [text[:_MAX_VALUE] for text in islice(texts, _MAX_VALUES)]

    def expanded(self, word: Word) -> Iterator[str]:
        """What a word becomes."""
        for text in _unbraced(word.text) if word.braces and len(word.text) <= _MAX_VALUE else (word.text,):
            yield from self.replaced(text)

    def replaced(self, text: str) -> list[str]:
        """The text with the values of the variables that are known; as many texts as there are values."""
        texts = [text]
        if "$" not in text or not self._values:
            return texts
        uses = {found[0]: found[1] or found[2] for found in islice(_USE.finditer(text), _MAX_VALUES)}
        for use, name in uses.items():
            values = self._values.get(name)
            grown = len(values) * len(texts) * (len(text) + text.count(use) * _MAX_VALUE) if values else 0
            if values and grown <= self._room:
                self._room -= sum(len(value) * len(texts) for value in values)
                self.used.add(name)
                texts = [_with(old, use, value) for old in texts for value in values][:_MAX_VALUES]
        return texts


def _with(text: str, use: str, value: str) -> str:
    return _USE.sub(lambda found: value if found[0] == use else found[0], text)


def _unbraced(text: str) -> list[str]:
    """The words that braces make of one (`{a,b}.csv`, `{1..3}`), as far as there are not too many."""
    done: list[str] = []
    waiting = [text]
    while waiting and len(done) + len(waiting) <= _MAX_VALUES:
        current = waiting.pop(0)
        found = _BRACES.search(current)
        if found is None:
            done.append(current)
        else:
            waiting[:0] = [current[: found.start()] + each + current[found.end() :] for each in _alternatives(found[1])]
    return done


def _alternatives(inside: str) -> list[str]:
    if "," in inside:
        return inside.split(",")
    first, last = map(int, inside.split(".."))
    step = 1 if first <= last else -1
    return [str(number) for number in islice(range(first, last + step, step), _MAX_VALUES)]
