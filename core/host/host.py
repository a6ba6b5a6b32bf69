"""The host: one OpenCode server, one project, a ledger for each root session. Wires the parts, decides nothing."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from core.clock import now_ms
from core.delivery.receipts import Outcome
from core.errors import LedgerError
from core.host.alarm import Alarm
from core.host.desk import Desk, changes_dump
from core.host.desks import CHANGES_SESSIONS, Desks
from core.host.options import HostOptions
from core.host.settings_of import engine_settings
from core.host.toasts import Toasts
from core.host.ways import Ways
from core.ledger import observations as seen
from core.ledger.commands import Command, Mute, ResetMeter, TellAgent
from core.ledger.effects import (
    CheckFiles,
    ConnectionReport,
    Deliver,
    Effect,
    Extract,
    Note,
    Report,
    Said,
)
from core.paths import state_dir
from core.settings import Settings
from core.store.database import DATABASE
from core.text import clean_line
from core.views import Answers, LogRow, Reply

if TYPE_CHECKING:
    from core.host.dumping import Dump
    from core.host.filing import Filing
    from core.host.lines import Lines
    from core.host.mirrored import Legacy
    from core.host.sharing import Sharing
    from core.host.storing import Storing
    from core.ledger.engine import Engine


class Host(Ways):
    """Implements :class:`core.views.LedgerHost` for a live server.

    Args:
        options: where to attach.
        settings: see the README's table.
        clock: ms since the epoch.

    Attributes:
        only: the one root session that counts; None: all of the directory.
        fault: why the line to the server ended for good.
    """

    def __init__(self, options: HostOptions, settings: Settings, *, clock: Callable[[], int] = now_ms) -> None:
        super().__init__(Desks(self._make_desk, options.session), options, settings, clock)
        self.fault: BaseException | None = None
        self.only: str | None = None
        self.on_speed: Callable[[float], None] | None = None
        self._engine_settings = engine_settings(settings)
        self._alarm = Alarm(self._desks, clock, self._ring)
        self._line: Lines | None = None
        self._sharing: Sharing | None = None
        self._dump: Dump | None = None
        self._filing: Filing | None = None
        self._storing: Storing | None = None
        self._ended = False
        self._takes_latest = options.latest

    # What a screen asks for (see core.views.LedgerHost; what it reads is in core.host.showing)

    def select(self, root: str | None) -> None:
        """Show this root session; None: follow the busy one again."""
        self._desks.choose(root)
        if root is not None and self._line is not None:
            self._line.load(root)
        self._audience.notify()

    def command(self, command: Command) -> tuple[str, bool]:
        """Carry out a user's command on the selected session."""
        if (desk := self._desks.on_screen) is None:
            return "There is no session yet.", False
        if self.read_only:
            return f"This ledger only watches: the project is hosted by {self._server.host}.", False
        self._begun(desk.engine.root)
        stamped = msgspec.structs.replace(command, t=self.clock(), session=desk.engine.root)
        effects = self._take(desk, stamped)
        said = next(effect for effect in reversed(effects) if isinstance(effect, Said))
        if said.ok and isinstance(command, Mute | ResetMeter | TellAgent):
            desk.add_row(LogRow(t=stamped.t, kind="user", text=said.text))
        return said.text, said.ok

    def remark(self, text: str, kind: str = "plugin") -> None:
        """Write a sentence of the dashboard's own into the log of the session on screen, if there is one."""
        desk = self._desks.on_screen
        if desk is not None:
            desk.add_row(LogRow(t=self.clock(), kind=kind, text=clean_line(text, 500)))
            self._audience.notify()

    def reply_permission(self, id: str, reply: Reply) -> None:
        """Answer a permission request; a failure becomes a warning."""
        if self._line is not None and not self.read_only:
            self._line.reply(id, reply)

    def reply_question(self, id: str, answers: Answers | None) -> None:
        """Answer the questions of a request, all at once; None refuses. A failure becomes a warning."""
        if self._line is not None and not self.read_only:
            self._line.answer(id, answers)

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
        # In a thread: HTTP and SQL are not needed for the first paint, and the loop has to stay free.
        names = ("lines", "dumping", "inflight", "sharing", "mirror", "reading_port", "filing", "storing")
        lines, dumping, inflight, sharing, mirror, port, filing, storing = await asyncio.to_thread(_import, *names)
        folder = self.options.state_dir or state_dir()
        self._storing = storing.Storing(self, folder / DATABASE, resume=self.options.resume)
        await self._storing.open(self.settings.retention_days)
        self._dump = dumping.Dump(self.settings.dump_path, self.warn)
        self._line = lines.Lines(self)
        self._url_of = self._line.url_of
        if self.settings.toasts and not self.options.replay:
            Toasts(self, self._line.toast, self.clock).begin()
        if not self.options.replay:
            self._filing = filing.Filing(self)
            self._filing.start()
            routes = port.ReadingPort(self._desks, self._audience.subscribe).routes
            self._mirror = mirror.Mirror(self, self.options.directory)
            self._flight = inflight.InFlight(self, self.options.directory, self.settings.hook_deadline_ms, routes)
            self.read_reports(self._flight.read)
            self._sharing = sharing.Sharing(self, self.options.directory, self._flight, self._mirror)
            await self._sharing.start()
        await self._line.start()

    async def stop(self) -> None:
        """End cleanly: running extractions are aborted and their sessions deleted, the dump is written."""
        self._ended = True
        self._alarm.cancel()
        if self._line is not None:
            await self._line.stop()
        for desk in self._desks:
            self._perform(desk, desk.close(self.clock()))
        if self._dump is not None:
            await self._dump.close()
        if self._storing is not None:
            await self._storing.close()
        if self._sharing is not None:
            await self._sharing.stop()
        if self._filing is not None:
            await self._filing.stop()
        self.connection("closed", "")

    # What the line to the server tells (see core.opencode.follow.Sink)

    def root(self, info: seen.SessionInfo, updated: int) -> None:
        """A root session of the directory is there, or has another title."""
        if self.only not in (None, info.session):
            return
        desk = self._desks.open(info.session)
        desk.updated = max(desk.updated, updated)
        self._take(desk, info)
        self._sessions_changed()

    def observe(self, root: str, observation: seen.Observation) -> None:
        """Something happened in a root session or one of its sub-agents; with an empty `root`, in the directory."""
        if root and self.only not in (None, root):
            return
        if isinstance(observation, seen.FileChanged) and self._filing and self._filing.edited(observation.path):
            return  # the disk decides
        for desk in [self._begun(root)] if root else self._desks:
            if isinstance(observation, seen.SessionInfo) and observation.session == root:
                self._inherit(desk, observation)
            if self._storing is not None and self.options.session in (None, root):
                self._perform(desk, self._storing.works(desk, observation))
            self._take(desk, observation)
            desk.watch_notes(observation)
            if self._flight is not None:
                self._flight.observe(desk.engine.root, observation)
        if isinstance(observation, CHANGES_SESSIONS):
            self._sessions_changed()
            if isinstance(observation, seen.PermissionAsked):
                self.waits_elsewhere(root, observation)

    def loading(self, root: str, on: bool) -> None:
        """A root session's history is being read, or no longer."""
        desk = self._desks.get(root)
        if desk is not None:
            desk.loading = on
            desk.engine.state.changed("status")
            self._audience.notify()

    def activity(self, root: str, updated: int) -> None:
        """A root session was active at `updated` (ms since the epoch)."""
        desk = self._desks.get(root)
        if desk is not None:
            desk.updated = max(desk.updated, updated)
            self._sessions_changed()

    def connection(self, state: Any, detail: str, attempt: int = 0, retry_at: int = 0) -> None:
        """The way to the server changed."""
        changed = state != self._server.state
        if state == "live" and self._takes_latest and (latest := self._desks.latest) is not None:
            self._takes_latest = False
            self.select(latest.engine.root)
        self.set_server(state=state, detail=detail, attempt=attempt, retry_at=retry_at)
        if state in ("reconnecting", "refused", "closed"):
            for desk in self._desks:
                if desk.delivery is not None:
                    desk.delivery.receipts.blinded()
        if changed and state not in ("searching", "none"):
            self._audience.announce(
                ConnectionReport(t=self.clock(), session="", state=state, detail=detail), self._desks
            )
        if changed and state == "live":
            for desk in self._desks:
                self._take(desk, seen.Reconnected(t=self.clock(), session=desk.engine.root))

    def failed(self, error: BaseException) -> None:
        """The line ended: the session asked for is not there, or by a fault of the ledger itself."""
        self.fault = error
        text = str(error) if isinstance(error, LedgerError) else f"{type(error).__name__}: {error}"
        told_already = self._server.state == "closed"  # by the follower, which did not say why
        self.connection("closed", text)
        if told_already:
            self._audience.announce(
                ConnectionReport(t=self.clock(), session="", state="closed", detail=text), self._desks
            )

    @property
    def engines(self) -> list[Engine]:
        """The ledgers of the project (see core.host.filing.Keeper)."""
        return [desk.engine for desk in self._desks]

    def file_changed(self, told: seen.FileChanged) -> None:
        """A file of the project is not any more what it was."""
        for desk in self._desks:
            self._take(desk, told)

    def tell(self, root: str, told: seen.Observation) -> None:
        """An observation that delivery or extraction made; ignored when the session is gone."""
        desk = self._desks.get(root)
        if desk is not None:
            self._take(desk, told)

    # What the plugin's side asks for (see core.host.keeper.Keeper)

    def root_of(self, session: str) -> str | None:
        """Root session above an agent session; None when it is not followed."""
        root = self._line.root_of(session) if self._line is not None else None
        return root if root is not None and self.only in (None, root) else None

    def judge(self, root: str, told: seen.ToolFinished) -> Note | None:
        """Let the ledger of `root` know of a call, and give the note it decided on; somebody else delivers that."""
        desk = self._begun(root)
        effects = desk.observe(told)
        notes = [effect.note for effect in effects if isinstance(effect, Deliver)]
        self._perform(desk, [effect for effect in effects if not isinstance(effect, Deliver)])
        self._audience.notify()
        return notes[0] if notes else None

    def settled(self, root: str, outcome: Outcome, way: Literal["hook", "patch"]) -> None:
        """The fate of a note is known."""
        note, arrived = outcome.note.id, outcome.arrived
        self.tell(root, seen.NoteOutcome(t=self.clock(), session=root, note=note, delivery=way, arrived=arrived))

    def patch(self, root: str, note: Note) -> None:
        """Send a note by patching its call."""
        desk = self._desks.get(root)
        if desk is not None and desk.delivery is not None and self._line is not None:
            self._line.deliver(desk.delivery, note)

    def log_call(self, root: str, call: str, row: LogRow) -> None:
        """A row for the log of a root session, beside which the command of that call stands."""
        desk = self._desks.get(root)
        if desk is not None:
            desk.log_call(call, row)
            self._audience.notify()

    def tell_readers(self, report: Report) -> None:
        """A report that is no row of the log."""
        self._audience.read(report)

    # What sharing asks for (see core.host.sharing.Sharer)

    def watch_only(self, on: bool) -> None:
        """Another ledger hosts the project (or does so no more): decide on no note, start no extraction."""
        self.read_only = on
        for desk in self._desks:
            desk.engine.only_watch(on)
            if not on:
                self._take(desk, seen.Tick(t=self.clock(), session=desk.engine.root))
        self._dump_all()

    def adopt(self, legacy: Legacy) -> None:
        """Go on from what is known of a root session of the ledger that hosted the project."""
        given = legacy.handover
        if self.only in (None, given.root):
            desk = self._begun(given.root, anyway=True)
            if desk.engine.counted:  # the store has more than the other ledger has shown
                desk.take_log(legacy.log)
            else:
                self._perform(desk, desk.adopt(self.clock(), given, legacy.steps, legacy.log))
            self._sessions_changed()

    # How

    def _take(self, desk: Desk, told: seen.Observation) -> list[Effect]:
        effects = desk.observe(told)
        self._perform(desk, effects)
        self._audience.notify()
        return effects

    def _begun(self, root: str, *, anyway: bool = False) -> Desk:
        """The desk of a root session of which something is told: it goes on from what is stored."""
        desk = self._desks.open(root)
        if self._storing is not None and not self._storing.has_begun(root):
            self._perform(desk, self._storing.begin(desk, anyway=anyway))
            if self._storing.has_begun(root) and len(desk.engine.state.ledger):
                self._findings_changed()
        return desk

    def _perform(self, desk: Desk, effects: Sequence[Effect]) -> None:
        if self._storing is not None:
            self._storing.save(desk, effects)
        if any(map(changes_dump, effects)):
            self._findings_changed()
        for effect in effects:
            if isinstance(effect, Report):
                self._audience.read(effect)
            elif isinstance(effect, CheckFiles):
                self._check_files(desk, effect)
            elif self._line is None:
                continue
            elif isinstance(effect, Deliver) and self._flight is not None:
                self._flight.deliver(desk.engine.root, effect.note)
            elif isinstance(effect, Deliver):
                self.patch(desk.engine.root, effect.note)
            elif isinstance(effect, Extract):
                self._line.extract(effect)
        if not self._ended:
            self._alarm.plan(desk)

    def _check_files(self, desk: Desk, effect: CheckFiles) -> None:
        if self._filing is not None:
            self._filing.check(effect.paths)
            return
        for path in effect.paths:  # a replay has no disk to look at
            self._take(desk, seen.FileChanged(t=effect.t, session="", path=path))

    def _inherit(self, desk: Desk, told: seen.SessionInfo) -> None:
        origin = self._desks.get(told.forked_from)
        if origin is not None:
            effects = desk.engine.inherit(told.t, tuple(origin.engine.state.ledger))
            desk.log_all(effects)
            self._perform(desk, effects)

    def _findings_changed(self) -> None:
        self._dump_all()
        if self._filing is not None:
            self._filing.follow()

    def _dump_all(self) -> None:
        if self._dump is not None and not self.read_only:
            self._dump.changed([desk.engine for desk in self._desks])

    def _ring(self) -> None:
        """A failed extraction is due again."""
        for desk in self._desks:
            if desk.engine.extractions.schedule.due_at:
                self._take(desk, seen.Tick(t=self.clock(), session=desk.engine.root))

    def _make_desk(self, root: str) -> Desk:
        delivery = self._line.delivery_for(root) if self._line is not None else None
        desk = Desk(root, self._engine_settings, delivery)
        desk.engine.only_watch(self.read_only)
        if self._storing is not None:
            self._storing.made(desk)
        return desk


def _import(*names: str) -> tuple[Any, ...]:
    return tuple(importlib.import_module(f"core.host.{name}") for name in names)
