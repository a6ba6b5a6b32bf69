"""`watch --json`: what changes in a dump file, as reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import aclosing
from pathlib import Path

from core.clock import now_ms
from core.ledger.effects import FindingReport, Report, WarningReport
from core.store.dump import DumpContents
from core.text import clean_line
from core.watching.follow import follow
from core.watching.state import WatchedDump


async def lines(
    path: Path, out: Callable[[Report], None], *, clock: Callable[[], int] = now_ms, poll_seconds: float = 2.0
) -> None:
    """Report every finding in the file as added, then every change, without end; `out` may raise to end it.

    A finding that is gone is `deleted`: whether a person or a cap did it the file does not say. What is wrong with the
    file is a `warning`, once per change of what is wrong.
    """
    reporter = _Reporter(path)
    async with aclosing(follow(path, poll_seconds=poll_seconds)) as readings:
        async for contents in readings:
            for report in reporter.take(clock(), contents):
                out(report)


class _Reporter:
    def __init__(self, path: Path) -> None:
        self._name = clean_line(str(path), 300)
        self._dump = WatchedDump()

    def take(self, t: int, contents: DumpContents) -> Iterable[Report]:
        before = self._dump.trouble
        for change in self._dump.take(contents):
            entry = change.entry
            yield FindingReport(
                t=t,
                session=entry.session,
                change=change.kind,
                id=entry.id,
                fact=entry.fact,
                topic=entry.topic,
                step=entry.source_step,
                origin=entry.origin,
                call=entry.call,
                reason="no longer in the file" if change.kind == "deleted" else "",
            )
        trouble = self._dump.trouble
        if trouble is not None and trouble != before:
            yield WarningReport(t=t, session="", code=trouble.code, message=f"{self._name}: {trouble.message}")
