"""The table of rules and the facts they give."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

import msgspec

from core.ledger.rules.compilers import compiler_errors
from core.ledger.rules.counts import counts
from core.ledger.rules.exitcodes import repeated_codes
from core.ledger.rules.filetypes import file_types
from core.ledger.rules.http import http_answers
from core.ledger.rules.jsontypes import json_types
from core.ledger.rules.magic import magic
from core.ledger.rules.reading import shown_of
from core.ledger.rules.shown import Found, Rule
from core.ledger.rules.sizes import listed_sizes, stat_sizes
from core.ledger.rules.testreports import test_reports
from core.ledger.rules.versions import package_versions, program_versions
from core.ledger.steps import Call, Step
from core.text import clean_line, mask

MOST_PER_CALL: Final = 10
MOST_PER_JOB: Final = 40
"""Facts of one job at most; the latest calls come first."""
REMEMBERED: Final = 1_000
"""Calls of which it is remembered what was found in them."""
_FACT_CHARS: Final = 400

RULES: Final[tuple[tuple[str, Rule], ...]] = (
    ("compiler", compiler_errors),
    ("tests", test_reports),
    ("file", file_types),
    ("magic", magic),
    ("sizes", listed_sizes),
    ("sizes", stat_sizes),
    ("wc", counts),
    ("versions", program_versions),
    ("versions", package_versions),
    ("http", http_answers),
    ("json", json_types),
)
"""Each rule with its family."""
_REPEATS: Final = "exit_codes"


class RuleFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that a rule read from an output."""

    fact: str
    topic: str
    part: str
    """The step's part."""
    call: str
    lines: tuple[int, ...]
    """Lines of the call's output, counted from 1, that say it; 0 is the command and its exit code."""
    rule: str
    """The family of the rule."""


def facts_of(steps: Sequence[Step]) -> tuple[RuleFact, ...]:
    """What the outputs of these steps establish without a model, in the order of the calls.

    Of calls with the same command the last one counts: what an earlier one showed may be over. Equal steps give equal
    facts; linear in the length of the outputs; at most 10 facts a call and 40 in all, the latest ones.
    """
    calls = [(step.part, call) for step in steps for call in step.calls]
    parts = {id(call): part for part, call in calls}
    last = {call.command.strip(): call for _, call in calls if call.ok or call.exit is not None}
    found = [
        (part, call, family, one)
        for part, call in calls
        if last.get(call.command.strip()) is call
        for family, one in found_in(call)
    ]
    found += [(parts[id(call)], call, _REPEATS, one) for call, one in repeated_codes([call for _, call in calls])]
    facts: dict[str, RuleFact] = {}
    for part, call, family, one in found:
        fact = clean_line(mask(one.fact), _FACT_CHARS)
        if not one.topic.partition(":")[2].strip():
            continue
        facts[fact] = RuleFact(
            fact=fact, topic=clean_line(mask(one.topic), 200), part=part, call=call.call, lines=one.lines, rule=family
        )
    return tuple(list(facts.values())[-MOST_PER_JOB:])


@lru_cache(maxsize=REMEMBERED)
def found_in(call: Call) -> tuple[tuple[str, Found], ...]:
    """What the rules find in one call, each with its family; remembered, as it takes up to some ms a call."""
    return tuple(islice(_of_call(call), MOST_PER_CALL))


def _of_call(call: Call) -> Iterator[tuple[str, Found]]:
    for shown in shown_of(call):
        where = f" (in `{clean_line(shown.inside, 80)}`)." if shown.inside else ""
        for family, rule in RULES:
            for one in rule(shown):
                yield family, msgspec.structs.replace(one, fact=re.sub(r"\.\Z", "", one.fact) + where) if where else one
