"""The ledger of one root session: observations in, effects out.

Everything that happens comes in through :meth:`Engine.observe`, from whatever source; everything to be said or done
comes back as a list of effects. There is no clock, no I/O and no randomness in here, so the same observations give the
same effects, byte for byte.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from core.ledger import observations as seen
from core.ledger.commands import Command
from core.ledger.distil import Extractions
from core.ledger.effects import CheckFiles, Effect, SessionReport, StepReport, StepTool, WarningReport
from core.ledger.files import written_by
from core.ledger.finding import Finding
from core.ledger.injection import Injector
from core.ledger.state import EngineSettings, State
from core.ledger.steering import Steering
from core.ledger.steps import OpenSteps, Step
from core.text import clip

RECENT_STEPS: Final = 500
"""Completed steps kept for the screen."""

WARNING_CHARS: Final = 300
MAX_PENDING: Final = 100
"""Requests that wait for an answer, kept for the screen; beyond this number the oldest goes."""

_OF_THE_MOMENT: Final = (
    seen.ToolStarted,
    seen.AssistantStarted,
    seen.SessionInfo,
    seen.StatusChanged,
    seen.SessionFailed,
    seen.PermissionAsked,
    seen.PermissionAnswered,
)
"""Observations of which only the last ones matter to whoever comes later."""

SessionState = Literal["busy", "idle", "error", "deleted"]


class Engine:
    """Ledger, meters, buffer and plans of one root session and its sub-agents.

    Args:
        root: id of the root session.
        settings: see :class:`EngineSettings`.
    """

    def __init__(self, root: str, settings: EngineSettings) -> None:
        self.root = root
        self.settings = settings
        self.state = State(root, settings)
        self.injector = Injector(self.state)
        self.extractions = Extractions(self.state)
        self.steering = Steering(self.state, self.injector, self.extractions)
        self.recent: deque[Step] = deque(maxlen=RECENT_STEPS)
        self.running: dict[str, seen.ToolStarted] = {}
        """Calls under way, by part: some models number their calls from 0 in each session."""
        self.pending: dict[str, seen.PermissionAsked] = {}
        """Requests on which the agent or a sub-agent waits, by id, oldest first."""
        self.sessions: dict[str, seen.SessionInfo] = {}
        self.session_state: SessionState = "idle"
        self.agent = self.model = self.error = ""
        self.tokens = seen.Tokens()
        self.total_tokens, self.cost = 0, 0.0
        self.counted: frozenset[str] = frozenset()
        """Part ids of the steps that an earlier process has counted: told once more, they change nothing."""
        self.has_inherited = False
        self._open = OpenSteps()
        self._idle: set[str] = set()
        """Agent sessions that are known to do nothing."""
        self._handlers: dict[type[seen.Observation], Callable[[Any], list[Effect]]] = {
            seen.ToolStarted: self._tool_started,
            seen.ToolFinished: self._tool_finished,
            seen.StepFinished: self._step_finished,
            seen.UserMessage: self._user_message,
            seen.AssistantStarted: self._assistant_started,
            seen.SessionInfo: self._session_info,
            seen.StatusChanged: self._status,
            seen.SessionFailed: self._session_failed,
            seen.PermissionAsked: self._asked,
            seen.PermissionAnswered: self._answered,
            seen.FileChanged: lambda told: self.state.file_changed(told.t, told.path),
            seen.DaySpent: self._day_spent,
            seen.Compacted: self._compacted,
            seen.Reverted: self._reverted_to,
            seen.MessageRemoved: self._message_removed,
            seen.SessionDeleted: self._session_deleted,
            seen.ExtractionStarted: self.extractions.started,
            seen.ExtractionAnswered: self.extractions.answered,
            seen.ExtractionFailed: self.extractions.failed,
            seen.NoteOutcome: self.injector.outcome,
            seen.Tick: lambda told: self.extractions.due(told.t),
            seen.Reconnected: self._reconnected,
        }

    def observe(self, told: seen.Observation) -> list[Effect]:
        """Take in one observation or command; returns what it leads to, in order."""
        if isinstance(told, Command):
            return self.steering.handle(told)
        handler = self._handlers.get(type(told))
        effects = handler(told) if handler else []
        return effects + self.extractions.due(told.t) if self.extractions.schedule.retry_at else effects

    def inherit(self, t: int, findings: Sequence[Finding]) -> list[Effect]:
        """Start with copies of another ledger's findings: this session was forked from it. Done once."""
        if self.has_inherited or len(self.state.ledger):
            return []
        self.has_inherited = True
        return self.state.apply(t, self.state.ledger.inherit(t, findings))

    def catch_up(self, told: seen.Observation) -> None:
        """Take in what an earlier process has taken in already: only what it left open, and names, matter of it."""
        if isinstance(told, seen.ToolFinished):
            self.running.pop(told.call, None)
            self._open.add(told)
            self.injector.saw(told)
            if told.session in self._idle:
                self._open.forget(told.session)
        elif isinstance(told, seen.StepFinished):
            self._open.close(told, 0)
        elif isinstance(told, _OF_THE_MOMENT):
            self.observe(told)

    def only_watch(self, on: bool) -> None:
        """Count and show, but decide on no note and start no extraction (another process hosts the project)."""
        self.state.watching = on
        self.extractions.schedule.paused = on

    def close(self, t: int) -> list[Effect]:
        """The input ended: report what was still under way."""
        return self.injector.close(t)

    @property
    def title(self) -> str:
        """Title of the root session."""
        info = self.sessions.get(self.root)
        return info.title if info else ""

    @property
    def directory(self) -> str:
        """Directory of the root session."""
        info = self.sessions.get(self.root)
        return info.directory if info else ""

    def _tool_started(self, told: seen.ToolStarted) -> list[Effect]:
        self.running[told.part] = told
        self.state.changed("steps")
        return []

    def _tool_finished(self, told: seen.ToolFinished) -> list[Effect]:
        if told.via == "event":
            self.running.pop(told.part, None)
            self._open.add(told)
            if told.session in self._idle:  # the turn was broken off before
                self._break_off(told.session, told.t)
            self.state.changed("steps")
        effects = self.injector.finished(told)
        if told.via == "event" and not told.backfill and (paths := written_by(told, self.directory)):
            about = self.state.about(paths)
            effects += [CheckFiles(t=told.t, session=self.root, paths=about)] if about else []
            self.state.files_written(told.t, paths)
        return effects

    def _day_spent(self, told: seen.DaySpent) -> list[Effect]:
        self.extractions.budget.day(told.tokens)
        self.state.changed("extractions")
        return self.extractions.due(told.t)

    def _step_finished(self, told: seen.StepFinished) -> list[Effect]:
        if told.part in self.counted:
            self._open.close(told, 0)
            return []
        if not told.backfill:
            self.state.completed += 1
        before = self.extractions.schedule.resume(told.session, told.message)
        step = self._open.close(told, 0 if told.backfill else self.state.completed, before)
        self.recent.append(step)
        self.tokens = told.tokens if told.session == self.root else self.tokens
        self.total_tokens += told.tokens.total
        self.cost += told.cost
        self.state.changed("steps", "status", "extractions")
        effects = self.extractions.step(step, told)
        if told.backfill:
            return effects
        tools = tuple(StepTool(call.call, call.tool, "completed" if call.ok else "error") for call in step.calls)
        report = StepReport(
            t=told.t,
            session=self.root,
            n=step.n,
            origin=told.session,
            tools=tools,
            buffered=self.extractions.schedule.buffered,
        )
        return [report, *effects]

    def _user_message(self, told: seen.UserMessage) -> list[Effect]:
        if not told.backfill:
            self._start_over(None if told.session == self.root else told.session)
        return []

    def _assistant_started(self, told: seen.AssistantStarted) -> list[Effect]:
        self.injector.turn(told.session, told.message)
        if told.session == self.root:
            self.agent, self.model = told.agent or self.agent, told.model or self.model
            self.state.changed("status")
        return []

    def _session_info(self, told: seen.SessionInfo) -> list[Effect]:
        first = told.session not in self.sessions
        self.sessions[told.session] = told
        self.state.directory = self.directory
        self.state.changed("status", "steps")
        return [self._report(told.t, "attached")] if first and told.session == self.root else []

    def _status(self, told: seen.StatusChanged) -> list[Effect]:
        if told.state == "idle":
            self._idle.add(told.session)
            self._break_off(told.session, told.t)
            self._drop_unfinished(told.session)
        else:
            self._idle.discard(told.session)
        if told.session != self.root or self.session_state == told.state:
            return []
        self.session_state = told.state
        self.error = "" if told.state == "busy" else self.error
        self.state.changed("status")
        return [self._report(told.t, told.state)]

    def _session_failed(self, told: seen.SessionFailed) -> list[Effect]:
        if told.session != self.root:
            info = self.sessions.get(told.session)
            text = f"Sub-agent {info.title if info and info.title else told.session}: {told.error}"
            return [WarningReport(t=told.t, session=self.root, code="sub_agent_error", message=text)]
        self.error = told.error
        self.state.changed("status")
        return [self._report(told.t, "error", told.error)]

    def _asked(self, told: seen.PermissionAsked) -> list[Effect]:
        self.pending[told.id] = told
        if len(self.pending) > MAX_PENDING:
            del self.pending[next(iter(self.pending))]
        self.state.changed("status")
        text = f"The agent waits for an answer: {told.title} {' '.join(told.text.split())}".strip()
        return [WarningReport(t=told.t, session=self.root, code="permission_asked", message=clip(text, WARNING_CHARS))]

    def _answered(self, told: seen.PermissionAnswered) -> list[Effect]:
        asked = self.pending.pop(told.id, None)
        if asked is not None and asked.call:
            self._open.waited(asked.call, told.t - asked.t)
        self.state.changed("status")
        return []

    def _compacted(self, told: seen.Compacted) -> list[Effect]:
        self._start_over(told.session if told.session != self.root else None)
        if told.session != self.root:
            return []
        self.extractions.schedule.force()
        return [self._report(told.t, "compacted"), *self.extractions.due(told.t)]

    def _reverted_to(self, told: seen.Reverted) -> list[Effect]:
        self._start_over(None)
        self.state.changed("steps", "extractions")
        if not told.message:
            back = self.extractions.schedule.bring_back()
            return [self._report(told.t, "reverted", f"the revert was undone, {back} steps are back")]
        gone = self.extractions.schedule.take_back(lambda step: step.message >= told.message)
        return [self._report(told.t, "reverted", f"{gone} steps left the buffer")]

    def _message_removed(self, told: seen.MessageRemoved) -> list[Effect]:
        self.extractions.schedule.take_back(lambda step: step.message == told.message)
        self.extractions.schedule.give_up_reverted()
        self.state.changed("steps")
        return []

    def _session_deleted(self, told: seen.SessionDeleted) -> list[Effect]:
        self._drop_unfinished(told.session)
        if told.session != self.root:
            return []
        self.session_state = "deleted"
        for session in {start.session for start in (*self.running.values(), *self.pending.values())}:
            self._drop_unfinished(session)
        self.extractions.schedule.close()
        self.state.changed("status", "extractions")
        return [self._report(told.t, "deleted")]

    def _reconnected(self, told: seen.Reconnected) -> list[Effect]:
        """Extractions fail while the server is away: they are tried again at once, not after their pause."""
        self.extractions.schedule.try_again()
        return self.extractions.due(told.t)

    def _break_off(self, session: str, t: int) -> None:
        """An agent session does nothing any more: what its unfinished steps have put out is kept for an extraction."""
        left = self._open.break_off(session, self.state.completed, t)
        self.extractions.broken_off([step for step in left if step.part not in self.counted])

    def _drop_unfinished(self, session: str) -> None:
        """An agent session is idle or gone: what it left unfinished will not end."""
        self._open.forget(session)
        self.running = {part: start for part, start in self.running.items() if start.session != session}
        self.pending = {id: asked for id, asked in self.pending.items() if asked.session != session}
        self.state.changed("steps", "status")

    def _start_over(self, origin: str | None) -> None:
        self.state.meters.reset(origin)
        self.state.changed("meters")

    def _report(
        self,
        t: int,
        state: Literal["attached", "busy", "idle", "compacted", "reverted", "error", "deleted"],
        detail: str = "",
    ) -> SessionReport:
        return SessionReport(
            t=t, session=self.root, title=self.title, directory=self.directory, state=state, detail=detail
        )
