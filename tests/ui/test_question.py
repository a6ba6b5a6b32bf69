"""The agent's questions, answered on the dashboard."""

from __future__ import annotations

from typing import Any

import pytest

from core.ledger.observations import Option, Question
from core.views import PermissionView
from ledger_tui.screens.question import AskedQuestion
from tests.ui.example import CHILD, ROOT, example
from tests.ui.hostile import HOSTILE, LONG_LINE
from tests.ui.stage import Stage, stage

SIZES = [(120, 40), (80, 24), (60, 20)]
DATABASE = Question(
    header="DB",
    text="Which database should the importer write to?",
    options=(
        Option(label="SQLite", description="one file, nothing to install"),
        Option(label="Postgres", description="a server; needed once several processes write at the same time"),
    ),
)
EXTRAS = Question(
    header="Extras", text="Which extras?", options=(Option(label="Tests"), Option(label="Docs")), multiple=True
)


def waiting(*questions: Question, id: str = "que_1", **more: Any) -> PermissionView:
    text = "\n".join(question.text for question in questions)
    fields: dict[str, Any] = {"kind": "question", "title": "question", "text": text, "patterns": "", "always": ""}
    return PermissionView(**{"id": id, **fields, "origin": ROOT, "since": 1, "questions": questions, **more})


def asking(*questions: Question, size: tuple[int, int] = (120, 40), **more: Any) -> Any:
    return stage(example(permissions=(waiting(*questions),)), size=size, **more)


async def opened(play: Stage) -> AskedQuestion:
    await play.press("P")
    screen = play.app.screen
    assert isinstance(screen, AskedQuestion)
    return screen


@pytest.mark.parametrize("size", SIZES)
async def test_a_number_answers(size: tuple[int, int]) -> None:
    async with asking(DATABASE, size=size) as play:
        assert "wait" in "\n".join(play.lines()[:2])
        await opened(play)
        text = play.text()
        assert "Which database should the importer write to?" in text
        assert "1      SQLite  one file, nothing to install" in text
        assert "2      Postgres" in text
        assert "o      In your own words" in text
        assert all(words in play.footer() for words in ("enter choose", "r reject", "esc back"))
        await play.press("2")
        assert play.on_board
        assert play.host.answers == [("que_1", (("Postgres",),))]
        assert "Answered." in play.footer()


@pytest.mark.parametrize("keys", [("j", "enter"), ("down", "space"), ("G", "k", "enter")])
async def test_the_cursor_answers(keys: tuple[str, ...]) -> None:
    async with asking(DATABASE) as play:
        await opened(play)
        if "space" in keys:
            await play.press("space")
            assert "Only one option can be chosen here." in play.footer()
            keys = ("down", "enter")
        await play.press(*keys)
        assert play.host.answers == [("que_1", (("Postgres",),))]


@pytest.mark.parametrize("size", SIZES)
async def test_several_options_are_ticked_and_sent_with_enter(size: tuple[int, int]) -> None:
    async with asking(EXTRAS, size=size) as play:
        await opened(play)
        await play.press("enter")
        assert "Nothing is chosen yet; r refuses to answer." in play.footer()
        assert not play.host.answers
        await play.press("2", "k", "space")
        assert "1  [✓] Tests" in play.text()
        assert "2  [✓] Docs" in play.text()
        await play.press("1")
        assert "1  [ ] Tests" in play.text()
        assert "enter go on" in play.footer()
        await play.press("enter")
        assert play.on_board
        assert play.host.answers == [("que_1", (("Docs",),))]


@pytest.mark.parametrize("size", SIZES)
async def test_own_words(size: tuple[int, int]) -> None:
    async with asking(DATABASE, size=size) as play:
        screen = await opened(play)
        await play.press("o")
        assert "enter take these words" in play.footer()
        await play.press(*"q1 DuckDBx", "backspace", "left", "enter")
        assert play.on_board
        assert play.host.answers == [("que_1", (("q1 DuckDB",),))]
        assert not screen.typing


async def test_own_words_can_be_left_again() -> None:
    async with asking(DATABASE) as play:
        await opened(play)
        await play.press("G", "enter", "x", "escape")
        assert isinstance(play.app.screen, AskedQuestion)
        assert "enter choose" in play.footer()
        await play.press("escape")
        assert play.on_board
        assert not play.host.answers


async def test_own_words_besides_options() -> None:
    async with asking(EXTRAS) as play:
        await opened(play)
        await play.press("1", "o", *"CI", "enter")
        assert "“CI”" in play.text()
        await play.press("enter")
        assert play.host.answers == [("que_1", (("Tests", "CI"),))]


async def test_where_own_words_are_no_answer() -> None:
    only = Question(text="Which?", options=(Option(label="a"), Option(label="b")), custom=False)
    async with asking(only) as play:
        screen = await opened(play)
        assert "own words" not in play.text()
        await play.press("o")
        assert not screen.typing
        assert "Only the options are an answer here." in play.footer()


@pytest.mark.parametrize("size", SIZES)
async def test_several_questions_are_shown_again_before_they_are_sent(size: tuple[int, int]) -> None:
    async with asking(DATABASE, EXTRAS, size=size) as play:
        await opened(play)
        assert "1 of 2" in play.text()
        await play.press("1")
        assert "2 of 2" in play.text()
        assert "Which extras?" in play.text()
        await play.press("tab")
        text = play.text()
        assert "Your answers" in text
        assert "SQLite" in text
        assert "not answered; the agent is told so" in text
        assert "enter send" in play.footer()
        await play.press("2", "1", "2", "enter")
        assert "Tests, Docs" in play.text()
        assert not play.host.answers
        await play.press("h", "h")
        assert "1   ✓  SQLite" in play.text()
        await play.press("j", "enter", "l", "enter")
        assert play.on_board
        assert play.host.answers == [("que_1", (("Postgres",), ("Tests", "Docs")))]


async def test_nothing_answered_is_not_sent() -> None:
    async with asking(DATABASE, EXTRAS) as play:
        await opened(play)
        await play.press("tab", "tab", "enter")
        assert "Answer at least one, or r refuses them all." in play.text()
        assert not play.host.answers
        assert not play.on_board


@pytest.mark.parametrize("questions", [(DATABASE,), (DATABASE, EXTRAS), ()])
async def test_it_can_be_refused(questions: tuple[Question, ...]) -> None:
    async with asking(*questions) as play:
        await opened(play)
        await play.press("r")
        assert play.on_board
        assert play.host.answers == [("que_1", None)]
        assert "Refused to answer." in play.footer()


@pytest.mark.parametrize("key", ["escape", "q", "ctrl+c"])
async def test_back_answers_nothing(key: str) -> None:
    async with asking(DATABASE) as play:
        await opened(play)
        await play.press("x", "9", key)
        assert play.on_board
        assert not play.host.answers


@pytest.mark.parametrize("keys", [(), ("o", "x"), ("?",)])
async def test_an_answer_given_elsewhere_closes_it(keys: tuple[str, ...]) -> None:
    async with asking(DATABASE) as play:
        await opened(play)
        await play.press(*keys)
        play.host.change("status", permissions=(waiting(EXTRAS, id="que_2"),))
        await play.settle()
        if keys == ("?",):
            assert "Help: Question" in play.text()
            await play.press("escape")
        assert play.on_board
        assert not play.host.answers


async def test_the_next_request_comes_with_the_same_key() -> None:
    async with asking(DATABASE) as play:
        await opened(play)
        await play.press("1")
        play.host.change("status", permissions=(waiting(EXTRAS, id="que_2"),))
        await play.settle()
        await play.press("P", "1", "enter")
        assert play.host.answers == [("que_1", (("SQLite",),)), ("que_2", (("Tests",),))]


async def test_the_sub_agent_that_asks_is_named() -> None:
    async with stage(example(permissions=(waiting(DATABASE, origin=CHILD),))) as play:
        assert '? waiting for you: question "Which database' in play.lines()[1]
        await opened(play)
        assert "The sub-agent asks" in play.text()
        assert "Sub-agent: probe tokenizer" in play.text()


async def test_who_only_watches_does_not_answer() -> None:
    async with asking(DATABASE) as play:
        await opened(play)
        play.host._read_only = True
        await play.press("1", "enter", "r")
        assert not play.host.answers
        assert "This dashboard only watches; answer in OpenCode." in play.footer()


async def test_own_keys_for_the_options() -> None:
    async with asking(DATABASE, keys={"option": "A, B", "reject": "X"}) as play:
        await opened(play)
        assert "A      SQLite" in play.text()
        assert "A-B option" in play.footer()
        await play.press("1", "B")
        assert play.host.answers == [("que_1", (("Postgres",),))]


async def test_a_click_on_the_footer_sends_what_is_under_the_cursor() -> None:
    async with asking(DATABASE) as play:
        await opened(play)
        at = play.footer().index("option")
        await play.pilot.click("#hints", offset=(at, 0))
        assert not play.on_board
        await play.pilot.click("#hints", offset=(play.footer().index("choose"), 0))
        await play.pilot.pause()
        assert play.host.answers == [("que_1", (("SQLite",),))]


@pytest.mark.parametrize("size", SIZES)
async def test_a_question_of_any_length_can_be_read_and_answered(size: tuple[int, int]) -> None:
    options = tuple(Option(label=f"choice {n}", description=f"about {n}, " * 8) for n in range(30))
    long = Question(text="\n".join(f"line {n:02} of the question" for n in range(40)), options=options)
    async with asking(long, size=size) as play:
        await opened(play)
        assert "line 00" in play.text(), "it begins at its start"
        seen = play.text()
        for _ in range(8):
            await play.press("pagedown")
            seen += play.text()
        assert all(f"line {n:02}" in seen for n in range(40))
        await play.press("G", "k")
        assert "choice 29" in play.text(), "the cursor is in sight"
        await play.press("enter")
        assert play.host.answers == [("que_1", (("choice 29",),))]


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_text_stays_text(size: tuple[int, int]) -> None:
    options = (Option(label=HOSTILE, description=HOSTILE), Option(label=LONG_LINE[:2_000], description=LONG_LINE))
    bad = Question(header=HOSTILE, text=f"{HOSTILE}\n{LONG_LINE}", options=options)
    async with asking(bad, bad, size=size) as play:
        await opened(play)
        seen = play.text()
        await play.press("G", "k")
        seen += play.text()
        await play.press("1", "tab")
        seen += play.text()
        assert "Your answers" in seen
        assert all(character.isprintable() for character in seen.replace("\n", ""))
        assert all(line == line.rstrip("\n") and len(line) <= size[0] for line in play.lines())


async def test_a_secret_in_an_option_is_not_shown_but_is_the_answer() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    async with asking(Question(text="Which?", options=(Option(label=secret), Option(label="none")))) as play:
        await opened(play)
        assert secret not in play.text() and "[masked:" in play.text()
        await play.press("1")
        assert play.host.answers == [("que_1", ((secret,),))]
