"""What happens to findings, as the store tells it."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.ledger.finding import Evidence, Finding, Receipt

Kind = Literal[
    "added",
    "held",
    "accepted",
    "rejected",
    "evicted",
    "pinned",
    "unpinned",
    "edited",
    "deleted",
    "restored",
    "doubtful",
    "fresh",
    "superseded",
    "merged",
]

PairKind = Literal["superseded", "unsure", "near"]
"""`superseded`: the newer fact took the older one's place; `unsure`: they may contradict each other; `near`: they may
say the same."""

How = Literal["swap", "keep_both", "merge", "dismiss"]
"""How a person decides over a pair: the other one of the two holds; both hold; the newer goes into the older; leave
everything as it is."""

Review = Literal["off", "unsupported", "all"]
"""Which facts wait for a person: none, those that no output bears out or that read like an order, every one."""


class Change(msgspec.Struct, frozen=True):
    """One thing that happened to a finding, and why.

    Attributes:
        fresh: the fact was never in this ledger before and says something new, so it counts as learning.
    """

    kind: Kind
    finding: Finding
    reason: str = ""
    fresh: bool = False


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where a new finding comes from; see the attributes of Finding. `note`: the first line of its history."""

    step: int = 0
    session: str = ""
    call: str = ""
    job: str = ""
    evidence: tuple[Evidence, ...] = ()
    files: tuple[str, ...] = ()
    mark: str = ""
    receipt: Receipt = Receipt()
    note: str = "extracted"


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two findings about which a person may decide, by id; `t` in ms since the epoch."""

    id: str
    kind: PairKind
    old: str
    new: str
    t: int
