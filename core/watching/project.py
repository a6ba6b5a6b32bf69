"""From dump entries to what a screen draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from core.store.dump import DumpEntry
from core.views import FindingView, LogRow, SessionItem, SessionView, TopicView

NO_SESSION: Final = "-"
"""Stands for the session of entries that name none."""


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """All that a screen can be shown of one session of the file."""

    item: SessionItem
    entries: dict[str, DumpEntry]
    """By id."""
    topics: list[TopicView]
    completed: int
    """The last step that a finding comes from."""


def sheets(entries: Iterable[DumpEntry], file_name: str, cap: int) -> dict[str, Sheet]:
    """A sheet for each session, by its id, the one with the newest finding first.

    Args:
        entries: of the whole file.
        file_name: title of a session that has neither title nor id.
        cap: findings per topic, to be shown beside their number.
    """
    groups: dict[str, list[DumpEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.session, []).append(entry)
    made = [_sheet(session, group, file_name, cap) for session, group in groups.items()]
    made.sort(key=lambda sheet: (-sheet.item.updated, sheet.item.root))
    return {sheet.item.root: sheet for sheet in made}


def _sheet(session: str, entries: Sequence[DumpEntry], file_name: str, cap: int) -> Sheet:
    item = SessionItem(
        root=session or NO_SESSION,
        title=_last(entry.title for entry in entries) or session or file_name,
        directory=_last(entry.directory for entry in entries),
        state="idle",
        updated=max(entry.established_at for entry in entries),
        findings=len(entries),
    )
    return Sheet(
        item=item,
        entries={entry.id: entry for entry in entries},
        topics=topic_views(entries, cap),
        completed=max(entry.source_step for entry in entries),
    )


def session_view(sheet: Sheet, log: Sequence[LogRow], overall: int) -> SessionView:
    """One session. Everything but findings and log is empty or 0: a dump file holds no more."""
    return SessionView(
        root=sheet.item.root,
        title=sheet.item.title,
        directory=sheet.item.directory,
        state="idle",
        agent="",
        model="",
        steps=(),
        running=(),
        completed=sheet.completed,
        buffered=0,
        interval=0,
        earlier=0,
        topics=sheet.topics,
        findings=len(sheet.entries),
        max_findings=overall,
        held=0,
        cap_full_of_pins=False,
        meters=(),
        extractions=(),
        log=log,
        tokens=0,
        cost=0.0,
        ledger_tokens=0,
        ledger_cost=0.0,
        origins={},
        queued_note=0,
    )


def topic_views(entries: Iterable[DumpEntry], cap: int) -> list[TopicView]:
    """Topics in order of their first entry; within one, pinned findings first, then in the file's order."""
    topics: dict[str, list[DumpEntry]] = {}
    for entry in entries:
        topics.setdefault(entry.topic, []).append(entry)
    return [
        TopicView(
            topic=topic,
            findings=tuple(finding_view(entry) for entry in sorted(group, key=lambda entry: not entry.pinned)),
            cap=cap,
            muted=False,
        )
        for topic, group in topics.items()
    ]


def finding_view(entry: DumpEntry) -> FindingView:
    """One entry."""
    return FindingView(
        id=entry.id,
        fact=entry.fact,
        topic=entry.topic,
        step=entry.source_step,
        established_at=entry.established_at,
        state="accepted",
        pinned=entry.pinned,
        source=entry.source,
    )


def _last(texts: Iterable[str]) -> str:
    """The last text that is not empty."""
    last = ""
    for text in texts:
        last = text or last
    return last
