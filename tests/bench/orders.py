"""Precision and recall of what holds facts that read as orders or hide characters."""

from __future__ import annotations

from core.ledger.untrusted import suspicion
from tests.corpus.cases import OrderCase


def judge(case: OrderCase) -> str:
    """The label that the rules give the case: `held` or `pass`."""
    return "held" if suspicion(case.fact) else "pass"
