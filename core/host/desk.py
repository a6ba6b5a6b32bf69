"""One root session at the host: its engine, its log, and what the screen last saw of it."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from core.delivery.patch import PatchDelivery
from core.host.logrows import row
from core.host.project import finding_view, session_view
from core.ledger.effects import Effect, FindingReport, Report, SessionReport
from core.ledger.engine import Engine
from core.ledger.handover import Handover, take_over
from core.ledger.observations import (
    AssistantStarted,
    NoteEchoed,
    Observation,
    PermissionAnswered,
    SessionDeleted,
    StatusChanged,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from core.ledger.saved import Saved, restore
from core.ledger.state import EngineSettings
from core.ledger.steps import Step
from core.text import clean_line
from core.views import FindingView, LogRow, Pane, SessionItem, SessionView

LOG_ROWS: Final = 1_000
_SUMMARIES: Final = 2_000
_TAIL_ROWS: Final = 20
_SUMMARY_CHARS: Final = 200


class Desk:
    """Engine, log and deliveries of one root session.

    Args:
        root: its id.
        settings: of the engine.
        delivery: carries its notes; None: notes are carried by nobody (a replay).

    Attributes:
        updated: time of its last activity, ms since the epoch.
        stored: findings that are in the database and not here yet.
    """

    def __init__(self, root: str, settings: EngineSettings, delivery: PatchDelivery | None = None) -> None:
        self.engine = Engine(root, settings)
        self.delivery = delivery
        self.log: deque[LogRow] = deque(maxlen=LOG_ROWS)
        self.loading = False
        self.stored = 0
        self.updated = 0
        self._log_revision = 0
        self._summaries: OrderedDict[str, str] = OrderedDict()

    def observe(self, told: Observation) -> list[Effect]:
        """Let the engine know; keep what the log needs."""
        if isinstance(told, ToolFinished | ToolStarted):
            self._remember(told.call, told.summary)
        elif isinstance(told, UserMessage) and not told.backfill and told.session == self.engine.root:
            self.add_row(LogRow(t=told.t, kind="user", text="new message: all meters at zero"))
        elif isinstance(told, PermissionAnswered) and (asked := self.engine.pending.get(told.id)) is not None:
            detail = _line(f"{told.answer}: {asked.text}" if told.answer else asked.text)
            self.add_row(LogRow(t=told.t, kind="user", text=f"answered: {asked.title}", detail=detail))
        effects = self.engine.observe(told)
        self.log_all(effects)
        return effects

    def adopt(self, t: int, given: Handover, steps: Sequence[Step] | None, log: Sequence[LogRow]) -> list[Effect]:
        """Go on from another ledger of this session, its log (oldest first) included; see :func:`take_over`."""
        effects = take_over(self.engine, t, given, steps)
        self.take_log(log)
        return effects

    def take_log(self, log: Sequence[LogRow]) -> None:
        """Put the log of another ledger of this session (oldest first) before what is new in the own one."""
        if log:
            known = {(row.kind, row.text, row.detail) for row in log[-_TAIL_ROWS:]}  # the clocks differ a little
            later = [row for row in self.log if row.t > log[-1].t and (row.kind, row.text, row.detail) not in known]
            self.log.clear()
            self.log.extend([*log, *later])
            self._log_revision += 1

    def resume(self, t: int, saved: Saved) -> list[Effect]:
        """Go on, at `t`, from what an earlier process has kept of this session; see :func:`restore`."""
        effects = restore(self.engine, t, saved)
        self.log_all(effects)
        if self.engine.counted or len(self.engine.state.ledger):
            text = f"goes on with {len(self.engine.state.ledger)} facts and {self.engine.state.completed} steps"
            self.add_row(LogRow(t=t, kind="session", text=text))
        return effects

    def catch_up(self, told: Observation) -> None:
        """An earlier process has taken this in."""
        if isinstance(told, ToolFinished | ToolStarted):
            self._remember(told.call, told.summary)
        self.engine.catch_up(told)

    def watch_notes(self, told: Observation) -> None:
        """Let the receipts of the notes know what passed on the stream; to be called after :meth:`observe`."""
        if self.delivery is None:
            return
        receipts = self.delivery.receipts
        if isinstance(told, NoteEchoed):
            self.delivery.tell(receipts.echoed(told.session, told.call))
        elif isinstance(told, AssistantStarted):
            self.delivery.tell(receipts.next_turn(told.session))
        elif isinstance(told, StatusChanged) and told.state == "idle":
            self.delivery.tell(receipts.idle(told.session))
        elif isinstance(told, SessionDeleted):
            gone_whole = told.session == self.engine.root
            self.delivery.tell(receipts.close() if gone_whole else receipts.idle(told.session))

    def close(self, t: int) -> list[Effect]:
        """The input ended: whatever is under way has an unknown fate."""
        if self.delivery is not None:
            self.delivery.tell(self.delivery.receipts.close())
        effects = self.engine.close(t)
        self.log_all(effects)
        return effects

    def log_all(self, effects: Iterable[Effect]) -> None:
        """Add the rows of all reports among the effects to the log."""
        for effect in effects:
            if isinstance(effect, Report):
                self.report(effect)

    def report(self, report: Report) -> None:
        """Add a row to the log."""
        entry = row(report, lambda call: self._summaries.get(call, ""))
        if entry is not None:
            self.add_row(entry)

    def add_row(self, entry: LogRow) -> None:
        """Add a row of its own to the log."""
        self.log.append(entry)
        self._log_revision += 1

    def log_call(self, call: str, entry: LogRow) -> None:
        """Add a row of its own about a call, with its command beside it."""
        self.add_row(msgspec.structs.replace(entry, detail=self._summaries.get(call, "")))

    def revision(self, pane: Pane) -> int:
        """Changes whenever what `pane` shows has changed."""
        if pane == "log":
            return self._log_revision
        return self.engine.state.revisions.get(pane, 0)

    def view(self) -> SessionView:
        """For the screen."""
        return session_view(self.engine, self.log, loading=self.loading)

    def item(self) -> SessionItem:
        """For the session picker."""
        engine = self.engine
        oldest = next(iter(engine.pending.values()), None)
        return SessionItem(
            root=engine.root,
            title=engine.title,
            directory=engine.directory,
            state="waiting" if oldest else "error" if engine.error else engine.session_state,
            updated=self.updated,
            findings=len(engine.state.ledger) + self.stored,
            waits_for=oldest.kind if oldest else "",
            steps=max(engine.state.completed, len(engine.recent)),
        )

    def receipt(self, id: str) -> FindingView | None:
        """A finding with its calls."""
        finding = self.engine.state.ledger.get(id)
        return finding_view(finding, self.engine.state.ledger, receipt=True) if finding else None

    def _remember(self, call: str, summary: str) -> None:
        self._summaries[call] = _line(summary)
        if len(self._summaries) > _SUMMARIES:
            self._summaries.popitem(last=False)


def changes_dump(effect: Effect) -> bool:
    """An empty file is not worth what an earlier ledger left there, so a new session alone writes nothing."""
    return isinstance(effect, FindingReport) or (isinstance(effect, SessionReport) and effect.state == "deleted")


def _line(text: str) -> str:
    return clean_line(text, _SUMMARY_CHARS)
