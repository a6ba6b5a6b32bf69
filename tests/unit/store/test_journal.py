"""The journal: what is saved comes back; trouble with the file costs nothing that is in memory."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.ledger import commands as ask
from core.ledger import observations as seen
from core.ledger.effects import NoteReport
from core.store import journal as module
from core.store.bodies import encode
from core.store.process import this_process
from tests.unit.ledger.builders import ROOT
from tests.unit.store.journals import Kept


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "ledger.db"
    while Kept.made:
        Kept.made.pop().journal.close()


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    database = sqlite3.connect(path)
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


def change(path: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(statement, values)
    database.close()


def wal(path: Path) -> int:
    """Bytes of the log of what was written."""
    return path.with_name(f"{path.name}-wal").stat().st_size


def test_all_is_there_at_once_and_comes_back(path: Path) -> None:
    first = Kept(path)
    first.learn("a", "b")
    first.see(ask.Pin(t=1, session=ROOT, ids=("f1",)))
    first.step("cat notes.md")
    second = Kept(path)  # the first one has not closed anything
    assert second.facts == ["a", "b"] and second.engine.state.ledger.get("f1") == first.engine.state.ledger.get("f1")
    assert second.engine.state.completed == 4
    assert second.engine.recent == first.engine.recent
    assert all(first.saved) and first.warnings == second.warnings == []
    first.journal.close()


def test_another_session_starts_empty(path: Path) -> None:
    first = Kept(path)
    first.learn("a")
    assert first.journal.load("ses_other") is None


def test_receipts_share_their_steps(path: Path) -> None:
    bench = Kept(path)
    bench.learn("a", "b", "c")
    assert rows(path, "SELECT count(*) FROM ledger_receipt") == [(1,)]
    assert rows(path, "SELECT count(*) FROM ledger_step") == [(3,)]
    assert rows(path, "SELECT count(*) FROM ledger_finding") == [(3,)]


def test_nothing_is_written_where_nothing_changed(path: Path) -> None:
    bench = Kept(path)
    bench.learn("a")
    written = rows(path, "PRAGMA data_version"), wal(path)
    for _ in range(3):
        assert bench.journal.save(bench.engine)
        bench.see(seen.Tick(t=9, session=ROOT))
    assert written == (rows(path, "PRAGMA data_version"), wal(path))


def test_notes_and_evicted_facts_are_kept_deleted_ones_go(path: Path) -> None:
    bench = Kept(path, max_findings_per_topic=2)
    bench.learn("a", "b", "c")
    bench.see(ask.Delete(t=1, session=ROOT, ids=("f2",)))
    note = NoteReport(
        t=1, session=ROOT, call="c", kind="gentle", findings=("f3",), text="x", delivery="none", arrived="unknown"
    )
    bench.journal.save(bench.engine, [note])
    assert rows(path, "SELECT id, gone FROM ledger_finding ORDER BY seq") == [("f1", "evicted"), ("f3", "")]
    assert rows(path, "SELECT body FROM ledger_note") == [(encode(note),)]
    second = Kept(path)
    assert second.facts == ["c"] and second.engine.state.ledger.was_deleted("b")


def test_day_tokens_count_each_extraction_once(path: Path) -> None:
    bench = Kept(path, extraction_interval_steps=1)
    for n in range(2):
        bench.step(f"cat {n}")
        tokens = seen.Tokens(input=100, output=n)
        bench.see(seen.ExtractionAnswered(t=bench.t, session=ROOT, id=f"x{n + 1}", tokens=tokens))
    assert bench.journal.day_tokens() == 201
    bench.t += 48 * 3600 * 1000
    assert bench.journal.day_tokens() == 0


def test_bodies_that_nothing_needs_any_more_are_dropped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.store.marks.TRIM_STEPS", 10)
    bench = Kept(path, extraction_interval_steps=3)
    bench.learn("a")
    bench.engine.recent = type(bench.engine.recent)(bench.engine.recent, maxlen=5)
    for n in range(30):
        bench.step(f"cat {n}")
        bench.answer()
    kept = rows(path, "SELECT part FROM ledger_step WHERE body NOT NULL ORDER BY seq")
    assert [part for (part,) in kept[:3]] == ["fin_msg_0000", "fin_msg_0001", "fin_msg_0002"]  # the receipt of "a"
    assert 8 <= len(kept) < 20
    second = Kept(path)
    assert len(second.engine.counted) == 33 and second.engine.state.completed == 33


# Trouble


def blocked(path: Path) -> sqlite3.Connection:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return other


def test_a_busy_database_is_said_once_and_nothing_is_lost(path: Path) -> None:
    bench = Kept(path)
    bench.learn("a")
    other = blocked(path)
    spent = []
    for n in range(5):
        begun = time.perf_counter()
        bench.step(f"cat {n}")
        spent.append(time.perf_counter() - begun)
    bench.see(ask.Add(t=1, session=ROOT, fact="b", topic="t"))
    assert [code for code, _ in bench.warnings] == ["store_failed"] and "in memory" in bench.warnings[0][1]
    assert bench.journal.problem and not bench.journal.retry()
    assert statistics.median(spent[1:]) < module.BUSY_SECONDS  # only the first one waited
    other.execute("ROLLBACK")
    other.close()
    assert bench.journal.retry()
    assert [code for code, _ in bench.warnings] == ["store_failed", "store_again"] and not bench.journal.problem
    assert Kept(path).facts == ["a", "b"]


def test_notes_wait_for_a_busy_database(path: Path) -> None:
    bench = Kept(path)
    bench.learn("a")
    other = blocked(path)
    note = NoteReport(
        t=1, session=ROOT, call="c", kind="gentle", findings=("f1",), text="x", delivery="none", arrived="unknown"
    )
    assert not bench.journal.save(bench.engine, [note])
    other.execute("ROLLBACK")
    other.close()
    assert bench.journal.save(bench.engine)
    assert rows(path, "SELECT body FROM ledger_note") == [(encode(note),)]


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may grow beyond what it is: what a full disk does, to this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, before)


def test_a_full_disk_is_said_once_and_made_up_for(
    path: Path, small_files: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.0)
    bench = Kept(path)
    bench.learn("a")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (wal(path), limits[1]))
    for n in range(4):
        bench.step(f"cat {n}", "long " * 500)
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    (code, text), *more = bench.warnings
    assert code == "store_failed" and text.startswith("Facts are not stored: ") and more == []
    assert bench.journal.retry()
    assert len(Kept(path).engine.recent) == 7


def test_a_damaged_database_leaves_the_ledger_in_memory(path: Path) -> None:
    path.write_bytes(b"no database at all, but long enough to be one " * 100)
    bench = Kept(path)
    bench.learn("a")
    assert bench.facts == ["a"] and not any(bench.saved)
    ((code, text),) = bench.warnings
    assert (code, text) == ("store_failed", bench.journal.problem)
    assert text.startswith("Facts are not stored: ") and "Move the file away" in text


def test_pages_that_break_later_are_told(path: Path) -> None:
    bench = Kept(path)
    bench.learn("a")
    bench.journal.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    bench = Kept(path)
    bench.learn("b")
    assert bench.facts == ["b"]
    assert [code for code, _ in bench.warnings] == ["store_failed"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_cannot_be_written_is_told(path: Path) -> None:
    path.parent.chmod(0o500)
    bench = Kept(path)
    path.parent.chmod(0o700)
    assert bench.warnings[0][0] == "store_failed"


def test_a_database_that_can_only_be_read_is_told(path: Path) -> None:
    bench = Kept(path)
    bench.learn("a")
    bench.journal._database.execute("PRAGMA query_only = ON")  # type: ignore[union-attr]
    bench.learn("b")
    assert bench.facts == ["a", "b"] and bench.warnings == [("store_failed", bench.journal.problem)]
    assert "can only be read" in bench.journal.problem


def test_no_folder_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    bench = Kept(tmp_path / "file" / "ledger.db")
    bench.learn("a")
    assert bench.facts == ["a"] and [code for code, _ in bench.warnings] == ["store_failed"]


def test_rows_of_another_version_are_left_out_and_left_alone(path: Path) -> None:
    first = Kept(path)
    first.learn("a", "b")
    first.journal.close()
    change(path, "UPDATE ledger_finding SET body = ? WHERE id = 'f2'", b"\x02what comes later")
    second = Kept(path)
    assert second.facts == ["a"] and second.warnings == [
        ("store_skipped", f"1 stored items of {ROOT} cannot be read: left out.")
    ]
    second.see(ask.Add(t=1, session=ROOT, fact="c", topic="t"))
    assert rows(path, "SELECT id, body FROM ledger_finding WHERE id = 'f2'") == [("f2", b"\x02what comes later")]
    assert [finding.id for finding in second.engine.state.ledger] == ["f1", "f3"]


def test_a_lost_record_costs_no_ids(path: Path) -> None:
    first = Kept(path)
    first.learn("a", "b")
    first.journal.close()
    change(path, "UPDATE ledger_part SET body = x'01ff' WHERE name = 'lasting'")
    second = Kept(path)
    assert second.facts == ["a", "b"] and second.engine.state.completed == 3
    second.see(ask.Add(t=1, session=ROOT, fact="c", topic="t"))
    assert second.engine.state.ledger.get("f3") is not None


# Several processes


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.unit.store.journals import Kept
bench = Kept(Path({path!r}))
bench.learn("of the child")
print("ready", flush=True)
sys.stdin.read()
"""


def test_one_process_writes_a_session_until_it_dies(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = CHILD.format(root=str(Path(__file__).parents[3]), path=str(path))
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == b"ready\n"
        bench = Kept(path)
        bench.see(ask.Add(t=1, session=ROOT, fact="mine", topic="t"))
        assert [code for code, _ in bench.warnings] == ["store_shared"]
        assert rows(path, "SELECT fact FROM ledger_finding") == [("of the child",)]
        child.kill()
        child.wait()
        monkeypatch.setattr("core.store.journal.time.monotonic", lambda: float(2**40))
        assert bench.journal.retry()
        assert rows(path, "SELECT fact FROM ledger_finding") == [("of the child",), ("mine",)]
        assert rows(path, "SELECT owner FROM ledger") == [(this_process(),)]
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()


def test_closing_gives_the_session_back(path: Path) -> None:
    bench = Kept(path)
    bench.learn("a")
    bench.journal.close()
    assert rows(path, "SELECT owner FROM ledger") == [("",)]
    assert not bench.journal.save(bench.engine)
    bench.journal.close()


def test_the_log_is_emptied_beside_the_writer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECKPOINT_BYTES", 200_000)
    bench = Kept(path)
    for n in range(60):
        bench.step(f"cat {n}", "long " * 1000)
    thread = bench.journal._checkpoint
    assert thread is not None
    thread.join()
    assert path.stat().st_size > 100_000  # the log has been copied into the database
    bench.journal.close()
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    assert len(Kept(copy).engine.recent) == 60


def test_counts_of_all_sessions(path: Path) -> None:
    bench = Kept(path)
    bench.learn("a", "b")
    assert Kept(path).journal.counts() == {ROOT: 2}


def test_what_a_person_added_above_the_cap_is_there_after_a_restart(path: Path) -> None:
    first = Kept(path, max_findings=1)
    for fact in ("a", "b"):
        first.see(ask.Add(t=first.t, session=ROOT, fact=fact, topic="t"))
        if fact == "a":
            first.see(ask.Pin(t=first.t, session=ROOT, ids=("f1",), on=True))
    assert first.facts == ["a", "b"]
    again = Kept(path, max_findings=1)
    assert again.facts == ["a", "b"]


def test_a_fact_that_waits_stays_beside_its_twin_that_a_person_added(path: Path) -> None:
    first = Kept(path, review="all")
    first.learn("a")
    first.see(ask.Add(t=first.t, session=ROOT, fact="a", topic="t"))
    again = Kept(path, review="all")
    assert (again.facts, list(again.engine.state.ledger.held)) == (["a"], ["f1"])


def test_a_change_of_a_file_that_no_fact_is_about_yet_is_stored(path: Path) -> None:
    first = Kept(path)
    first.see(seen.FileChanged(t=5, session="", path="/p/a"))
    again = Kept(path)
    assert again.engine.state.last_change == ("/p/a", 5)
