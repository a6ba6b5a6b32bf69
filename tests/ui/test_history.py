"""The list of past sessions: what it shows, its filter and its search, and how trouble is said."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from core.paths import state_dir
from core.text import clean_line
from ledger_tui.screens import history_reading
from ledger_tui.screens.history import History
from ledger_tui.screens.reading import Reading
from tests.history_data import BASE, Builder, large
from tests.ui.example import example, live_server
from tests.ui.history_stage import PROJECT, known_facts, opened, sessions, until
from tests.ui.stage import stage
from tests.unit.ledger.builders import ROOT as KNOWN


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = sessions(tmp_path / "open code#1.db")
    monkeypatch.setenv("OPENCODE_DB", str(path))
    return path


async def test_the_projects_sessions_are_listed_newest_first(database: Path) -> None:
    known_facts()
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        first, second, third = play.lines()[1:4]
        assert "Figure out [/b] model.ckpt" in first
        assert all(words in first for words in ("2 msg", "81k tok", "$0.42", "1 fact"))
        assert "Make the parser faster  (archived)" in second
        assert not third.strip("│ ")
        assert "shop · 2 sessions" in play.lines()[0]


async def test_all_projects_on_demand(database: Path) -> None:
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        await play.press("a")
        assert "all projects · 3 sessions" in play.text() and "other" in play.lines()[2]
        await play.press("a")
        assert "Elsewhere" not in play.text()


async def test_it_works_without_opencode_and_shows_all_then(database: Path) -> None:
    async with stage(empty=True, server=live_server(state="none", url="")) as play:
        await opened(play)
        assert "all projects · 3 sessions" in play.text()
        await play.press("a")
        assert "folder is not known" in play.footer()
        await play.press("q")
        assert play.on_board


async def test_the_folder_the_program_was_started_for_counts_before_there_is_a_session(database: Path) -> None:
    async with stage(empty=True) as play:
        play.app.desk.project = "/home/dev/nothing"
        await opened(play)
        assert "No past session of nothing. a shows 3 sessions of other projects." in play.text()


async def test_the_filter_looks_at_titles(database: Path) -> None:
    async with stage(example(directory=PROJECT)) as play:
        screen = await opened(play)
        await play.press("/", *"parser", "enter")
        assert [row.key for row in screen.pane.list.rows] == ["ses_old"]
        await play.press("escape")
        assert len(screen.pane.list.rows) == 2
        await play.press("escape")
        assert play.on_board


@pytest.mark.parametrize("keys", [("s",), ("/", "?")])
async def test_what_was_said_is_searched(database: Path, keys: tuple[str, ...]) -> None:
    async with stage(example(directory=PROJECT)) as play:
        screen = await opened(play)
        await play.press("j", *keys, *"tokenizer")
        assert "search texts ▸ tokenizer" in play.text() and "enter search" in play.footer()
        await play.press("enter")
        await until(play, lambda: not screen.reading)
        assert "holding “tokenizer”" in play.text() and "you: Profile the" in play.text()
        marked = [text for line in screen.pane.list.rows[0].lines(100, play.app.desk.look()) for text, s in line
                  if s == "mark"]  # fmt: skip
        assert marked == ["tokenizer"]
        await play.press("a")
        assert "Elsewhere" in play.text()
        await play.press("escape")
        assert "holding" not in play.text() and screen.pane.list.current
        assert screen.pane.list.current.key == "ses_old", "the cursor is back where it was"


async def test_a_search_for_nothing_says_so(database: Path) -> None:
    async with stage(example(directory=PROJECT)) as play:
        screen = await opened(play)
        await play.press("s", *"xylophone", "enter")
        await until(play, lambda: not screen.reading)
        assert "No session holds these words. a searches all projects; esc shows the list again." in play.text()
        await play.press("s", "backspace", *["backspace"] * 10, *"-a", "enter")
        await until(play, lambda: not screen.reading)
        assert "there is no word to search for" in play.text()


async def test_a_search_that_is_stopped_leaves_the_list(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []

    def endless(job: Any, query: str, progress: Any) -> list[Any]:
        try:
            while True:
                job.progress(progress, 1, 9)
                time.sleep(0.001)
        finally:
            ended.append(query)

    monkeypatch.setattr("ledger_tui.screens.history.search_texts", endless)
    async with stage(example(directory=PROJECT)) as play:
        screen = await opened(play)
        await play.press("s", "x", "enter")
        await until(play, lambda: "reading for the index: 1 of 9; esc stops" in play.text())
        await play.press("escape")
        assert "Stopped." in play.footer() and len(screen.pane.list.rows) == 2
        await until(play, lambda: ended == ["x"])


async def test_the_command_that_resumes_is_copied(database: Path) -> None:
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        play.app.desk.environ = {}
        await play.press("j", "y")
        assert play.app.clipboard == "opencode -s ses_old"
        await play.press("k", "y")
        assert play.app.clipboard == f"opencode -s {KNOWN}"


async def test_an_id_that_is_no_word_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_DB", str(tmp_path / "x.db"))
    with Builder(tmp_path / "x.db") as b:
        b.session("a; rm -rf ~", directory=PROJECT)
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        play.app.desk.environ = {}
        await play.press("y")
        assert play.app.clipboard == "opencode -s 'a; rm -rf ~'"


async def test_a_note_opens_where_there_is_one(database: Path) -> None:
    notes = state_dir() / "notes" / "notes"
    notes.mkdir(parents=True)
    (notes / "ses_old.md").write_text("# Parser\n\nUse \x1b[2Ja table [/b].\n")
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        await play.press("N")
        assert "No note has been made of this session" in play.footer()
        await play.press("j", "N")
        await until(play, lambda: isinstance(play.app.screen, Reading))
        assert "Note: Make the parser faster" in play.text() and "a table [/b]." in play.text()
        assert "\x1b" not in play.text()


async def test_no_database_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_DB", str(tmp_path / "gone.db"))
    async with stage() as play:
        await opened(play)
        shown = " ".join(play.text().replace("│", " ").split())
        assert f"{clean_line(str(tmp_path), 300)}/gone.db does not exist." in shown
        assert "It is what OPENCODE_DB names." in shown
        sessions(tmp_path / "gone.db")
        screen = play.app.screen
        assert isinstance(screen, History)
        await play.press("r", "a")
        await until(play, lambda: len(screen.pane.list.rows) == 3)


async def test_an_unknown_layout_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.db"
    monkeypatch.setenv("OPENCODE_DB", str(path))
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE elsewhere (id)")
    database.close()
    async with stage() as play:
        await opened(play)
        assert "session_v2" in play.text() and "▲" in play.text()


async def test_a_store_that_cannot_be_read_keeps_no_list_back(database: Path) -> None:
    state_dir().mkdir(parents=True, exist_ok=True)
    (state_dir() / "ledger.db").write_text("no database " * 100)
    async with stage(example(directory=PROJECT)) as play:
        screen = await opened(play)
        assert len(screen.pane.list.rows) == 2 and "ledger.db" in play.footer()


async def test_many_sessions_come_in_batches_and_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_reading, "_EVERY", 0.0)
    monkeypatch.setattr(history_reading, "FIRST", 20)
    monkeypatch.setenv("OPENCODE_DB", str(large(tmp_path / "x.db", sessions=50, messages=1, parts=1)))
    async with stage(empty=True) as play:
        screen = await opened(play)
        assert [row.key for row in screen.pane.list.rows] == [f"ses_{n:06}" for n in reversed(range(50))]
        await play.press("G")
        assert "Session number 0 " in play.text()


async def test_leaving_while_it_is_read_is_no_trouble(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[bool] = []

    def endless(job: Any, took: Any) -> Any:
        try:
            while True:
                job.check()
                time.sleep(0.001)
        finally:
            ended.append(True)

    monkeypatch.setattr("ledger_tui.screens.history.read_list", endless)
    async with stage(example(directory=PROJECT)) as play:
        await play.press("H", "q")
        assert play.on_board
        await until(play, lambda: ended)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_it_fits_and_names_its_keys(database: Path, size: tuple[int, int]) -> None:
    async with stage(example(directory=PROJECT), size=size) as play:
        await opened(play)
        assert all(len(line) == size[0] for line in play.lines())
        assert all(words in play.footer() for words in ("enter read", "s search texts", "esc back", "? help"))
        assert "$0.42" in play.text() and "Figure out" in play.text()
        await play.press("?")
        assert "Help: Past sessions" in play.text()


async def test_in_ascii(database: Path) -> None:
    async with stage(example(directory=PROJECT), ascii=True) as play:
        await opened(play)
        assert play.text().isascii()


async def test_the_time_of_a_session_that_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_DB", str(tmp_path / "x.db"))
    with Builder(tmp_path / "x.db") as b:
        b.session("ses_a", 2**60, title="Far future", directory=PROJECT)
        b.session("ses_b", BASE, title="", directory=PROJECT)
    async with stage(example(directory=PROJECT)) as play:
        await opened(play)
        assert "Far future" in play.text() and "(no title)" in play.text()
