"""One session of a run, read when its turn comes."""

from __future__ import annotations

from pathlib import Path

import msgspec

from core.history.listing import find_session
from core.history.parts import read_parts
from core.history.question import Question, question
from core.history.rows import SessionRow
from core.history.source import Source
from core.history.transcript import Bounds, transcript


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """A session to be distilled, as the list had it when the run began.

    Attributes:
        row: the session.
        database: as :meth:`core.history.source.Source.open` wants it.
        legacy_json: the session may be in JSON files.
    """

    row: SessionRow
    database: Path
    legacy_json: bool = False


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """What a note is made from.

    Attributes:
        question: for the model.
        parts: parts of the session that say anything; 0: there is nothing to ask about.
        hints: reasoning of the agent in the question; no note may repeat it.
    """

    question: Question
    parts: int
    hints: tuple[str, ...] = ()


def read_material(work: Work, bounds: Bounds) -> Material | None:
    """Read a session as it is now; None when it is gone.

    The source is opened for this one session, so that a long run does not keep OpenCode's log from being emptied.

    Raises:
        FileError: the source cannot be read.
    """
    with Source.open(work.database, legacy_json=work.legacy_json) as source:
        if find_session(source, work.row.id) is None:
            return None
        made = transcript(read_parts(source, work.row.id), bounds)
    return Material(question=question(work.row, made), parts=made.parts, hints=made.hints)
