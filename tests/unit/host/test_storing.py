"""What a host does with its journal: goes on from it, stores before it tells, and says when it cannot."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.host import storing as module
from core.host.desk import Desk
from core.host.storing import Storing
from core.ledger import commands as ask
from core.ledger import observations as seen
from core.ledger.effects import Effect, FindingReport
from core.ledger.state import EngineSettings
from core.store.archive import DAY_MS

ROOT = "ses_root"
BUSY = seen.StatusChanged(t=1, session=ROOT, state="busy")


class Keeper:
    """A host with one desk."""

    def __init__(self, path: Path, *, root: str = ROOT, resume: str | None = None) -> None:
        self.t = 100 * DAY_MS
        self.clock = lambda: self.t
        self.read_only = False
        self.warnings: list[str] = []
        self.stores: list[str] = []
        self.spent: list[int] = []
        self.is_well = asyncio.Event()
        self.storing = Storing(self, path, resume=resume)
        self.desk = Desk(root, EngineSettings(review="off", extraction_interval_steps=1))

    def warn(self, code: str, message: str) -> None:
        self.warnings.append(code)

    def set_server(self, **changes: Any) -> None:
        self.stores.append(changes["store"])
        if not changes["store"]:
            self.is_well.set()

    def tell(self, root: str, told: seen.Observation) -> None:
        assert isinstance(told, seen.DaySpent)
        self.spent.append(told.tokens)

    async def open(self, days: int = 90) -> Keeper:
        await self.storing.open(days)
        return self

    def see(self, told: seen.Observation) -> list[Effect]:
        if not self.storing.has_begun(self.desk.engine.root):
            self.storing.save(self.desk, self.storing.begin(self.desk))
        given = self.storing.works(self.desk, told)
        effects = [*given, *self.desk.observe(told)]
        self.storing.save(self.desk, effects)
        return effects

    def add(self, fact: str) -> None:
        self.see(ask.Add(t=self.t, session=self.desk.engine.root, fact=fact, topic="t"))

    @property
    def facts(self) -> list[str]:
        return [finding.fact for finding in self.desk.engine.state.ledger]


@pytest.fixture
async def path(tmp_path: Path) -> AsyncIterator[Path]:
    """One fact is stored, by a host that has ended."""
    first = await Keeper(tmp_path / "ledger.db").open()
    first.add("a")
    await first.storing.close()
    yield tmp_path / "ledger.db"


async def test_it_goes_on_and_says_so_in_the_log(path: Path) -> None:
    host = await Keeper(path).open()
    host.storing.made(host.desk)
    assert host.desk.item().findings == 1  # counted before they are read
    host.see(BUSY)
    assert host.facts == ["a"] and host.desk.item().findings == 1
    assert [row.text for row in host.desk.log if "goes on" in row.text] == ["goes on with 1 facts and 0 steps"]
    assert host.warnings == [] and set(host.stores) <= {""}
    await host.storing.close()


async def test_a_session_of_which_nothing_was_told_is_not_touched(path: Path) -> None:
    host = await Keeper(path).open()
    host.storing.save(host.desk, host.desk.observe(seen.Reconnected(t=1, session=ROOT)))
    await host.storing.close()
    host = await Keeper(path).open()
    host.see(BUSY)
    assert host.facts == ["a"]
    await host.storing.close()


async def test_a_desk_made_anew_goes_on_from_the_store_again(path: Path) -> None:
    host = await Keeper(path).open()
    host.add("b")
    host.desk = Desk(ROOT, host.desk.engine.settings)
    host.storing.made(host.desk)
    host.add("c")
    assert host.facts == ["a", "b", "c"]
    await host.storing.close()


async def test_a_host_that_only_watches_leaves_the_store_alone_until_it_takes_over(path: Path) -> None:
    host = await Keeper(path).open()
    host.read_only = True
    host.desk.engine.only_watch(True)
    host.see(BUSY)
    assert host.facts == [] and not host.storing.has_begun(ROOT)
    assert host.storing.begin(host.desk, anyway=True) == []
    assert host.facts == ["a"]
    await host.storing.close()


async def test_resume_gives_the_first_session_that_works_the_facts_of_another(path: Path) -> None:
    host = await Keeper(path, root="ses_new", resume=ROOT).open()
    host.see(seen.StatusChanged(t=1, session="ses_new", state="idle"))
    assert host.facts == []
    effects = host.see(seen.StatusChanged(t=1, session="ses_new", state="busy"))
    assert [effect.change for effect in effects if isinstance(effect, FindingReport)] == ["added"]
    assert host.facts == ["a"] and host.warnings == []
    await host.storing.close()
    again = await Keeper(path, root="ses_new", resume=ROOT).open()
    again.see(seen.StatusChanged(t=1, session="ses_new", state="busy"))
    assert again.facts == ["a"] and again.warnings == ["resume"]
    await again.storing.close()


async def test_without_resume_another_session_starts_empty(path: Path) -> None:
    host = await Keeper(path, root="ses_new").open()
    host.see(seen.StatusChanged(t=1, session="ses_new", state="busy"))
    assert host.facts == []
    await host.storing.close()


async def test_what_the_user_does_not_want_kept_any_longer_goes_at_the_start(path: Path) -> None:
    host = Keeper(path)
    host.t += 10 * DAY_MS
    await host.open(days=9)
    host.see(BUSY)
    assert host.facts == []
    await host.storing.close()


async def test_a_busy_database_is_tried_again_by_itself(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    host = await Keeper(path).open()
    host.see(BUSY)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    host.add("b")
    assert "in memory" in host.stores[-1] and host.warnings == ["store_failed"]
    other.execute("ROLLBACK")
    other.close()
    host.is_well.clear()
    async with asyncio.timeout(20):
        await host.is_well.wait()
    assert host.warnings == ["store_failed", "store_again"]
    await host.storing.close()
    host = await Keeper(path).open()
    host.see(BUSY)
    assert host.facts == ["a", "b"]
    await host.storing.close()


async def test_what_cannot_be_read_is_not_written_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = await Keeper(path).open()

    def broken(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr("core.store.journal.load", broken)
        host.add("b")
    assert host.facts == ["b"] and host.stores[-1] and host.warnings == ["store_failed"]
    await host.storing.close()
    host = await Keeper(path).open()
    host.see(BUSY)
    assert host.facts == ["a"]
    await host.storing.close()


async def test_the_days_spending_is_told(path: Path) -> None:
    host = await Keeper(path).open()
    host.see(seen.ToolFinished(t=1, session=ROOT, message="m", part="p", call="c", tool="bash", ok=True, summary="ls"))
    host.see(seen.StepFinished(t=1, session=ROOT, message="m", part="q"))
    host.see(seen.ExtractionAnswered(t=host.t, session=ROOT, id="x1", tokens=seen.Tokens(input=70)))
    await host.storing.close()
    later = await Keeper(path).open()
    later.see(BUSY)
    assert (host.spent, later.spent) == ([0], [70])
    await later.storing.close()
