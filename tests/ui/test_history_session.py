"""One past session: its facts, what was said and done, folded and unfolded."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.ledger.commands import Add, Undo
from ledger_tui.rows.history_text import TextRow
from ledger_tui.screens import history_reading
from ledger_tui.screens.history import History
from tests.history_data import BASE, Builder, text
from tests.ui.example import NOW, ROOT, example
from tests.ui.history_stage import FACT, PROJECT, known_facts, opened, read, sessions, until
from tests.ui.stage import stage
from tests.unit.ledger.builders import ROOT as KNOWN


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = sessions(tmp_path / "opencode.db")
    monkeypatch.setenv("OPENCODE_DB", str(path))
    return path


async def test_what_was_said_and_done_is_shown_folded() -> None:
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        await read(play)
        shown = play.text()
        for words in (
            *("Figure out [/b] model.ckpt", "2 messages", "fake/m1", KNOWN, "You  ", "What is in model.ckpt?"),
            *("Agent  ", "thinks: Look at its bytes.", "+ bash  xxd model.ckpt  2 lines"),
            *("+ read  gone.md  failed", "+ 2 files changed", "It holds raw float32.", "1 part not shown: 1 riddle."),
        ):
            assert words in shown
        assert "803f" not in shown and "/a.py" not in shown
        await play.press("escape")
        assert isinstance(play.app.screen, History)


async def test_one_call_unfolds_and_folds() -> None:
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        await read(play)
        await play.press("enter")
        assert "Nothing is folded here." in play.footer()
        await play.press("j", "j", "enter")
        await until(play, lambda: "803f" in play.text())
        assert "command: xxd model.ckpt" in play.text() and "no such file" not in play.text()
        await play.press("j", "j", "enter")
        await until(play, lambda: "803f" not in play.text())
        row = play.app.screen.pane.list.current  # type: ignore[attr-defined]
        assert "xxd" in row.text(), "the cursor stands on the folded call"


async def test_all_calls_unfold_and_fold() -> None:
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        await read(play)
        await play.press("o")
        await until(play, lambda: "803f" in play.text())
        assert "no such file" in play.text() and "/b.py" in play.text()
        await play.press("o")
        await until(play, lambda: "803f" not in play.text())


async def test_the_filter_finds_what_is_folded() -> None:
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        screen = await read(play)
        await play.press("/", *"803f")
        rows = [row for row in screen.pane.list.rows if row.selectable]
        assert [isinstance(row, TextRow) and row.piece for row in rows] == [2]
        await play.press("escape")
        assert len(screen.pane.list.rows) > 5


async def test_a_fact_is_taken_over_with_where_it_comes_from() -> None:
    known_facts()
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        await read(play)
        assert "2 facts known of it" in play.text() and "evicted" in play.text()
        await play.press("j")
        assert "enter take the fact" in play.footer()
        await play.press("enter")
        (command,) = play.host.commands
        assert isinstance(command, Add)
        assert (command.session, command.fact, command.topic) == (ROOT, FACT, "file-format:model.ckpt")
        assert command.source == f"session {KNOWN} of 2026-05-28 20:28"
        assert "Taken over. u takes it back." in play.footer()
        await play.settle()
        assert "in the ledger on screen" in play.text()
        await play.press("enter")
        assert "has this fact already" in play.footer() and len(play.host.commands) == 1
        await play.press("u")
        assert play.host.commands[-1] == Undo(t=NOW, session=ROOT)


async def test_a_watching_dashboard_takes_nothing_over() -> None:
    known_facts()
    async with stage(example(directory=PROJECT), read_only=True) as play:
        await opened(play)
        await read(play)
        await play.press("enter")
        assert "only watches" in play.footer() and play.host.commands == []


async def test_without_a_session_on_screen_nothing_is_taken_over() -> None:
    known_facts()
    async with stage(empty=True) as play:
        await opened(play)
        await read(play)
        await play.press("enter")
        assert "No session is shown yet." in play.footer()


async def test_a_long_session_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_reading, "PIECES", 3)
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        screen = await read(play)
        assert "3 parts read; enter reads on." in play.text() and "gone.md" not in play.text()
        await play.press("G", "enter")
        await until(play, lambda: not screen.reading)
        assert "gone.md" in play.text() and "6 parts read" in play.text()
        await play.press("G", "enter")
        await until(play, lambda: not screen.reading)
        assert "reads on" not in play.text() and "It holds raw float32." in play.text()


async def test_another_width_breaks_the_lines_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "long.db"
    monkeypatch.setenv("OPENCODE_DB", str(path))
    words = " ".join(f"word{n}" for n in range(60))
    with Builder(path) as b:
        b.session("ses_l", BASE, directory=PROJECT)
        b.message("ses_l", "m")
        b.part("m", "p", text(words))
    async with stage(example(directory=PROJECT), size=(60, 20)) as play:
        await opened(play)
        screen = await read(play)

        def said() -> str:
            return " ".join(row.text().strip() for row in screen.pane.list.rows if row.selectable)

        narrow = len(screen.pane.list.rows)
        assert said() == words
        await play.pilot.resize_terminal(120, 40)
        await until(play, lambda: len(screen.pane.list.rows) < narrow)
        assert said() == words


async def test_a_session_that_is_gone_is_a_sentence(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        monkeypatch.setenv("OPENCODE_DB", str(database.with_name("gone.db")))
        await read(play)
        assert "does not exist" in play.text()


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_it_fits(size: tuple[int, int]) -> None:
    known_facts()
    async with stage(example(directory=PROJECT), size=size) as play:
        await opened(play)
        await read(play)
        assert all(len(line) == size[0] for line in play.lines())
        assert all(words in play.footer() for words in ("enter take the fact", "esc back", "? help"))
        await play.press("j", "j")
        assert "enter unfold" in play.footer()
        await play.press("?")
        assert "Help: Past session" in play.text()


async def test_in_ascii() -> None:
    async with stage(example(directory=PROJECT), ascii=True) as play:
        await opened(play)
        await read(play)
        await play.press("o")
        await until(play, lambda: "803f" in play.text())
        assert play.text().isascii()
