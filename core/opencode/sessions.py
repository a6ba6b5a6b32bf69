"""Which agent sessions there are, whose sub-agents they are, and what of each has been told already."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable
from typing import Final, Literal, TypeVar

from core.ledger.effects import EXTRACTION_TITLE
from core.ledger.observations import SessionInfo
from core.opencode.facts import ID_CHARS, identifier, moment
from core.opencode.records import MessageHead, Part, SessionHead
from core.text import clean_line, mask_line

T = TypeVar("T")

TITLE_CHARS: Final = 200
MAX_MESSAGES: Final = 5_000
"""Messages of a session whose facts are remembered; more than are ever read back over HTTP."""

_MAX_REMEMBERED: Final = 10_000
"""Ids of sessions that do not count, and of calls, are remembered up to this number; the oldest go first."""

_MAX_DEPTH: Final = 64
_FORK: Final = re.compile(r"(?P<base>.*) \(fork #(?P<number>\d{1,9})\)", re.DOTALL)
"""The title of a fork: of a session "T" it is "T (fork #1)", of a session "T (fork #1)" it is "T (fork #2)"."""


class MessageState:
    """What is known of one message, and which of its parts were told."""

    __slots__ = (
        "backfill",
        "completed",
        "copied",
        "created",
        "finished",
        "has_text",
        "place",
        "role",
        "summary",
        "told",
    )

    def __init__(self, place: int) -> None:
        self.role: Literal["", "user", "assistant"] = ""
        self.created = 0
        self.completed = False
        self.place = place
        """Position among the session's messages, in the order in which they became known."""
        self.summary = False
        """The assistant message in which a compaction puts its summary."""
        self.has_text = False
        """A user message with text that a person wrote."""
        self.told = False
        """UserMessage or AssistantStarted was told, or never will be."""
        self.backfill = False
        self.copied = False
        """Older than its session: a fork brought it along."""
        self.finished: list[str] = []
        """Parts of which the end was told: tool calls and the step."""


class AgentSession:
    """One agent session: its place in the tree, and the facts of it that were told."""

    def __init__(self, info: SessionHead, root: str) -> None:
        self.id = info.id
        self.root = root
        self.info = info
        self.created = moment(info.time.created)
        self.forked_from = ""
        self.told_info: tuple[str, str, str] | None = None
        self.state: Literal["busy", "idle", "unknown"] | None = None
        """What was told last; None: nothing yet, which stands for idle."""
        self.revert = ""
        self.oldest = 0
        """Creation time of the oldest message that was read, when older ones were left out; else 0."""
        self.messages: dict[str, MessageState] = {}
        self.removed: dict[str, None] = {}
        self.last_assistant = -1
        """Place of the latest assistant message."""
        self.running: dict[str, str] = {}
        """Message by part, for calls that began and did not end."""
        self.started: set[str] = set()
        """Those of them that were told."""
        self.echoed: dict[str, None] = {}
        self.held_steps: dict[str, Part] = {}
        """Ends of steps, by message, that wait for a call of their message."""
        self.asked: dict[str, bool] = {}
        """Requests that were told, by id; True while they wait for an answer."""
        self.compactions_told = self.compactions_by_event = self.compactions_by_message = 0
        self._places = 0

    def renewed(self) -> AgentSession:
        """The same session, of which nothing was told yet."""
        fresh = AgentSession(self.info, self.root)
        fresh.forked_from, fresh.removed, fresh.state = self.forked_from, self.removed, "unknown"
        return fresh

    def message(self, id: str) -> MessageState:
        """The state of a message, a blank one at first."""
        state = self.messages.get(id)
        if state is None:
            state = MessageState(self._places)
            self._places += 1
            remember(self.messages, id, state, MAX_MESSAGES)
        return state

    def learn(self, state: MessageState, info: MessageHead) -> None:
        """Take over what a message's info says at first sight."""
        state.role = "user" if info.role == "user" else "assistant"
        state.created = moment(info.time.created)
        state.summary = info.is_summary
        state.copied = 0 < state.created < self.created
        state.backfill = state.copied or 0 < state.created < self.oldest
        if state.role == "assistant":
            self.last_assistant = max(self.last_assistant, state.place)

    def is_backfill(self, state: MessageState) -> bool:
        """Whether a message is from before attaching; so are unknown ones where older messages were left out."""
        return state.backfill or (not state.role and self.oldest > 0)

    def is_stale(self, state: MessageState) -> bool:
        """Whether a later assistant message is there already."""
        return state.place < self.last_assistant

    def describe(self, t: int) -> SessionInfo:
        """The session's info as an observation."""
        info = self.info
        return SessionInfo(
            t=t,
            session=self.id,
            parent=identifier(info.parent),
            title=mask_line(info.title, TITLE_CHARS),
            directory=clean_line(info.directory, 4096),
            created=self.created,
            forked_from=self.forked_from,
        )


class Registry:
    """All agent sessions that count, by id, and how they hang together.

    A session counts when it is of one of the directories, is not the ledger's own, and its root is known.
    """

    def __init__(self, directories: Collection[str] | None, own: Container[str]) -> None:
        self.sessions: dict[str, AgentSession] = {}
        self._directories = None if directories is None else frozenset(map(_plain, directories))
        self._own = own
        self._orphans: dict[str, SessionHead] = {}
        """Sessions whose parent is not known yet."""
        self._ignored: dict[str, None] = {}
        self._calls: dict[str, str] = {}
        """Root session by call id, to recognise the origin of a fork."""

    def learn(self, info: SessionHead) -> list[AgentSession]:
        """Take in a session's info; gives the sessions that count from now on: itself, orphans that awaited it."""
        known = self.sessions.get(info.id)
        if known is not None:
            if info.time.updated >= known.info.time.updated:
                known.info = info
            return []
        if info.id in self._ignored or not info.id or len(info.id) > ID_CHARS:
            return []
        if self._is_foreign(info):
            self.ignore(info.id)
            return []
        root = info.id
        if info.parent:
            parent = self.sessions.get(info.parent)
            if parent is None:
                remember(self._orphans, info.id, info)
                return []
            root = parent.root
        self._orphans.pop(info.id, None)
        session = self.sessions[info.id] = AgentSession(info, root)
        if not info.parent:
            session.forked_from = self._origin_by_title(info)
        return [session, *self._adopt(info.id)]

    def learn_all(self, infos: Iterable[SessionHead]) -> list[AgentSession]:
        """Take in many, parents first."""
        return [session for info in sorted(infos, key=lambda i: i.time.created) for session in self.learn(info)]

    def ignore(self, id: str) -> None:
        """This session does not count (foreign, the ledger's own, or gone), nor do those below it."""
        pending = [id]
        while pending:
            current = pending.pop()
            remember(self._ignored, current, None)
            self._orphans.pop(current, None)
            self.sessions.pop(current, None)
            pending += [child for child, info in self._orphans.items() if info.parent == current]

    def is_ignored(self, id: str) -> bool:
        """Whether events of this session are to be dropped."""
        if id in self._ignored:
            return True
        if id in self._own:
            self.ignore(id)
            return True
        return False

    def missing(self, id: str) -> str:
        """The id whose info would help to place session `id`: its own, or that of an ancestor."""
        for _ in range(_MAX_DEPTH):
            orphan = self._orphans.get(id)
            if orphan is None:
                return id
            id = orphan.parent
        return id

    def below(self, root: str) -> list[AgentSession]:
        """The root session and its sub-agents, in the order in which they became known."""
        return [session for session in self.sessions.values() if session.root == root]

    def renew(self, root: str) -> None:
        """Forget what was told of a root session and its sub-agents."""
        for session in self.below(root):
            self.sessions[session.id] = session.renewed()

    def adopt_as_root(self, id: str) -> list[AgentSession]:
        """Whatever is not known of `id`, let it count as a root of its own; gives the sessions that count now."""
        info = self._orphans.pop(id, None) or SessionHead(id=id)
        if id in self.sessions or self.is_ignored(id) or self._is_foreign(info):
            return []
        self.sessions[id] = session = AgentSession(info, id)
        return [session, *self._adopt(id)]

    def saw_call(self, session: AgentSession, call: str, *, copied: bool) -> bool:
        """Note whose call this is; True when a copied one tells which session this one was forked from."""
        root = self._calls.get(call)
        if root is None:
            remember(self._calls, call, session.root)
            return False
        found = copied and root != session.root and session.id == session.root and not session.forked_from
        if found:
            session.forked_from = root
        return found

    def _adopt(self, parent: str) -> list[AgentSession]:
        children = [info for info in self._orphans.values() if info.parent == parent]
        return [session for info in children for session in self.learn(info)]

    def _is_foreign(self, info: SessionHead) -> bool:
        if info.id in self._own or info.title == EXTRACTION_TITLE or (info.parent and self.is_ignored(info.parent)):
            return True
        return (
            self._directories is not None and info.directory != "" and _plain(info.directory) not in self._directories
        )

    def _origin_by_title(self, info: SessionHead) -> str:
        """The only root of the same directory with the title a fork's title is made from; else empty."""
        match = _FORK.fullmatch(info.title)
        if match is None:
            return ""
        number = int(match["number"]) - 1
        title = f"{match['base']} (fork #{number})" if number else match["base"]
        named = [
            other.id
            for other in self.sessions.values()
            if other.id == other.root and other.info.directory == info.directory and other.info.title == title
        ]
        return named[0] if len(named) == 1 else ""


def _plain(directory: str) -> str:
    """A directory without its closing slash."""
    return directory.rstrip("/\\") or directory[:1]


def remember(table: dict[str, T], key: str, value: T, limit: int = _MAX_REMEMBERED) -> None:
    """Put into a table of at most `limit` entries; the oldest makes room."""
    table[key] = value
    if len(table) > limit:
        del table[next(iter(table))]
