"""`replay`: a recorded stream through the ledger, offline. Same input and settings, same bytes out.

With a store each change is kept before it is told. What an earlier run has kept of the same recording is gone on from
where that run ended, however it ended, and is not told again.

Time is what the recording says: the largest time seen so far. Notes are delivered to nobody, so their fate is unknown
at once. Extractions are answered from a file, in order, each before the next event.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from core.errors import FileError
from core.extraction.recorded import Answers, decode_answers
from core.host.desk import Desk
from core.host.dumping import Dump
from core.host.settings_of import engine_settings
from core.jsonlines import JsonLines
from core.ledger import observations as seen
from core.ledger.effects import CheckFiles, Deliver, Effect, Extract, Report, WarningReport
from core.opencode.assemble import Assembler, event_time
from core.opencode.recorded import RecordedFrames, open_recording
from core.opencode.wire import EventDecoder
from core.settings import Settings
from core.store.journal import Journal, Position


class Place:
    """How far one ledger has come.

    Args:
        at: as it was stored.
        resumed: what is to be done before anything new is taken in.
    """

    def __init__(self, at: Position | None = None, resumed: Sequence[Effect] = ()) -> None:
        self.at = at or Position()
        self.t = 0
        self._resumed = list(resumed)
        self._behind = self.at.observed

    def is_behind(self, t: int) -> bool:
        """Whether the next observation, at `t`, was taken in before; to be asked once for each."""
        self._behind -= 1
        if self._behind >= 0:
            self.t = t
        return self._behind >= 0

    def resumed(self) -> list[Effect]:
        """What is to be done now, at the time of what was taken in last; once."""
        effects, self._resumed = self._resumed, []
        return [msgspec.structs.replace(effect, t=self.t) for effect in effects]


class Replay:
    """The ledgers of one recording.

    Args:
        settings: the user's settings.
        answers: raw answers of the extraction agent, in order of use.
        name: of the recording, as an error calls it.

    Attributes:
        journal: keeps the ledgers; None: nobody does.
    """

    def __init__(self, settings: Settings, answers: Sequence[str] = (), name: str = "the recording") -> None:
        self.desks: dict[str, Desk] = {}
        self.journal: Journal | None = None
        self._settings = engine_settings(settings)
        self._answers = Answers(answers, settings)
        self._assembler = Assembler()
        self._decoder = EventDecoder()
        self._name = name
        self._t = 0
        self._places: dict[str, Place] = {}

    @property
    def t(self) -> int:
        """The largest time seen so far, ms since the epoch."""
        return self._t

    def run(self, frames: RecordedFrames) -> Iterator[Report]:
        """Every report, in order, to the end of the recording.

        Raises:
            FileError: there is no event in it.
        """
        events = 0
        for frame in frames:
            event = self._decoder.decode(frame)
            if event is None:
                continue
            events += 1
            self._t = max(self._t, event_time(event) or 0)
            yield from self._all(self._assembler.feed(event, self._t))
        yield from self._all(self._assembler.finish(self._t))
        for desk in list(self.desks.values()):
            yield from self._resumed(desk)
            yield from self._perform(desk, desk.close(self._t))
        if not events:
            raise FileError(f"{self._name} holds no event", "Give a file made by `ledger-tui record`.")
        yield from self._warnings(frames)

    def _all(self, told: Iterable[tuple[str, seen.Observation]]) -> Iterator[Report]:
        for root, observation in told:
            for desk in [self._desk(root)] if root else list(self.desks.values()):
                place = self._places[desk.engine.root]
                if place.is_behind(self._t):
                    desk.catch_up(observation)
                    continue
                yield from self._resumed(desk)
                if isinstance(observation, seen.SessionInfo) and observation.forked_from in self.desks:
                    yield from self._inherit(desk, observation)
                effects = desk.observe(observation)
                place.at.observed += 1
                yield from self._perform(desk, effects)

    def _perform(self, desk: Desk, effects: Sequence[Effect]) -> Iterator[Report]:
        place = self._places[desk.engine.root]
        effects = list(self._believed(desk, effects))
        if self.journal is not None:
            self.journal.save(desk.engine, effects, place.at)
        for effect in effects:
            if isinstance(effect, Report):
                yield effect
            elif isinstance(effect, Deliver):
                outcome = seen.NoteOutcome(
                    t=effect.t, session=effect.session, note=effect.note.id, delivery="none", arrived="unknown"
                )
                yield from self._perform(desk, desk.observe(outcome))
            elif isinstance(effect, Extract):
                for observation in self._answers.extract(effect):
                    place.at.answered += not isinstance(observation, seen.ExtractionStarted)
                    yield from self._perform(desk, desk.observe(observation))

    def _believed(self, desk: Desk, effects: Iterable[Effect]) -> Iterator[Effect]:
        """The effects with those of changed files: there is no disk to look at, what a call says it did is believed."""
        for effect in effects:
            if isinstance(effect, CheckFiles):
                for path in effect.paths:
                    yield from desk.observe(seen.FileChanged(t=effect.t, session="", path=path))
            else:
                yield effect

    def _inherit(self, desk: Desk, told: seen.SessionInfo) -> Iterator[Report]:
        if told.session == desk.engine.root:
            origin = self.desks[told.forked_from].engine.state.ledger
            yield from self._perform(desk, desk.engine.inherit(told.t, tuple(origin)))

    def _desk(self, root: str) -> Desk:
        if root not in self.desks:
            desk = self.desks[root] = Desk(root, self._settings)
            self._places[root] = self._place(desk)
        return self.desks[root]

    def _place(self, desk: Desk) -> Place:
        """Where to go on: at the beginning, or where an earlier run ended."""
        found = self.journal.load(desk.engine.root) if self.journal is not None else None
        if found is None or self.journal is None:
            return Place()
        saved, at = found
        effects = desk.resume(self._t, saved)
        self.journal.begun(desk.engine)
        self._answers.skip(at.answered)
        return Place(at, effects)

    def _resumed(self, desk: Desk) -> Iterator[Report]:
        """What an earlier run left under way goes on when all that it took in has passed."""
        if effects := self._places[desk.engine.root].resumed():
            yield from self._perform(desk, effects)

    def _warnings(self, frames: RecordedFrames) -> Iterator[Report]:
        if broken := self._decoder.broken + frames.broken:
            yield self._warning("broken_events", f"{broken} lines could not be read as events and were passed over")
        if frames.skipped:
            yield self._warning("frame_too_large", f"{frames.skipped} events were larger than max_frame_mib allows")

    def _warning(self, code: str, message: str) -> WarningReport:
        return WarningReport(t=self._t, session="", code=code, message=message)


def replay(
    path: Path | None, settings: Settings, answers: Path | None, out: JsonLines, store: Path | None = None
) -> int:
    """Put the recording at `path` (None: standard input) through the ledger and write the JSON lines; the exit code.

    The dump is written only where the setting `dump_path` was given, and a database only at `store`.

    Raises:
        FileError: a file cannot be read or holds no event; the database cannot be written.
    """
    name = "standard input" if path is None else str(path)
    run = Replay(settings, read_answers(answers) if answers else (), name)
    if store is not None:
        run.journal = Journal(store, _refuse, clock=lambda: run.t)
    try:
        for report in run.run(RecordedFrames(open_recording(path), settings.max_frame_bytes)):
            out.write(report)
    finally:
        if run.journal is not None:
            run.journal.close()
    if "dump_path" in settings.model_fields_set:
        trouble: list[str] = []
        asyncio.run(_dump(settings.dump_path, run.desks.values(), trouble))
        if trouble:
            raise FileError(trouble[0])
    return 0


def _refuse(code: str, text: str) -> None:
    """A replay that was asked to store does not go on without."""
    if code != "store_again":
        raise FileError(text)


async def _dump(path: Path, desks: Iterable[Desk], trouble: list[str]) -> None:
    dump = Dump(path, lambda _code, text: trouble.append(text))
    dump.changed(desk.engine for desk in desks)
    await dump.close()


def read_answers(path: Path) -> list[str]:
    """Answers of the extraction agent: one JSON string a line.

    Raises:
        FileError: it cannot be read, or a line is no JSON string.
    """
    try:
        return decode_answers(path.read_text("utf-8-sig"))
    except OSError as error:
        reason = error.strerror or "it cannot be read"
    except ValueError as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
    raise FileError(f"cannot read {path}: {reason}", "Give a file with one JSON string per line.")
