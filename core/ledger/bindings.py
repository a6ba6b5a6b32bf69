"""Whether what was found of a statement belongs together there: same record, same label, same order, same polarity.

Every check objects only when all calls that could bear the statement out speak against it, so that further outputs
never take support away.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from core.ledger.atoms import Statement
from core.ledger.lookup import Found
from core.ledger.outputs import Outputs
from core.ledger.polarity import polarity
from core.ledger.records import other_record
from core.ledger.values import Token, fold
from core.ledger.wording import FUNCTION_WORDS, stem

MOST_LINES: Final = 16
"""Lines of one call that are taken apart to compare one statement with."""

MOST_CALLS: Final = 24
"""Calls whose lines are taken apart."""


_ORDERED: Final = re.compile(r"\s*(?:x|×|->|→|=>|to|auf|à|a)?\s*\Z", re.IGNORECASE)
_PART_OF: Final = re.compile(r"\s*(?:of|von|sur|de)\s*\Z", re.IGNORECASE)
_LABEL_GAP: Final = re.compile(r"[\s=:(\[]{0,4}\Z")
_VALUES: Final = ("number", "quoted", "boolean")

_Line = tuple[Sequence[Token], str]
"""A line of an output, taken apart, and its text."""

_Label = tuple[str, str, str]
"""Side, label, value: a word that stands directly before or after a value."""


def contradiction(stated: Statement, fact: str, found: Sequence[Found], outputs: Outputs) -> str:
    """Why what was found does not bear the statement out, as a sentence; empty when it does."""
    return (
        other_record(stated, found, outputs)
        or polarity(stated, fact, found, outputs)
        or _labels_and_order(stated, fact, found, outputs)
    )


def _labels_and_order(stated: Statement, fact: str, found: Sequence[Found], outputs: Outputs) -> str:
    labels = [*_labelled(stated.tokens, fact)]
    ordered = [*_ordered(stated.tokens, fact)]
    for first, second in _parts(stated.tokens, fact):
        if _is_more(first.key, second.key):
            return f"{first.key} cannot be a part of {second.key}"
    if not labels and not ordered:
        return ""
    lines = _printed_lines(found, outputs)
    homes: dict[str, set[int]] = defaultdict(set)
    for one in found:
        homes[fold(one.atom.key)] |= {outputs.lines[place].call for place in one.printed}
    claimed = {fold(token.key) for token in stated.tokens if token.kind in _VALUES}
    return _wrong_label(labels, claimed, homes, lines) or _wrong_order(ordered, homes, lines)


def _printed_lines(found: Sequence[Found], outputs: Outputs) -> dict[int, list[_Line]]:
    """The fullest lines of each call, taken apart."""
    counts = Counter(place for one in found for place in one.printed)
    lines: dict[int, list[_Line]] = defaultdict(list)
    for place in sorted(counts, key=lambda place: (-counts[place], place)):
        line = outputs.lines[place]
        if len(lines[line.call]) < MOST_LINES and len(lines) <= MOST_CALLS:
            lines[line.call].append(outputs.tokens(place))
    return lines


def _labelled(tokens: Sequence[Token], text: str) -> Iterator[_Label]:
    for left, right in itertools.pairwise(tokens):
        gap = text[left.end : right.start]
        if right.kind in _VALUES and left.kind in ("word", "name") and _LABEL_GAP.match(gap) and _is_label(left):
            yield "before", stem(left.key), fold(right.key)
        if left.kind in _VALUES and right.kind in ("word", "name") and not gap.strip() and gap and _is_label(right):
            yield "after", stem(right.key), fold(left.key)


def _is_label(token: Token) -> bool:
    return token.key.lower() not in FUNCTION_WORDS


def _wrong_label(
    labels: Sequence[_Label], claimed: set[str], homes: Mapping[str, set[int]], lines: Mapping[int, Sequence[_Line]]
) -> str:
    """A label of the fact that is printed at another of the fact's values, and nowhere at its own."""
    bound = {call: [label for line in some for label in _labelled(*line)] for call, some in lines.items()}
    for side, label, value in labels:
        rivals = [_rivals(side, label, value, bound.get(call, [])) & claimed for call in sorted(homes.get(value, ()))]
        if rivals and all(rivals):
            return f"the output says {label} of {min(rivals[0])}, not of {value}"
    return ""


def _rivals(side: str, label: str, value: str, bound: Sequence[_Label]) -> set[str]:
    """Other values at this label, on the same side where there are some; none when it stands at its own value too."""
    values = {found for _, name, found in bound if name == label}
    if value in values:
        return set()
    return {found for at, name, found in bound if name == label and at == side} or values


def _ordered(tokens: Sequence[Token], text: str) -> Iterator[tuple[str, str]]:
    """Pairs of numbers whose order says something: 80 to 443, 1024 x 512, (4096, 32000)."""
    for left, right in _neighbours(tokens):
        if left.key != right.key:
            gap = text[left.end : right.start]
            listed = gap.strip() == "," and text[: left.start].rstrip("0123456789, ")[-1:] in ("(", "[")
            if listed or (gap.strip() and _ORDERED.match(gap)):
                yield left.key, right.key


def _wrong_order(
    ordered: Sequence[tuple[str, str]], homes: Mapping[str, set[int]], lines: Mapping[int, Sequence[_Line]]
) -> str:
    rows = {
        call: [[token.key for token in tokens if token.kind == "number"] for tokens, _ in some]
        for call, some in lines.items()
    }
    for first, second in ordered:
        both = homes.get(first, set()) & homes.get(second, set())
        if both and all(_only_reversed(rows.get(call, []), first, second) for call in both):
            return f"the output has {second} before {first}"
    return ""


def _only_reversed(rows: Sequence[Sequence[str]], first: str, second: str) -> bool:
    both = [row for row in rows if first in row and second in row]
    return bool(both) and all(row.index(first) > len(row) - 1 - row[::-1].index(second) for row in both)


def _parts(tokens: Sequence[Token], text: str) -> Iterator[tuple[Token, Token]]:
    for left, right in _neighbours(tokens):
        if _PART_OF.match(text[left.end : right.start]):
            yield left, right


def _neighbours(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Each number with the next one."""
    numbers = [token for token in tokens if token.kind == "number"]
    return itertools.pairwise(numbers)


def _is_more(first: str, second: str) -> bool:
    try:
        return float(first) > float(second)
    except ValueError:
        return False
