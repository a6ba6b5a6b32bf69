"""The steps of an answer, without a screen."""

from __future__ import annotations

from core.ledger.observations import Option, Question
from ledger_tui.answering import Answering


def question(*labels: str, multiple: bool = False, custom: bool = True) -> Question:
    options = tuple(Option(label=label) for label in labels)
    return Question(header="H", text="Which?", options=options, multiple=multiple, custom=custom)


def test_one_question_is_sent_with_its_choice() -> None:
    state = Answering([question("a", "b")])
    assert state.rows == 3
    assert state.move("down")
    assert state.enter() == "send"
    assert state.answers == (("b",),)


def test_another_choice_takes_the_place_of_the_first() -> None:
    state = Answering([question("a", "b"), question("c")])
    state.number(0)
    state.go(-1)
    assert (state.at, state.cursor) == (0, 0)
    state.number(1)
    assert state.answers == (("b",), ())
    state.go(-1)
    assert state.cursor == 1, "the cursor comes back to what was chosen"
    assert state.write("neither") == ""
    assert state.answers == (("neither",), ())
    state.go(-1)
    state.number(0)
    assert state.answers == (("a",), ())


def test_several_options_and_own_words() -> None:
    state = Answering([question("a", "b", "c", multiple=True)])
    assert state.enter() == "nothing"
    assert [state.number(2), state.number(0), state.number(1), state.number(1)] == ["", "", "", ""]
    assert state.answer(0) == ("a", "c"), "in their order, without what was dropped"
    assert state.write("  d  ") == ""
    assert state.on_own
    assert state.answer(0) == ("a", "c", "d")
    assert state.tick() == "write"
    assert state.enter() == "send"
    state.write("c")
    assert state.answer(0) == ("a", "c"), "the same is not said twice"
    state.write("")
    assert state.enter() == "write", "on its row, without any words"


def test_all_answers_are_looked_at_before_they_go() -> None:
    state = Answering([question("a"), question("b", multiple=True)])
    state.go(2)
    assert state.question is None
    assert state.enter() == "nothing"
    assert state.number(1) == ""
    assert state.at == 1
    state.number(0)
    assert state.enter() == ""
    assert state.question is None
    assert state.enter() == "send"
    assert state.answers == ((), ("b",))


def test_there_is_no_further_page_for_one_question() -> None:
    state = Answering([question("a")])
    state.go(1)
    assert state.question is not None


def test_only_the_options_are_an_answer() -> None:
    state = Answering([question("a", custom=False)])
    assert state.rows == 1
    assert state.write("b") == ""
    assert state.answers == ((),)
    assert state.number(4) == ""
    assert state.move("bottom")
    assert not state.on_own


def test_only_own_words_are_an_answer() -> None:
    state = Answering([question()])
    assert state.enter() == "write"
    assert state.write("") == ""
    assert state.write("so") == "send"


def test_nothing_is_asked() -> None:
    state = Answering([])
    assert not state.move("down")
    state.go(1)
    assert [state.tick(), state.number(0), state.write("x"), state.enter()] == ["", "", "", "nothing"]
    assert state.answers == ()
