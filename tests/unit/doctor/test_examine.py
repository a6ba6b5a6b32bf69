"""Checks do not disturb one another, whatever one of them does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

import pytest

from core.doctor import examine as examining
from core.doctor.examine import CHECKS, Check, examine
from core.doctor.lines import Line, ok
from core.doctor.reach import Reach
from core.doctor.surroundings import Surroundings
from core.errors import FileError

from .stage import Stage, summary


def fine(_: Surroundings, __: Reach) -> Iterable[Line]:
    return [ok("fine", "all is well")]


async def asked(_: Surroundings, __: Reach) -> Iterable[Line]:
    await asyncio.sleep(0)
    return [ok("asked", "it answered"), ok("asked", "twice")]


def test_lines_come_in_the_order_of_the_checks(stage: Stage) -> None:
    lines = examine(stage.surroundings(), checks=[("asked", asked), ("fine", fine)])
    assert summary(lines) == [("asked", "ok"), ("asked", "ok"), ("fine", "ok")]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (KeyError("no\x1b[2J such"), "KeyError: 'no\\x1b[2J such'"),
        (FileError("no file", "Make one."), "no file. Make one."),
        (SystemExit(3), "SystemExit: 3"),
        (RecursionError("deep"), "RecursionError: deep"),
    ],
)
def test_one_that_crashes_is_a_failed_line(stage: Stage, error: BaseException, text: str) -> None:
    def crashing(_: Surroundings, __: Reach) -> Iterable[Line]:
        raise error

    def crashing_halfway(_: Surroundings, __: Reach) -> Iterable[Line]:
        yield ok("half", "so far")
        raise error

    async def crashing_later(_: Surroundings, __: Reach) -> Iterable[Line]:
        raise error

    checks: list[tuple[str, Check]] = [
        ("one", crashing),
        ("half", crashing_halfway),
        ("later", crashing_later),
        ("fine", fine),
    ]
    lines = examine(stage.surroundings(), checks=checks)
    assert summary(lines) == [("one", "fail"), ("half", "fail"), ("later", "fail"), ("fine", "ok")]
    assert {line.text for line in lines[:3]} == {f"could not be checked: {text}"}


def test_one_that_hangs_is_left_behind(stage: Stage) -> None:
    forever = threading.Event()

    def hanging(_: Surroundings, __: Reach) -> Iterable[Line]:
        forever.wait()
        return []

    tidied = threading.Event()

    async def hanging_politely(_: Surroundings, __: Reach) -> Iterable[Line]:
        try:
            await asyncio.Event().wait()
        finally:
            tidied.set()
        return []

    try:
        checks: list[tuple[str, Check]] = [("hanging", hanging), ("polite", hanging_politely), ("fine", fine)]
        lines = examine(stage.surroundings(), checks=checks, seconds=0.5)
        assert summary(lines) == [("hanging", "fail"), ("polite", "fail"), ("fine", "ok")]
        assert "Run it again" in lines[0].fix
        assert tidied.is_set()
    finally:
        forever.set()


@pytest.mark.parametrize("hangs", [True, False])
def test_without_a_way_to_look_for_opencode_the_rest_goes_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    async def broken(_: Surroundings) -> Reach:
        if hangs:
            await asyncio.Event().wait()
        raise OSError("no sockets")

    seen: list[Reach] = []

    def looking(_: Surroundings, way: Reach) -> Iterable[Line]:
        seen.append(way)
        return []

    monkeypatch.setattr(examining, "reach", broken)
    assert examine(stage.surroundings(), checks=[("looking", looking)], seconds=0.5) == []
    assert (seen[0].way, bool(seen[0].problem)) == ("none", True)


def test_all_checks_on_a_machine_without_opencode(stage: Stage) -> None:
    lines = examine(stage.surroundings())
    statuses = dict(summary(lines))
    assert set(statuses) == {"colour", "unicode", *(name for name, _ in CHECKS)} - {"tmux"}
    assert [check for check, status in statuses.items() if status == "fail"] == ["opencode"]
    assert not any("could not be checked" in line.text for line in lines)
