"""Reading one session of a run."""

from __future__ import annotations

from pathlib import Path

from core.history.listing import list_sessions
from core.history.material import Work, read_material
from core.history.source import Source
from core.history.transcript import Bounds
from tests.history_data import small_v1
from tests.unit.history.notemaking import row


def test_a_session_is_read_with_its_reasoning_known(tmp_path: Path) -> None:
    path = small_v1(tmp_path / "opencode.db")
    with Source.open(path) as source:
        first = next(list_sessions(source))
    found = read_material(Work(row=first, database=path), Bounds())
    assert found is not None
    assert "The Makefile has no rule for it." in found.question.text
    assert found.hints == ("Look at the log first.",)
    assert found.parts > 0


def test_a_session_without_content_has_no_parts(tmp_path: Path) -> None:
    path = small_v1(tmp_path / "opencode.db")
    found = read_material(Work(row=row("ses_c"), database=path), Bounds())
    assert found is not None
    assert found.parts == 0


def test_a_deleted_session_is_gone(tmp_path: Path) -> None:
    path = small_v1(tmp_path / "opencode.db")
    assert read_material(Work(row=row("ses_deleted"), database=path), Bounds()) is None
