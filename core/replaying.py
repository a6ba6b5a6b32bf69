"""`replay`: a recorded stream through the ledger, offline. Same input and settings, same bytes out.

Time is what the recording says: the largest time seen so far. Notes are delivered to nobody, so their fate is unknown
at once. Extractions are answered from a file, in order, each before the next event.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from core.errors import FileError
from core.extraction.recorded import Answers, decode_answers
from core.host.desk import Desk
from core.host.dumping import Dump
from core.host.settings_of import engine_settings
from core.jsonlines import JsonLines
from core.ledger import observations as seen
from core.ledger.effects import Deliver, Effect, Extract, Report, WarningReport
from core.opencode.assemble import Assembler, event_time
from core.opencode.recorded import RecordedFrames, open_recording
from core.opencode.wire import EventDecoder
from core.settings import Settings


class Replay:
    """The ledgers of one recording.

    Args:
        settings: the user's settings.
        answers: raw answers of the extraction agent, in order of use.
        name: of the recording, as an error calls it.
    """

    def __init__(self, settings: Settings, answers: Sequence[str] = (), name: str = "the recording") -> None:
        self.desks: dict[str, Desk] = {}
        self._settings = engine_settings(settings)
        self._answers = Answers(answers, settings)
        self._assembler = Assembler()
        self._decoder = EventDecoder()
        self._name = name
        self._t = 0

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
            yield from self._perform(desk, desk.close(self._t))
        if not events:
            raise FileError(f"{self._name} holds no event", "Give a file made by `ledger-tui record`.")
        yield from self._warnings(frames)

    def _all(self, told: Iterable[tuple[str, seen.Observation]]) -> Iterator[Report]:
        for root, observation in told:
            for desk in [self._desk(root)] if root else list(self.desks.values()):
                if isinstance(observation, seen.SessionInfo) and observation.forked_from in self.desks:
                    yield from self._inherit(desk, observation)
                yield from self._perform(desk, desk.observe(observation))

    def _perform(self, desk: Desk, effects: Iterable[Effect]) -> Iterator[Report]:
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
                    yield from self._perform(desk, desk.observe(observation))

    def _inherit(self, desk: Desk, told: seen.SessionInfo) -> Iterator[Report]:
        if told.session == desk.engine.root:
            origin = self.desks[told.forked_from].engine.state.ledger
            yield from self._perform(desk, desk.engine.inherit(told.t, tuple(origin)))

    def _desk(self, root: str) -> Desk:
        if root not in self.desks:
            self.desks[root] = Desk(root, self._settings)
        return self.desks[root]

    def _warnings(self, frames: RecordedFrames) -> Iterator[Report]:
        if broken := self._decoder.broken + frames.broken:
            yield self._warning("broken_events", f"{broken} lines could not be read as events and were passed over")
        if frames.skipped:
            yield self._warning("frame_too_large", f"{frames.skipped} events were larger than max_frame_mib allows")

    def _warning(self, code: str, message: str) -> WarningReport:
        return WarningReport(t=self._t, session="", code=code, message=message)


def replay(path: Path | None, settings: Settings, answers: Path | None, out: JsonLines) -> int:
    """Put the recording at `path` (None: standard input) through the ledger and write the JSON lines; the exit code.

    The dump is written only where the setting `dump_path` was given.

    Raises:
        FileError: a file cannot be read or holds no event.
    """
    name = "standard input" if path is None else str(path)
    run = Replay(settings, read_answers(answers) if answers else (), name)
    for report in run.run(RecordedFrames(open_recording(path), settings.max_frame_bytes)):
        out.write(report)
    if "dump_path" in settings.model_fields_set:
        trouble: list[str] = []
        asyncio.run(_dump(settings.dump_path, run.desks.values(), trouble))
        if trouble:
            raise FileError(trouble[0])
    return 0


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
