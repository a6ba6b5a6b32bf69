"""Ids of the ledger's own sessions."""

from __future__ import annotations

from pathlib import Path

from core import paths
from core.history.own import own_sessions
from core.store.database import DATABASE
from core.store.own import OwnSessions


def test_recorded_ids_are_read_while_the_ledger_writes(tmp_path: Path) -> None:
    store = OwnSessions(paths.state_dir() / DATABASE)
    store.add("ses_own", "http://127.0.0.1:1", 1)
    assert own_sessions() == {"ses_own"}
    store.add("ses_next", "http://127.0.0.1:1", 2)
    assert own_sessions() == {"ses_own", "ses_next"}
    store.close()
    assert own_sessions() == {"ses_own", "ses_next"}


def test_none_without_a_readable_database(tmp_path: Path) -> None:
    assert own_sessions(tmp_path / "none.db") == frozenset()
    (tmp_path / "broken.db").write_text("no database")
    assert own_sessions(tmp_path / "broken.db") == frozenset()
