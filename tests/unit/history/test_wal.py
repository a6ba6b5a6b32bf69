"""Whether a write-ahead log holds something, judged as SQLite does."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from core.history.wal import holds_commits


@pytest.fixture
def log(tmp_path: Path) -> bytes:
    """A log with one transaction of two pages."""
    path = tmp_path / "source.db"
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = wal")
    db.execute("CREATE TABLE t (x)")
    data = Path(f"{path}-wal").read_bytes()
    db.close()
    return data


def check(tmp_path: Path, data: bytes) -> bool:
    path = tmp_path / "x-wal"
    path.write_bytes(data)
    return holds_commits(path)


def test_a_transaction_is_found(tmp_path: Path, log: bytes) -> None:
    assert check(tmp_path, log)


@pytest.mark.parametrize("length", [0, 20, 32, 60, 4_000, 4_152 + 4_100])
def test_a_log_cut_within_its_first_transaction_holds_none(tmp_path: Path, log: bytes, length: int) -> None:
    assert len(log) == 32 + 2 * 4_120
    assert not check(tmp_path, log[:length])


@pytest.mark.parametrize("place", [0, 9, 17, 25, 32 + 9, 32 + 17, 32 + 30, 4_152 + 3_000])
def test_a_log_with_one_byte_wrong_holds_none(tmp_path: Path, log: bytes, place: int) -> None:
    assert not check(tmp_path, log[:place] + bytes([log[place] ^ 1]) + log[place + 1 :])


def test_frames_of_an_earlier_use_of_the_log_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = wal")
    db.execute("CREATE TABLE t (x)")
    old = Path(f"{path}-wal").read_bytes()
    db.execute("PRAGMA wal_checkpoint(RESTART)")
    db.execute("INSERT INTO t VALUES (1)")
    new = Path(f"{path}-wal").read_bytes()
    db.close()
    assert check(tmp_path, new)
    assert not check(tmp_path, new[:32] + old[32:])
