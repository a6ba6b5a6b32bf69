"""Whether a fact of a root session was told already, by whichever OpenCode process it came: pure bookkeeping."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from core.ledger import observations as seen

MAX_FACTS: Final = 20_000
"""Facts of a root session that are remembered; the oldest go first. More than are ever read back over HTTP."""

_Key = tuple[str, str, str]


class Once:
    """What was told of one root session and its sub-agents."""

    def __init__(self) -> None:
        self._facts: dict[_Key, None] = {}
        self._states: dict[str, Literal["busy", "idle"]] = {}
        self._reverts: dict[str, str] = {}
        self._infos: dict[str, seen.SessionInfo] = {}

    @property
    def busy(self) -> list[str]:
        """Agent sessions that were busy when they were last told of."""
        return [session for session, state in self._states.items() if state == "busy"]

    def knows(self, told: seen.Observation) -> bool:
        """Whether telling this would say nothing new. Facts without an identity of their own are always new."""
        if isinstance(told, seen.StatusChanged):
            return self._states.get(told.session) == told.state
        if isinstance(told, seen.Reverted):
            return self._reverts.get(told.session, "") == told.message
        if isinstance(told, seen.SessionInfo):
            return self._infos.get(told.session) == msgspec.structs.replace(told, t=0)
        if isinstance(told, seen.ToolStarted) and ("ended", told.session, told.part) in self._facts:
            return True
        key = _key(told)
        return key is not None and key in self._facts

    def note(self, told: seen.Observation) -> None:
        """This is being told."""
        if isinstance(told, seen.StatusChanged):
            self._states[told.session] = told.state
        elif isinstance(told, seen.Reverted):
            self._reverts[told.session] = told.message
        elif isinstance(told, seen.SessionInfo):
            self._infos[told.session] = msgspec.structs.replace(told, t=0)
        elif (key := _key(told)) is not None:
            self._facts[key] = None
            if len(self._facts) > MAX_FACTS:
                del self._facts[next(iter(self._facts))]


def _key(told: seen.Observation) -> _Key | None:
    """What makes it the same fact; None: it has no identity."""
    kind, id = "", ""
    if isinstance(told, seen.ToolStarted):
        kind, id = "started", told.part
    elif isinstance(told, seen.ToolFinished | seen.StepFinished):
        kind, id = "ended", told.part
    elif isinstance(told, seen.UserMessage | seen.AssistantStarted):
        kind, id = "message", told.message
    elif isinstance(told, seen.MessageRemoved):
        kind, id = "removed", told.message
    elif isinstance(told, seen.NoteEchoed):
        kind, id = "echoed", told.call
    elif isinstance(told, seen.PermissionAsked):
        kind, id = "asked", told.id
    elif isinstance(told, seen.PermissionAnswered):
        kind, id = "answered", told.id
    elif isinstance(told, seen.Compacted):
        kind, id = "compacted", str(told.n or "")
    elif isinstance(told, seen.SessionDeleted):
        kind, id = "deleted", told.session
    return (kind, told.session, id) if id else None
