"""The host: one OpenCode server, one project, a ledger for each root session. Wires the parts, decides nothing."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from core.clock import now_ms
from core.errors import LedgerError
from core.host.desk import LOG_ROWS, Desk
from core.host.estimating import estimate
from core.host.logrows import row
from core.host.options import HostOptions
from core.host.settings_of import engine_settings
from core.ledger import observations as seen
from core.ledger.commands import Command
from core.ledger.effects import (
    ConnectionReport,
    Deliver,
    Effect,
    Extract,
    FindingReport,
    Report,
    Said,
    SessionReport,
    WarningReport,
)
from core.settings import Settings
from core.views import Estimate, FindingView, LogRow, Pane, ServerView, SessionItem, SessionView

if TYPE_CHECKING:
    from core.host.dumping import Dump
    from core.host.line import Line

_log = logging.getLogger(__name__)

MAX_DESKS: Final = 1_000
"""Root sessions followed at the same time."""


class Host:
    """Implements :class:`core.views.LedgerHost` for a live server.

    Args:
        options: where to attach.
        settings: see the README's table.
        clock: ms since the epoch.

    Attributes:
        only: the one root session that counts; None: all of the directory.
        fault: why the line to the server ended for good.
    """

    read_only = False

    def __init__(self, options: HostOptions, settings: Settings, *, clock: Callable[[], int] = now_ms) -> None:
        self.options = options
        self.settings = settings
        self.clock = clock
        self.fault: BaseException | None = None
        self.only: str | None = None
        self.on_speed: Callable[[float], None] | None = None
        self._engine_settings = engine_settings(settings)
        self._desks: dict[str, Desk] = {}
        self._chosen: str | None = options.session
        self._shown: str | None = None
        self._line: Line | None = None
        self._server = ServerView(state="searching", replay=options.replay)
        self._log: deque[LogRow] = deque(maxlen=LOG_ROWS)
        self._revisions = {"sessions": 0, "status": 0, "log": 0, "selected": 0}
        self._listeners: list[Callable[[], None]] = []
        self._readers: list[Callable[[Report], None]] = []
        self._dump: Dump | None = None
        self._tick: asyncio.TimerHandle | None = None
        self._ended = False
        self._takes_latest = options.latest

    # What a screen asks for (see core.views.LedgerHost)

    @property
    def server(self) -> ServerView:
        """The way to the server, as of now."""
        return self._server

    @property
    def sessions(self) -> Sequence[SessionItem]:
        """Root sessions of the directory, the most recently active first."""
        return [desk.item() for desk in sorted(self._desks.values(), key=lambda desk: -desk.updated)]

    @property
    def selected(self) -> str | None:
        """The root session on screen."""
        return self._chosen or self._shown

    def revision(self, pane: Pane) -> int:
        """Changes whenever what `pane` shows of the selected session has changed."""
        desk = self._desk_shown()
        own = self._revisions.get(pane, 0) + self._revisions["selected"] * 1_000_003
        return own + (desk.revision(pane) if desk else 0)

    def view(self) -> SessionView | None:
        """The selected session."""
        desk = self._desk_shown()
        return desk.view() if desk else None

    @property
    def log(self) -> Sequence[LogRow]:
        """Events of the host itself, for a screen that has no session yet."""
        return self._log

    def receipt(self, finding: str) -> FindingView | None:
        """A finding of the selected session with its whole receipt."""
        desk = self._desk_shown()
        return desk.receipt(finding) if desk else None

    def estimate(self) -> Estimate:
        """What extracting everything that waits, earlier steps included, would send."""
        desk = self._desk_shown()
        return estimate(desk.engine, self.settings) if desk else Estimate(steps=0, prompt_chars=0, tokens=0)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after any change; the result unsubscribes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def read_reports(self, reader: Callable[[Report], None]) -> None:
        """Call `reader` with every report, in order."""
        self._readers.append(reader)

    def select(self, root: str | None) -> None:
        """Show this root session; None: follow the busy one again."""
        self._chosen = root
        self._revisions["selected"] += 1
        if root is None:
            self._follow()
        elif self._line is not None:
            self._line.load(root)
        self._notify()

    def command(self, command: Command) -> tuple[str, bool]:
        """Carry out a user's command on the selected session."""
        desk = self._desk_shown()
        if desk is None:
            return "There is no session yet.", False
        stamped = msgspec.structs.replace(command, t=self.clock(), session=desk.engine.root)
        effects = self._take(desk, stamped)
        said = [effect for effect in effects if isinstance(effect, Said)]
        return (said[-1].text, said[-1].ok) if said else ("Done.", True)

    def set_speed(self, speed: float) -> None:
        """Replay only: play at this multiple of the recorded speed; 0 pauses."""
        if self.on_speed is not None:
            self.on_speed(speed)
            self.set_server(speed=speed)

    def retry(self) -> None:
        """Try to connect at once, also after the server refused."""
        if self._line is not None:
            self._line.retry()

    async def start(self) -> None:
        """Begin; the connection is made in the background."""
        # In a thread: what speaks HTTP and SQL is not needed for the first paint, and the loop has to stay free.
        line, dumping = await asyncio.to_thread(_import, "core.host.line", "core.host.dumping")
        self._dump = dumping.Dump(self.settings.dump_path, self.warn)
        self._line = line.Line(self)
        await self._line.start()

    async def stop(self) -> None:
        """End cleanly: running extractions are aborted and their sessions deleted, the dump is written."""
        self._ended = True
        if self._tick is not None:
            self._tick.cancel()
        if self._line is not None:
            await self._line.stop()
        for desk in self._desks.values():
            self._perform(desk, desk.close(self.clock()))
        if self._dump is not None:
            await self._dump.close()
        self.connection("closed", "")

    # What the line to the server tells (see core.opencode.follow.Sink)

    def root(self, info: seen.SessionInfo, updated: int) -> None:
        """A root session of the directory is there, or has another title."""
        if self.only not in (None, info.session):
            return
        desk = self._desk(info.session)
        desk.updated = max(desk.updated, updated)
        self._take(desk, info)
        self._revisions["sessions"] += 1
        self._follow()

    def observe(self, root: str, observation: seen.Observation) -> None:
        """Something happened in a root session or one of its sub-agents; with an empty `root`, in the directory."""
        if root and self.only not in (None, root):
            return
        for desk in [self._desk(root)] if root else list(self._desks.values()):
            if isinstance(observation, seen.SessionInfo) and observation.session == root:
                self._inherit(desk, observation)
            self._take(desk, observation)
            desk.watch_notes(observation)
        if isinstance(observation, seen.StatusChanged | seen.SessionDeleted):
            self._revisions["sessions"] += 1
            self._follow()

    def loading(self, root: str, on: bool) -> None:
        """A root session's history is being read, or no longer."""
        desk = self._desks.get(root)
        if desk is not None:
            desk.loading = on
            desk.engine.state.changed("status")
            self._notify()

    def activity(self, root: str, updated: int) -> None:
        """A root session was active at `updated` (ms since the epoch)."""
        desk = self._desks.get(root)
        if desk is not None:
            desk.updated = max(desk.updated, updated)
            self._revisions["sessions"] += 1
            self._follow()

    def connection(self, state: Any, detail: str, attempt: int = 0, retry_at: int = 0) -> None:
        """The way to the server changed."""
        changed = state != self._server.state
        if state == "live" and self._takes_latest and self._desks:
            self._takes_latest = False
            self.select(max(self._desks.values(), key=lambda desk: desk.updated).engine.root)
        self.set_server(state=state, detail=detail, attempt=attempt, retry_at=retry_at)
        if state in ("reconnecting", "refused", "closed"):
            for desk in self._desks.values():
                if desk.delivery is not None:
                    desk.delivery.receipts.blinded()
        if self._line is not None and state == "live":
            self._line.connected()
        elif self._line is not None and state == "reconnecting":
            self._line.failing(attempt)
        if changed and state not in ("searching", "none"):
            self._tell(ConnectionReport(t=self.clock(), session="", state=state, detail=detail))

    def warn(self, code: str, message: str, root: str = "") -> None:
        """Something a person should know, of a root session where it concerns one."""
        self._tell(WarningReport(t=self.clock(), session=root, code=code, message=message))

    def set_server(self, **changes: Any) -> None:
        """Change what the status line says of the server."""
        self._server = msgspec.structs.replace(self._server, **changes)
        self._revisions["status"] += 1
        self._notify()

    def failed(self, error: BaseException) -> None:
        """The line ended: the session asked for is not there, or by a fault of the ledger itself."""
        self.fault = error
        text = str(error) if isinstance(error, LedgerError) else f"{type(error).__name__}: {error}"
        told_already = self._server.state == "closed"  # by the follower, which did not say why
        self.connection("closed", text)
        if told_already:
            self._tell(ConnectionReport(t=self.clock(), session="", state="closed", detail=text))

    def tell(self, root: str, told: seen.Observation) -> None:
        """An observation that delivery or extraction made; ignored when the session is gone."""
        desk = self._desks.get(root)
        if desk is not None:
            self._take(desk, told)

    # How

    def _take(self, desk: Desk, told: seen.Observation) -> list[Effect]:
        effects = desk.observe(told)
        self._perform(desk, effects)
        self._notify()
        return effects

    def _perform(self, desk: Desk, effects: Sequence[Effect]) -> None:
        if any(map(_changes_dump, effects)):
            self._dump_all()
        for effect in effects:
            if isinstance(effect, Report):
                self._read(effect)
            elif self._line is None:
                continue
            elif isinstance(effect, Deliver) and desk.delivery is not None:
                self._line.deliver(desk.delivery, effect.note)
            elif isinstance(effect, Extract):
                self._line.extract(effect)
        self._plan_tick(desk)

    def _tell(self, report: Report) -> None:
        """A report of the host itself: it goes to every log."""
        entry = row(report, lambda call: "")
        if entry is not None:
            self._log.append(entry)
            self._revisions["log"] += 1
        for desk in self._desks.values():
            if report.session in ("", desk.engine.root):
                desk.report(report)
        self._read(report)
        self._notify()

    def _read(self, report: Report) -> None:
        for reader in self._readers:
            reader(report)

    def _notify(self) -> None:
        for listener in list(self._listeners):
            try:
                listener()
            except Exception:
                _log.exception("a listener failed")

    def _inherit(self, desk: Desk, told: seen.SessionInfo) -> None:
        origin = self._desks.get(told.forked_from)
        if origin is not None:
            effects = desk.engine.inherit(told.t, tuple(origin.engine.state.ledger))
            desk.log_all(effects)
            self._perform(desk, effects)

    def _dump_all(self) -> None:
        if self._dump is not None:
            self._dump.changed([desk.engine for desk in self._desks.values()])

    def _plan_tick(self, desk: Desk) -> None:
        """Wake up when a failed extraction is due again, and only then."""
        due = desk.engine.extractions.schedule.due_at
        if not due or self._ended:
            return
        if self._tick is not None:
            self._tick.cancel()
        at = min(d.engine.extractions.schedule.due_at or due for d in self._desks.values())
        delay = max(0, at - self.clock()) / 1000
        self._tick = asyncio.get_running_loop().call_later(delay, self._ring)

    def _ring(self) -> None:
        self._tick = None
        for desk in list(self._desks.values()):
            if desk.engine.extractions.schedule.due_at:
                self._take(desk, seen.Tick(t=self.clock(), session=desk.engine.root))

    def _desk(self, root: str) -> Desk:
        desk = self._desks.get(root)
        if desk is None:
            delivery = self._line.delivery_for(root) if self._line is not None else None
            desk = self._desks[root] = Desk(root, self._engine_settings, delivery)
            self._trim()
        return desk

    def _desk_shown(self) -> Desk | None:
        return self._desks.get(self.selected or "")

    def _follow(self) -> None:
        """Show the busy session, else the one active last; a busy one stays while it is busy."""
        shown = self._desks.get(self._shown or "")
        if shown is not None and shown.engine.session_state == "busy":
            return
        best = max(
            (desk for desk in self._desks.values() if desk.engine.session_state != "deleted"),
            key=lambda desk: (desk.engine.session_state == "busy", desk.updated),
            default=None,
        )
        if best is not None and best is not shown:
            self._shown = best.engine.root
            self._revisions["selected"] += 1

    def _trim(self) -> None:
        """Forget the session that was idle longest when there are too many."""
        if len(self._desks) > MAX_DESKS:
            idle = [
                d for d in self._desks.values() if d.engine.session_state != "busy" and d.engine.root != self.selected
            ]
            if idle:
                del self._desks[min(idle, key=lambda desk: desk.updated).engine.root]


def _changes_dump(effect: Effect) -> bool:
    if isinstance(effect, SessionReport):
        return effect.state in ("deleted", "attached")
    return isinstance(effect, FindingReport)


def _import(*names: str) -> tuple[Any, ...]:
    return tuple(importlib.import_module(name) for name in names)
