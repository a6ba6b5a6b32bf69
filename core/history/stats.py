"""How much was done and spent, by day, model, project or tool: one pass over the sessions, one entry for each group.

A session counts on the day it began and under the model it used last. What sub-agents spent is counted, their sessions
apart. A tool call has no tokens of its own: those of its message are shared out evenly among the message's calls.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from datetime import datetime, tzinfo
from enum import StrEnum

import msgspec

from core.history.gathering import Told
from core.history.listing import count_sessions, list_all
from core.history.rows import SessionRow
from core.history.source import Source
from core.history.tools import tool_calls


class By(StrEnum):
    """What sessions are grouped by."""

    DAY = "day"
    MODEL = "model"
    PROJECT = "project"
    TOOL = "tool"


class Sum(msgspec.Struct, kw_only=True):
    """What one group comes to.

    Attributes:
        key: the day as YYYY-MM-DD, `provider/model`, the folder, or the tool's name; empty when not known.
        sessions: root sessions.
        children: sessions of sub-agents.
        tokens: all tokens, those from the cache included.
        cost: US dollars, as OpenCode computed it.
        calls: of a tool; 0 in other groups.
        errors: calls of a tool that failed.
    """

    key: str
    sessions: int = 0
    children: int = 0
    tokens: float = 0
    cost: float = 0.0
    calls: int = 0
    errors: int = 0

    def count(self, row: SessionRow) -> None:
        """One more session, without what it spent."""
        if row.parent:
            self.children += 1
        else:
            self.sessions += 1


class Stats(msgspec.Struct, kw_only=True):
    """The sums: of everything, and by group. Days come in their order, other groups by cost, tokens and sessions."""

    total: Sum
    by: dict[By, list[Sum]]


class _Groups:
    def __init__(self) -> None:
        self.sums: dict[str, Sum] = {}

    def at(self, key: str) -> Sum:
        found = self.sums.get(key)
        if found is None:
            found = self.sums[key] = Sum(key=key)
        return found


def count_up(
    sources: Sequence[Source],
    *,
    by: Sequence[By] = tuple(By),
    own: Container[str] = (),
    zone: tzinfo | None = None,
    on_progress: Told = lambda done, of: None,
) -> Stats:
    """Count up all sessions but the ledger's own.

    Args:
        sources: open; a session that is in two is taken from the first.
        by: the groups wanted; without TOOL no part has to be read.
        own: ids of the sessions that the ledger opened for itself.
        zone: what a day is; None: the zone of this machine.
        on_progress: called for each session; what it raises ends the work.

    Raises:
        FileError: a source cannot be read.
    """
    total = Sum(key="")
    groups = {one: _Groups() for one in by}
    number = sum(count_sessions(source, include_children=True, own=own) for source in sources)
    for done, (source, row) in enumerate(list_all(sources, include_children=True, own=own)):
        on_progress(done, number)
        named = [groups[one].at(key(row, zone)) for one, key in _KEYS.items() if one in groups]
        for found in (total, *named):
            found.count(row)
            found.tokens += row.tokens.total
            found.cost += row.cost
        if By.TOOL in groups:
            _count_tools(groups[By.TOOL], source, row)
    return Stats(total=total, by={one: _sorted(one, found) for one, found in groups.items()})


def _count_tools(groups: _Groups, source: Source, row: SessionRow) -> None:
    for use in tool_calls(source, row):
        found = groups.at(use.tool)
        found.count(row)
        found.calls += use.calls
        found.errors += use.errors
        found.tokens += use.tokens
        found.cost += use.cost


def _sorted(by: By, groups: _Groups) -> list[Sum]:
    for found in groups.sums.values():
        found.tokens = round(found.tokens)
    if by is By.DAY:
        return sorted(groups.sums.values(), key=lambda one: one.key)
    return sorted(
        groups.sums.values(),
        key=lambda one: (-one.cost, -one.tokens, -one.calls, -one.sessions - one.children, one.key),
    )


def _day(row: SessionRow, zone: tzinfo | None) -> str:
    try:
        return datetime.fromtimestamp(row.time_created / 1000, tz=zone).astimezone(zone).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return ""


_KEYS: dict[By, Callable[[SessionRow, tzinfo | None], str]] = {
    By.DAY: _day,
    By.MODEL: lambda row, zone: row.model,
    By.PROJECT: lambda row, zone: row.directory,
}
