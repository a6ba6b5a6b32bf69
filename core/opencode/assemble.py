"""From the wire to the engine: events and HTTP snapshots in, each fact once and in order out.

The :class:`Assembler` is pure: times are passed in, and the same input gives the same output. What is repeated, late
or seen both ways (as an event and over HTTP) is told once: calls and steps by part id (an end is final), messages by
message id, everything else on change.

An observation comes with the id of the root session whose ledger it belongs to; with an empty id it concerns all of the
directory's ledgers (`FileChanged`, of which OpenCode does not say whose it was).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from core.ledger.observations import FileChanged, SessionInfo
from core.opencode import readback
from core.opencode.facts import PATH_CHARS, moment
from core.opencode.held import HeldEvents
from core.opencode.records import MessageHead, MessageWithParts, Part, SessionHead
from core.opencode.requests import Request, answer
from core.opencode.sessions import AgentSession, Registry, remember
from core.opencode.telling import Teller, Told
from core.opencode.wire import (
    Event,
    MessageGone,
    MessageUpdated,
    PartGone,
    PartUpdated,
    PermissionReplied,
    SessionChanged,
    SessionError,
    SessionOnly,
    SessionStatus,
)
from core.text import clean, clip

__all__ = ["Assembler", "Told", "event_time", "session_of"]

_WEIGHT_OF_PIECE: Final = 16_384
"""Characters of outputs after which a piece ends, the one that passes it included: masking them takes 10 to 20 ms."""
_REMEMBERED_EVENTS: Final = 1_000


class Assembler:
    """Tells each fact once."""

    def __init__(self, directory: str | Collection[str] | None = None, own: Container[str] = ()) -> None:
        """Prepare for the sessions of `directory` (one, or several names of it; None: all directories).

        Those in `own` and their children do not count.
        """
        self._registry = Registry([directory] if isinstance(directory, str) else directory, own)
        self._sessions = self._registry.sessions
        self._teller = Teller(self._registry)
        self._held = HeldEvents(self._registry)
        self._recent: dict[str, None] = {}
        self._handlers: dict[str, Callable[[Event, Any, AgentSession], None]] = {
            "session.status": self._on_status,
            "session.idle": self._on_idle,
            "session.compacted": self._on_compacted,
            "session.error": self._on_error,
            "message.updated": self._on_message,
            "message.removed": self._on_message_removed,
            "message.part.updated": self._on_part,
            "message.part.removed": self._on_part_removed,
            **dict.fromkeys(("permission.asked", "question.asked"), self._on_asked),
            **dict.fromkeys(("permission.replied", "question.replied", "question.rejected"), self._on_answered),
        }

    # What the caller may ask

    @property
    def unresolved(self) -> tuple[str, ...]:
        """Ids of sessions whose info would let events that are held count (or be dropped): look them up."""
        return self._held.missing()

    @property
    def dropped(self) -> int:
        """Events of unknown sessions that found no room while they waited."""
        return self._held.dropped

    def root_of(self, session: str) -> str | None:
        """Id of the root session above an agent session; None when it does not count, or not yet."""
        found = self._sessions.get(session)
        return found.root if found is not None else None

    def is_ignored(self, session: str) -> bool:
        """Whether this session never counts: foreign, the ledger's own, or gone."""
        return self._registry.is_ignored(session)

    def below(self, root: str) -> tuple[str, ...]:
        """Ids of a root session and its sub-agents."""
        return tuple(session.id for session in self._registry.below(root))

    def knows(self, session: str, message: str) -> bool:
        """Whether this message of this session was taken in."""
        found = self._sessions.get(session)
        return found is not None and message in found.messages

    def describe(self, session: str, t: int) -> SessionInfo | None:
        """Info of a session that counts."""
        found = self._sessions.get(session)
        return found.describe(t) if found is not None else None

    # What comes in

    def feed(self, event: Event, t: int) -> list[Told]:
        """Take in one event that arrived at `t`."""
        if event.data is None:
            return []
        self._teller.t = t
        self._take(event)
        return self._told()

    def learn(self, sessions: Iterable[SessionHead], t: int) -> list[Told]:
        """Take in infos, telling nothing of the sessions themselves; gives what was held for them."""
        self._teller.t = t
        for session in self._registry.learn_all(sessions):
            self._release(session.id)
        self._held.drop_ignored()
        return self._told()

    def resolve(self, id: str, session: SessionHead | None, t: int) -> list[Told]:
        """The answer to the lookup of `id`; None: there is no such session, so what is held for it is dropped."""
        if session is None:
            self._registry.ignore(id)
        return self.learn(() if session is None else (session,), t)

    def snapshot(
        self,
        sessions: Iterable[SessionHead],
        messages: Mapping[str, Sequence[MessageWithParts]],
        t: int,
        attached_at: int,
        *,
        busy: Container[str] = (),
        truncated: Container[str] = (),
    ) -> list[Told]:
        """Take in what HTTP says; :meth:`pieces` in one go."""
        pieces = self.pieces(sessions, messages, t, attached_at, busy=busy, truncated=truncated)
        return [told for piece in pieces for told in piece]

    def pieces(
        self,
        sessions: Iterable[SessionHead],
        messages: Mapping[str, Sequence[MessageWithParts]],
        t: int,
        attached_at: int,
        *,
        busy: Container[str] = (),
        truncated: Container[str] = (),
    ) -> Iterator[list[Told]]:
        """Take in what HTTP says at `t`, a small piece at a time.

        Between two pieces events of other sessions may be fed, but none of these.

        Args:
            sessions: infos, as far as they were read.
            messages: by session id, oldest first, for those sessions that are (to be) told about.
            t: now, in ms; facts from before attaching carry their own time, where that is earlier.
            attached_at: when the ledger attached, in ms; what was complete before is backfill.
            busy: ids of the sessions that are at work; all others of `messages` are idle.
            truncated: ids of the sessions of which older messages were left out.
        """
        teller, teller.t = self._teller, t
        fresh = self._registry.learn_all(sessions)
        chosen = [session for session in self._sessions.values() if session.id in messages]
        found: list[readback.Fact] = []
        for session in chosen:
            teller.info(session)
            if session.id in busy:
                teller.state(session, "busy")
            read = messages[session.id]
            self._tell_missing(session, read, whole=session.id not in truncated)
            found += readback.facts_of(session, read, attached_at, at_work=session.id in busy)
            yield self._told()
        weight = 0
        for fact in readback.in_order(found):
            teller.t = min(t, fact.time) if fact.state.backfill and fact.time else t
            fact.tell(teller)
            weight += fact.weight
            if weight > _WEIGHT_OF_PIECE:
                yield self._told()
                weight = 0
        teller.t = t
        for session in chosen:
            teller.reverted(session)
            if session.id not in busy:
                self._end_turn(session, quietly=session.state is None)
        for session in fresh:
            self._release(session.id)
        self._held.drop_ignored()
        yield self._told()

    def pending(self, root: str, requests: Sequence[Request], t: int) -> list[Told]:
        """Take in all requests that wait at `t`: other ones of `root` and its sub-agents were answered."""
        self._teller.t = t
        for session in self._registry.below(root):
            self._teller.asked_now(session, [request for request in requests if request.session == session.id])
        return self._told()

    def gone(self, id: str, t: int) -> list[Told]:
        """A session is no longer there: it was deleted while nobody was looking."""
        self._teller.t = t
        self._delete(id)
        return self._told()

    def renew(self, root: str) -> None:
        """Forget what was told of a root session and its sub-agents: all of it is going to be read and told again."""
        self._registry.renew(root)

    def forget_held(self) -> None:
        """Drop the events that wait for the info of their session: the state will be read back."""
        self._held.clear()

    def finish(self, t: int) -> list[Told]:
        """The input ended: what is still held counts as if it belonged to root sessions of its own."""
        self._teller.t = t
        for id in self._held.missing():
            for session in self._registry.adopt_as_root(id):
                self._release(session.id)
        self._held.clear()
        for session in self._sessions.values():
            self._teller.end_turn(session)
        return self._told()

    # Events

    def _take(self, event: Event) -> None:
        kind = event.type
        handler = self._handlers.get(kind)
        if handler is not None:
            data: Any = event.data
            session = self._sessions.get(data.session or session_of(event))
            if session is None:
                self._held.add(session_of(event), event)
            else:
                if session.told_info is None:
                    self._teller.info(session)
                handler(event, data, session)
        elif isinstance(event.data, SessionChanged):
            self._on_session(event)
        elif kind == "file.edited" and self._is_first(event):
            path = clean(clip(getattr(event.data, "file", ""), PATH_CHARS))
            self._teller.out.append(("", FileChanged(t=self._teller.t, session="", path=path)))

    def _on_session(self, event: Event) -> None:
        id = session_of(event)
        if event.type == "session.deleted":
            self._delete(id)
            return
        info = event.data.info if isinstance(event.data, SessionChanged) else None
        if info is not None:
            fresh = self._registry.learn(info)
            known = self._sessions.get(id)
            for session in fresh if known is None or fresh else (known,):
                self._teller.info(session)
                self._teller.reverted(session)
                self._release(session.id)
            if known is None:
                self._held.drop_ignored()

    def _on_status(self, event: Event, data: SessionStatus, session: AgentSession) -> None:
        if data.status.type == "idle":
            self._end_turn(session)
        elif data.status.type in {"busy", "retry"}:
            self._teller.state(session, "busy")

    def _on_idle(self, event: Event, data: SessionOnly, session: AgentSession) -> None:
        self._end_turn(session)

    def _on_compacted(self, event: Event, data: SessionOnly, session: AgentSession) -> None:
        if self._is_first(event):
            session.compactions_by_event += 1
            self._teller.compacted(session)

    def _on_error(self, event: Event, data: SessionError, session: AgentSession) -> None:
        if self._is_first(event):
            self._teller.failed(session, data.error)

    def _on_message(self, event: Event, data: MessageUpdated, session: AgentSession) -> None:
        info: MessageHead = data.info
        if info.id and info.id not in session.removed:
            state = session.message(info.id)
            if not state.role:
                session.learn(state, info)
            self._teller.message(session, state, info)

    def _on_message_removed(self, event: Event, data: MessageGone, session: AgentSession) -> None:
        self._teller.removed(session, data.message)

    def _on_part(self, event: Event, data: PartUpdated, session: AgentSession) -> None:
        self._teller.part(session, data.part)

    def _on_part_removed(self, event: Event, data: PartGone, session: AgentSession) -> None:
        self._teller.part_removed(session, data.part)

    def _on_asked(self, event: Event, data: Request, session: AgentSession) -> None:
        self._teller.asked(session, data)

    def _on_answered(self, event: Event, data: PermissionReplied, session: AgentSession) -> None:
        self._teller.answered(session, data.request, answer(event.type, data))

    # How

    def _told(self) -> list[Told]:
        out = self._teller.out
        if not out:
            return []
        self._teller.out = []
        return out

    def _end_turn(self, session: AgentSession, *, quietly: bool = False) -> None:
        self._teller.end_turn(session)
        if quietly:
            session.state = "idle"
        self._teller.state(session, "idle")

    def _delete(self, id: str) -> None:
        session = self._sessions.get(id)
        if session is not None:
            self._teller.deleted(session)
            for other in self._registry.below(id):
                self._registry.ignore(other.id)
        if id:
            self._registry.ignore(id)
        self._held.drop_ignored()

    def _tell_missing(self, session: AgentSession, read: Sequence[MessageWithParts], *, whole: bool) -> None:
        """Messages that were there once and are no longer listed have been removed."""
        if not whole and read:
            session.oldest = moment(read[0].info.time.created)
        listed = {message.info.id for message in read}
        for id, state in list(session.messages.items()):
            if id not in listed and (whole or state.created > session.oldest):
                self._teller.removed(session, id)

    def _release(self, id: str) -> None:
        for event in self._held.take(id):
            self._take(event)

    def _is_first(self, event: Event) -> bool:
        """False for the repeat of an event that has no other identity than its id."""
        if event.id in self._recent:
            return False
        if event.id:
            remember(self._recent, event.id, None, _REMEMBERED_EVENTS)
        return True


def session_of(event: Event) -> str:
    """Id of the agent session an event is about; empty when it is about none, or does not say."""
    data: Any = event.data
    if isinstance(data, PartUpdated):
        return data.session or data.part.session
    if isinstance(data, MessageUpdated):
        return data.session or data.info.session
    if isinstance(data, SessionChanged):
        return (data.info.id if data.info is not None else "") or data.session
    return getattr(data, "session", "")


def event_time(event: Event) -> int | None:
    """The latest time an event names, in ms; None when it names none.

    For a part this is the time at which its event was sent, which is at least any time in the part.
    """
    data = event.data
    if isinstance(data, PartUpdated):
        return moment(data.time or _part_time(data.part)) or None
    if isinstance(data, MessageUpdated):
        span = data.info.time
        return moment(span.completed) or moment(span.created) or None
    if isinstance(data, SessionChanged) and data.info is not None:
        return moment(data.info.time.updated) or moment(data.info.time.created) or None
    return None


def _part_time(part: Part) -> float:
    span = part.time if part.state is None else part.state.time
    return span.end or span.start
