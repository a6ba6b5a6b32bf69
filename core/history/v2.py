"""The table of OpenCode 2: session_message, whose rows hold the whole content of a message.

Its parts are given in the shape of OpenCode 1. Read as published for 2.0; names that earlier builds used are understood
too, and what is not known is passed on under its own type, for the reader to count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from core.history import v1
from core.history.contents import read_object
from core.history.rows import Counts, PartRow
from core.history.source import Source
from core.history.v1 import Used, as_int, model_name
from core.ledger.observations import Tokens

_MARKS: Final = "('agent-switched', 'model-switched', 'location-switched', 'idle')"
"""Types of rows that are no messages."""
_ROLES: Final = {"user": "user", "assistant": "assistant", "shell": "user", "compaction": "assistant"}

_TYPE_IN_DATA: Final = """
    CASE WHEN json_valid(CAST(data AS TEXT))
    THEN coalesce(json_extract(CAST(data AS TEXT), '$.type'), json_extract(CAST(data AS TEXT), '$.role'), '')
    ELSE '' END"""
"""For builds without a column for the type."""
_COUNTS: Final = f"""
    SELECT sum(kind NOT IN {_MARKS}), sum(kind = 'user'), sum(kind = 'assistant'), max(updated)
    FROM (SELECT {{type}} AS kind, {{updated}} AS updated FROM session_message WHERE session_id = ?)"""  # noqa: S608
_LAST: Final = f"""
    SELECT CASE WHEN length(data) <= {2**20} THEN CAST(data AS BLOB) END FROM session_message
    WHERE session_id = ? ORDER BY time_created DESC, {{seq}} DESC LIMIT 12"""  # noqa: S608
_ROWS: Final = """
    SELECT id, session_id, {named}, time_created, rowid FROM session_message
    WHERE session_id = ? ORDER BY time_created, {seq}, id"""

_Items = Iterator[dict[str, Any]]


def holds(source: Source, session: str) -> bool:
    """True when the table has rows of `session`."""
    if not source.columns("session_message"):
        return False
    return bool(source.all("SELECT 1 FROM session_message WHERE session_id = ? LIMIT 1", session))


def counts(source: Source, session: str) -> tuple[Counts, int]:
    """As for OpenCode 1. Rows that only mark a change, or the end of a turn, are no messages."""
    every, user, assistant, last = source.all(_query(source, _COUNTS), session)[0]
    return Counts(all=every or 0, user=user or 0, assistant=assistant or 0), as_int(last)


def spent(source: Source, session: str) -> tuple[float, Tokens]:
    """As for OpenCode 1."""
    return v1.spent(source, session, "session_message")


def last_used(source: Source, session: str) -> Used:
    """As for OpenCode 1."""
    for (data,) in source.all(_query(source, _LAST), session):
        read = read_object(data) or {}
        model = model_name(read.get("model"))
        if model:
            agent = read.get("agent")
            return Used(model=model, agent=agent if isinstance(agent, str) else "")
    return Used()


def parts(source: Source, session: str) -> Iterator[PartRow]:
    """What the messages of `session` hold, by message time, sequence number and place in the message."""
    for id, owner, kind, created, rowid in source.rows(_query(source, _ROWS), session):
        data, problem = source.content("session_message", rowid)
        read = read_object(data)
        base = PartRow(
            id=str(id),
            message=str(id),
            session=str(owner),
            owner=str(owner),
            message_time=as_int(created),
            time=as_int(created),
        )
        if read is None:
            yield msgspec.structs.replace(base, role=_ROLES.get(str(kind), ""), problem=problem or "unreadable")
            continue
        name = _text(kind) or _text(read.get("type")) or _text(read.get("role"))
        for number, item in enumerate(_items(name, read)):
            yield msgspec.structs.replace(
                base,
                id=f"{id}/{number}",
                role=_ROLES.get(name, ""),
                summary=name == "compaction",
                time=_time(item, base.time),
                data=msgspec.json.encode(item),
            )


def _query(source: Source, query: str) -> str:
    columns = source.columns("session_message")
    return query.format(
        type="type" if "type" in columns else _TYPE_IN_DATA,
        named="type" if "type" in columns else "NULL",
        updated="time_updated" if "time_updated" in columns else "time_created",
        seq="seq" if "seq" in columns else "rowid",
    )


def _items(kind: str, message: Mapping[str, Any]) -> _Items:
    """The content of one message as parts of OpenCode 1."""
    if kind == "shell":
        yield _shell(message)
    elif kind == "compaction":
        yield {"type": "compaction", "text": _text(message.get("summary"))}
    elif kind in ("user", "assistant"):
        if _text(message.get("text")):
            yield {"type": "text", "text": message["text"]}
        content = message.get("content", message.get("parts"))
        if isinstance(content, str):
            yield {"type": "text", "text": content}
        for item in content if isinstance(content, list) else []:
            yield _content(item)
        for file in _list(message.get("files")):
            yield _file(file)
        files = _list(_dict(message.get("snapshot")).get("files"))
        if files:
            yield {"type": "patch", "files": files}
    else:
        yield {"type": kind or "unknown", "text": _text(message.get("text")), "synthetic": kind == "synthetic"}


def _content(item: object) -> dict[str, Any]:
    if not isinstance(item, dict):
        return {"type": "unknown"}
    if item.get("type") != "tool":
        return item
    state = _dict(item.get("state"))
    output = _output(state)
    error = state.get("error")
    return {
        "type": "tool",
        "tool": _text(item.get("name")) or _text(item.get("tool")),
        "time": item.get("time"),
        "state": {
            "status": _text(state.get("status")),
            "input": state.get("input"),
            "output": output,
            "error": _text(error) or _text(_dict(error).get("message")),
        },
    }


def _output(state: Mapping[str, Any]) -> str:
    for name in ("content", "output", "result"):
        value = state.get(name)
        if isinstance(value, str):
            return value
        texts = [_text(_dict(block).get("text")) for block in _list(value)]
        if any(texts):
            return "\n".join(filter(None, texts))
    return ""


def _shell(message: Mapping[str, Any]) -> dict[str, Any]:
    """A command that the user ran."""
    output = message.get("output")
    return {
        "type": "tool",
        "tool": "shell",
        "state": {
            "status": "completed",
            "input": {"command": _text(message.get("command"))},
            "output": _text(output) or _text(_dict(output).get("output")),
        },
    }


def _file(file: object) -> dict[str, Any]:
    given = _dict(file)
    name = _text(given.get("name")) or _text(given.get("filename"))
    address = _text(given.get("uri")) or _text(given.get("url")) or _text(given.get("path"))
    return {"type": "file", "filename": name, "url": address, "mime": _text(given.get("mime"))}


def _time(item: Mapping[str, Any], default: int) -> int:
    return as_int(_dict(item.get("time")).get("created")) or default


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
