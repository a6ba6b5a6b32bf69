"""What screens ask of the ledger, and how the answer is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core.ledger.changes import How
from core.ledger.commands import Accept, Command, Reject, Resolve
from ledger_tui.format import plural
from ledger_tui.screens.base import LedgerScreen

_RESOLVED: dict[How, str] = {
    "swap": "Swapped: the other fact holds.",
    "keep_both": "Both facts hold.",
    "merge": "Merged into one fact.",
    "dismiss": "Left as it is.",
}


def give(screen: LedgerScreen[Any], make: Callable[..., Command], said: str = "", **fields: Any) -> bool:
    """Give the host a command; show `said` (else the host's sentence) when it was done, its reason when not."""
    host = screen.desk.host
    sentence, done = host.command(make(t=screen.desk.clock(), session=host.selected or "", **fields))
    if done and said:
        screen.say_with_keys(said)
    else:
        screen.say(sentence, ok=done)
    return done


def decide(screen: LedgerScreen[Any], action: str, ids: Sequence[str]) -> bool:
    """Accept or reject held facts, by the action `accept` or `reject_fact`."""
    what = plural(len(ids), "fact")
    if action == "accept":
        return give(screen, Accept, f"Accepted {what}. {{undo}} takes it back.", ids=tuple(ids))
    return give(screen, Reject, f"Rejected {what}. {{undo}} takes it back.", ids=tuple(ids))


def resolve(screen: LedgerScreen[Any], pair: str, how: How) -> bool:
    """Decide over a pair."""
    return give(screen, Resolve, f"{_RESOLVED[how]} {{undo}} takes it back.", pair=pair, how=how)
