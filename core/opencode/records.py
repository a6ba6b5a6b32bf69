"""Sessions, messages and parts as OpenCode describes them, in events and over HTTP alike.

Only the fields the ledger uses are named; all others are skipped without being built. Every field has a default. Times
are ms since the epoch, 0 where none is given. Text in here is as it came: hostile until it has been through
:mod:`core.text`.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from core.opencode import lenient

Number = int | float

_NOTHING: Final = msgspec.Raw(b"null")


class Wire(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Base: immutable records of strings and numbers, which the garbage collector need not walk."""


class Span(Wire, frozen=True, kw_only=True):
    """Times of a session, message, part or tool call; whichever apply."""

    created: Number = 0
    updated: Number = 0
    completed: Number = 0
    start: Number = 0
    end: Number = 0


class Cache(Wire, frozen=True, kw_only=True):
    """Tokens read from and written to the provider's cache."""

    read: Number = 0
    write: Number = 0


class TokenCounts(Wire, frozen=True, kw_only=True):
    """Tokens of a step, a message or a session."""

    input: Number = 0
    output: Number = 0
    reasoning: Number = 0
    cache: Cache = Cache()


class Revert(Wire, frozen=True, kw_only=True):
    """A revert that is in force: from this message (or this part of it) on, all is taken back."""

    message: str = msgspec.field(name="messageID", default="")
    part: str = msgspec.field(name="partID", default="")


class ModelName(Wire, frozen=True, kw_only=True):
    """A model; sessions call the name `id`, user messages `modelID`."""

    id: str = ""
    name: str = msgspec.field(name="modelID", default="")
    provider: str = msgspec.field(name="providerID", default="")


class SessionHead(Wire, frozen=True, kw_only=True):
    """Of a session what events are looked at for; `parent` is empty for a root."""

    id: str = ""
    parent: str = msgspec.field(name="parentID", default="")
    directory: str = ""
    title: str = ""
    time: Span = Span()
    revert: Revert | None = None


class Session(SessionHead, frozen=True, kw_only=True):
    """A session as `/session` describes it."""

    agent: str = ""
    version: str = ""
    model: ModelName | None = None
    cost: Number = 0
    tokens: TokenCounts = TokenCounts()


class _Diffs(Wire, frozen=True, kw_only=True):
    """The `summary` of a user message: skipped, however large."""


class ErrorData(Wire, frozen=True, kw_only=True):
    """Details of an error."""

    message: str = ""


class ErrorInfo(Wire, frozen=True, kw_only=True):
    """An error of a message or session."""

    name: str = ""
    data: ErrorData = ErrorData()


class MessageHead(Wire, frozen=True, kw_only=True):
    """Of a message what events are looked at for."""

    id: str = ""
    session: str = msgspec.field(name="sessionID", default="")
    role: str = ""
    agent: str = ""
    model_id: str = msgspec.field(name="modelID", default="")
    provider_id: str = msgspec.field(name="providerID", default="")
    model: ModelName | None = None
    time: Span = Span()
    summary: bool | _Diffs | None = None
    error: ErrorInfo | None = None

    @property
    def is_summary(self) -> bool:
        """Whether this is the assistant message in which a compaction puts its summary."""
        return self.summary is True

    @property
    def model_name(self) -> str:
        """`provider/model`, empty when unknown."""
        provider, name = self.provider_id, self.model_id
        if self.model is not None:
            provider, name = self.model.provider or provider, self.model.name or self.model.id or name
        return f"{provider}/{name}" if provider and name else name


class Message(MessageHead, frozen=True, kw_only=True):
    """A message without its parts, as the `message` routes give it."""

    parent: str = msgspec.field(name="parentID", default="")
    finish: str | None = None
    cost: Number = 0
    tokens: TokenCounts = TokenCounts()


class ToolMetadata(Wire, frozen=True, kw_only=True):
    """Of a tool's metadata only what the ledger uses: a shell command's exit code, a sub-agent's session."""

    exit: int | None = None
    session: str = msgspec.field(name="sessionId", default="")


class ToolState(Wire, frozen=True, kw_only=True):
    """State of a tool call: `pending`, `running`, `completed` or `error`.

    `input` stays undecoded until :attr:`Part.arguments` is asked for.
    """

    status: str = ""
    input: msgspec.Raw = _NOTHING
    output: str = ""
    error: str = ""
    title: str = ""
    metadata: ToolMetadata | None = None
    time: Span = Span()


class Part(Wire, frozen=True, kw_only=True):
    """A part of a message; which fields apply depends on `type`."""

    id: str = ""
    session: str = msgspec.field(name="sessionID", default="")
    message: str = msgspec.field(name="messageID", default="")
    type: str = ""
    text: str = ""
    synthetic: bool = False
    ignored: bool = False
    call: str = msgspec.field(name="callID", default="")
    tool: str = ""
    state: ToolState | None = None
    time: Span = Span()
    reason: str = ""
    tokens: TokenCounts = TokenCounts()
    cost: Number = 0

    @property
    def arguments(self) -> dict[str, Any]:
        """The input of a tool call; empty when it is no object."""
        if self.state is None:
            return {}
        try:
            value = lenient.loads(bytes(self.state.input))
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


class MessageWithParts(Wire, frozen=True, kw_only=True):
    """A message as the `message` routes give it."""

    info: Message = Message()
    parts: tuple[Part, ...] = ()
