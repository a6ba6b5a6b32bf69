"""A distil run: sessions to notes, one question each, safe to be ended at any moment.

For each session, in this order: the transcript is written, the session is recorded as under way, the model is asked,
the note is recorded, the sinks get it. Whatever moment a run is killed at, the next one finds what is missing: only
questions that were under way are asked again, at most `jobs` of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from core.clock import now_ms
from core.errors import LedgerError, UsageError
from core.history.fates import Fate, Progress, Step, added, advanced, step
from core.history.folder import STATE, TRANSCRIPTS, Folder, file_name
from core.history.frontmatter import document
from core.history.inference import GENERAL_FAILURES, Distiller, Reply
from core.history.material import Material, Work, read_material
from core.history.notes import Note, NoteError, Verdict, parse_note
from core.history.sinks import Delivery, Sink
from core.history.state import Book, Record, Spent, State
from core.history.transcript import Bounds
from core.text import mask_line

TRIES: Final = 2
"""Questions about one session: a second one when the first answer cannot be used."""
FAILURES: Final = 5
"""Sessions in a row without an answer after which a run ends: the trouble is not with the sessions."""
_ERROR_CHARS: Final = 300

Read = Callable[[Work, Bounds], Material | None]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a run goes.

    Attributes:
        bounds: of the transcripts; recorded with each note.
        jobs: questions under way at the same time, 1 to 64.
        redo_stale: ask again about sessions that have changed since their note.
        redo_errors: ask again about sessions whose answers could not be used.

    Raises:
        UsageError: `jobs` is out of range.
    """

    bounds: Bounds = Bounds()
    jobs: int = 1
    redo_stale: bool = False
    redo_errors: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.jobs <= 64:
            raise UsageError(f"--jobs is {self.jobs}, it must be between 1 and 64")


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would do.

    Attributes:
        total: sessions.
        ask: sessions the model would be asked about.
        kept: sessions that are finished and unchanged.
        stale: finished, changed since, and left as they are.
        gone: deleted meanwhile.
        empty: sessions without any content: recorded as junk, not asked about.
        input_tokens: estimated tokens of all questions.
        output_tokens: estimated tokens of all answers, from earlier answers in the folder; 0 when there are none.
    """

    total: int
    ask: int = 0
    kept: int = 0
    stale: int = 0
    gone: int = 0
    empty: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


def plan(works: Sequence[Work], out: Path, options: Options, *, read: Read = read_material) -> Plan:
    """What a run into the folder `out` would do; asks no model and creates nothing. Raises FileError."""
    book = Book.read(out.expanduser().absolute() / STATE)
    counts = dict.fromkeys(("ask", "kept", "stale", "gone", "empty"), 0)
    tokens = 0
    try:
        for work in works:
            material = read(work, options.bounds)
            name = "gone" if material is None else _planned(book, work, material, options)
            counts[name] += 1
            if material is not None and name == "ask":
                tokens += material.question.tokens
        answer = book.output_tokens() if book else 0
    finally:
        if book:
            book.close()
    return Plan(total=len(works), input_tokens=tokens, output_tokens=answer * counts["ask"], **counts)


def _planned(book: Book | None, work: Work, material: Material, options: Options) -> str:
    record = book.find(work.row.id) if book else None
    todo = _step(record, material, options)
    if todo is Step.ASK:
        return "ask" if material.parts else "empty"
    return "kept" if todo is Step.KEEP else "stale"


class Run:
    """One run into one folder.

    Args:
        folder: held by this process.
        book: the records of that folder.
        distiller: closed by whoever made it.
        sinks: get each note, in this order.
        options: see there.
        read: reads a session, in a thread.
        on_progress: called once at the start and then after each session, in the event loop's thread.
        clock: ms since the epoch.
    """

    def __init__(
        self,
        folder: Folder,
        book: Book,
        distiller: Distiller,
        sinks: Sequence[Sink],
        options: Options = Options(),  # noqa: B008 - immutable
        *,
        read: Read = read_material,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self._folder = folder
        self._book = book
        self._distiller = distiller
        self._sinks = tuple(sinks)
        self._options = options
        self._bounds = msgspec.json.encode(options.bounds).decode()
        self._read = read
        self._on_progress = on_progress
        self._clock = clock
        self._delivering = asyncio.Lock()
        self._failures = 0
        self._asking_since: int | None = None
        self.progress = Progress(done=0, total=0, fates={})

    async def run(self, works: Sequence[Work]) -> Progress:
        """Go through `works`; what became of them. May be cancelled, and begun anew with the same folder.

        Raises:
            LedgerError: the run cannot go on. What is finished is kept.
        """
        self.progress = Progress(done=0, total=len(works), fates={})
        self._on_progress(self.progress)
        queue = iter(works)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._options.jobs, len(works))):
                    group.create_task(self._worker(queue))
        except BaseExceptionGroup as failed:
            known = [error for error in failed.exceptions if isinstance(error, LedgerError)]
            if len(known) == len(failed.exceptions):
                raise known[0] from failed
            raise
        for sink in self._sinks:
            await asyncio.to_thread(sink.finish)
        return self.progress

    async def _worker(self, queue: Iterator[Work]) -> None:
        for work in queue:
            fate, spent = await self._session(work)
            elapsed = self._clock() - self._asking_since if self._asking_since is not None else 0
            self.progress = advanced(self.progress, fate, spent, elapsed)
            self._on_progress(self.progress)

    async def _session(self, work: Work) -> tuple[Fate, Spent | None]:
        """What became of one session, and what was spent on it if the model was asked."""
        id = work.row.id
        material = await asyncio.to_thread(self._read, work, self._options.bounds)
        if material is None:
            return Fate.GONE, None
        todo = _step(self._book.find(id), material, self._options)
        if todo is not Step.ASK:
            await self._settle(id)
            return (Fate.KEPT if todo is Step.KEEP else Fate.STALE), None
        digest = material.question.digest
        if not material.parts:
            self._book.begin(id, digest, self._bounds, self._clock())
            return await self._keep(id, State.JUNK, Spent()), None
        path = f"{TRANSCRIPTS}/{file_name(id, 'txt')}"
        await asyncio.to_thread(self._folder.write, path, material.question.text)
        self._book.begin(id, digest, self._bounds, self._clock())
        return await self._ask(work, material)

    async def _ask(self, work: Work, material: Material) -> tuple[Fate, Spent]:
        """Ask, and once more when the answer cannot be used."""
        id, question, spent, reason = work.row.id, material.question, Spent(), ""
        self._asking_since = self._asking_since or self._clock()
        for _ in range(TRIES):
            try:
                reply = await self._distiller.distil(question)
            except LedgerError as error:
                self._fail(id, error, spent)
                return Fate.FAILED, spent
            spent = added(spent, _spent(reply))
            self._failures = 0
            try:
                note = await asyncio.to_thread(_read_note, reply, material.hints)
            except NoteError as error:
                reason = error.reason
                question = material.question.again(reason)
                continue
            if isinstance(note, Verdict):
                return await self._keep(id, State.JUNK, spent, model=reply.model), spent
            text = document(work.row, self._options.bounds, note.markdown)
            return await self._keep(id, State.DONE, spent, note=text, model=reply.model), spent
        return await self._keep(id, State.ERROR, spent, error=mask_line(reason, _ERROR_CHARS)), spent

    def _fail(self, id: str, error: LedgerError, spent: Spent) -> None:
        """Record that there was no answer; raises the error when the next session would get none either."""
        text = mask_line(str(error), _ERROR_CHARS)
        self._book.finish(id, State.FAILED, spent, self._clock(), error=text)
        self._failures += 1
        if isinstance(error, GENERAL_FAILURES) or self._failures >= FAILURES:
            raise error

    async def _keep(self, id: str, state: State, spent: Spent, **texts: str) -> Fate:
        """Record what became of a session, and let the sinks know."""
        self._book.finish(id, state, spent, self._clock(), **texts)
        await self._settle(id)
        return _FATES[state]

    async def _settle(self, id: str) -> None:
        """See to it that each sink has the note that is recorded, and none where there is none."""
        record = self._book.find(id)
        if record is None or record.state not in (State.DONE, State.JUNK):
            return
        async with self._delivering:
            for sink in self._sinks:
                had = self._book.delivered(id, sink.name)
                if record.state is State.JUNK:
                    if had:
                        await asyncio.to_thread(sink.drop, id)
                        self._book.deliver(id, sink.name, "")
                elif had != record.digest or not await asyncio.to_thread(sink.holds, id):
                    await asyncio.to_thread(sink.put, Delivery(session=id, note=record.note))
                    self._book.deliver(id, sink.name, record.digest)


_FATES: Final = {State.DONE: Fate.NOTE, State.JUNK: Fate.JUNK, State.ERROR: Fate.ERROR}


def _step(record: Record | None, material: Material, options: Options) -> Step:
    return step(
        record,
        material.question.digest,
        redo_stale=options.redo_stale,
        redo_errors=options.redo_errors,
    )


def _spent(reply: Reply) -> Spent:
    return Spent(requests=1, tokens=reply.tokens, cost=reply.cost, ms=reply.ms)


def _read_note(reply: Reply, hints: Sequence[str]) -> Note | Verdict:
    if reply.cut:
        raise NoteError("the answer was cut off at the model's output limit")
    return parse_note(reply.text, hints)
