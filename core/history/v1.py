"""The tables of OpenCode 1: message and part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from core.history.contents import NOT_JSON
from core.history.rows import Counts, PartRow
from core.history.source import Source
from core.ledger.observations import Tokens

_WHOLE_CHARS: Final = 65_536
"""Up to this size the JSON of a message is parsed; of a larger one only the beginning is looked at."""
_SUMMED_CHARS: Final = 2**20
"""Messages up to this size count towards cost and tokens, where a session does not have the sums itself."""
_END_CHARS: Final = 400
_MOST: Final = 2**63
"""Larger numbers have no room in a column of SQLite."""

# A large text is taken from its pages once for each mention, and kept; so it is mentioned once, and the LIMIT keeps
# SQLite from putting that one in the place of each `head`.
_HEADS: Final = """
    SELECT substr(CAST(data AS TEXT), 1, {chars} + 1) AS head, {updated} AS updated FROM {table}
    WHERE session_id = ? LIMIT -1"""
_QUICK_COUNTS: Final = """
    SELECT count(*), sum(instr(head, '"role":"user"') > 0), sum(instr(head, '"role":"assistant"') > 0), max(updated)
    FROM (SELECT substr(data, 1, 120) AS head, {updated} AS updated FROM message WHERE session_id = ? LIMIT -1)"""
"""As OpenCode writes it, the role is the first or second key; four times as fast as looking it up."""
_COUNTS: Final = f"""
    SELECT count(*), sum(role = 'user'), sum(role = 'assistant'), max(updated)
    FROM (SELECT updated,
                 CASE WHEN length(head) <= {_WHOLE_CHARS}
                           AND json_valid(head) THEN json_extract(head, '$.role')
                      WHEN instr(substr(head, 1, {_END_CHARS}), '"role":"assistant"') THEN 'assistant'
                      WHEN instr(substr(head, 1, {_END_CHARS}), '"role":"user"') THEN 'user'
                 END AS role
          FROM ({{heads}}))"""  # noqa: S608 - numbers of this module
_SPENT: Final = f"""
    SELECT total(json_extract(data, '$.cost')), total(json_extract(data, '$.tokens.input')),
           total(json_extract(data, '$.tokens.output')), total(json_extract(data, '$.tokens.reasoning')),
           total(json_extract(data, '$.tokens.cache.read')), total(json_extract(data, '$.tokens.cache.write'))
    FROM (SELECT CASE WHEN length(head) <= {_SUMMED_CHARS} AND json_valid(head) THEN head END AS data
          FROM ({{heads}}))"""  # noqa: S608
_LAST: Final = f"""
    SELECT substr(CAST(data AS BLOB), 1, {_WHOLE_CHARS}) FROM message WHERE session_id = ?
    ORDER BY time_created DESC, id DESC LIMIT 6"""  # noqa: S608
_MESSAGES: Final = f"""
    SELECT id, session_id, time_created, substr(CAST(data AS BLOB), 1, {_WHOLE_CHARS}) FROM message
    WHERE session_id = ? ORDER BY time_created, id"""  # noqa: S608
_PARTS: Final = "SELECT id, session_id, {time}, rowid FROM part WHERE message_id = ? ORDER BY 3, id"
_ORPHANS: Final = """
    SELECT id, message_id, {time} FROM part
    WHERE session_id = ? AND NOT EXISTS (SELECT 1 FROM message WHERE message.id = part.message_id) ORDER BY 3, id"""
_ROLE_IN_TEXT: Final = re.compile(rb'"role"\s*:\s*"(user|assistant)"')


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """Model (`provider/model`) and agent of a message; empty where they are not known."""

    model: str = ""
    agent: str = ""


class _Model(msgspec.Struct, frozen=True):
    providerID: str = ""  # noqa: N815 - as OpenCode writes it
    modelID: str = ""  # noqa: N815
    id: str = ""

    @property
    def name(self) -> str:
        return "/".join(filter(None, (self.providerID, self.modelID or self.id)))


class _Message(msgspec.Struct, frozen=True):
    role: str = ""
    summary: Any = None
    agent: Any = None
    mode: Any = None
    model: Any = None
    modelID: Any = None  # noqa: N815
    providerID: Any = None  # noqa: N815


_decoder: Final = msgspec.json.Decoder(_Message)


def counts(source: Source, session: str) -> tuple[Counts, int]:
    """How many messages `session` has, and when the last of them changed (ms since the epoch, 0: there is none)."""
    columns = source.columns("message")
    updated = "time_updated" if "time_updated" in columns else "time_created"
    every, user, assistant, last = source.all(_QUICK_COUNTS.format(updated=updated), session)[0]
    if every and user + assistant != every:
        heads = _HEADS.format(chars=_WHOLE_CHARS, updated=updated, table="message")
        every, user, assistant, last = source.all(_COUNTS.format(heads=heads), session)[0]
    return Counts(all=every, user=user or 0, assistant=assistant or 0), as_int(last)


def spent(source: Source, session: str, table: str = "message") -> tuple[float, Tokens]:
    """Cost and tokens summed over the messages, for sessions that do not have the sums themselves."""
    heads = _HEADS.format(chars=_SUMMED_CHARS, updated=0, table=table)
    cost, *tokens = source.all(_SPENT.format(heads=heads), session)[0]
    given, put_out, thought, read, written = map(as_int, tokens)
    return as_float(cost), Tokens(input=given, output=put_out, reasoning=thought, cache_read=read, cache_write=written)


def last_used(source: Source, session: str) -> Used:
    """What the last messages name, for sessions that do not say it themselves."""
    for (data,) in source.all(_LAST, session):
        used = used_by(_read(data))
        if used.model:
            return used
    return Used()


def used_by(message: _Message) -> Used:
    """Model and agent named in the JSON of a message."""
    if isinstance(message.modelID, str):
        own = {"providerID": message.providerID, "modelID": message.modelID}
    else:
        own = message.model if isinstance(message.model, dict) else {}
    agent = message.agent if isinstance(message.agent, str) else message.mode
    return Used(model=model_name(own), agent=agent if isinstance(agent, str) else "")


def model_name(data: object) -> str:
    """`provider/model` of what OpenCode writes for a model: an object, or JSON of one; empty when it is neither."""
    if isinstance(data, str):
        return _model_in_text(data)
    try:
        return msgspec.convert(data, _Model).name
    except msgspec.ValidationError:
        return ""


@lru_cache(maxsize=256)
def _model_in_text(data: str) -> str:
    try:
        return msgspec.json.decode(data, type=_Model).name
    except (msgspec.DecodeError, UnicodeError):
        return "" if data.startswith("{") else data


def parts(source: Source, session: str) -> Iterator[PartRow]:
    """Parts of `session` by message time, message id, part time and part id; those without a message come last."""
    time = "time_created" if "time_created" in source.columns("part") else "0"
    query = _PARTS.format(time=time)
    for message, owner, created, head in source.rows(_MESSAGES, session):
        read = _read(head)
        for id, named, at, rowid in source.rows(query, message):
            data, problem = source.content("part", rowid)
            yield PartRow(
                id=str(id),
                message=str(message),
                session=str(named),
                owner=str(owner),
                role=read.role,
                summary=read.summary is True and read.role == "assistant",
                message_time=as_int(created),
                time=as_int(at),
                data=data,
                problem=problem,
            )
    for id, message, at in source.rows(_ORPHANS.format(time=time), session):
        yield PartRow(
            id=str(id), message=str(message), session=session, owner=session, time=as_int(at), problem="no message"
        )


def as_int(value: object) -> int:
    """A whole number from a column that may hold anything; 0 when it is none."""
    try:
        number = int(value) if isinstance(value, int | float | str) else 0
    except (ValueError, OverflowError):
        return 0
    return number if -_MOST <= number < _MOST else 0


def as_float(value: object) -> float:
    """A finite number from a column that may hold anything; 0 when it is none."""
    number = float(value) if isinstance(value, int | float) else 0.0
    return number if abs(number) < 1e15 else 0.0


def _read(head: object) -> _Message:
    """The JSON of a message, or of its beginning; without a role when not even that can be read."""
    data = head if isinstance(head, bytes) else b""
    try:
        return _decoder.decode(data)
    except NOT_JSON:
        found = _ROLE_IN_TEXT.search(data[:_END_CHARS])
        return _Message(role=found.group(1).decode()) if found else _Message()
