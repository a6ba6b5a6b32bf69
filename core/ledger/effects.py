"""What the engine wants done or said.

Reports become JSON lines, log rows and screens; requests are work for the host.
Reports are named after the `type` of their JSON line and carry the same keys.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Literal

import msgspec

from core.ledger.observations import Tokens
from core.ledger.steps import Step

EXTRACTION_TITLE: Final = "ledger-extraction"
"""Title of the sessions that extractions open, the same as the original plugin's: by it they are recognised."""


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """Base of everything the engine returns.

    Attributes:
        t: time of the observation that caused it, in ms since the epoch.
        session: id of the root session.
    """

    t: int
    session: str


class Report(Effect, frozen=True, kw_only=True):
    """Something to tell whoever watches; `type` is its name in the JSON lines."""

    type: ClassVar[str]


class SessionReport(Report, frozen=True, kw_only=True):
    """State of a root session."""

    type: ClassVar[str] = "session"
    title: str
    directory: str
    state: Literal["attached", "busy", "idle", "compacted", "reverted", "error", "deleted"]
    detail: str = ""


class StepTool(msgspec.Struct, frozen=True):
    """A call as a `step` line names it; `status` is `completed` or `error`."""

    call: str
    tool: str
    status: str


class StepReport(Report, frozen=True, kw_only=True):
    """A completed step."""

    type: ClassVar[str] = "step"
    n: int
    origin: str
    tools: tuple[StepTool, ...]
    buffered: int


class TouchReport(Report, frozen=True, kw_only=True):
    """A call that named a file with known facts, and what was decided."""

    type: ClassVar[str] = "touch"
    call: str
    origin: str
    names: tuple[str, ...]
    topics: tuple[str, ...]
    counts: dict[str, int]
    action: Literal["gentle", "quiet", "stop"]
    why: dict[str, str] = {}
    """Why a topic matched that names no file, by topic; see the setting `match`."""


class NoteReport(Report, frozen=True, kw_only=True):
    """A note whose fate is known."""

    type: ClassVar[str] = "note"
    call: str
    kind: Literal["gentle", "stop", "manual"]
    findings: tuple[str, ...]
    text: str
    delivery: Literal["hook", "patch", "none"]
    arrived: Literal["next", "late", "failed", "unknown"]


class ExtractionReport(Report, frozen=True, kw_only=True):
    """A change in the life of an extraction; keys not known yet are None."""

    type: ClassVar[str] = "extraction"
    id: str
    state: Literal["queued", "running", "done", "failed", "skipped"]
    steps: int
    agent: str | None = None
    model: str | None = None
    found: int | None = None
    added: int | None = None
    duplicates: int | None = None
    rejected: int | None = None
    error: str | None = None
    ms: int | None = None
    prompt_chars: int | None = None
    tokens: Tokens | None = None
    cost: float | None = None
    held: int | None = None


class FindingReport(Report, frozen=True, kw_only=True):
    """A change of one finding."""

    type: ClassVar[str] = "finding"
    change: str
    id: str
    fact: str
    topic: str
    step: int
    origin: str
    call: str
    reason: str = ""


class WarningReport(Report, frozen=True, kw_only=True):
    """Something a person should know."""

    type: ClassVar[str] = "warning"
    code: str
    message: str


class ConnectionReport(Report, frozen=True, kw_only=True):
    """State of the way to the server; `session` is empty."""

    type: ClassVar[str] = "connection"
    state: Literal["connecting", "live", "resyncing", "reconnecting", "refused", "closed"]
    detail: str = ""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Text to be appended to the output of one finished call."""

    id: str
    call: str
    part: str
    message: str
    origin: str
    """Agent session the call belongs to."""
    kind: Literal["gentle", "stop", "manual"]
    findings: tuple[str, ...]
    text: str


class Deliver(Effect, frozen=True, kw_only=True):
    """Request: append `note.text` to the call's output, then tell the engine the outcome."""

    note: Note


class Extract(Effect, frozen=True, kw_only=True):
    """Request: distil these steps; answer with ExtractionStarted, then ExtractionAnswered or ExtractionFailed."""

    id: str
    steps: tuple[Step, ...]
    known: tuple[str, ...]
    """Facts already in the ledger, newest last: the prompt asks for others."""


class CheckFiles(Effect, frozen=True, kw_only=True):
    """Request: a call may have changed these files, of which facts are known; answer with FileChanged for those that
    did, and for those of which nobody can tell.
    """

    paths: tuple[str, ...]


class Said(Effect, frozen=True, kw_only=True):
    """Answer to the user's last command, for a toast; not a JSON line."""

    text: str
    ok: bool = True


def fields(report: Report) -> dict[str, Any]:
    """The report's keys in the order of the JSON-lines contract: t, type, session, then its own."""
    own = {name: getattr(report, name) for name in report.__struct_fields__ if name not in ("t", "session")}
    return {"t": report.t, "type": report.type, "session": report.session, **own}
