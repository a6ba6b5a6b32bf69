"""What happened, as the engine is told it: one immutable record per fact of life.

Times (`t`, `started`, `ended`) are milliseconds since the Unix epoch and are passed in, never read from a clock.
`session` is the id of the *agent session* in which it happened (the root session or one of its sub-agents).
All text has been through :mod:`core.text` before it gets here.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """Common part of everything the engine can be told.

    Attributes:
        t: when, in ms since the epoch.
        session: agent session id; the root's own id for matters of the whole session.
    """

    t: int
    session: str


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Token counts as OpenCode reports them with a finished step; all are at least 0."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """All tokens, cached ones included."""
        return self.input + self.output + self.reasoning + self.cache_read + self.cache_write


class ToolStarted(Observation, frozen=True, kw_only=True):
    """A tool call that is now running; told at most once per call."""

    message: str
    part: str
    call: str
    tool: str
    summary: str
    """One line for the screen: the command, the path, the sub-agent's task."""


class ToolFinished(Observation, frozen=True, kw_only=True):
    """A tool call that completed or failed; told exactly once per call."""

    message: str
    part: str
    call: str
    tool: str
    ok: bool
    summary: str
    command: str = ""
    """The whole command of a bash call, else empty."""
    description: str = ""
    path: str = ""
    """The file a read, write or edit names, else empty."""
    asked: str = ""
    """What of the call may name something known that is no file: its command, pattern or address."""
    patched: tuple[str, ...] = ()
    """Files that a patch of the call adds, changes, moves or deletes, as it names them."""
    output: str = ""
    """What the model was given (error text of a failed call), the ledger's own notes removed."""
    exit: int | None = None
    started: int = 0
    ended: int = 0
    via: Literal["event", "hook"] = "event"
    """`hook`: told by the plugin before the output goes on; the same call comes again as an event."""
    stale: bool = False
    """A later assistant message was already there: a note on this call can no longer arrive in time."""
    backfill: bool = False
    """From before the ledger attached: shown, never counted."""


class StepFinished(Observation, frozen=True, kw_only=True):
    """A model step that ended; told exactly once per step, after the finished calls of its message."""

    message: str
    part: str
    reason: str = ""
    tokens: Tokens = Tokens()
    cost: float = 0.0
    """In US dollars, as OpenCode computed it."""
    backfill: bool = False


class UserMessage(Observation, frozen=True, kw_only=True):
    """A message a person wrote (synthetic ones are not told); told once per message."""

    message: str
    backfill: bool = False


class AssistantStarted(Observation, frozen=True, kw_only=True):
    """A new assistant message was created: the next model request is on its way."""

    message: str
    agent: str = ""
    model: str = ""


class NoteEchoed(Observation, frozen=True, kw_only=True):
    """A finished tool part came back carrying a note of this ledger."""

    call: str


class SessionInfo(Observation, frozen=True, kw_only=True):
    """Title or directory of an agent session, at first sight and whenever they change."""

    parent: str = ""
    title: str = ""
    directory: str = ""
    created: int = 0
    forked_from: str = ""
    """Root session whose messages this one was made from, when that is known."""


class StatusChanged(Observation, frozen=True, kw_only=True):
    """A session became busy or idle (`retry` counts as busy)."""

    state: Literal["busy", "idle"]


class SessionFailed(Observation, frozen=True, kw_only=True):
    """OpenCode reported an error of this session."""

    error: str


class Compacted(Observation, frozen=True, kw_only=True):
    """The session's history was replaced by a summary: what was appended before is gone from the model's view."""

    n: int = 0
    """How many-th compaction of the session this is, from 1; 0 when that is not known."""


class Reverted(Observation, frozen=True, kw_only=True):
    """Everything from `message` on was taken back; an empty `message` means that the revert was undone."""

    message: str = ""


class MessageRemoved(Observation, frozen=True, kw_only=True):
    """A message was deleted for good."""

    message: str


class SessionDeleted(Observation, frozen=True, kw_only=True):
    """The session no longer exists."""


class FileChanged(Observation, frozen=True, kw_only=True):
    """OpenCode reported that a file was edited; `session` is empty where it does not say by whom."""

    path: str


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One of the answers a question offers; the label is what the agent is told."""

    label: str
    description: str = ""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One question of a request.

    Attributes:
        header: a few words that name it; may be empty.
        text: the whole question.
        options: with different, non-empty labels.
        multiple: whether several options may be chosen.
        custom: whether words of one's own are an answer too.
    """

    header: str = ""
    text: str = ""
    options: tuple[Option, ...] = ()
    multiple: bool = False
    custom: bool = True


class PermissionAsked(Observation, frozen=True, kw_only=True):
    """The agent asks a person and waits for the answer; told once per request."""

    id: str
    kind: Literal["permission", "question"] = "permission"
    title: str
    """What is asked for, in a word: the name of the permission (`bash`, `edit`, `external_directory`)."""
    text: str = ""
    """What it is about: the whole command, the file, the question; several lines where it has them."""
    patterns: str = ""
    """What the permission covers this time."""
    always: str = ""
    """What the answer "always" would allow from then on."""
    questions: tuple[Question, ...] = ()
    """What a question asks, one by one; `text` holds the same in short."""
    call: str = ""
    """The call that waits for the answer, where that is told."""


class PermissionAnswered(Observation, frozen=True, kw_only=True):
    """A request told before was answered, by whomever."""

    id: str
    answer: str = ""
    """The answer on one line; empty when it is not known."""


class ExtractionStarted(Observation, frozen=True, kw_only=True):
    """The extraction `id` was given to an agent."""

    id: str
    agent: str = ""
    model: str = ""
    prompt_chars: int = 0


class Candidate(msgspec.Struct, frozen=True):
    """One finding as the extraction agent proposed it, cleaned but not yet judged."""

    fact: str
    topic: str
    hidden: bool = False
    """Invisible, bidirectional or control characters stood in it before it was cleaned."""


class ExtractionAnswered(Observation, frozen=True, kw_only=True):
    """The extraction `id` ended with an answer that could be read (possibly with no finding in it)."""

    id: str
    items: tuple[Candidate, ...] = ()
    rejected: int = 0
    """Items of the answer that were no findings."""
    ms: int = 0
    tokens: Tokens | None = None
    cost: float | None = None
    outputs: object = None
    """The index of the job's outputs (:class:`core.ledger.outputs.Outputs`) where it was made beforehand, in a thread;
    it changes nothing but the time that judging takes."""


class ExtractionFailed(Observation, frozen=True, kw_only=True):
    """The extraction `id` brought no readable answer; its steps go back to the buffer."""

    id: str
    error: str
    ms: int = 0
    tokens: Tokens | None = None
    """Of an answer that could not be read; None: there was no answer."""
    cost: float | None = None


class NoteOutcome(Observation, frozen=True, kw_only=True):
    """What became of a note, told once per note."""

    note: str
    delivery: Literal["hook", "patch", "none"]
    arrived: Literal["next", "late", "failed", "unknown"]


class DaySpent(Observation, frozen=True, kw_only=True):
    """What the extractions of all ledgers on this machine have used on the present day, in tokens."""

    tokens: int


class Tick(Observation, frozen=True, kw_only=True):
    """Time passed; lets a delayed retry come due."""


class Reconnected(Observation, frozen=True, kw_only=True):
    """The server can be reached again: what failed without it can be tried at once."""
