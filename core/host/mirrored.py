"""What is known of the ledger that hosts the project: the newest answers, put together."""

from __future__ import annotations

from collections import OrderedDict
from itertools import chain
from typing import Final

import msgspec

from core.host.reading_port import Count, ViewAnswer, ViewRequest
from core.ledger.engine import RECENT_STEPS
from core.ledger.handover import Handover
from core.ledger.steps import Step
from core.views import FindingView, LogRow, ReceiptCall, SessionView

RECEIPTS: Final = 50
"""Receipts kept, the ones fetched last."""
OTHERS: Final = 200
"""Sessions beside the one on screen that are kept for a take-over."""


class Legacy(msgspec.Struct, frozen=True, kw_only=True):
    """What a take-over goes on from.

    Attributes:
        steps: up to the last completed one; None: they were not mirrored.
        log: the host's, oldest first.
    """

    handover: Handover
    steps: tuple[Step, ...] | None = None
    log: tuple[LogRow, ...] = ()


class Mirrored:
    """Answers of one host after the other; those of an earlier one are kept until there are newer ones."""

    def __init__(self) -> None:
        self.counts: dict[str, Count] = {}
        self._view: SessionView | None = None
        self._revision = -1
        self._asked = ""
        self._others: dict[str, tuple[int, Handover]] = {}
        self._mine: Handover | None = None
        self._receipts: OrderedDict[tuple[str, str], tuple[ReceiptCall, ...]] = OrderedDict()

    def begin(self) -> None:
        """Another host, or the same one anew: nothing it says continues what was said before."""
        self._revision, self._asked = -1, ""
        self._others = {root: (-1, handover) for root, (_, handover) in self._others.items()}
        self._receipts.clear()

    def request(self, root: str, wait_ms: int) -> ViewRequest:
        """What to ask for while `root` is on screen."""
        if root != self._asked:
            self._revision, self._asked = -1, root
        if self._revision < 0:
            return ViewRequest(session=root)
        steps = self._view.steps if self._view is not None and self._view.root == root else ()
        last = steps[-1].part if steps else ""
        return ViewRequest(session=root, revision=self._revision, last_step=last, wait_ms=wait_ms)

    def take(self, root: str, answer: ViewAnswer) -> bool:
        """Keep an answer to :meth:`request`; whether anything has changed."""
        changed = answer.revision != self._revision
        self._revision = answer.revision
        if not changed:
            return False
        self.counts = answer.counts
        self._others = {known: kept for known, kept in self._others.items() if known in answer.counts}
        view, handover = answer.view, answer.handover
        if view is not None and handover is not None and view.root == handover.root == root:
            if answer.resumed and self._view is not None and self._view.root == root:
                steps = (*self._view.steps, *view.steps)[-RECENT_STEPS:]
                view = msgspec.structs.replace(view, steps=steps)
            self._set_aside(root)
            self._view, self._mine = view, handover
        return True

    def view(self, own: SessionView, *, answers: bool) -> SessionView:
        """The host's view of that session; only its facts in `own` while the host does not answer."""
        view = self._view
        if view is None or view.root != own.root:
            return own
        if answers:
            return view
        facts = {
            name: getattr(view, name)
            for name in ("topics", "findings", "held", "held_findings", "max_findings", "meters")
        }
        return msgspec.structs.replace(own, **facts)

    def finding(self, root: str, id: str) -> FindingView | None:
        """A finding as the host showed it last, with its calls where they were fetched."""
        if self._view is None or self._view.root != root:
            return None
        shown = chain(self._view.held_findings, *(topic.findings for topic in self._view.topics))
        found = next((finding for finding in shown if finding.id == id), None)
        return msgspec.structs.replace(found, receipt=self._receipts.get((root, id), ())) if found else None

    def has_receipt(self, root: str, id: str) -> bool:
        """Whether the calls of a finding were fetched."""
        return (root, id) in self._receipts

    def add_receipt(self, root: str, id: str, found: FindingView) -> None:
        """Keep the calls of a finding."""
        self._receipts[root, id] = found.receipt
        while len(self._receipts) > RECEIPTS:
            self._receipts.popitem(last=False)

    def outdated(self, on_screen: str) -> list[tuple[str, Count]]:
        """Sessions beside the one on screen whose findings have changed since they were kept."""
        others = [(root, count) for root, count in self.counts.items() if root != on_screen][-OTHERS:]
        return [(root, count) for root, count in others if self._kept_at(root) != count.revision]

    def keep(self, root: str, count: Count, handover: Handover) -> None:
        """Keep what a session that is not on screen would hand over."""
        if handover.root == root:
            self._others[root] = (count.revision, handover)

    def legacy(self) -> list[Legacy]:
        """What is known of every root session."""
        mine = self._mine
        found = [Legacy(handover=kept) for root, (_, kept) in self._others.items() if not mine or root != mine.root]
        if mine is not None and self._view is not None:
            found.append(Legacy(handover=mine, steps=tuple(self._view.steps), log=tuple(self._view.log)))
        return found

    def _set_aside(self, root: str) -> None:
        """Another session comes on screen: what was known of the one before stays known."""
        if self._mine is not None and self._mine.root != root:
            self._others[self._mine.root] = (-1, self._mine)
        self._others.pop(root, None)

    def _kept_at(self, root: str) -> int:
        return self._others[root][0] if root in self._others else -1
