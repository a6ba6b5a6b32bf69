"""The sessions of a source, oldest first, in memory that does not grow with their number or size.

The order is that of (creation, id), so a part of the list is a coherent stretch of history. What a list needs of the
messages is read session by session, when the session's turn comes: the first page of a long list is there at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from core.errors import UsageError
from core.history import legacy, v1, v2
from core.history.rows import Schema, SessionRow
from core.history.source import Source
from core.history.tidy import name, session_row
from core.ledger.observations import Tokens

OWN_TITLE: Final = "ledger-extraction"
"""Title of the sessions that the ledger opens for itself."""

_COLUMNS: Final = (
    ("title", "substr(title, 1, 4000)"),
    ("directory", "substr(directory, 1, 4096)"),
    ("parent_id", "parent_id"),
    ("time_created", "time_created"),
    ("time_updated", "time_updated"),
    ("time_archived", "time_archived"),
    ("cost", "cost"),
    ("tokens_input", "tokens_input"),
    ("tokens_output", "tokens_output"),
    ("tokens_reasoning", "tokens_reasoning"),
    ("tokens_cache_read", "tokens_cache_read"),
    ("tokens_cache_write", "tokens_cache_write"),
    ("agent", "substr(agent, 1, 400)"),
    ("model", "substr(model, 1, 4000)"),
)
"""Columns that a list shows, where they exist; none of those that hold diffs, which can be large."""


def list_sessions(
    source: Source,
    *,
    limit: int | None = None,
    offset: int = 0,
    include_children: bool = False,
    own: Container[str] = (),
) -> Iterator[SessionRow]:
    """Sessions by (creation, id), oldest first, without the ledger's own.

    Args:
        source: it must stay open while the sessions are taken.
        limit: at most so many, after `offset`; 0 gives none, None all.
        offset: how many to pass over; past the end there are none.
        include_children: the sessions of sub-agents too.
        own: ids of the sessions that the ledger opened for itself.

    Raises:
        UsageError: `limit` or `offset` is negative.
        FileError: the source cannot be read, or was changed meanwhile.
    """
    rows = list_all([source], limit=limit, offset=offset, include_children=include_children, own=own)
    return (row for _, row in rows)


def list_all(
    sources: Sequence[Source],
    *,
    limit: int | None = None,
    offset: int = 0,
    include_children: bool = False,
    own: Container[str] = (),
) -> Iterator[tuple[Source, SessionRow]]:
    """As :func:`list_sessions`, of several sources as one list; a session that is in two is taken from the first."""
    for option, value in (("--limit", limit), ("--offset", offset)):
        if value is not None and value < 0:
            raise UsageError(f"{option} is {value}, it must not be negative", "Use 0 or more.")
    for source in sources:
        source.settle()
    found = _merged(sources, include_children, own)
    chosen = islice(found, offset, None if limit is None else offset + limit)
    return ((source, _completed(source, row)) for source, row in chosen)


def count_sessions(source: Source, *, include_children: bool = False, own: Container[str] = ()) -> int:
    """How many sessions :func:`list_sessions` gives without a limit. Raises FileError."""
    source.settle()
    return sum(1 for _ in _chosen(source, include_children, own))


def find_session(source: Source, id: str) -> SessionRow | None:
    """The session `id`, of a sub-agent or the ledger's own too; None when there is none. Raises FileError."""
    source.settle()
    for row in _in_tables(source, "AND id = ?", id):
        return _completed(source, row)
    row_ = legacy.session(source, id) if source.legacy_json else None
    return None if row_ is None else _completed(source, row_)


def _merged(
    sources: Sequence[Source], include_children: bool, own: Container[str]
) -> Iterator[tuple[Source, SessionRow]]:
    if len(sources) == 1:
        yield from ((sources[0], row) for row in _chosen(sources[0], include_children, own))
        return
    streams = [_labelled(number, source, include_children, own) for number, source in enumerate(sources)]
    seen = set[str]()
    for _, _, number, row in heapq.merge(*streams, key=lambda item: item[:3]):
        if row.id not in seen:
            seen.add(row.id)
            yield sources[number], row


def _labelled(
    number: int, source: Source, include_children: bool, own: Container[str]
) -> Iterator[tuple[int, str, int, SessionRow]]:
    for row in _chosen(source, include_children, own):
        yield row.time_created, row.id, number, row


def _chosen(source: Source, include_children: bool, own: Container[str]) -> Iterator[SessionRow]:
    rows: Iterator[SessionRow] = _in_tables(source, "" if include_children else "AND coalesce(parent_id, '') = ''")
    if source.legacy_json:
        rows = heapq.merge(rows, legacy.sessions(source), key=lambda row: (row.time_created, row.id))
    for row in rows:
        is_own = row.title == OWN_TITLE or row.id in own or bool(row.parent and row.parent in own)
        if not is_own and (include_children or not row.parent):
            yield row


def _in_tables(source: Source, condition: str, *values: object) -> Iterator[SessionRow]:
    """Sessions of the database that meet `condition`, each once, without what their messages tell."""
    selects = []
    if source.has_v2:
        selects.append(f"SELECT {_selected(source, 'session_v2')}, 2 FROM session_v2 WHERE true {condition}")  # noqa: S608
    if source.has_v1:
        twice = " AND NOT EXISTS (SELECT 1 FROM session_v2 AS two WHERE two.id = session.id)" if source.has_v2 else ""
        selects.append(f"SELECT {_selected(source, 'session')}, 1 FROM session WHERE true {condition}{twice}")  # noqa: S608
    if selects:
        statement = f"{' UNION ALL '.join(selects)} ORDER BY 5, 1"
        for row in source.rows(statement, *(values * len(selects))):
            yield _row(source, *row)


def _selected(source: Source, table: str) -> str:
    there = source.columns(table)
    return ", ".join(["id", *(expression if column in there else "NULL" for column, expression in _COLUMNS)])


def _row(source: Source, id: object, *columns: Any) -> SessionRow:
    title, directory, parent, created, updated, archived, cost, *tokens, agent, model, generation = columns
    given, put_out, thought, read, written = map(v1.as_int, tokens)
    row = session_row(
        id=id,
        title=title,
        directory=directory,
        parent=parent,
        schema=Schema.V2 if generation == 2 else Schema.V1,
        created=created,
        updated=updated,
        archived=archived,
    )
    return msgspec.structs.replace(
        row,
        cost=v1.as_float(cost),
        tokens=Tokens(input=given, output=put_out, reasoning=thought, cache_read=read, cache_write=written),
        model=name(v1.model_name(model)),
        agent=name(agent if isinstance(agent, str) else ""),
    )


def schema_of(source: Source, id: str) -> Schema:
    """Where the messages of session `id` are, which may not be where its own row is. Raises FileError.

    OpenCode 2 may know a session of OpenCode 1 without having taken over its messages, and versions on the way to it
    kept new messages under the old sessions.
    """
    if source.has_v1 and source.all("SELECT 1 FROM message WHERE session_id = ? LIMIT 1", id):
        known = source.has_v2 and source.all("SELECT 1 FROM session_v2 WHERE id = ?", id)
        return Schema.V2 if known and v2.holds(source, id) else Schema.V1
    if v2.holds(source, id):
        return Schema.V2
    table = "session_v2" if source.has_v2 else "session"
    if source.columns(table) and source.all(f"SELECT 1 FROM {table} WHERE id = ?", id):  # noqa: S608 - two names
        return Schema.V2 if source.has_v2 else Schema.V1
    if source.has_v1 and source.all("SELECT 1 FROM session WHERE id = ?", id):
        return Schema.V1
    return Schema.LEGACY


def _completed(source: Source, row: SessionRow) -> SessionRow:
    """`row` with what only its messages tell."""
    if row.schema is Schema.LEGACY:
        return legacy.completed(source, row)
    tables = v2 if _lies_in_v2(source, row) else v1
    counts, changed = tables.counts(source, row.id)
    cost, tokens = row.cost, row.tokens
    if not cost and not tokens.total and counts.assistant:
        cost, tokens = tables.spent(source, row.id)
    used = v1.Used(model=row.model, agent=row.agent)
    if not row.model and counts.all:
        used = tables.last_used(source, row.id)
    return msgspec.structs.replace(
        row,
        schema=Schema.V2 if tables is v2 else Schema.V1,
        messages=counts,
        cost=cost,
        tokens=tokens,
        model=name(used.model),
        agent=row.agent or name(used.agent),
        time_updated=max(row.time_updated, changed),
    )


def _lies_in_v2(source: Source, row: SessionRow) -> bool:
    """As :func:`schema_of`, with as few statements as the layout allows."""
    if not source.has_v1 or not source.columns("session_message"):
        return source.has_v2
    return schema_of(source, row.id) is Schema.V2
