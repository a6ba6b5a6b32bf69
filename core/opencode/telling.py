"""What becomes an observation, and when: the rules that tell each fact of an agent session once.

An end is final: once a call has completed or failed, copies of it in any earlier state are ignored. The end of a step
waits for the calls of its message that are still under way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from core.ledger import observations as seen
from core.ledger.note import carries_note
from core.ledger.observations import Observation
from core.opencode import facts
from core.opencode.facts import identifier
from core.opencode.records import ErrorInfo, MessageHead, Part
from core.opencode.requests import MAX_REQUESTS, Request, observation
from core.opencode.sessions import MAX_MESSAGES, AgentSession, MessageState, Registry, remember

Told = tuple[str, Observation]

ENDED: Final = frozenset({"completed", "error"})
"""States in which a call stays."""

_NOTE_TAIL: Final = 8 * 1024
"""Characters from the end of an output among which a note would stand."""


class Teller:
    """Collects what is told in `out`, as (root id, observation) in order; `t` is the time it is told with."""

    def __init__(self, registry: Registry) -> None:
        self.out: list[Told] = []
        self.t = 0
        self._registry = registry

    def info(self, session: AgentSession) -> None:
        """Title, directory and origin, at first sight and when they change."""
        now = (session.info.title, session.info.directory, session.forked_from)
        if session.told_info != now:
            session.told_info = now
            self._emit(session, session.describe(self.t))

    def state(self, session: AgentSession, state: Literal["busy", "idle"]) -> None:
        """What the session is doing, on change."""
        if session.state != state:
            session.state = state
            self._emit(session, seen.StatusChanged(t=self.t, session=session.id, state=state))

    def failed(self, session: AgentSession, error: ErrorInfo | None) -> None:
        """An error of the session."""
        self._emit(session, seen.SessionFailed(t=self.t, session=session.id, error=facts.error_text(error)))

    def compacted(self, session: AgentSession) -> None:
        """Tell of a compaction if more of them are known, by events or by messages, than were told."""
        if max(session.compactions_by_event, session.compactions_by_message) > session.compactions_told:
            session.compactions_told += 1
            self._emit(session, seen.Compacted(t=self.t, session=session.id, n=session.compactions_told))

    def reverted(self, session: AgentSession) -> None:
        """What is taken back, on change; a revert to a later message gives back what lies between."""
        now = session.info.revert.message if session.info.revert is not None else ""
        before, session.revert = session.revert, now
        if now != before:
            if before and now:
                self._emit(session, seen.Reverted(t=self.t, session=session.id))
            self._emit(session, seen.Reverted(t=self.t, session=session.id, message=identifier(now)))

    def removed(self, session: AgentSession, message: str) -> None:
        """A message is gone for good; with it a revert that began there can no longer be undone."""
        if not message or message in session.removed:
            return
        session.messages.pop(message, None)
        session.held_steps.pop(message, None)
        remember(session.removed, message, None, MAX_MESSAGES)
        if message == session.revert:
            session.revert = ""
        self._emit(session, seen.MessageRemoved(t=self.t, session=session.id, message=identifier(message)))

    def deleted(self, session: AgentSession) -> None:
        """The session no longer exists."""
        self._emit(session, seen.SessionDeleted(t=self.t, session=session.id))

    # Requests

    def asked(self, session: AgentSession, request: Request) -> None:
        """A request on which the session waits."""
        if request.id and request.id not in session.asked:
            remember(session.asked, request.id, True, MAX_REQUESTS)
            self._emit(session, observation(request, session.id, self.t))

    def answered(self, session: AgentSession, id: str, answer: str = "") -> None:
        """A request was answered."""
        if session.asked.get(id):
            session.asked[id] = False
            told = seen.PermissionAnswered(t=self.t, session=session.id, id=identifier(id), answer=answer)
            self._emit(session, told)

    def asked_now(self, session: AgentSession, requests: Sequence[Request]) -> None:
        """These and no other requests of the session wait."""
        listed = {request.id for request in requests}
        for id in [id for id in session.asked if id not in listed]:
            self.answered(session, id)
        for request in requests:
            self.asked(session, request)

    # Messages

    def message(self, session: AgentSession, state: MessageState, info: MessageHead) -> None:
        """The beginning of a message and, when the info says so, its end."""
        self.begun(session, state, info)
        self.completed(session, state, info)

    def begun(self, session: AgentSession, state: MessageState, info: MessageHead) -> None:
        """The beginning of a message."""
        if not state.told:
            if state.role == "assistant":
                self._assistant(session, state, info)
            elif state.has_text:
                self._user(session, state, info.id)

    def completed(self, session: AgentSession, state: MessageState, info: MessageHead) -> None:
        """The end of a message, if it has ended: that of a summary is the end of a compaction."""
        if info.time.completed and not state.completed:
            state.completed = True
            if state.summary and info.error is None:
                self._summarised(session, state)

    def _assistant(self, session: AgentSession, state: MessageState, info: MessageHead) -> None:
        """A new assistant message: nothing of an earlier one can be under way. Of old ones only the last is told."""
        state.told = True
        if session.held_steps:
            for message in [message for message in session.held_steps if message != info.id]:
                self._step_end(session, session.held_steps.pop(message))
        if state.summary or state.copied or (state.backfill and session.is_stale(state)):
            return
        self._emit(
            session,
            seen.AssistantStarted(
                t=self.t,
                session=session.id,
                message=identifier(info.id),
                agent=facts.name(info.agent),
                model=facts.name(info.model_name),
            ),
        )

    def _user(self, session: AgentSession, state: MessageState, message: str) -> None:
        state.told = True
        self._emit(
            session,
            seen.UserMessage(t=self.t, session=session.id, message=identifier(message), backfill=state.backfill),
        )

    def _summarised(self, session: AgentSession, state: MessageState) -> None:
        session.compactions_by_message += 1
        if state.backfill:
            session.compactions_by_event += 1
            session.compactions_told += 1
        else:
            self.compacted(session)

    # Parts

    def part(self, session: AgentSession, part: Part) -> None:
        """A part in whatever state."""
        if part.type == "tool":
            self._tool(session, part)
        elif part.type == "step-finish":
            self._step(session, part)
        elif part.type == "text" and part.text and not (part.synthetic or part.ignored):
            self._text(session, part)

    def _text(self, session: AgentSession, part: Part) -> None:
        """Text of a message: that of a user message makes it one a person wrote."""
        if part.message not in session.removed:
            state = session.message(part.message)
            if not state.told and state.role != "assistant":
                state.has_text = True
                if state.role == "user":
                    self._user(session, state, part.message)

    def _tool(self, session: AgentSession, part: Part) -> None:
        if part.state is None or (part.id in session.started and part.state.status == "running"):
            return
        if not part.id or part.message in session.removed:
            return
        state = session.message(part.message)
        ended = part.state.status in ENDED
        if part.id in state.finished:
            if ended:
                self._echo(session, part)
        elif ended:
            self._tool_end(session, state, part)
        elif not state.backfill:
            session.running[part.id] = part.message
            if part.state.status == "running" and facts.has_input(part):
                session.started.add(part.id)
                self._emit(session, facts.tool_started(part, session.id, self.t))

    def _tool_end(self, session: AgentSession, state: MessageState, part: Part) -> None:
        state.finished.append(part.id)
        session.started.discard(part.id)
        session.running.pop(part.id, None)
        if self._registry.saw_call(session, part.call, copied=state.copied):
            self.info(session)
        backfill = session.is_backfill(state)
        told = facts.tool_finished(part, session.id, self.t, stale=session.is_stale(state), backfill=backfill)
        self._emit(session, told)
        if not backfill:
            self._echo(session, part)
        self.let_step_go(session, part.message)

    def _echo(self, session: AgentSession, part: Part) -> None:
        """A finished call came back with a note: each part's first such copy is told."""
        if part.id not in session.echoed and carries_note(facts.raw_output(part)[-_NOTE_TAIL:]):
            remember(session.echoed, part.id, None, MAX_MESSAGES)
            self._emit(session, seen.NoteEchoed(t=self.t, session=session.id, call=identifier(part.call)))

    def _step(self, session: AgentSession, part: Part) -> None:
        if not part.id or part.message in session.removed:
            return
        state = session.message(part.message)
        if part.id in state.finished or state.summary:
            return
        if part.message in session.running.values():
            session.held_steps[part.message] = part
        else:
            self._step_end(session, part)

    def _step_end(self, session: AgentSession, part: Part) -> None:
        state = session.message(part.message)
        state.finished.append(part.id)
        told = facts.step_finished(part, session.id, self.t, backfill=session.is_backfill(state))
        self._emit(session, told)

    def part_removed(self, session: AgentSession, part: str) -> None:
        """A part was deleted: nobody has to wait for its end."""
        message = session.running.pop(part, None)
        session.started.discard(part)
        if message is not None:
            self.let_step_go(session, message)

    def let_step_go(self, session: AgentSession, message: str) -> None:
        """Tell the end of a step that waited for calls, once none is under way any more."""
        if message in session.held_steps and message not in session.running.values():
            self._step_end(session, session.held_steps.pop(message))

    def end_turn(self, session: AgentSession) -> None:
        """The session is idle: no call is under way, no step waits, no request is open."""
        session.asked = dict.fromkeys(session.asked, False)
        session.running.clear()
        while session.held_steps:
            self._step_end(session, session.held_steps.pop(next(iter(session.held_steps))))

    def _emit(self, session: AgentSession, observation: Observation) -> None:
        self.out.append((session.root, observation))
