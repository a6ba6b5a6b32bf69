"""A session as one text within a budget: what a model is given to make a note of, and what is saved beside the note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from core.history.budget import Budget
from core.history.pieces import Bounds, Kind, Piece, pieces
from core.history.rows import PartRow

__all__ = ["Bounds", "Transcript", "render", "transcript"]

_MAX_KINDS: Final = 50
"""Kinds of dropped parts that are counted by name."""
_MAX_HINTS: Final = 2_000


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """The text and what became of the parts.

    Attributes:
        text: cleaned, secrets masked; with a marker where something is left out.
        chars: code points of the text as it would be without a budget.
        left_out: code points that did not fit into the budget.
        skipped: parts that are not in it, by type or by reason.
        parts: parts that are in it, before the budget cut.
        roles: those, by role.
        moved: parts that name another session than their message does, and followed their message.
        hints: what the text holds of the agent's reasoning; no note may repeat it.
    """

    text: str
    chars: int
    left_out: int
    skipped: dict[str, int]
    parts: int
    roles: dict[str, int]
    moved: int = 0
    hints: tuple[str, ...] = ()


def transcript(parts: Iterable[PartRow], bounds: Bounds = Bounds()) -> Transcript:  # noqa: B008 - immutable
    """The transcript of `parts`, which come in order; memory is bounded by the largest part."""
    budget = Budget(bounds.head, bounds.tail)
    skipped, roles = Counter[str](), Counter[str]()
    hints: list[str] = []
    moved = 0
    for piece in pieces(parts, bounds):
        moved += piece.is_moved
        if piece.kind is Kind.DROPPED:
            skipped[piece.name if piece.name in skipped or len(skipped) < _MAX_KINDS else "other"] += 1
            continue
        if piece.kind is Kind.REASONING and len(hints) < _MAX_HINTS:
            hints.append(piece.text)
        budget.add(f"\n\n{render(piece)}" if roles else render(piece))
        roles[piece.role] += 1
    return Transcript(
        text=budget.result(),
        chars=budget.total,
        left_out=budget.left_out,
        skipped=dict(skipped),
        parts=roles.total(),
        roles=dict(roles),
        moved=moved,
        hints=tuple(hints),
    )


def render(piece: Piece) -> str:
    """One piece as the transcript has it: a line that says what it is, then its text."""
    what, text = _HEADINGS[piece.kind], piece.text
    if piece.kind is Kind.FILE:
        return f"[{piece.role}{what}] {piece.name}{f' ({text})' if text else ''}"
    if piece.kind is Kind.TOOL:
        what = f"{what} {piece.name}{f', {piece.status}' if piece.status else ''}"
        text = "\n".join(filter(None, (piece.input, f"output:\n{text}" if text else "")))
    return "\n".join(filter(None, (f"[{piece.role}{what}]", text)))


_HEADINGS: Final = {
    Kind.TEXT: "",
    Kind.SUMMARY: ", summary of what came before",
    Kind.REASONING: ", reasoning",
    Kind.TOOL: ", tool",
    Kind.FILE: ", file",
    Kind.PATCH: ", files changed",
    Kind.DROPPED: ", left out",
}
