"""What keys do with facts that wait for a person: those that are held, and pairs of them."""

from __future__ import annotations

from ledger_tui.actions import action as at
from ledger_tui.actions import checks
from ledger_tui.actions.action import Action

REVIEW_ACTIONS: tuple[Action, ...] = (
    Action(
        "accept",
        ("enter",),
        "accept",
        "Accept the fact that waits for you: it holds from now on.",
        at.HELD | {"held_receipt"},
        "Findings",
        checks.on_held,
        8,
    ),
    Action(
        "reject_fact",
        ("d",),
        "reject",
        "Reject the fact that waits for you; an extraction cannot bring it back, undo can.",
        at.HELD | {"held_receipt"},
        "Findings",
        checks.on_held,
        8,
    ),
    Action(
        "swap",
        ("s",),
        "swap",
        "The other one holds: the older fact instead of the newer, or the newer where both are shown.",
        at.INBOX,
        "Pairs",
        checks.swappable,
        8,
    ),
    Action("keep_both", ("b",), "keep both", "Both facts hold.", at.INBOX, "Pairs", checks.on_pair, 8),
    Action(
        "merge", ("m",), "merge", "Keep the newer wording, drop the other one.", at.INBOX, "Pairs", checks.mergeable, 8
    ),
    Action(
        "dismiss", ("d",), "dismiss", "Leave both as they are, and ask no more.", at.INBOX, "Pairs", checks.on_pair, 8
    ),
    Action(
        "receipt",
        ("o",),
        "receipt",
        "Read where the fact comes from, and what speaks against it.",
        at.HELD | at.INBOX,
        "Findings",
        checks.has_rows,
        7,
    ),
)
"""In the order in which footer and help show them."""
