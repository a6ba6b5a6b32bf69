"""Sessions in JSON files, as OpenCode kept them before it had a database.

::

    storage/session/<project>/<session>.json
    storage/message/<session>/<message>.json
    storage/part/<message>/<part>.json

OpenCode leaves the files when it moves them into its database, so a session that is there too is not counted here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from core.history.contents import read_object
from core.history.rows import Counts, PartRow, SessionRow
from core.history.rows import Schema as Kept
from core.history.source import MAX_BYTES, Source
from core.history.tidy import session_row
from core.history.v1 import as_float, as_int, model_name
from core.ledger.observations import Tokens

_MAX_SESSION_BYTES: Final = 8 * 2**20
"""Larger files of sessions and messages are not read: their diffs make them so."""


def unread(sources: Sequence[Source]) -> int:
    """How many sessions are kept in JSON files alone and are not read; 0 when they are read.

    Several databases may lie beside the same files: what one of them has was moved there.
    """
    found: dict[Path, set[Path]] = {}
    for source in sources:
        if not source.legacy_json:
            files = set(_files(source))
            found[source.storage] = found.get(source.storage, files) & files
    return sum(map(len, found.values()))


def sessions(source: Source) -> list[SessionRow]:
    """The sessions by time of creation and id, without counts, cost and tokens; unreadable files are left out."""
    found = filter(None, (_session(path) for path in _files(source)))
    return sorted(found, key=lambda row: (row.time_created, row.id))


def session(source: Source, id: str) -> SessionRow | None:
    """The session `id`, or None."""
    return next((row for path in _files(source) if path.stem == id and (row := _session(path))), None)


def completed(source: Source, row: SessionRow) -> SessionRow:
    """`row` with what only its messages tell."""
    users = assistants = every = 0
    cost, sums, model, agent, updated = 0.0, [0] * 5, row.model, row.agent, row.time_updated
    for _, message in _messages(source, row.id):
        every += 1
        users += message.get("role") == "user"
        assistants += message.get("role") == "assistant"
        cost += as_float(message.get("cost"))
        tokens, time = _dict(message.get("tokens")), _dict(message.get("time"))
        cache = _dict(tokens.get("cache"))
        found = (
            tokens.get("input"),
            tokens.get("output"),
            tokens.get("reasoning"),
            cache.get("read"),
            cache.get("write"),
        )
        sums = [known + as_int(more) for known, more in zip(sums, found, strict=True)]
        model = model_name(message) or model
        agent = message["mode"] if isinstance(message.get("mode"), str) else agent
        updated = max(updated, as_int(time.get("completed")), as_int(time.get("created")))
    given, put_out, thought, read, written = sums
    return msgspec.structs.replace(
        row,
        messages=Counts(all=every, user=users, assistant=assistants),
        cost=cost,
        tokens=Tokens(input=given, output=put_out, reasoning=thought, cache_read=read, cache_write=written),
        model=model,
        agent=agent,
        time_updated=updated,
    )


def parts(source: Source, session: str) -> Iterator[PartRow]:
    """Parts of `session` by message time, message id, part time and part id."""
    messages = sorted(
        _messages(source, session), key=lambda item: (as_int(_dict(item[1].get("time")).get("created")), item[0])
    )
    for id, message in messages:
        created = as_int(_dict(message.get("time")).get("created"))
        role = message.get("role")
        for part in sorted(_parts(source, id, session, created), key=lambda part: (part.time, part.id)):
            yield msgspec.structs.replace(
                part,
                role=role if isinstance(role, str) else "",
                summary=message.get("summary") is True and role == "assistant",
            )


def _parts(source: Source, message: str, session: str, created: int) -> Iterator[PartRow]:
    for path in _json_files(source.storage / "part" / message):
        data = _bytes(path, MAX_BYTES)
        read = _object(data)
        time = _dict(read.get("time"))
        named = read.get("sessionID")
        yield PartRow(
            id=path.stem,
            message=message,
            session=named if isinstance(named, str) else session,
            owner=session,
            message_time=created,
            time=as_int(time.get("start")) or as_int(time.get("created")) or created,
            data=data,
            problem="" if data is not None else "unreadable",
        )


def _files(source: Source) -> Iterator[Path]:
    """Files of sessions that the database does not have."""
    for project in sorted(_folders(source.storage / "session")):
        for path in _json_files(project):
            if not _is_in_database(source, path.stem):
                yield path


def _is_in_database(source: Source, id: str) -> bool:
    return any(
        source.columns(table) and source.all(f"SELECT 1 FROM {table} WHERE id = ?", id)  # noqa: S608 - two names
        for table in ("session", "session_v2")
    )


def _session(path: Path) -> SessionRow | None:
    data = _object(_bytes(path, _MAX_SESSION_BYTES))
    if not data:
        return None
    time = _dict(data.get("time"))
    return session_row(
        id=path.stem,
        title=data.get("title"),
        directory=data.get("directory"),
        parent=data.get("parentID"),
        schema=Kept.LEGACY,
        created=time.get("created"),
        updated=time.get("updated"),
        archived=time.get("archived"),
    )


def _messages(source: Source, session: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in _json_files(source.storage / "message" / session):
        yield path.stem, _object(_bytes(path, _MAX_SESSION_BYTES))


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            return [Path(entry.path) for entry in found if entry.is_dir()]
    except OSError:
        return []


def _json_files(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            return sorted(Path(entry.path) for entry in found if entry.name.endswith(".json"))
    except OSError:
        return []


def _bytes(path: Path, limit: int) -> bytes | None:
    try:
        return path.read_bytes() if path.stat().st_size <= limit else None
    except OSError:
        return None


def _object(data: bytes | None) -> dict[str, Any]:
    return read_object(data) or {}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
