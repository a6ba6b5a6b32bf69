"""Watching a dump file: whatever happens to it and its folder, the last good findings stay and the reason is said."""

# ruff: noqa: ASYNC240 - files this small are written at once

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from core.ledger.commands import Pin
from core.store.dump import DumpContents
from core.store.entries import encode
from core.views import LedgerHost
from core.watching import WatchHost
from core.watching.state import WatchedDump
from tests.unit.watching.files import POLL, T, entry, overwrite, replace


@contextlib.asynccontextmanager
async def watching(path: Path) -> AsyncIterator[tuple[WatchHost, Callable[[Callable[[], bool]], Any]]]:
    host = WatchHost(path, poll_seconds=POLL, clock=lambda: 5)
    changed = asyncio.Event()
    host.subscribe(changed.set)

    async def until(wanted: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not wanted():
                changed.clear()
                await changed.wait()

    await host.start()
    try:
        await until(lambda: host.server.state == "file")
        yield host, until
    finally:
        await host.stop()


def facts(host: WatchHost) -> list[str]:
    view = host.view()
    return [finding.fact for topic in view.topics for finding in topic.findings] if view else []


def test_it_is_a_ledger_host(path: Path) -> None:
    host: LedgerHost = WatchHost(path)
    assert host.read_only


async def test_findings_are_shown_by_topic_pinned_first(path: Path) -> None:
    replace(
        path,
        entry("one", 1),
        entry("two", 2, topic="t:b.bin"),
        entry("three", 3, pinned=True, source="user", title="Look at a.bin", directory="/p"),
    )
    async with watching(path) as (host, _):
        view = host.view()
        assert view is not None
        assert (view.root, view.title, view.directory, view.findings, view.completed) == (
            "ses_1", "Look at a.bin", "/p", 3, 3,
        )  # fmt: skip
        assert [(topic.topic, [finding.fact for finding in topic.findings]) for topic in view.topics] == [
            ("t:a.bin", ["three", "one"]),
            ("t:b.bin", ["two"]),
        ]
        assert host.server.detail == ""
        receipt = host.receipt("f3")
        assert receipt is not None
        assert (receipt.fact, receipt.pinned, receipt.source, receipt.step) == ("three", True, "user", 3)
        assert host.receipt("f9") is None
        assert host.view() is view


async def test_changes_are_seen_and_logged(path: Path) -> None:
    replace(path, entry("one", 1), entry("two", 2))
    async with watching(path) as (host, until):
        before = host.revision("findings")
        replace(path, entry("uno", 1), entry("three", 3, pinned=True))
        await until(lambda: facts(host) == ["three", "uno"])
        assert host.revision("findings") != before
        view = host.view()
        assert view is not None
        assert [(row.kind, row.text, row.detail) for row in view.log] == [
            ("session", "2 findings in the file", ""),
            ("finding", "deleted a.bin", "two"),
            ("finding", "edited a.bin", "uno"),
            ("finding", "added a.bin", "three"),
        ]
        replace(path, entry("uno", 1), entry("three", 3))
        await until(lambda: len(host.view().log) == 5)  # type: ignore[union-attr]
        assert view.log[-1].text == "unpinned a.bin"


async def test_nothing_changes_while_the_file_does_not(path: Path) -> None:
    replace(path, entry("one"))
    async with watching(path) as (host, _):
        before = host.revision("findings")
        path.with_name("another.json").write_bytes(b"x")
        os.utime(path.parent)
        await asyncio.sleep(POLL * 3)
        assert host.revision("findings") == before


async def test_a_file_that_is_not_there_yet_is_waited_for(path: Path) -> None:
    async with watching(path) as (host, until):
        assert (host.selected, host.view(), list(host.sessions)) == (None, None, [])
        assert str(path) in host.server.detail
        assert "running ledger writes it" in host.server.detail
        replace(path, entry("one"))
        await until(lambda: facts(host) == ["one"])
        assert host.server.detail == ""


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda path: overwrite(path, b""), id="truncated"),
        pytest.param(lambda path: overwrite(path, path.read_bytes()[:-40]), id="cut"),
        pytest.param(lambda path: overwrite(path, os.urandom(500)), id="garbage"),
        pytest.param(lambda path: path.unlink(), id="removed"),
        pytest.param(lambda path: (path.unlink(), path.mkdir()), id="folder"),
        pytest.param(pipe, id="pipe"),
        pytest.param(lambda path: shutil.rmtree(path.parent), id="folder removed"),
        pytest.param(lambda path: path.parent.rename(path.parent.with_name("moved")), id="folder moved"),
    ],
)
async def test_what_was_good_stays_until_it_is_good_again(path: Path, damage: Callable[[Path], object]) -> None:
    replace(path, entry("one", 1), entry("two", 2))
    async with watching(path) as (host, until):
        damage(path)
        await until(lambda: "still shown" in host.server.detail)
        assert facts(host) == ["one", "two"]
        if path.is_dir():
            path.rmdir()
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        replace(path, entry("one", 1), entry("three", 3))
        await until(lambda: facts(host) == ["one", "three"])
        assert host.server.detail == ""
        view = host.view()
        assert view is not None
        assert view.log[-1].text == "the file is readable again"
        replace(path, entry("four", 4))
        await until(lambda: facts(host) == ["four"])


async def test_a_cut_file_is_better_than_nothing(path: Path) -> None:
    path.write_bytes(encode([entry("one", 1), entry("two", 2)])[:-50])
    async with watching(path) as (host, _):
        assert facts(host) == ["one"]
        assert "cut off" in host.server.detail


async def test_bad_entries_are_counted(path: Path) -> None:
    path.write_text(json.dumps([{"fact": "one", "topic": "t"}, 7, {}]))
    async with watching(path) as (host, _):
        assert facts(host) == ["one"]
        assert "2 entries are no finding" in host.server.detail


async def test_a_link_is_followed_wherever_it_leads(path: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    replace(first, entry("first"))
    replace(second, entry("second"))
    path.symlink_to(first)
    async with watching(path) as (host, until):
        assert facts(host) == ["first"]
        replace(first, entry("first again"))
        await until(lambda: facts(host) == ["first again"])
        path.unlink()
        path.symlink_to(second)
        await until(lambda: facts(host) == ["second"])
        replace(second, entry("second again"))
        await until(lambda: facts(host) == ["second again"])


async def test_a_folder_that_comes_later_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "dump.json"
    async with watching(path) as (host, until):
        path.parent.mkdir(parents=True)
        replace(path, entry("one"))
        await until(lambda: facts(host) == ["one"])


async def test_without_watches_the_file_is_still_looked_at(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("watchfiles.awatch", exhausted)
    replace(path, entry("one"))
    async with watching(path) as (host, until):
        replace(path, entry("two"))
        await until(lambda: facts(host) == ["two"])


async def test_sessions_can_be_chosen(path: Path) -> None:
    old = entry("old", 1, session="ses_old", title="Old")
    new = entry("new", 2, session="ses_new", title="New")
    replace(path, old, new)
    async with watching(path) as (host, until):
        assert [(item.root, item.title, item.findings, item.updated) for item in host.sessions] == [
            ("ses_new", "New", 1, T + 2),
            ("ses_old", "Old", 1, T + 1),
        ]
        assert (host.selected, facts(host)) == ("ses_new", ["new"])
        host.select("ses_old")
        assert (host.selected, facts(host)) == ("ses_old", ["old"])
        replace(path, old, new, entry("newest", 3, session="ses_new"))
        await until(lambda: host.sessions[0].findings == 2)
        assert host.selected == "ses_old"
        host.select(None)
        assert facts(host) == ["new", "newest"]
        host.select("ses_old")
        replace(path, new)
        await until(lambda: len(host.sessions) == 1)
        assert (host.selected, facts(host)) == ("ses_new", ["new"])


async def test_entries_without_a_session_are_one(path: Path) -> None:
    path.write_text(json.dumps([{"fact": "one", "topic": "t", "establishedAt": 5}]))
    async with watching(path) as (host, _):
        [item] = host.sessions
        assert (item.root, item.title) == ("-", "dump.json")
        view = host.view()
        assert view is not None
        assert host.receipt(view.topics[0].findings[0].id) is not None


async def test_commands_are_refused(path: Path) -> None:
    replace(path, entry("one"))
    async with watching(path) as (host, _):
        before = path.read_bytes()
        text, done = host.command(Pin(t=1, session="ses_1", ids=("f1",)))
        host.set_speed(3)
        assert not done
        assert "only watched" in text
        assert host.estimate().steps == 0
        assert path.read_bytes() == before


async def test_a_listener_that_fails_stops_nobody(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with watching(path) as (host, until):
        unsubscribe = host.subscribe(lambda: 1 / 0)  # type: ignore[arg-type]
        replace(path, entry("one"))
        await until(lambda: facts(host) == ["one"])
        assert "a listener failed" in caplog.text
        unsubscribe()
        unsubscribe()


async def test_hostile_text_is_harmless_on_screen(path: Path) -> None:
    path.write_text(
        json.dumps([{"fact": "a\x1b]52;c;eA==\x07b", "topic": "t:\x1b[2Jx", "session": "s\x9b1m", "title": "\x07t"}])
    )
    async with watching(path) as (host, _):
        view = host.view()
        assert view is not None
        assert (view.root, view.title, facts(host), view.topics[0].topic) == ("s", "t", ["ab"], "t:x")


def test_a_storm_of_changes_does_not_flood_the_log(path: Path) -> None:
    host = WatchHost(path)
    host._show(*host._digest(DumpContents(entries=(entry("x", 0),))))
    host._show(*host._digest(DumpContents(entries=tuple(entry("x", n) for n in range(5_000)))))
    view = host.view()
    assert view is not None
    assert len(view.log) == 102
    assert view.log[-1].text == "4899 more changes"


def test_a_partial_reading_is_taken_a_damaged_one_is_not() -> None:
    dump = WatchedDump()
    dump.take(DumpContents(entries=(entry("one"),)))
    assert dump.take(DumpContents(entries=(entry("two"),), state="damaged", problem="x.")) == []
    assert [c.entry.fact for c in dump.take(DumpContents(entries=(entry("two"),), state="partial", problem="x."))] == [
        "two"
    ]


def test_importing_does_not_load_what_only_following_needs() -> None:
    code = "import sys, core.watching; print({'watchfiles', 'sqlite3', 'httpx'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"set()\n"
