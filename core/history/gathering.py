"""The sources of past sessions that belong together, opened as one: what the commands and the screen begin with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

from core.errors import FileError, UsageError
from core.history import legacy
from core.history.listing import find_session
from core.history.places import find_databases
from core.history.rows import SessionRow
from core.history.source import Source
from core.text import clean_line

_SHOWN: Final = 3
"""Sessions that are named when the start of an id fits several."""
_TABLES: Final = ("session_v2", "session")


class Gathering:
    """The sources, open. Use it as a context manager, from one thread at a time.

    Attributes:
        sources: at least one, the released OpenCode's first.
        problems: one sentence for each database that had to be left out.
    """

    def __init__(self, sources: list[Source], problems: list[str]) -> None:
        self.sources = sources
        self.problems = problems

    @classmethod
    def open(cls, explicit: Path | None = None, *, legacy_json: bool = False) -> Self:
        """Open the database that `explicit` names, or all there are.

        Raises:
            FileError: there is none, or none of them can be used.
        """
        sources: list[Source] = []
        failures: list[FileError] = []
        with ExitStack() as opened:
            for path in find_databases(explicit):
                try:
                    sources.append(opened.enter_context(Source.open(path, legacy_json=legacy_json)))
                except FileError as error:
                    failures.append(error)
            if not sources:
                raise failures[0]
            opened.pop_all()
        return cls(sources, [f"left out: {error}" for error in failures])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all of them; harmless when repeated."""
        for source in self.sources:
            source.close()

    def unread(self) -> int:
        """How many sessions are kept in JSON files alone and are not read."""
        return legacy.unread(self.sources)

    def find(self, id: str) -> tuple[Source, SessionRow]:
        """The session `id`, or the one whose id starts so.

        Raises:
            UsageError: there is none, or there are several.
            FileError: a source cannot be read.
        """
        for source in self.sources:
            row = find_session(source, id)
            if row is not None:
                return source, row
        found = self._starting_with(id) if id else {}
        if len(found) == 1:
            (whole,) = found
            row = find_session(found[whole], whole)
            if row is not None:
                return found[whole], row
        raise _unknown(id, list(found), [str(source.path) for source in self.sources])

    def _starting_with(self, start: str) -> dict[str, Source]:
        found: dict[str, Source] = {}
        for source in self.sources:
            for table in filter(source.columns, _TABLES):
                query = f"SELECT id FROM {table} WHERE id >= ? AND substr(id, 1, ?) = ? ORDER BY id LIMIT ?"  # noqa: S608
                for (id,) in source.all(query, start, len(start), start, _SHOWN + 1):
                    found.setdefault(str(id), source)
        return found


def _unknown(id: str, found: list[str], places: list[str]) -> UsageError:
    named = clean_line(id, 80)
    if found:
        shown = ", ".join(clean_line(one, 80) for one in found[:_SHOWN])
        more = ", …" if len(found) > _SHOWN else ""
        return UsageError(f"the ids of several sessions start with {named!r}: {shown}{more}", "Give more of it.")
    where = clean_line(" and ".join(places), 300)
    return UsageError(f"no session {named!r} in {where}", "`ledger-tui history list` shows those there are.")


Told = Callable[[int, int], None]
"""Told of progress: how many sessions of how many are done. May raise to end the work."""
