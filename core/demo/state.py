"""What the replayed server would answer: sessions, messages and parts, built from the events sent so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.demo.recording import Event

Info = dict[str, Any]


class State:
    """Sessions by id, their messages by id, the parts of these by id; all as plain data, as OpenCode sends it."""

    def __init__(self) -> None:
        self.sessions: dict[str, Info] = {}
        self.messages: dict[str, dict[str, Info]] = {}
        self.parts: dict[str, dict[str, Info]] = {}
        """Parts by message id."""
        self.statuses: dict[str, Info] = {}

    def apply(self, event: Event) -> None:
        """Take in one event; types that change nothing are ignored."""
        change = _CHANGES.get(event["type"])
        if change is not None:
            change(self, event["properties"])

    def listed(self, *, roots: bool = False) -> list[Info]:
        """All sessions, the last updated first."""
        found = [info for info in self.sessions.values() if not (roots and info.get("parentID"))]
        return sorted(found, key=_updated, reverse=True)

    def children(self, session: str) -> list[Info]:
        """Sessions directly below one."""
        return [info for info in self.listed() if info.get("parentID") == session]

    def page(self, session: str, limit: int | None, before: str) -> tuple[list[Info], str]:
        """The last messages before the cursor, oldest first, and the cursor for those before them (empty: none)."""
        ids = sorted(id for id in self.messages.get(session, {}) if not before or id < before)
        start = max(0, len(ids) - limit) if limit else 0
        return [self.whole(session, id) for id in ids[start:]], ids[start] if start else ""

    def whole(self, session: str, message: str) -> Info:
        """A message with its parts; the message must be there."""
        parts = self.parts.get(message, {})
        return {"info": self.messages[session][message], "parts": [parts[id] for id in sorted(parts)]}

    def part(self, session: str, message: str, part: str) -> Info | None:
        """A part of a message of the session."""
        if message not in self.messages.get(session, {}):
            return None
        return self.parts.get(message, {}).get(part)

    def _session(self, properties: Info) -> None:
        info = properties.get("info")
        if isinstance(info, dict) and isinstance(info.get("id"), str):
            self.sessions[info["id"]] = info

    def _session_deleted(self, properties: Info) -> None:
        info = properties.get("info")
        id = info.get("id") if isinstance(info, dict) else properties.get("sessionID")
        self.sessions.pop(str(id), None)
        self.statuses.pop(str(id), None)
        for message in self.messages.pop(str(id), {}):
            self.parts.pop(message, None)

    def _status(self, properties: Info) -> None:
        session, status = str(properties.get("sessionID")), properties.get("status")
        if isinstance(status, dict) and status.get("type") != "idle":
            self.statuses[session] = status
        else:
            self.statuses.pop(session, None)

    def _idle(self, properties: Info) -> None:
        self.statuses.pop(str(properties.get("sessionID")), None)

    def _message(self, properties: Info) -> None:
        info = properties.get("info")
        if isinstance(info, dict) and isinstance(info.get("id"), str):
            self.messages.setdefault(str(info.get("sessionID")), {})[info["id"]] = info

    def _message_removed(self, properties: Info) -> None:
        message = str(properties.get("messageID"))
        self.messages.get(str(properties.get("sessionID")), {}).pop(message, None)
        self.parts.pop(message, None)

    def _part(self, properties: Info) -> None:
        part = properties.get("part")
        if isinstance(part, dict) and isinstance(part.get("id"), str):
            self.parts.setdefault(str(part.get("messageID")), {})[part["id"]] = part

    def _part_removed(self, properties: Info) -> None:
        self.parts.get(str(properties.get("messageID")), {}).pop(str(properties.get("partID")), None)

    def _delta(self, properties: Info) -> None:
        parts = self.parts.get(str(properties.get("messageID")), {})
        part, field, more = parts.get(str(properties.get("partID"))), properties.get("field"), properties.get("delta")
        if part is not None and isinstance(field, str) and isinstance(more, str):
            parts[part["id"]] = {**part, field: str(part.get(field, "")) + more}


def _updated(info: Info) -> float:
    time = info.get("time")
    told = time.get("updated") if isinstance(time, dict) else 0
    return told if isinstance(told, int | float) else 0


_CHANGES: dict[str, Callable[[State, Info], None]] = {
    "session.created": State._session,
    "session.updated": State._session,
    "session.deleted": State._session_deleted,
    "session.status": State._status,
    "session.idle": State._idle,
    "message.updated": State._message,
    "message.removed": State._message_removed,
    "message.part.updated": State._part,
    "message.part.removed": State._part_removed,
    "message.part.delta": State._delta,
}
