"""Notes in flight: what the plugin inside OpenCode tells and asks, and which way each note goes.

A call is judged once, whichever comes first: the plugin's question or the event. While the plugin answers, a note
decided by the event waits a moment for the plugin's question; where none comes it is patched, and the plugin counts as
silent until it asks again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, Protocol

import msgspec

from core.delivery.hook import HookDelivery
from core.delivery.receipts import Outcome
from core.errors import FileError
from core.host.hooks import Ack, After, Answer, Hello, HookServer, RoundTrips
from core.installing.texts import program_version
from core.ledger import observations as seen
from core.ledger.effects import Note
from core.opencode import facts
from core.opencode.records import Part, Span, ToolMetadata, ToolState

CLAIM_SECONDS: Final = 0.06
"""How long a note decided by an event waits for the plugin's question; both leave OpenCode at about the same time."""
CONFIRM_SECONDS: Final = 1.0
"""Beyond the deadline: a plugin that has not confirmed by then counts as having missed the call."""


class Keeper(Protocol):
    """What is needed of the host."""

    clock: Callable[[], int]

    def root_of(self, session: str) -> str | None:
        """Root session above an agent session; None when it is not followed."""
        ...

    def judge(self, root: str, told: seen.ToolFinished) -> Note | None:
        """Let the ledger of `root` know of a call, and give the note it decided on."""
        ...

    def settled(self, root: str, outcome: Outcome, way: Literal["hook", "patch"]) -> None:
        """The fate of a note is known."""
        ...

    def patch(self, root: str, note: Note) -> None:
        """Send a note the other way."""
        ...

    def in_flight(self, detail: str) -> None:
        """The plugin answers (then with its round trips in `detail`), or does so no more (empty)."""
        ...


class InFlight:
    """All that has to do with the plugin, for the ledgers of one project."""

    def __init__(self, keeper: Keeper, directory: Path, deadline_ms: int) -> None:
        self.trips = RoundTrips()
        self.answering = False
        self._keeper = keeper
        self._deadline = deadline_ms / 1000
        self._server = HookServer(directory, deadline_ms, program_version(), self)
        self._ledgers: dict[str, HookDelivery] = {}
        self._claims: dict[tuple[str, str], tuple[str, Note, asyncio.TimerHandle]] = {}
        self._timers: set[asyncio.TimerHandle] = set()

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

    # What the plugin says

    def hello(self, told: Hello) -> None:
        """A plugin found this ledger; the doctor, which has no version of a plugin, is none."""
        if told.shim:
            self._answers(True)

    def after(self, told: After) -> Answer:
        """A call returned: judge it, unless the event was first, and give the note that is due."""
        self._answers(True)
        root = self._keeper.root_of(told.session)
        if root is None or not told.message or not told.part:
            return Answer()
        claimed = self._claims.pop((told.session, told.call), None)
        if claimed is not None:
            claimed[2].cancel()
            note: Note | None = claimed[1]
        else:
            note = self._keeper.judge(root, _finished(told, self._keeper.clock()))
        if note is None:
            return Answer()
        ledger = self._ledger(root)
        ledger.answered(note)
        if claimed is not None:
            ledger.completed(note.call)
        self._later(self._deadline + CONFIRM_SECONDS, lambda: ledger.silent(note.call))
        return Answer(append=note.text, note=note.id)

    def ack(self, told: Ack) -> None:
        """What became of an answer."""
        self.trips.add(told.ms)
        root = self._keeper.root_of(told.session)
        if root is not None and told.note:
            self._ledger(root).confirmed(told.call, appended=told.appended)
        self._say()

    # What the event stream says

    def deliver(self, root: str, note: Note) -> None:
        """A note was decided by an event: leave it to the plugin, or patch."""
        if not self.answering:
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
            ledger.completed(told.call)
        elif isinstance(told, seen.NoteEchoed):
            ledger.echoed(told.call)
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

    def _unclaimed(self, key: tuple[str, str]) -> None:
        """The plugin did not ask about a call that has ended: it is not there any more."""
        claimed = self._claims.pop(key, None)
        if claimed is not None:
            self._answers(False)
            self._keeper.patch(claimed[0], claimed[1])

    def _answers(self, now: bool) -> None:
        if self.answering is not now:
            self.answering = now
            self._say()

    def _say(self) -> None:
        middle, high = self.trips.percentile(0.5), self.trips.percentile(0.95)
        trips = "" if middle is None or high is None else f" {middle:.1f} ms, p95 {high:.1f} ms"
        self._keeper.in_flight(f"in flight{trips}" if self.answering else "")

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
