"""The lines to all OpenCode processes of a project: finds them, follows each, and sends what is for one to that one."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Final, Literal, Protocol

from core import paths
from core.delivery.patch import PatchDelivery
from core.delivery.receipts import Outcome
from core.errors import Unreachable
from core.extraction.turn import Turn
from core.host.finding_server import Nowhere, Target, named
from core.host.junction import Junction
from core.host.line import Company, Line, Owner
from core.host.lookout import Lookout
from core.host.tasks import Tasks
from core.ledger import observations as seen
from core.ledger.effects import Extract, Note
from core.opencode.sink import ConnectionState
from core.store.database import DATABASE
from core.store.own import OwnSessions
from core.views import Answers, Reply

LOOK_SECONDS: Final = 3.0
"""Pause between two looks for OpenCode processes; one costs 0.5 ms (5 ms where the machine has 1,000 connections)."""
_PATIENCE: Final = 5
"""Attempts to reach a process again, before it is said that it is gone."""
MAX_LINES: Final = 16
"""Processes followed at the same time."""

_BEST_FIRST: Final[tuple[ConnectionState, ...]] = (
    "live", "resyncing", "connecting", "reconnecting", "refused", "closed",
)  # fmt: skip
_LOST: Final = ("reconnecting", "refused", "closed")


class Manager(Owner, Protocol):
    """What is needed of the host."""

    def settled(self, root: str, outcome: Outcome, way: Literal["hook", "patch"]) -> None:
        """The fate of a note is known."""
        ...

    def blinded(self, root: str) -> None:
        """Nobody can see at present what becomes of the notes of a root session."""
        ...

    def failed(self, error: BaseException) -> None:
        """The lines ended: the session asked for is not there, or by a fault of the ledger itself."""
        ...


class Lines:
    """One line to the server that was named, else one to each OpenCode process of the project, as they come and go."""

    def __init__(self, owner: Manager) -> None:
        self._owner = owner
        self._tasks = Tasks(owner.warn)
        self._junction = Junction(owner, owner.clock)
        self._lookout = Lookout(owner.options)
        self._lines: list[Line] = []
        self._broken: set[Line] = set()
        self._company: Company | None = None
        self._hurry = asyncio.Event()
        self._said: tuple[ConnectionState | Literal["none"], str, int, int] | None = None
        self._shown: tuple[str, int] = ("", 0)
        self._nowhere: Nowhere | None = None
        """Why the last look found no way in, while no line is live."""

    async def start(self) -> None:
        """Begin in the background."""
        self._tasks.spawn(self._run(), self._owner.failed)

    async def stop(self) -> None:
        """End all lines (see :meth:`Line.stop`)."""
        await self._tasks.stop()
        stopping = asyncio.gather(*(line.stop() for line in self._lines))
        while not stopping.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(stopping)
        if self._company is not None:
            self._company.own.close()

    def load(self, root: str) -> None:
        """Read the history of this session, if it was not read yet."""
        if (line := self._of(root)) is not None:
            line.load(root)

    def retry(self) -> None:
        """Try to connect at once, also after a refusal."""
        self._hurry.set()
        for line in self._lines:
            line.retry()

    def url_of(self, root: str) -> str:
        """Address of the process a root session is in; empty when there is none."""
        line = self._of(root)
        return line.url if line is not None else ""

    def root_of(self, session: str) -> str | None:
        """Root session above an agent session; None when it does not count, or is not known yet."""
        return next((root for line in self._lines if (root := line.root_of(session))), None)

    def delivery_for(self, root: str) -> PatchDelivery:
        """Sends the notes of one root session."""
        return PatchDelivery(
            _Parts(self, root), lambda outcome: self._owner.settled(root, outcome, "patch"), self._owner.warn
        )

    def deliver(self, delivery: PatchDelivery, note: Note) -> None:
        """Send a note."""
        if not self._tasks.ending:
            self._tasks.spawn(delivery.send(note))

    def reply(self, id: str, reply: Reply) -> None:
        """Answer a permission request; a failure is told as a warning."""
        if (line := self._waiting(id)) is not None:
            line.reply(id, reply)

    def answer(self, id: str, answers: Answers | None) -> None:
        """Answer the questions of a request, None refuses; a failure is told as a warning."""
        if (line := self._waiting(id)) is not None:
            line.answer(id, answers)

    def toast(self, root: str, text: str) -> None:
        """Show a sentence in the screen of the OpenCode that has this root session."""
        if (line := self._of(root)) is not None:
            line.toast(text)

    def extract(self, job: Extract) -> None:
        """Have these steps distilled, if possible where their session is at work."""
        line = self._of(job.session)
        if line is None or self._tasks.ending:
            failed = seen.ExtractionFailed(t=job.t, session=job.session, id=job.id, error="not connected")
            asyncio.get_running_loop().call_soon(self._owner.tell, job.session, failed)
        else:
            line.extract(job)

    def of(self, root: str) -> Line:
        """The line a root session belongs to.

        Raises:
            Unreachable: there is none.
        """
        line = self._of(root)
        if line is None:
            raise Unreachable("There is no connection to a server")
        return line

    # Which line

    def _of(self, root: str) -> Line | None:
        """The owner's line if it is there, else one that can stand in for it."""
        owner = self._junction.owner(root)
        ranked = sorted(self._lines, key=lambda line: (not line.is_live, line is not owner, line.root_of(root) is None))
        return ranked[0] if ranked else None

    def _waiting(self, request: str) -> Line | None:
        """The line of the process that waits for the answer to a request."""
        asker = self._junction.asker(request)
        return next((line for line in self._lines if line is asker), None) or self._of("")

    # Coming and going

    async def _run(self) -> None:
        """Follow the server that was named; without one look for all there are until cancelled."""
        owner = self._owner
        folder = owner.options.state_dir or paths.state_dir()
        own = await asyncio.to_thread(OwnSessions, folder / DATABASE, owner.warn)
        self._company = Company(
            junction=self._junction,
            own=own,
            turn=Turn(),
            said=self._connection,
            ended=self._ended,
            attached_at=lambda: min((line.attached_at for line in self._lines if line.attached_at), default=0),
        )
        if (target := named(owner.options)) is not None:
            self._add(target, self._company)
            return
        while True:
            await self._look(self._company)
            self._hurry.clear()
            # Not `wait_for`: before Python 3.12 that can swallow the cancellation that ends this.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._hurry.wait()

    async def _look(self, company: Company) -> None:
        """Follow what came, drop what went. Doors first: they are found at once."""
        doors = await self._lookout.doors()
        self._follow(doors, company)
        eagerly = not any(line.is_live for line in self._lines)
        targets = await self._lookout.targets(doors, eagerly=eagerly)
        self._follow(targets, company)
        ways = {target.way for target in targets}
        for line in list(self._lines):
            if not line.is_live and line.target.way not in ways and any(other.is_live for other in self._lines):
                await self._drop(line)
        nowhere = None if targets or any(line.is_live for line in self._lines) else self._lookout.problem
        if nowhere != self._nowhere:
            self._nowhere = nowhere
            self._owner.set_server(others=nowhere.others if nowhere is not None else ())
        self._show()

    def _follow(self, targets: list[Target], company: Company) -> None:
        ways = {line.target.way for line in self._lines}
        processes = {line.target.pid for line in self._lines if line.is_live}
        for target in targets:
            if target.way not in ways and target.pid not in processes and len(self._lines) < MAX_LINES:
                self._add(target, company)

    def _add(self, target: Target, company: Company) -> None:
        line = Line(self._owner, target, company)
        is_first = not self._lines
        self._lines.append(line)
        self._junction.add(line)
        line.start(self._owner.options.session if is_first else None)

    async def _drop(self, line: Line) -> None:
        """The process is gone, and others are there."""
        self._lines.remove(line)
        self._broken.discard(line)
        self._junction.drop(line)
        await line.stop()
        self._show()

    def _ended(self, line: Line, error: BaseException) -> None:
        """A line failed for good: that ends the ledger when it was the only one."""
        self._broken.add(line)
        if self._broken.issuperset(self._lines):
            self._owner.failed(error)

    # What is shown of them

    def _connection(self, line: Line, state: ConnectionState, detail: str, attempt: int = 0, retry_at: int = 0) -> None:
        """The way to one of the servers changed."""
        if line not in self._lines:
            return
        line.way = (state, detail, attempt, retry_at)
        if state in _LOST:
            self._hurry.set()
            for root in self._junction.of(line):
                self._owner.blinded(root)
        self._show()
        if state == "live":
            line.connected()

    def _show(self) -> None:
        """Say how the best of the lines is, and how many there are; for want of any, why."""
        nowhere = self._nowhere
        if not self._lines:
            if nowhere is not None:
                self._say(("none", str(nowhere), 0, 0))
            return
        best = min(self._lines, key=lambda line: _BEST_FIRST.index(line.way[0]))
        if self._shown != (shown := (best.url, len(self._lines))):
            self._shown = shown
            self._owner.set_server(url=shown[0], servers=shown[1])
        state, _, attempt, _ = best.way
        if nowhere is not None and state == "reconnecting" and (nowhere.closed or attempt > _PATIENCE):
            self._say(("none", str(nowhere), 0, 0))
        else:
            self._say(best.way)

    def _say(self, way: tuple[ConnectionState | Literal["none"], str, int, int]) -> None:
        if way != self._said:
            self._said = way
            self._owner.connection(*way)


class _Parts:
    """The parts of one root session, through whatever line it has at the time."""

    def __init__(self, lines: Lines, root: str) -> None:
        self._lines = lines
        self._root = root

    async def raw_part(self, session: str, message: str, part: str) -> dict[str, Any]:
        """See :class:`core.delivery.patch.PartStore`."""
        return await self._lines.of(self._root).client.raw_part(session, message, part)

    async def patch_part(self, session: str, message: str, part: str, body: dict[str, Any]) -> None:
        """See :class:`core.delivery.patch.PartStore`."""
        await self._lines.of(self._root).client.patch_part(session, message, part, body)
