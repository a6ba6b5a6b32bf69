"""What tests of notes in flight need: a host that judges each call once, and the two sides that tell of calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

import msgspec

from core.delivery.receipts import Outcome
from core.host import inflight
from core.host.hooks import Ack, After
from core.host.inflight import InFlight
from core.ledger import observations as seen
from core.ledger.effects import Note, Report
from core.views import DeliveryView, LogRow

ROOT = "ses_root"
BARE = "ses_bare"
"""A root session in an OpenCode without the plugin."""
NOTED = "Size: 4096"
ASKED = After(
    session="ses_sub", call="call_1", message="msg_1", part="prt_1", tool="bash",
    args=msgspec.Raw(b'{"command": "stat model.ckpt"}'), output=NOTED, exit=0, started=1000, ended=1200,
)  # fmt: skip


class Double:
    """The host, of which each call gets one note the first time it is judged."""

    def __init__(self) -> None:
        self.clock: Callable[[], int] = lambda: 5000
        self.judged: list[seen.ToolFinished] = []
        self.ends: list[tuple[str, str]] = []
        self.said: list[tuple[bool, DeliveryView]] = []
        self.warnings: list[tuple[str, str, str]] = []
        self.rows: list[tuple[str, str, LogRow]] = []
        self.reports: list[Report] = []
        self.changed = asyncio.Event()
        self._known: set[str] = set()

    def root_of(self, session: str) -> str | None:
        return {ROOT: ROOT, "ses_sub": ROOT, BARE: BARE}.get(session)

    def judge(self, root: str, told: seen.ToolFinished) -> Note | None:
        self.judged.append(told)
        new = told.call not in self._known
        self._known.add(told.call)
        return note_on(told.call, told.session) if new and told.output == NOTED else None

    def settled(self, root: str, outcome: Outcome, way: Literal["hook", "patch"]) -> None:
        self.ends.append((way, outcome.arrived))
        self.changed.set()

    def patch(self, root: str, note: Note) -> None:
        self.ends.append(("patch", note.call))
        self.changed.set()

    def delivers(self, notes: DeliveryView, *, in_flight: bool) -> None:
        self.said.append((in_flight, notes))

    def warn(self, code: str, message: str, root: str) -> None:
        self.warnings.append((code, message, root))

    def log_call(self, root: str, call: str, row: LogRow) -> None:
        self.rows.append((root, call, row))

    def tell_readers(self, report: Report) -> None:
        self.reports.append(report)

    async def end(self) -> None:
        """Wait for a note's end."""
        async with asyncio.timeout(10):
            await self.changed.wait()


def note_on(call: str, session: str) -> Note:
    return Note(
        id="n1", call=call, part="prt_1", message="msg_1", origin=session, kind="gentle", findings=("f1",), text="known"
    )


class Both:
    """What is tested, and the two sides of it."""

    def __init__(self, flight: InFlight, host: Double) -> None:
        self.flight, self.host = flight, host

    def event(self, call: str = "call_1", *, session: str = "ses_sub", root: str = ROOT) -> None:
        """The stream tells of the call: as the host does, judge it and leave a note to the plugin's side."""
        told = inflight._finished(msgspec.structs.replace(ASKED, call=call, session=session), 6000)
        note = self.host.judge(root, msgspec.structs.replace(told, via="event"))
        self.flight.observe(root, told)
        if note is not None:
            self.flight.deliver(root, note)

    def acked(self, appended: bool, ms: float = 1.5) -> None:
        self.flight.ack(Ack(session="ses_sub", call="call_1", note="n1", appended=appended, ms=ms))

    def late(self, call: str = "call_1", *, session: str = "ses_sub", ms: float = 10.4) -> None:
        """The plugin says that no answer came by the deadline; so it knows of no note."""
        self.flight.ack(Ack(session=session, call=call, ms=ms))

    async def shown(self) -> tuple[bool, DeliveryView]:
        """Whether notes go in flight, and the figures, once the screen was told."""
        await asyncio.sleep(0)
        return self.host.said[-1]

    def idle(self) -> None:
        self.flight.observe(ROOT, seen.StatusChanged(t=1, session="ses_sub", state="idle"))

    def echo(self) -> None:
        self.flight.observe(ROOT, seen.NoteEchoed(t=1, session="ses_sub", call="call_1"))
