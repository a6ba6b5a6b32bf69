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
from core.host.audience import Audience
from core.host.desk import Desk, changes_dump
from core.host.desks import CHANGES_SESSIONS, Desks
from core.host.estimating import estimate
from core.host.logrows import LATE
from core.host.options import HostOptions
from core.host.settings_of import engine_settings
from core.host.toasts import Toasts
from core.ledger import observations as seen
from core.ledger.commands import Command, Mute, ResetMeter, TellAgent
from core.ledger.effects import (
    ConnectionReport,
    Deliver,
    Effect,
    Extract,
    Note,
    Report,
    Said,
    WarningReport,
)
from core.settings import Settings
from core.views import Estimate, FindingView, LogRow, Pane, Reply, ServerView, SessionItem, SessionView

if TYPE_CHECKING:
    from core.host.dumping import Dump
    from core.host.inflight import InFlight
    from core.host.line import Line
    from core.host.sharing import Sharing


class Host:
    """Implements :class:`core.views.LedgerHost` for a live server.

    Args:
        options: where to attach.
        settings: see the README's table.
        clock: ms since the epoch.

    Attributes:
        only: the one root session that counts; None: all of the directory.
        read_only: another process hosts the project: this one watches until it may take over.
        fault: why the line to the server ended for good.
    """

    def __init__(self, options: HostOptions, settings: Settings, *, clock: Callable[[], int] = now_ms) -> None:
        self.options = options
        self.settings = settings
        self.clock = clock
        self.fault: BaseException | None = None
        self.only: str | None = None
        self.read_only = False
        self.on_speed: Callable[[float], None] | None = None
        self._engine_settings = engine_settings(settings)
        self._desks = Desks(self._make_desk, options.session)
        self._line: Line | None = None
        self._flight: InFlight | None = None
        self._sharing: Sharing | None = None
        self._has_said_late = False
        self._server = ServerView(state="searching", replay=options.replay)
        self._audience = Audience()
        self._revisions = {"sessions": 0, "status": 0}
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
        return [desk.item() for desk in sorted(self._desks, key=lambda desk: -desk.updated)]

    @property
    def selected(self) -> str | None:
        """The root session on screen."""
        return self._desks.selected

    def revision(self, pane: Pane) -> int:
        """Changes whenever what `pane` shows of the selected session has changed."""
        desk = self._desks.on_screen
        own = self._revisions.get(pane, 0) + self._desks.switches * 1_000_003
        return own + (desk.revision(pane) if desk else 0)

    def view(self) -> SessionView | None:
        """The selected session."""
        desk = self._desks.on_screen
        return desk.view() if desk else None

    def receipt(self, finding: str) -> FindingView | None:
        """A finding of the selected session with its whole receipt."""
        desk = self._desks.on_screen
        return desk.receipt(finding) if desk else None

    def estimate(self) -> Estimate:
        """What extracting everything that waits, earlier steps included, would send."""
        desk = self._desks.on_screen
        return estimate(desk.engine, self.settings) if desk else Estimate(steps=0, prompt_chars=0, tokens=0)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after any change; the result unsubscribes it."""
        return self._audience.subscribe(listener)

    def read_reports(self, reader: Callable[[Report], None]) -> None:
        """Call `reader` with every report, in order."""
        self._audience.add_reader(reader)

    def select(self, root: str | None) -> None:
        """Show this root session; None: follow the busy one again."""
        self._desks.choose(root)
        if root is not None and self._line is not None:
            self._line.load(root)
        self._audience.notify()

    def command(self, command: Command) -> tuple[str, bool]:
        """Carry out a user's command on the selected session."""
        desk = self._desks.on_screen
        if desk is None:
            return "There is no session yet.", False
        if self.read_only:
            return f"This ledger only watches. {self._server.delivery_detail}", False
        stamped = msgspec.structs.replace(command, t=self.clock(), session=desk.engine.root)
        effects = self._take(desk, stamped)
        said = next(effect for effect in reversed(effects) if isinstance(effect, Said))
        if said.ok and isinstance(command, Mute | ResetMeter | TellAgent):
            desk.add_row(LogRow(t=stamped.t, kind="user", text=said.text))
        return said.text, said.ok

    def reply_permission(self, id: str, reply: Reply) -> None:
        """Answer a permission request; a failure becomes a warning."""
        if self._line is not None and not self.read_only:
            self._line.reply(id, reply)

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
        line, dumping, inflight, sharing = await asyncio.to_thread(_import, "line", "dumping", "inflight", "sharing")
        self._dump = dumping.Dump(self.settings.dump_path, self.warn)
        self._line = line.Line(self)
        if self.settings.toasts and not self.options.replay:
            Toasts(self, self._line.toast, self.clock).begin()
        if not self.options.replay:
            self._flight = inflight.InFlight(self, self.options.directory, self.settings.hook_deadline_ms)
            self._sharing = sharing.Sharing(self, self.options.directory, self._flight)
            await self._sharing.start()
        await self._line.start()

    async def stop(self) -> None:
        """End cleanly: running extractions are aborted and their sessions deleted, the dump is written."""
        self._ended = True
        if self._tick is not None:
            self._tick.cancel()
        if self._line is not None:
            await self._line.stop()
        for desk in self._desks:
            self._perform(desk, desk.close(self.clock()))
        if self._dump is not None:
            await self._dump.close()
        if self._sharing is not None:
            await self._sharing.stop()
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
        for desk in [self._desks.open(root)] if root else self._desks:
            if isinstance(observation, seen.SessionInfo) and observation.session == root:
                self._inherit(desk, observation)
            self._take(desk, observation)
            desk.watch_notes(observation)
            if self._flight is not None:
                self._flight.observe(desk.engine.root, observation)
        if isinstance(observation, CHANGES_SESSIONS):
            self._sessions_changed()

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
        if self._line is not None and state == "live":
            self._line.connected()
        elif self._line is not None and state == "reconnecting":
            self._line.failing(attempt)
        if changed and state not in ("searching", "none"):
            self._audience.announce(
                ConnectionReport(t=self.clock(), session="", state=state, detail=detail), self._desks
            )

    def warn(self, code: str, message: str, root: str = "") -> None:
        """Something a person should know, of a root session where it concerns one."""
        self._audience.announce(WarningReport(t=self.clock(), session=root, code=code, message=message), self._desks)

    def set_server(self, **changes: Any) -> None:
        """Change what the status line says of the server."""
        self._server = msgspec.structs.replace(self._server, **changes)
        self._revisions["status"] += 1
        self._audience.notify()

    def takes_snapshots(self, on: bool) -> None:
        """What the server's configuration says; without snapshots a patched note comes late."""
        if not self.settings.injection_enabled:
            self.set_server(delivery="off", delivery_detail="notes are switched off (injection_enabled is false)")
        elif not self.read_only and not (self._flight is not None and self._flight.answering):
            from core.installing.present import plugin_is_there  # noqa: PLC0415 - not needed for the first paint

            late = not on and not plugin_is_there(self.options.directory)
            self.set_server(delivery="patch", delivery_detail=LATE if late else "")
            if late and not self._has_said_late:
                self._has_said_late = True
                self.warn("notes_late", LATE)

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

    def tell(self, root: str, told: seen.Observation) -> None:
        """An observation that delivery or extraction made; ignored when the session is gone."""
        desk = self._desks.get(root)
        if desk is not None:
            self._take(desk, told)

    # What the plugin's side asks for (see core.host.inflight.Keeper)

    def root_of(self, session: str) -> str | None:
        """Root session above an agent session; None when it is not followed."""
        root = self._line.root_of(session) if self._line is not None else None
        return root if root is not None and self.only in (None, root) else None

    def judge(self, root: str, told: seen.ToolFinished) -> Note | None:
        """Let the ledger of `root` know of a call, and give the note it decided on; somebody else delivers that."""
        desk = self._desks.open(root)
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

    def in_flight(self, detail: str) -> None:
        """The plugin answers (then with its round trips in `detail`), or does so no more (empty)."""
        if self.settings.injection_enabled and not self.read_only:
            self.set_server(delivery="hook" if detail else "patch", delivery_detail=detail)

    # What sharing asks for (see core.host.sharing.Sharer)

    def watch_only(self, on: bool) -> None:
        """Another ledger hosts the project (or does so no more): decide on no note, start no extraction."""
        self.read_only = on
        for desk in self._desks:
            desk.engine.only_watch(on)
            if not on:
                self._take(desk, seen.Tick(t=self.clock(), session=desk.engine.root))
        self._dump_all()

    # How

    def _take(self, desk: Desk, told: seen.Observation) -> list[Effect]:
        effects = desk.observe(told)
        self._perform(desk, effects)
        self._audience.notify()
        return effects

    def _perform(self, desk: Desk, effects: Sequence[Effect]) -> None:
        if any(map(changes_dump, effects)):
            self._dump_all()
        for effect in effects:
            if isinstance(effect, Report):
                self._audience.read(effect)
            elif self._line is None:
                continue
            elif isinstance(effect, Deliver) and self._flight is not None:
                self._flight.deliver(desk.engine.root, effect.note)
            elif isinstance(effect, Deliver):
                self.patch(desk.engine.root, effect.note)
            elif isinstance(effect, Extract):
                self._line.extract(effect)
        self._plan_tick(desk)

    def _inherit(self, desk: Desk, told: seen.SessionInfo) -> None:
        origin = self._desks.get(told.forked_from)
        if origin is not None:
            effects = desk.engine.inherit(told.t, tuple(origin.engine.state.ledger))
            desk.log_all(effects)
            self._perform(desk, effects)

    def _dump_all(self) -> None:
        if self._dump is not None and not self.read_only:
            self._dump.changed([desk.engine for desk in self._desks])

    def _plan_tick(self, desk: Desk) -> None:
        """Wake up when a failed extraction is due again, and only then."""
        due = desk.engine.extractions.schedule.due_at
        if not due or self._ended:
            return
        if self._tick is not None:
            self._tick.cancel()
        at = min(d.engine.extractions.schedule.due_at or due for d in self._desks)
        delay = max(0, at - self.clock()) / 1000
        self._tick = asyncio.get_running_loop().call_later(delay, self._ring)

    def _ring(self) -> None:
        self._tick = None
        for desk in self._desks:
            if desk.engine.extractions.schedule.due_at:
                self._take(desk, seen.Tick(t=self.clock(), session=desk.engine.root))

    def _make_desk(self, root: str) -> Desk:
        delivery = self._line.delivery_for(root) if self._line is not None else None
        desk = Desk(root, self._engine_settings, delivery)
        desk.engine.only_watch(self.read_only)
        return desk

    def _sessions_changed(self) -> None:
        self._revisions["sessions"] += 1
        self._desks.follow()


def _import(*names: str) -> tuple[Any, ...]:
    return tuple(importlib.import_module(f"core.host.{name}") for name in names)
