"""Full-text search in past sessions.

All words must occur in a session, in any order and place: `"two words"` is a phrase, `start*` the beginning of a word,
`-word` one that must not occur. Case and accents do not count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from core.errors import UsageError
from core.history.index import SHIFT, Index

_TERM: Final = re.compile(r'(?P<no>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))(?P<start>\*?)')
_HAS_WORD: Final = re.compile(r"[^\W_]")
_MAX_TERMS: Final = 20
_WORDS: Final = 24
"""Words of a snippet."""
_OPEN, _CLOSE = "\x01", "\x02"
"""Marks in a snippet; cleaned text holds neither."""
_MATCHES: Final = """
    WITH found AS MATERIALIZED (SELECT rowid AS place, rank AS score FROM piece WHERE piece MATCH ?)
    SELECT session.number, id, parent, title, directory, created, updated, place, min(score), count(*)
    FROM found JOIN session ON number = place >> {shift}
    WHERE number IN ({sessions}) AND source IN ({sources}) {roots}
    GROUP BY number ORDER BY min(score), created DESC LIMIT ?"""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A session that holds all words, and the text of it that fits best.

    Attributes:
        id: of the session.
        parent: id of the session that started it as a sub-agent; empty for a root session.
        title: as in a list.
        directory: folder of the project.
        time_created: ms since the epoch.
        time_updated: ms since the epoch.
        role: of the text: user, assistant, unknown; title for the title.
        time: of the text, ms since the epoch.
        matches: texts of the session that hold one of the words.
        snippet: the text around the words, on one line.
        marks: where the words are in `snippet`, as [start, end) in code points.
    """

    id: str
    parent: str
    title: str
    directory: str
    time_created: int
    time_updated: int
    role: str
    time: int
    matches: int
    snippet: str
    marks: tuple[tuple[int, int], ...]


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a query in the syntax of FTS5: those that must occur, and those that must not."""

    wanted: tuple[str, ...]
    unwanted: tuple[str, ...] = ()


def parse(query: str) -> Query:
    """The terms of a query.

    Raises:
        UsageError: it has no word that must occur, or more than 20.
    """
    wanted: list[str] = []
    unwanted: list[str] = []
    for term in _TERM.finditer(query.replace("\0", " ")):
        words = term["phrase"] if term["phrase"] is not None else term["word"]
        start = term["start"] or ("*" if term["word"] and words.endswith("*") else "")
        if _HAS_WORD.search(words):
            quoted = words.replace('"', '""').rstrip("*")
            (unwanted if term["no"] else wanted).append(f'"{quoted}"{start}')
    if not wanted:
        raise UsageError("there is no word to search for", "Give at least one word that must occur.")
    if len(wanted) + len(unwanted) > _MAX_TERMS:
        raise UsageError(f"there are more than {_MAX_TERMS} words to search for", "Leave some out.")
    return Query(wanted=tuple(wanted), unwanted=tuple(unwanted))


def check(query: str, limit: int | None = None) -> Query:
    """The terms of a query that can be answered. Raises UsageError, as :func:`search` would."""
    if limit is not None and limit < 0:
        raise UsageError(f"--limit is {limit}, it must not be negative", "Use 0 or more.")
    return parse(query)


def search(
    index: Index, query: str, sources: Sequence[Path], *, limit: int | None = 20, include_children: bool = False
) -> list[Hit]:
    """The sessions of `sources` that hold what `query` asks for, the best first.

    Args:
        index: up to date, see :meth:`Index.update`.
        query: see above.
        sources: paths of the databases.
        limit: at most so many; None gives all.
        include_children: the sessions of sub-agents too.

    Raises:
        UsageError: nothing is asked for, or `limit` is negative.
        FileError: the index cannot be read.
    """
    terms = check(query, limit)
    one = f"SELECT rowid >> {SHIFT} FROM piece WHERE piece MATCH ?"  # noqa: S608 - a number
    sessions = " INTERSECT ".join([one] * len(terms.wanted)) + f" EXCEPT {one}" * len(terms.unwanted)
    statement = _MATCHES.format(
        shift=SHIFT,
        sessions=sessions,
        sources=", ".join("?" * len(sources)),
        roots="" if include_children else "AND parent = ''",
    )
    some = " OR ".join(terms.wanted)
    values = (some, *terms.wanted, *terms.unwanted, *map(str, sources), -1 if limit is None else limit)
    with index.failing():
        found: dict[str, tuple[object, ...]] = {}
        for row in index.connection.execute(statement, values):
            found.setdefault(str(row[1]), row)  # the same session may be in two databases
        return [_hit(index, some, row) for row in found.values()]


def _hit(index: Index, some: str, row: tuple[object, ...]) -> Hit:
    _, id, parent, title, directory, created, updated, place, _, matches = row
    text, role, time = index.connection.execute(
        f"SELECT snippet(piece, 0, ?, ?, '…', {_WORDS}), role, time FROM piece WHERE piece MATCH ? AND rowid = ?",  # noqa: S608
        (_OPEN, _CLOSE, some, place),
    ).fetchone()
    snippet, marks = _marked(text)
    return msgspec.convert(
        {
            "id": id, "parent": parent, "title": title, "directory": directory, "time_created": created,
            "time_updated": updated, "role": role, "time": time, "matches": matches, "snippet": snippet, "marks": marks,
        },
        Hit,
    )  # fmt: skip


def _marked(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A snippet as one line without the marks, and where they were."""
    out, length, start, marks = [], 0, 0, []
    for piece in re.split(f"([{_OPEN}{_CLOSE}])", " ".join(text.split())):
        if piece == _OPEN:
            start = length
        elif piece == _CLOSE:
            marks.append((start, length))
        else:
            out.append(piece)
            length += len(piece)
    return "".join(out), tuple(marks)
