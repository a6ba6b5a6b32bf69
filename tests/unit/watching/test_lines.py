"""`watch --json`: what is in the file, then every change of it."""

# ruff: noqa: ASYNC240 - files this small are written at once

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from core.ledger.effects import FindingReport, Report, WarningReport
from core.watching import lines
from tests.unit.watching.files import POLL, entry, overwrite, replace


class Lines:
    """Runs `lines` in the background."""

    def __init__(self, path: Path) -> None:
        self.reports: list[Report] = []
        self._come = asyncio.Event()
        self._task = asyncio.create_task(lines(path, self._out, clock=lambda: 7, poll_seconds=POLL))

    def _out(self, report: Report) -> None:
        self.reports.append(report)
        self._come.set()

    async def take(self, count: int) -> list[Report]:
        async with asyncio.timeout(20):
            while len(self.reports) < count:
                self._come.clear()
                await self._come.wait()
        taken, self.reports = self.reports, []
        return taken

    async def stop(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task


def short(reports: list[Report]) -> list[tuple[str, ...]]:
    told: list[tuple[str, ...]] = []
    for report in reports:
        if isinstance(report, FindingReport):
            told.append((report.change, report.session, report.id, report.fact))
        elif isinstance(report, WarningReport):
            told.append(("warning", report.code))
    return told


async def test_lines_report_what_is_there_and_every_change(path: Path) -> None:
    replace(path, entry("one", 1, origin="ses_child", call="call_1"), entry("two", 2, session="ses_2"))
    told = Lines(path)
    first = await told.take(2)
    where: dict[str, Any] = {"topic": "t:a.bin", "step": 1, "origin": "ses_child", "call": "call_1"}
    assert first[0] == FindingReport(t=7, session="ses_1", change="added", id="f1", fact="one", **where)
    assert short(first)[1] == ("added", "ses_2", "f2", "two")
    replace(path, entry("ONE", 1, pinned=True), entry("three", 3))
    assert short(await told.take(4)) == [
        ("deleted", "ses_2", "f2", "two"),
        ("edited", "ses_1", "f1", "ONE"),
        ("pinned", "ses_1", "f1", "ONE"),
        ("added", "ses_1", "f3", "three"),
    ]
    overwrite(path, b"[")
    assert short(await told.take(1)) == [("warning", "dump_damaged")]
    path.unlink()
    assert short(await told.take(1)) == [("warning", "dump_missing")]
    replace(path, entry("ONE", 1, pinned=True))
    assert short(await told.take(1)) == [("deleted", "ses_1", "f3", "three")]
    await told.stop()


async def test_lines_of_a_missing_file_are_one_warning(path: Path) -> None:
    told = Lines(path)
    [warning] = await told.take(1)
    assert isinstance(warning, WarningReport)
    assert (warning.code, str(path) in warning.message) == ("dump_missing", True)
    await asyncio.sleep(POLL * 3)
    assert told.reports == []
    await told.stop()


async def test_lines_end_with_their_reader(path: Path) -> None:
    replace(path, entry("one"))

    def closed(report: Report) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        async with asyncio.timeout(20):
            await lines(path, closed)
