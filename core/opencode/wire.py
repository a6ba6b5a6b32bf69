"""What OpenCode sends, as typed records: events, sessions, messages, parts.

Only the fields the ledger uses are decoded; all others are skipped without being built (one `message.updated` may carry
57 MB of diffs). Every field has a default, unknown types pass as events without `data`, a field of the wrong type
costs only itself, and an item that is no JSON is left out. Times are ms since the epoch, 0 where none is given.

Text in here is as it came: hostile until it has been through :mod:`core.text`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, TypeVar, cast

import msgspec

from core.opencode import lenient
from core.opencode.events import (
    DATA,
    WITHOUT_DATA,
    Data,
    Disposed,
    FileEdited,
    MessageGone,
    MessageUpdated,
    PartGone,
    PartUpdated,
    PermissionAsked,
    PermissionReplied,
    QuestionAsked,
    SessionChanged,
    SessionError,
    SessionOnly,
    SessionStatus,
    Status,
)
from core.opencode.records import (
    ErrorInfo,
    Message,
    MessageHead,
    MessageWithParts,
    Part,
    Session,
    SessionHead,
    ToolState,
    Wire,
)
from core.text import clean_line

__all__ = [
    "Data",
    "Disposed",
    "ErrorInfo",
    "Event",
    "EventDecoder",
    "FileEdited",
    "Message",
    "MessageGone",
    "MessageHead",
    "MessageUpdated",
    "MessageWithParts",
    "Part",
    "PartGone",
    "PartUpdated",
    "PermissionAsked",
    "PermissionReplied",
    "QuestionAsked",
    "Session",
    "SessionChanged",
    "SessionError",
    "SessionHead",
    "SessionOnly",
    "SessionStatus",
    "Status",
    "ToolState",
    "decode_event",
    "decode_message",
    "decode_messages",
    "decode_permissions",
    "decode_questions",
    "decode_session",
    "decode_sessions",
]

T = TypeVar("T", bound=msgspec.Struct)

_NOTHING: Final = msgspec.Raw(b"null")
_MAX_UNKNOWN_TYPES: Final = 256


class Event(Wire, frozen=True, kw_only=True):
    """One event; `data` is None for types that carry nothing of interest, known or not.

    `directory` is what the `/global/event` form says, empty in the `/event` form.
    """

    id: str = ""
    type: str = ""
    directory: str = ""
    data: Data | None = None


class _Envelope(Wire, frozen=True, kw_only=True):
    id: str = ""
    type: str = ""
    directory: str = ""
    properties: msgspec.Raw = _NOTHING
    payload: msgspec.Raw = _NOTHING


def _whole(kind: type[Any]) -> msgspec.json.Decoder[Event]:
    """A decoder of complete events whose data are of this kind: one pass over the bytes."""
    data = ("data", kind | None, msgspec.field(name="properties", default=None))
    whole = msgspec.defstruct(f"{kind.__name__}Event", [data], bases=(Event,), frozen=True, kw_only=True, gc=False)
    return msgspec.json.Decoder(cast("type[Event]", whole))


_ENVELOPE: Final = msgspec.json.Decoder(_Envelope)
_DATA_DECODERS: Final = {name: msgspec.json.Decoder(kind) for name, kind in DATA.items()}
_WHOLE_DECODERS: Final = {name.encode(): (name, _whole(kind)) for name, kind in DATA.items()}
_BARE_EVENTS: Final = {name.encode(): Event(type=name) for name in WITHOUT_DATA}
"""Where nothing but the type is of interest, nothing is decoded: most events of a live stream are deltas of text."""
_START: Final = b'{"id":"'
_TYPE: Final = b'"type":"'
_TYPE_WITHIN: Final = 200
"""Bytes from its start within which OpenCode writes the type of an event; elsewhere a slower way finds it."""


class EventDecoder:
    """Turns frames into events and keeps count of what could not be read.

    Attributes:
        unknown: number of events by type, for types this version knows nothing of.
        broken: frames that are no JSON object with a type.
    """

    def __init__(self) -> None:
        self.unknown: Counter[str] = Counter()
        self.broken = 0

    def decode(self, frame: bytes) -> Event | None:
        """The event in `frame`; None for a broken frame and for the `sync` repeats of `/global/event`."""
        if frame.startswith(_START):
            start = frame.find(_TYPE, 0, _TYPE_WITHIN) + len(_TYPE)
            kind = frame[start : frame.find(b'"', start)]
            if kind in _BARE_EVENTS and frame.endswith(b"}}"):
                return _BARE_EVENTS[kind]
            found = _WHOLE_DECODERS.get(kind)
            if found is not None:
                name, decoder = found
                try:
                    event = decoder.decode(frame)
                except (msgspec.DecodeError, RecursionError):
                    return self._decode_slowly(frame)
                if event.type == name:
                    return event
        return self._decode_slowly(frame)

    def _decode_slowly(self, frame: bytes) -> Event | None:
        envelope = _read(_ENVELOPE, _Envelope, frame)
        directory = ""
        if envelope is not None and not envelope.type and envelope.payload is not _NOTHING:
            directory = envelope.directory
            envelope = _read(_ENVELOPE, _Envelope, envelope.payload)
        if envelope is None or not envelope.type:
            self.broken += 1
            return None
        kind = envelope.type
        if kind == "sync":
            return None
        decoder = _DATA_DECODERS.get(kind)
        data: Data | None = None
        if decoder is not None:
            data = _read(decoder, DATA[kind], envelope.properties)
        elif kind not in WITHOUT_DATA:
            self._count_unknown(kind)
        return Event(id=envelope.id, type=kind, directory=directory, data=data)

    def _count_unknown(self, kind: str) -> None:
        if kind not in self.unknown:
            kind = clean_line(kind, 80)
        if kind in self.unknown or len(self.unknown) < _MAX_UNKNOWN_TYPES:
            self.unknown[kind] += 1


def decode_event(frame: bytes) -> Event | None:
    """The event in `frame`, without keeping count; see :meth:`EventDecoder.decode`."""
    return EventDecoder().decode(frame)


def _read(decoder: msgspec.json.Decoder[T], kind: type[T], body: bytes | msgspec.Raw) -> T | None:
    """Strictly and fast; if that fails, leniently; None when it is no JSON object."""
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return lenient.build(kind, lenient.loads(bytes(body)))
    except ValueError:
        return None


_SESSION: Final = msgspec.json.Decoder(Session)
_SESSIONS: Final = msgspec.json.Decoder(list[Session])
_MESSAGE: Final = msgspec.json.Decoder(MessageWithParts)
_MESSAGES: Final = msgspec.json.Decoder(list[MessageWithParts])
_PERMISSION: Final = msgspec.json.Decoder(PermissionAsked)
_PERMISSIONS: Final = msgspec.json.Decoder(list[PermissionAsked])
_QUESTION: Final = msgspec.json.Decoder(QuestionAsked)
_QUESTIONS: Final = msgspec.json.Decoder(list[QuestionAsked])
_ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw])


def decode_session(body: bytes) -> Session | None:
    """A single session; None when the body is no JSON object."""
    return _read(_SESSION, Session, body)


def decode_sessions(body: bytes) -> list[Session]:
    """A list of sessions; items that are no objects are left out.

    Raises:
        ValueError: the body is no JSON array.
    """
    return _read_list(_SESSIONS, _SESSION, Session, body)


def decode_message(body: bytes) -> MessageWithParts | None:
    """A single message with its parts; None when the body is no JSON object."""
    return _read(_MESSAGE, MessageWithParts, body)


def decode_messages(body: bytes) -> list[MessageWithParts]:
    """A list of messages with their parts; items that are no objects are left out.

    Raises:
        ValueError: the body is no JSON array.
    """
    return _read_list(_MESSAGES, _MESSAGE, MessageWithParts, body)


def decode_permissions(body: bytes) -> list[PermissionAsked]:
    """Permission requests that wait; items that are no objects are left out.

    Raises:
        ValueError: the body is no JSON array.
    """
    return _read_list(_PERMISSIONS, _PERMISSION, PermissionAsked, body)


def decode_questions(body: bytes) -> list[QuestionAsked]:
    """Questions that wait; items that are no objects are left out.

    Raises:
        ValueError: the body is no JSON array.
    """
    return _read_list(_QUESTIONS, _QUESTION, QuestionAsked, body)


def _read_list(
    many: msgspec.json.Decoder[list[T]], one: msgspec.json.Decoder[T], kind: type[T], body: bytes
) -> list[T]:
    try:
        return many.decode(body)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        items = _ITEMS.decode(body)
    except msgspec.DecodeError:
        value = lenient.loads(body)
        if not isinstance(value, list):
            raise ValueError("not a JSON array") from None  # noqa: TRY004 - the caller sees one kind of error
        return [made for item in value if (made := lenient.build(kind, item)) is not None]
    return [made for item in items if (made := _read(one, kind, item)) is not None]
