"""The parts of one session, whatever the layout."""

from __future__ import annotations

from collections.abc import Iterator

from core.history import legacy, v1, v2
from core.history.listing import schema_of
from core.history.rows import PartRow, Schema
from core.history.source import Source


def read_parts(source: Source, session: str) -> Iterator[PartRow]:
    """Parts of `session`, one at a time, by (message time, message id, part time, part id).

    A part belongs to the session of its message, whatever session it names itself. Rows that cannot be read are given
    with a `problem`, so that they can be counted. A session that does not exist has no parts.

    Raises:
        FileError: the source cannot be read, or was changed meanwhile.
    """
    source.settle()
    match schema_of(source, session):
        case Schema.V2:
            yield from v2.parts(source, session)
        case Schema.V1:
            yield from v1.parts(source, session)
        case Schema.LEGACY:
            if source.legacy_json and legacy.session(source, session) is not None:
                yield from legacy.parts(source, session)
