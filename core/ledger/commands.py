"""What a user can ask of one ledger. A command is an observation like any other: pure data, time passed in."""

from __future__ import annotations

from core.ledger.changes import How
from core.ledger.observations import Observation


class Command(Observation, frozen=True, kw_only=True):
    """Base of all user commands; `session` is the root session's id."""


class Pin(Command, frozen=True, kw_only=True):
    """Pin (or, with `on=False`, unpin) findings: pinned ones are never evicted and sort first."""

    ids: tuple[str, ...]
    on: bool = True


class Delete(Command, frozen=True, kw_only=True):
    """Delete findings; an extraction cannot bring their facts back, the user can."""

    ids: tuple[str, ...]


class Edit(Command, frozen=True, kw_only=True):
    """Change the text or the topic of a finding."""

    id: str
    fact: str
    topic: str


class Add(Command, frozen=True, kw_only=True):
    """Add a finding by hand; it may bring back a fact that was deleted.

    `source`: where a person took it from, for its history; empty: their own words.
    """

    fact: str
    topic: str
    source: str = ""


class Accept(Command, frozen=True, kw_only=True):
    """Accept findings that wait for a person."""

    ids: tuple[str, ...]


class Reject(Command, frozen=True, kw_only=True):
    """Reject findings that wait for a person; an extraction cannot bring their facts back."""

    ids: tuple[str, ...]


class Resolve(Command, frozen=True, kw_only=True):
    """Decide over a pair of findings of the inbox."""

    pair: str
    how: How


class Undo(Command, frozen=True, kw_only=True):
    """Take back the last user change; the last ten can be taken back."""


class Mute(Command, frozen=True, kw_only=True):
    """Stop (or, with `on=False`, resume) notes about a topic; touches are still counted and shown."""

    topic: str
    on: bool = True


class ResetMeter(Command, frozen=True, kw_only=True):
    """Set a topic's counters to zero in every agent session."""

    topic: str


class ExtractNow(Command, frozen=True, kw_only=True):
    """Extract the buffered steps now; `earlier` includes the steps from before the ledger attached."""

    earlier: bool = False


class TellAgent(Command, frozen=True, kw_only=True):
    """Put these findings in front of the agent at its next finished call."""

    ids: tuple[str, ...]
