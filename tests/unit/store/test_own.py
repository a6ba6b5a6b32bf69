"""The ledger's own sessions: remembered before they are used, across crashes and between processes."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from core.store.own import OwnSessions

URL = "http://127.0.0.1:4096"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def test_ids_are_known_from_then_on(path: Path) -> None:
    own = OwnSessions(path)
    assert "ses_1" not in own
    assert own.add("ses_1", URL, 1)
    assert "ses_1" in own
    own.remove("ses_1")
    assert "ses_1" in own
    own.close()
    again = OwnSessions(path)
    assert "ses_1" in again
    assert "ses_2" not in again
    again.close()


@pytest.mark.parametrize("other", [None, 7, ("ses_1",)])
def test_what_is_no_id_is_not_there(path: Path, other: object) -> None:
    own = OwnSessions(path)
    assert other not in own
    own.close()


def test_a_session_in_use_is_no_leftover_an_abandoned_one_is(path: Path) -> None:
    own = OwnSessions(path)
    for n, id in enumerate(("ses_used", "ses_done", "ses_b", "ses_a")):
        own.add(id, URL, n)
    own.add("ses_elsewhere", "http://127.0.0.1:1", 0)
    own.remove("ses_done")
    for id in ("ses_a", "ses_b", "ses_elsewhere"):
        own.abandon(id)
    assert own.leftovers(URL) == ["ses_b", "ses_a"]
    own.remove("ses_b")
    assert own.leftovers(URL) == ["ses_a"]
    own.close()


def test_ids_of_deleted_sessions_are_forgotten_after_a_week(path: Path) -> None:
    own = OwnSessions(path)
    week = 7 * 24 * 3600 * 1000
    own.add("old", URL, 1000)
    own.add("old_and_left", URL, 1000)
    own.remove("old")
    own.add("young", URL, 1000 + week)
    own.close()
    assert rows(path) == ["old", "old_and_left", "young"]
    own = OwnSessions(path)
    own.add("younger", URL, 1001 + week)
    assert rows(path) == ["old_and_left", "young", "younger"]
    assert "old" in own
    own.close()


def rows(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    found = [id for (id,) in connection.execute("SELECT id FROM own_session ORDER BY id")]
    connection.close()
    return found


def test_another_processs_id_is_seen_even_if_stored_after_its_first_event(path: Path) -> None:
    here, there = OwnSessions(path), OwnSessions(path)
    assert "ses_1" not in here
    there.add("ses_1", URL, 1)
    assert "ses_1" in here
    there.remove("ses_1")
    assert "ses_1" in here
    here.close()
    there.close()


def test_an_unknown_id_soon_costs_no_look_at_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = OwnSessions(path)
    looks = 0
    refresh = own._refresh

    def counted() -> None:
        nonlocal looks
        looks += 1
        refresh()

    monkeypatch.setattr(own, "_refresh", counted)
    for _ in range(1000):
        assert "ses_users" not in own
    assert looks == 8
    own.close()


def test_a_store_that_cannot_be_opened_is_told_once_and_memory_does(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    own = OwnSessions(tmp_path, lambda code, message: told.append((code, message)))
    assert not own.add("ses_1", URL, 1)
    own.abandon("ses_1")
    assert "ses_1" in own
    assert "ses_2" not in own
    assert own.leftovers(URL) == []
    own.close()
    [(code, message)] = told
    assert code == "store_failed"
    assert str(tmp_path) in message


def test_a_store_that_breaks_later_is_told_once(path: Path) -> None:
    told: list[str] = []
    own = OwnSessions(path, lambda code, message: told.append(code))
    breaker = sqlite3.connect(path)
    breaker.execute("DROP TABLE own_session")
    breaker.commit()
    breaker.close()
    for n in range(3):
        own.add(f"ses_{n}", URL, n)
        assert f"ses_{n}" in own
    assert own.leftovers(URL) == []
    assert told == ["store_failed"]
    own.close()


def test_what_could_not_be_written_while_another_wrote_is_written_later(path: Path) -> None:
    told: list[str] = []
    own = OwnSessions(path, lambda code, message: told.append(code))
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    assert not own.add("ses_1", URL, 1)
    own.add("ses_2", URL, 2)
    own.remove("ses_1")
    assert "ses_1" in own
    blocker.execute("ROLLBACK")
    assert rows(path) == []
    blocker.close()
    assert own.add("ses_3", URL, 3)
    assert rows(path) == ["ses_1", "ses_2", "ses_3"]
    own.abandon("ses_2")
    assert own.leftovers(URL) == ["ses_2"]
    assert told == []
    own.close()


CHILD = """
import sys
from pathlib import Path
from core.store.own import OwnSessions
own = OwnSessions(Path(sys.argv[1]))
n = 0
while True:
    id = f"{sys.argv[2]}-{n:06}"
    if own.add(id, "http://127.0.0.1:4096", n):
        print(id, flush=True)
    if n % 3 == 0:
        own.remove(id)
    n += 1
"""


def spawn(path: Path, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", CHILD, str(path), name], stdout=subprocess.PIPE, text=True)


def kill(child: subprocess.Popen[str]) -> list[str]:
    """End it without mercy; what it had printed."""
    child.send_signal(signal.SIGKILL)
    assert child.stdout is not None
    with child.stdout as out:
        printed = out.read().split()
    child.wait()
    return printed


def test_nothing_is_lost_when_processes_are_killed(path: Path) -> None:
    here = OwnSessions(path)
    for attempt in range(3):
        children = [spawn(path, f"{attempt}{n}") for n in range(2)]
        stored: set[str] = set()
        for child in children:
            assert child.stdout is not None
            stored |= {child.stdout.readline().strip() for _ in range(50)}
        assert not stored & set(here.leftovers(URL))
        for child in children:
            stored.update(kill(child))
        assert all(id in here for id in stored)
        left = set(here.leftovers(URL))
        assert {id for id in stored if int(id[-6:]) % 3} <= left
        for id in left:
            here.remove(id)
    here.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
