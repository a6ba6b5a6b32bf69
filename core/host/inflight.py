"""Notes in flight: what the plugin inside OpenCode tells and asks, and which way each note goes.

A call is judged once, whichever comes first: the plugin's question or the event. Where the plugin asks (see
:mod:`core.host.asking`), a note decided by the event waits a moment for its question; where none comes it is patched,
and the session counts as one without the plugin until it is asked about again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from core.delivery.figures import Figures
from core.delivery.hook import HookDelivery
from core.errors import FileError
from core.host.asking import Asking
from core.host.hooks import Ack, After, Answer, Hello, HookServer, Route
from core.host.keeper import Keeper
from core.host.logrows import missed_row
from core.host.misses import Misses
from core.installing.texts import program_version
from core.ledger import observations as seen
from core.ledger.effects import Note, Report, WarningReport
from core.opencode import facts
from core.opencode.records import Part, Span, ToolMetadata, ToolState

CLAIM_SECONDS: Final = 0.06
"""How long a note decided by an event waits for the plugin's question; both leave OpenCode at about the same time."""
CONFIRM_SECONDS: Final = 1.0
"""Beyond the deadline: a plugin that has not confirmed by then counts as having missed the call."""


class InFlight:
    """All that has to do with the plugin, for the ledgers of one project."""

    def __init__(
        self, keeper: Keeper, directory: Path, deadline_ms: int, routes: Mapping[str, Route] | None = None
    ) -> None:
        self._keeper = keeper
        self._figures = Figures()
        self._asking = Asking()
        self._misses = Misses()
        self._saying: asyncio.Handle | None = None
        self._deadline = deadline_ms / 1000
        self._server = HookServer(directory, deadline_ms, program_version(), self, routes)
        self._ledgers: dict[str, HookDelivery] = {}
        self._claims: dict[tuple[str, str], tuple[str, Note, asyncio.TimerHandle]] = {}
        self._timers: set[asyncio.TimerHandle] = set()

    @property
    def answering(self) -> bool:
        """Whether any plugin asks."""
        return self._asking.anybody

    async def start(self) -> str:
        """Listen; returns why it cannot, empty when all is well."""
        try:
            await self._server.start()
        except (FileError, OSError) as error:
            return f"notes go by patch only: {error}"
        return ""

    async def stop(self) -> None:
        """Stop listening; notes that wait for a question are not sent any more."""
        await self._server.stop()
        for timer in [*self._timers, *(timer for _, _, timer in self._claims.values())]:
            timer.cancel()
        self._timers.clear()
        self._claims.clear()
        if self._saying is not None:
            self._saying.cancel()

    # What the plugin says

    def hello(self, told: Hello) -> None:
        """A plugin found this ledger; the doctor, which has no version of a plugin, is none."""
        if told.shim:
            self._asking.greeted()
            self._say()

    def after(self, told: After) -> Answer:
        """A call returned: judge it, unless the event was first, and give the note that is due."""
        root = self._keeper.root_of(told.session)
        self._asked(root, told)
        key = (told.session, told.call)
        claimed = self._claims.pop(key, None)
        if claimed is not None:
            claimed[2].cancel()
            root, note = claimed[0], claimed[1]
        elif key in self._misses:
            return Answer()
        elif root is None or not told.message or not told.part:
            self._misses.answered_empty(*key)
            return Answer()
        elif (judged := self._keeper.judge(root, _finished(told, self._keeper.clock()))) is None:
            return Answer()
        else:
            note = judged
        ledger = self._ledger(root)
        ledger.answered(note)
        if claimed is not None:
            ledger.completed(*key)
        self._later(self._deadline + CONFIRM_SECONDS, lambda: ledger.silent(note))
        return Answer(append=note.text, note=note.id)

    def ack(self, told: Ack) -> None:
        """What became of an answer; one the plugin did not get in time has no note."""
        self._figures.waited(told.ms)
        root = self._keeper.root_of(told.session)
        missed = not told.appended and not told.note
        if missed:
            self._missed(root, told)
        if root is not None and (missed or told.note):
            self._ledger(root).confirmed(told.session, told.call, appended=told.appended)
        self._say()

    def read(self, report: Report) -> None:
        """A report of the ledger: the fates of notes are counted."""
        if self._figures.read(report):
            self._say()

    # What the event stream says

    def deliver(self, root: str, note: Note) -> None:
        """A note was decided by an event: leave it to the plugin, or patch."""
        if not self._asking.expects(root) or (note.origin, note.call) in self._misses:
            self._keeper.patch(root, note)
            return
        loop = asyncio.get_running_loop()
        timer = loop.call_later(CLAIM_SECONDS, self._unclaimed, (note.origin, note.call))
        self._claims[note.origin, note.call] = (root, note, timer)

    def observe(self, root: str, told: seen.Observation) -> None:
        """Follow what matters for the notes in the plugin's hands."""
        ledger = self._ledgers.get(root)
        if ledger is None:
            return
        if isinstance(told, seen.ToolFinished):
            ledger.completed(told.session, told.call)
        elif isinstance(told, seen.NoteEchoed):
            ledger.echoed(told.session, told.call)
        elif isinstance(told, seen.StatusChanged) and told.state == "idle":
            ledger.idle(told.session)

    # How

    def _ledger(self, root: str) -> HookDelivery:
        if root not in self._ledgers:
            self._ledgers[root] = HookDelivery(
                lambda outcome: self._keeper.settled(root, outcome, "hook"),
                lambda note: self._keeper.patch(root, note),
            )
        return self._ledgers[root]

    def _asked(self, root: str | None, told: After) -> None:
        """Learn what a question tells besides the call."""
        self._figures.asked()
        if told.last_ms is not None:
            self._figures.waited(told.last_ms)
        if back := self._asking.asked(root):
            self._keeper.warn("plugin_back", back, root or "")
        self._say()

    def _unclaimed(self, key: tuple[str, str]) -> None:
        """The plugin did not ask about a call that has ended: it is not in that OpenCode, or not any more."""
        claimed = self._claims.pop(key, None)
        if claimed is None:
            return
        root, note, _ = claimed
        if silence := self._asking.not_asked(root):
            self._keeper.warn("plugin_silent", silence, root)
        self._say()
        self._keeper.patch(root, note)

    def _missed(self, root: str | None, told: Ack) -> None:
        """The call's output went on without an answer: list it, and let its note go the other way."""
        now = self._keeper.clock()
        self._figures.missed()
        untold = self._misses.add(now, told.session, told.call)
        row = missed_row(now, told.call, told.ms, round(self._deadline * 1000))
        if root is not None:
            self._keeper.log_call(root, told.call, row)
        if untold is not None:
            more = f"; {untold} more since the last warning of this kind" if untold else ""
            warning = WarningReport(t=now, session=root or "", code="hook_deadline", message=row.text + more)
            self._keeper.tell_readers(warning)
        claimed = self._claims.pop((told.session, told.call), None)
        if claimed is not None:
            claimed[2].cancel()
            self._keeper.patch(claimed[0], claimed[1])

    def _say(self) -> None:
        """Let the screen know, once the answer that is being made is on its way."""
        if self._saying is None:
            self._saying = asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        self._saying = None
        self._keeper.delivers(self._figures.view(self._asking.silent), in_flight=self.answering)

    def _later(self, seconds: float, work: Callable[[], None]) -> None:
        timers = self._timers

        def run() -> None:
            timers.discard(timer)
            work()

        timer = asyncio.get_running_loop().call_later(seconds, run)
        timers.add(timer)


def _finished(told: After, t: int) -> seen.ToolFinished:
    """The call as the event will tell it."""
    state = ToolState(
        status="completed",
        input=told.args,
        output=told.output,
        title=told.title,
        metadata=ToolMetadata(exit=told.exit),
        time=Span(start=told.started, end=told.ended),
    )
    part = Part(
        id=told.part,
        session=told.session,
        message=told.message,
        type="tool",
        call=told.call,
        tool=told.tool,
        state=state,
    )
    finished = facts.tool_finished(part, facts.identifier(told.session), t, stale=False, backfill=False)
    return msgspec.structs.replace(finished, via="hook")
