"""An index of what the steps of one extraction printed, built once and asked for every fact."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

import msgspec

from core.ledger.steps import Call, Step
from core.ledger.values import Token, fold, number_keys, tokens_of
from core.ledger.wording import all_stems

MOST_CHARS: Final = 65_536
"""Characters looked at of one output and of one command; a kept call has far fewer."""

MOST_PLACES: Final = 256
"""Lines remembered for one word; enough to find the few that hold all of a fact."""

MOST_COLUMNS: Final = 64
"""Cells of a line that are compared."""

LONGEST_LINE: Final = 2_000
"""Characters of one line that are taken apart."""

_RUN: Final = re.compile(r"[^\W_]+")
_LEFT_OUT: Final = re.compile(r"… \[\d+ characters left out\] …\Z")


class Line(msgspec.Struct, frozen=True):
    """A line of an output, counted from 1, or a command (line 0)."""

    call: int
    n: int
    text: str
    """Folded, each run of white space one space."""


class Outputs:
    """The outputs and commands of some steps. Time to build: linear in their length.

    Places are indexes into :attr:`lines`.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self.lines: list[Line] = []
        self.calls: list[tuple[str, Call]] = []
        self.judged: dict[tuple[str, str], object] = {}
        """What :func:`core.ledger.support.support` found, by fact and topic."""
        self._tokens: dict[int, tuple[tuple[Token, ...], str]] = {}
        self._runs: dict[str, list[int]] = {}
        self._stems: dict[str, list[int]] = {}
        self._numbers: dict[str, list[int]] = {}
        for step in steps:
            for call in step.calls:
                self._add(step.part, call)

    def _add(self, part: str, call: Call) -> None:
        index = len(self.calls)
        self.calls.append((part, call))
        named = f"{call.command}\n{call.path}" if call.path else call.command
        self._line(index, 0, named[:MOST_CHARS])
        for n, text in enumerate(call.output[:MOST_CHARS].splitlines(), 1):
            if not _LEFT_OUT.match(text):
                self._line(index, n, text)

    def _line(self, call: int, n: int, text: str) -> None:
        if not text or text.isspace():
            return
        place = len(self.lines)
        folded = fold(text)
        self.lines.append(Line(call, n, " ".join(folded.split())))
        _note(self._runs, set(_RUN.findall(folded)), place)
        _note(self._stems, all_stems(text), place)
        if n:
            _note(self._numbers, number_keys(text), place)

    def number(self, key: str) -> list[int]:
        """Lines of outputs with this number."""
        return self._numbers.get(key, [])

    def word(self, stem: str) -> list[int]:
        """Lines and commands with this word."""
        return self._stems.get(stem, [])

    def phrase(self, text: str) -> list[int]:
        """Lines and commands with this text, where no letter, digit or underscore goes on at its ends."""
        wanted = " ".join(fold(text).split())
        near = [self._runs.get(run, []) for run in _RUN.findall(wanted)]
        places: Sequence[int] = min(near, key=len) if near else range(len(self.lines))
        found = (place for place in places if wanted and _holds(self.lines[place].text, wanted))
        return list(islice(found, MOST_PLACES))

    def tokens(self, place: int) -> tuple[tuple[Token, ...], str]:
        """A line taken apart, and as much of its text as was looked at; remembered, as facts share lines."""
        known = self._tokens.get(place)
        if known is None:
            text = self.lines[place].text[:LONGEST_LINE]
            known = self._tokens[place] = (tokens_of(text), text)
        return known

    def columns(self, place: int) -> list[str]:
        """The first cells of a line, parted at white space."""
        return self.lines[place].text[:2_000].split(" ", MOST_COLUMNS)[:MOST_COLUMNS]

    def is_header(self, place: int) -> bool:
        """Whether a line has a rule below it, or is the first of an output and has no digit."""
        line = self.lines[place]
        below = self.lines[place + 1] if place + 1 < len(self.lines) else None
        first = place == 0 or self.lines[place - 1].n == 0 or self.lines[place - 1].call != line.call
        return (first and not any(map(str.isdigit, line.text))) or (
            below is not None and below.n == line.n + 1 and not below.text.strip("-+=| :")
        )


def _note(index: dict[str, list[int]], keys: set[str], place: int) -> None:
    for key in keys:
        places = index.get(key)
        if places is None:
            index[key] = [place]
        elif len(places) < MOST_PLACES:
            places.append(place)


def _holds(line: str, wanted: str) -> bool:
    at = line.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        before, after = line[at - 1 : at] if at else "", line[end : end + 1]
        if not (_goes_on(before) and _goes_on(wanted[0])) and not (_goes_on(after) and _goes_on(wanted[-1])):
            return True
        at = line.find(wanted, end)
    return False


def _goes_on(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
