"""Reads the labelled cases, a third of them held back."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from tests.corpus.cases import (
    Case,
    ConflictCase,
    CostCase,
    KeyCase,
    OrderCase,
    ReceiptCase,
    RuleCase,
    SecretCase,
    StaleCase,
)

HERE = Path(__file__).parent

SALT = "47"
"""Chosen once, before any rule was written, so that each label of each file is held back about a third of the time."""

RULES: dict[str, type[Case]] = {
    "receipts": ReceiptCase,
    "stale": StaleCase,
    "conflicts": ConflictCase,
    "orders": OrderCase,
    "secrets": SecretCase,
    "keys": KeyCase,
    "rules": RuleCase,
    "cost": CostCase,
}

Part = Literal["open", "held", "all"]
C = TypeVar("C", bound=Case)


def files(rule: str) -> list[Path]:
    """The files of a rule: `rule.jsonl`, or every `*.jsonl` of the folder `rule/`."""
    if rule not in RULES:
        raise ValueError(f"no corpus {rule!r}; there are {', '.join(RULES)}")
    folder = HERE / rule
    return sorted(folder.glob("*.jsonl")) if folder.is_dir() else [HERE / f"{rule}.jsonl"]


def is_held(case_id: str) -> bool:
    """Whether a case is held back: by a hash of its id up to the first `.`, so that a scene stays together."""
    scene = case_id.partition(".")[0]
    return int.from_bytes(hashlib.sha256(f"{SALT}:{scene}".encode()).digest()[:8]) % 3 == 0


def load(rule: str, part: Part = "open") -> list[Case]:
    """The cases of a rule, in order. Raises ValueError for an unknown rule, msgspec.ValidationError for a bad line."""
    lines = [line for path in files(rule) for line in path.read_bytes().splitlines()]
    decoder = msgspec.json.Decoder(RULES[rule])
    cases = [decoder.decode(line) for line in lines]
    return [case for case in cases if part == "all" or is_held(case.id) == (part == "held")]


def load_as(shape: type[C], part: Part = "open") -> list[C]:
    """As `load`, by the shape of the cases, for callers that want their type."""
    rule = next(name for name, kind in RULES.items() if kind is shape)
    return [case for case in load(rule, part) if isinstance(case, shape)]
