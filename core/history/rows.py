"""What is read from a source, whatever its layout. Texts are as they were stored unless it says otherwise."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from core.ledger.observations import Tokens

TITLE_CHARS: Final = 500
"""Longest title; longer ones are cut."""


class Schema(StrEnum):
    """Where the rows of a session were found."""

    V1 = "v1"
    """Tables session, message and part."""
    V2 = "v2"
    """Tables session_v2 (or session) and session_message."""
    LEGACY = "legacy"
    """JSON files below storage/."""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Messages of a session.

    Attributes:
        all: every message, also those whose role cannot be read.
        user: those of the user.
        assistant: those of the agent.
    """

    all: int = 0
    user: int = 0
    assistant: int = 0


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One session, for a list.

    Attributes:
        id: OpenCode's id.
        title: one line of at most 500 code points, cleaned, secrets masked; empty when there is none.
        directory: folder of the project, as one cleaned line.
        parent: id of the session that started this one as a sub-agent; empty for a root session.
        schema: where it was found.
        time_created: ms since the epoch.
        time_updated: ms since the epoch: the last change of the session or of one of its messages.
        archived: True when the user has archived it.
        cost: US dollars, as OpenCode computed it.
        model: `provider/model` used last; empty when not known.
        agent: name of the agent used last; empty when not known.
    """

    id: str
    title: str
    directory: str
    parent: str
    schema: Schema
    time_created: int
    time_updated: int
    archived: bool = False
    cost: float = 0.0
    tokens: Tokens = Tokens()
    messages: Counts = Counts()
    model: str = ""
    agent: str = ""


class PartRow(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a message, in the shape that OpenCode 1 stores, whatever the layout it was read from.

    Attributes:
        id: of the part.
        message: id of the message it belongs to.
        session: id of the session that the part itself names.
        owner: id of the session of its message, which is the one that counts.
        role: user, assistant, or empty when the message cannot be read.
        summary: True when the message is the summary that a compaction wrote.
        message_time: ms since the epoch.
        time: of the part, ms since the epoch.
        data: JSON; None when the row cannot be read.
        problem: why `data` is None, in a word or two; empty otherwise.
    """

    id: str
    message: str
    session: str
    owner: str = ""
    role: str = ""
    summary: bool = False
    message_time: int = 0
    time: int = 0
    data: bytes | None = None
    problem: str = ""
