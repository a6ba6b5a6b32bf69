"""What is stored of all sessions: found, read, removed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.errors import FileError, UsageError
from core.ledger import commands as ask
from core.store.archive import DAY_MS, Archive, Removed, StoredFact, expire
from tests.unit.ledger.builders import ROOT
from tests.unit.store.journals import Kept

SECRETS_OF_A_SESSION = b"xxd model.ckpt"


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """A ledger with two facts, one that waits for review, and one that made room."""
    path = tmp_path / "ledger.db"
    bench = Kept(path, max_findings_per_topic=2)
    bench.learn("old", "a", "b")
    bench.see(ask.Pin(t=2, session=ROOT, ids=("f2",)))
    bench.journal.close()
    yield path
    while Kept.made:
        Kept.made.pop().journal.close()


def copied(path: Path, root: str, **columns: Any) -> None:
    """The same under another id."""
    database = sqlite3.connect(path, isolation_level=None)
    for table in ("ledger", "ledger_part", "ledger_finding", "ledger_receipt", "ledger_step"):
        names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        other = [name for name in names if name != "root"]
        sql = f"INSERT INTO {table} (root, {', '.join(other)}) SELECT ?, {', '.join(other)} FROM {table} WHERE root = ?"
        database.execute(sql, (root, ROOT))
    for name, value in columns.items():
        database.execute(f"UPDATE ledger SET {name} = ? WHERE root = ?", (value, root))
    database.close()


def roots(path: Path, **how: Any) -> list[str]:
    with Archive(path) as archive:
        return [session.root for session in archive.sessions(**how)]


def facts(path: Path, **how: Any) -> list[StoredFact]:
    with Archive(path) as archive:
        return list(archive.facts(archive.find(ROOT), **how))


def test_sessions_are_found_by_folder_id_and_age(path: Path) -> None:
    copied(path, "ses_below", directory="/p/deep", updated=DAY_MS)
    copied(path, "ses_beside", directory="/px", updated=2 * DAY_MS)
    assert roots(path) == ["ses_beside", "ses_below", ROOT]
    assert roots(path, directory="/p") == ["ses_below", ROOT]
    assert roots(path, directory="/p/deep") == ["ses_below"]
    assert roots(path, before=2 * DAY_MS) == ["ses_below", ROOT]


def test_the_start_of_an_id_will_do_if_there_is_one(path: Path) -> None:
    copied(path, "ses_root2")
    with Archive(path) as archive:
        assert archive.find("ses_root2").root == "ses_root2"
        assert archive.find(ROOT).root == ROOT  # the whole id of one, the start of another
        for start, words in (("ses_r", "2 stored sessions begin"), ("", "no session ''"), ("x", "no session 'x'")):
            with pytest.raises(UsageError, match=words):
                archive.find(start)


def test_facts_come_with_what_bears_them_out(path: Path) -> None:
    found = facts(path, evicted=True)
    assert [(fact.finding.fact, fact.gone) for fact in found] == [("old", "evicted"), ("a", ""), ("b", "")]
    assert [fact.finding.fact for fact in facts(path)] == ["a", "b"]
    assert found[1].finding.pinned and found[1].proofs == ()
    bench = Kept(path)
    bench.calls = bench.messages = 10
    for _ in range(3):
        bench.step("wc -l rows.csv", "first\n128 rows.csv")
    bench.answer(("rows.csv has 128 lines", "rows:rows.csv"))
    (fact,) = [fact for fact in facts(path, proofs=True) if "128" in fact.finding.fact]
    assert {line for proof in fact.proofs for line in proof.lines} == {(2, "128 rows.csv")}
    assert fact.proofs[0].call.command == "wc -l rows.csv"


def test_findings_for_another_session_have_their_receipts(path: Path) -> None:
    with Archive(path) as archive:
        found = archive.findings(ROOT)
        assert archive.findings("ses_none") == []
    assert [finding.fact for finding in found] == ["a", "b"]
    assert [len(finding.receipt.steps) for finding in found] == [3, 3]


def test_what_is_removed_is_gone_from_the_file(path: Path) -> None:
    copied(path, "ses_other")
    with Archive(path) as archive:
        removed = archive.remove([session for session in archive.sessions() if session.root == ROOT])
        assert removed == Removed(sessions=1, findings=3, steps=3, notes=0)
        assert [session.root for session in archive.sessions()] == ["ses_other"]
        archive.remove(archive.sessions())
    left = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert SECRETS_OF_A_SESSION not in left


def test_a_session_in_use_stays(path: Path) -> None:
    bench = Kept(path)
    with Archive(path) as archive:
        assert archive.remove(archive.sessions()) == Removed()
    bench.journal.close()
    assert roots(path) == [ROOT]


def test_what_is_too_old_expires(path: Path) -> None:
    copied(path, "ses_late", updated=10 * DAY_MS)
    assert expire(path, 0, 99 * DAY_MS) == Removed()
    assert expire(path, 5, 11 * DAY_MS) == Removed(sessions=1, findings=3, steps=3)
    assert roots(path) == ["ses_late"]
    assert expire(path.with_name("none.db"), 5, 11 * DAY_MS) == Removed()


def test_rows_that_cannot_be_read_are_counted(path: Path) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("UPDATE ledger_finding SET body = x'07' WHERE id = 'f2'")
    database.close()
    with Archive(path) as archive:
        assert [fact.finding.fact for fact in archive.facts(archive.find(ROOT))] == ["b"]
        assert archive.skipped == 1


def test_a_file_that_is_no_database_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("no database " * 100)
    with pytest.raises(FileError):
        Archive(tmp_path / "x.db")


def test_facts_are_data(path: Path) -> None:
    (fact, *_) = facts(path)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(fact), type=StoredFact) == fact
