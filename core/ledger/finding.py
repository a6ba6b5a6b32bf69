"""A finding: one confirmed fact, where it came from and what became of it."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.ledger.steps import Call, Step

State = Literal["accepted", "held", "doubtful", "fresh", "superseded"]
"""`accepted` and `fresh` (confirmed after it had become doubtful) findings are shown to the agent; `held` ones wait for
a person; of `doubtful` ones a file has changed since; `superseded` ones gave way to a later value."""

Source = Literal["extraction", "user"]


class ReceiptCall(msgspec.Struct, frozen=True):
    """A call that may support a finding, and the number of its step."""

    step: int
    call: Call


class Evidence(msgspec.Struct, frozen=True):
    """Lines of one call that bear a fact out.

    Attributes:
        part: the step's part (`Step.part`).
        call: the call's id.
        lines: of its output, from 1; 0 is the command itself.
    """

    part: str
    call: str
    lines: tuple[int, ...]


class Receipt(msgspec.Struct, frozen=True):
    """The steps a finding was extracted from; they are shared by all findings of one extraction."""

    steps: tuple[Step, ...] = ()

    def calls(self) -> tuple[ReceiptCall, ...]:
        """Every call of those steps, oldest first."""
        return tuple(ReceiptCall(step.n, call) for step in self.steps for call in step.calls)


class Event(msgspec.Struct, frozen=True):
    """One line of a finding's history: when (ms since the epoch) and what."""

    t: int
    what: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A fact in the ledger.

    Attributes:
        id: unique within its ledger, `f1`, `f2`, …
        seq: order of acceptance within its ledger, from 1; decides who is oldest.
        fact: cleaned text, may hold newlines and tabs.
        topic: colon-separated category, for example `file-format:model.ckpt`.
        established_at: ms since the epoch.
        step: number of the step it was established in; 0 when a person added it.
        origin: agent session of that step.
        call: id of the call it most likely came from; empty when a person added it.
        edited: a person changed its text.
        job: id of the extraction it came from.
        evidence: the output lines that bear it out.
        files: absolute paths of the files it is about.
        held_for: why it waits for a person, while it is held.
        mark: what a reader should know of it, for example that it reads like an order.
        stale_for: the file that changed after it was established, while it is doubtful.
        superseded_by: id of the finding that took its place.
    """

    id: str
    seq: int
    fact: str
    topic: str
    established_at: int
    step: int = 0
    origin: str = ""
    call: str = ""
    source: Source = "extraction"
    state: State = "accepted"
    pinned: bool = False
    edited: bool = False
    job: str = ""
    evidence: tuple[Evidence, ...] = ()
    files: tuple[str, ...] = ()
    held_for: str = ""
    mark: str = ""
    stale_for: str = ""
    superseded_by: str = ""
    receipt: Receipt = Receipt()
    history: tuple[Event, ...] = ()

    @property
    def origin_of_text(self) -> Literal["user", "edited", "extraction"]:
        """Whose words `fact` is made of."""
        if self.source == "user":
            return "user"
        return "edited" if self.edited else "extraction"

    @property
    def shown_to_agent(self) -> bool:
        """True when notes may carry it as it is, a hard stop included."""
        return self.state in ("accepted", "fresh")

    @property
    def read_at(self) -> int:
        """When the agent had read what it says, in ms since the epoch: the end of the latest supporting call."""
        supporting = {one.call for one in self.evidence}
        ended = [entry.call.ended for entry in self.receipt.calls() if entry.call.call in supporting]
        return max(ended, default=0) or self.established_at

    def noted(self, t: int, what: str, **changes: object) -> Finding:
        """A copy with `changes` and one more line of history."""
        return msgspec.structs.replace(self, history=(*self.history[-19:], Event(t, what)), **changes)
