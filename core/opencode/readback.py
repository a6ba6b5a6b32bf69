"""What a session's messages, read back over HTTP, say happened, and in which order.

Several sessions of one tree are merged by time, so that facts come in the order in which the event stream would have
brought them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from core.opencode import facts
from core.opencode.facts import moment
from core.opencode.records import MessageHead, MessageWithParts, Part
from core.opencode.sessions import AgentSession, MessageState
from core.opencode.telling import ENDED, Teller

_BEGIN: Final = 0
_PART: Final = 1
_STEP: Final = 2
_END: Final = 3
_OVERHEAD: Final = 500


class Fact(msgspec.Struct, frozen=True, gc=False):
    """Something to be told: a message's beginning or end, or the latest state of one of its parts.

    Attributes:
        time: when, in ms; the order of all facts.
        order: decides between facts of the same time: session, place of the message, kind, place of the part.
    """

    time: int
    order: tuple[str, int, int, int]
    session: AgentSession
    state: MessageState
    what: MessageHead | Part

    @property
    def weight(self) -> int:
        """Roughly the characters that telling it has to go through."""
        return _OVERHEAD + (facts.weight(self.what) if isinstance(self.what, Part) else 0)

    def tell(self, teller: Teller) -> None:
        """Tell it, unless it was told before."""
        if isinstance(self.what, Part):
            teller.part(self.session, self.what)
        elif self.order[2] == _BEGIN:
            teller.begun(self.session, self.state, self.what)
        else:
            teller.completed(self.session, self.state, self.what)


def facts_of(
    session: AgentSession, messages: Sequence[MessageWithParts], attached_at: int, *, at_work: bool
) -> list[Fact]:
    """Take in the infos of these messages (oldest first), and give what they and their parts say."""
    known: list[tuple[MessageState, MessageWithParts]] = []
    last = messages[-1].info.id if messages else ""
    for message in messages:
        info = message.info
        if info.id and info.id not in session.removed:
            state = session.message(info.id)
            if not state.role:
                session.learn(state, info)
                state.backfill = state.backfill or _is_old(info, attached_at, under_way=at_work and info.id == last)
            known.append((state, message))
    found: list[Fact] = []
    floor = 0
    for state, message in known:
        begin = max(state.created, floor if state.role == "assistant" else 0)
        under_way = at_work and message.info.id == last
        for time, order, what in _spread(message, begin, under_way=under_way):
            floor = max(floor, time) if state.role == "assistant" else floor
            found.append(Fact(time, (session.id, state.place, *order), session, state, what))
    return found


def in_order(found: Iterable[Fact]) -> list[Fact]:
    """All facts by time; those of one session and time as its messages have them."""
    return sorted(found, key=lambda fact: (fact.time, fact.order))


def _is_old(info: MessageHead, attached_at: int, *, under_way: bool) -> bool:
    """Whether a message was complete before attaching; one that never will be complete is judged by its beginning."""
    completed = moment(info.time.completed)
    if info.role == "user" or (not completed and not under_way):
        return moment(info.time.created) < attached_at
    return 0 < completed < attached_at


def _spread(
    message: MessageWithParts, begin: int, *, under_way: bool
) -> Iterator[tuple[int, tuple[int, int], MessageHead | Part]]:
    """(time, order within the message, what) for a message and its parts.

    Calls that have not ended are told only where the message is under way: a server that was killed leaves them
    `running` for ever.
    """
    info = message.info
    completed = max(begin, moment(info.time.completed))
    yield begin, (_BEGIN, 0), info
    latest = begin
    for index, part in enumerate(message.parts):
        if part.type == "text" and info.role == "user":
            yield begin, (_PART, index), part
        elif part.type == "tool" and part.state is not None and (under_way or part.state.status in ENDED):
            ended = moment(part.state.time.end) or (completed if moment(info.time.completed) else 0)
            time = max(begin, ended or moment(part.state.time.start))
            latest = max(latest, time)
            yield time, (_PART, index), part
    for index, part in enumerate(message.parts):
        if part.type == "step-finish":
            yield max(latest, completed), (_STEP, index), part
    if info.time.completed:
        yield max(latest, completed), (_END, 0), info
