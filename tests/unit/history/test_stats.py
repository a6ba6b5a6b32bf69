"""Sessions counted up by day, model, project and tool."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from pathlib import Path

import pytest

from core.history.source import Source
from core.history.stats import By, Stats, count_up
from tests import history_data as data
from tests.history_data import Builder, dump, text, tool

DAY = 24 * 3_600_000
NOON = 1_780_056_000_000
"""2026-05-29, 12:00 UTC."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Three root sessions on two days, and a sub-agent's."""
    one, two = (dump({"id": name, "providerID": "fake"}) for name in ("m1", "m2"))
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_1", NOON, cost=1.0, tokens_input=100, tokens_cache_read=20, model=one, directory="/a")
        b.session("ses_2", NOON + DAY, cost=3.0, tokens_output=10, model=two, directory="/b")
        b.session("ses_3", NOON + DAY, cost=0.5, tokens_input=1, model=one, directory="/a")
        b.session("ses_4", NOON + DAY, cost=0.25, tokens_input=2, model=one, directory="/a", parent_id="ses_3")
        b.message(
            "ses_1", "msg_1", "assistant", NOON, cost=0.75, tokens={"input": 60, "output": 30, "cache": {"read": 9}}
        )
        b.part("msg_1", "p1", tool("bash", {"command": "x"}, "y"))
        b.part("msg_1", "p2", tool("bash", {"command": "x"}, "no", status="error"))
        b.part("msg_1", "p3", tool("read", {"filePath": "x"}, "y"))
        b.part("msg_1", "p4", text('{"type":"tool","tool":"bash"}'))
        b.part("msg_1", "p5", "not json")
        b.message("ses_4", "msg_4", "assistant", NOON, raw="not json")
        b.part("msg_4", "p6", tool("read", {"filePath": "x"}, "y"))
    return tmp_path / "a.db"


def counted(place: Path, **options: object) -> Stats:
    with Source.open(place) as source:
        return count_up([source], zone=UTC, **options)  # type: ignore[arg-type]


def rows(stats: Stats, by: By) -> list[tuple[object, ...]]:
    return [(one.key, one.sessions, one.children, one.tokens, one.cost) for one in stats.by[by]]


def test_groups(place: Path) -> None:
    stats = counted(place)
    assert (stats.total.sessions, stats.total.children) == (3, 1)
    assert (stats.total.tokens, stats.total.cost) == (133, 4.75)
    assert rows(stats, By.DAY) == [("2026-05-29", 1, 0, 120, 1.0), ("2026-05-30", 2, 1, 13, 3.75)]
    assert rows(stats, By.MODEL) == [("fake/m2", 1, 0, 10, 3.0), ("fake/m1", 2, 1, 123, 1.75)]
    assert rows(stats, By.PROJECT) == [("/b", 1, 0, 10, 3.0), ("/a", 2, 1, 123, 1.75)]


def test_tools_share_what_their_messages_spent(place: Path) -> None:
    assert rows(counted(place), By.TOOL) == [("bash", 1, 0, 66, 0.5), ("read", 1, 1, 33, 0.25)]
    assert [(one.calls, one.errors) for one in counted(place).by[By.TOOL]] == [(2, 1), (2, 0)]


def test_only_the_groups_that_are_wanted(place: Path) -> None:
    assert list(counted(place, by=[By.MODEL]).by) == [By.MODEL]


def test_own_sessions_do_not_count(place: Path) -> None:
    assert counted(place, own={"ses_2"}).total.cost == 1.75


def test_a_day_is_that_of_the_zone(place: Path) -> None:
    with Source.open(place) as source:
        stats = count_up([source], by=[By.DAY], zone=timezone(timedelta(hours=-13)))
    assert [one.key for one in stats.by[By.DAY]] == ["2026-05-28", "2026-05-29"]


def test_progress(place: Path) -> None:
    seen: list[tuple[int, int]] = []
    counted(place, on_progress=lambda done, of: seen.append((done, of)))
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4)]


def test_other_layouts(tmp_path: Path) -> None:
    two = counted(data.small_v2(tmp_path / "two.db"))
    assert [(one.key, one.calls, one.errors) for one in two.by[By.TOOL]] == [("shell", 2, 0), ("read", 1, 1)]
    assert sum(one.cost for one in two.by[By.TOOL]) == 0.5
    old = counted(data.legacy(tmp_path / "old", sessions=2))
    assert rows(old, By.MODEL) == [("fake/m0", 2, 0, 16, 0.5)] and old.by[By.TOOL] == []
