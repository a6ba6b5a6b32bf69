"""What the events of interest carry, by the type of the event."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from core.opencode.records import ErrorInfo, MessageHead, Number, Part, SessionHead, Wire


class SessionChanged(Wire, frozen=True, kw_only=True):
    """`session.created`, `session.updated`, `session.deleted`."""

    session: str = msgspec.field(name="sessionID", default="")
    info: SessionHead | None = None


class Status(Wire, frozen=True, kw_only=True):
    """What a session is doing: `busy`, `retry` or `idle`."""

    type: str = ""
    attempt: Number = 0
    message: str = ""


class SessionStatus(Wire, frozen=True, kw_only=True):
    """`session.status`."""

    session: str = msgspec.field(name="sessionID", default="")
    status: Status = Status()


class SessionOnly(Wire, frozen=True, kw_only=True):
    """`session.idle`, `session.compacted`."""

    session: str = msgspec.field(name="sessionID", default="")


class SessionError(Wire, frozen=True, kw_only=True):
    """`session.error`; `session` may be empty."""

    session: str = msgspec.field(name="sessionID", default="")
    error: ErrorInfo | None = None


class MessageUpdated(Wire, frozen=True, kw_only=True):
    """`message.updated`."""

    session: str = msgspec.field(name="sessionID", default="")
    info: MessageHead = MessageHead()


class MessageGone(Wire, frozen=True, kw_only=True):
    """`message.removed`."""

    session: str = msgspec.field(name="sessionID", default="")
    message: str = msgspec.field(name="messageID", default="")


class PartUpdated(Wire, frozen=True, kw_only=True):
    """`message.part.updated`."""

    session: str = msgspec.field(name="sessionID", default="")
    part: Part = Part()
    time: Number = 0


class PartGone(Wire, frozen=True, kw_only=True):
    """`message.part.removed`."""

    session: str = msgspec.field(name="sessionID", default="")
    message: str = msgspec.field(name="messageID", default="")
    part: str = msgspec.field(name="partID", default="")


class PermissionTool(Wire, frozen=True, kw_only=True):
    """The call a permission is asked for."""

    message: str = msgspec.field(name="messageID", default="")
    call: str = msgspec.field(name="callID", default="")


class PermissionData(Wire, frozen=True, kw_only=True):
    """What a tool says of the permission it needs; whichever apply."""

    command: str = ""
    filepath: str = ""
    url: str = ""


class PermissionAsked(Wire, frozen=True, kw_only=True):
    """`permission.asked`, and an item of `GET /permission`: the session waits until somebody replies."""

    id: str = ""
    session: str = msgspec.field(name="sessionID", default="")
    permission: str = ""
    patterns: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    metadata: PermissionData | None = None
    tool: PermissionTool | None = None


class QuestionOption(Wire, frozen=True, kw_only=True):
    """An answer that a question offers."""

    label: str = ""
    description: str = ""


class Question(Wire, frozen=True, kw_only=True):
    """One question of several; words of one's own are an answer unless `custom` says otherwise."""

    header: str = ""
    question: str = ""
    options: tuple[QuestionOption, ...] = ()
    multiple: bool = False
    custom: bool = True


class QuestionAsked(Wire, frozen=True, kw_only=True):
    """`question.asked`, and an item of `GET /question`: the session waits until somebody answers or refuses."""

    id: str = ""
    session: str = msgspec.field(name="sessionID", default="")
    questions: tuple[Question, ...] = ()
    tool: PermissionTool | None = None


class PermissionReplied(Wire, frozen=True, kw_only=True):
    """`permission.replied`, `question.replied`, `question.rejected`: the last with neither reply nor answers."""

    session: str = msgspec.field(name="sessionID", default="")
    request: str = msgspec.field(name="requestID", default="")
    reply: str = ""
    answers: tuple[tuple[str, ...], ...] = ()
    """Labels or words, by question."""


class FileEdited(Wire, frozen=True, kw_only=True):
    """`file.edited`."""

    file: str = ""


class Disposed(Wire, frozen=True, kw_only=True):
    """`server.instance.disposed`: the server has dropped the state of one directory."""

    directory: str = ""


Data = (
    SessionChanged
    | SessionStatus
    | SessionOnly
    | SessionError
    | MessageUpdated
    | MessageGone
    | PartUpdated
    | PartGone
    | PermissionAsked
    | PermissionReplied
    | QuestionAsked
    | FileEdited
    | Disposed
)

DATA: Final[dict[str, type[Any]]] = {
    "session.created": SessionChanged,
    "session.updated": SessionChanged,
    "session.deleted": SessionChanged,
    "session.status": SessionStatus,
    "session.idle": SessionOnly,
    "session.compacted": SessionOnly,
    "session.error": SessionError,
    "message.updated": MessageUpdated,
    "message.removed": MessageGone,
    "message.part.updated": PartUpdated,
    "message.part.removed": PartGone,
    "permission.asked": PermissionAsked,
    "permission.replied": PermissionReplied,
    "question.asked": QuestionAsked,
    "question.replied": PermissionReplied,
    "question.rejected": PermissionReplied,
    "file.edited": FileEdited,
    "server.instance.disposed": Disposed,
}
"""Types of events that are decoded; all others pass without data."""

WITHOUT_DATA: Final = frozenset({"server.connected", "server.heartbeat", "message.part.delta"})
"""Known types whose data are of no interest."""
