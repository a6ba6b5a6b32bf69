from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from ledger_tui.rows.look import Line, Look
from ledger_tui.widgets.liststate import ListState


@dataclass(frozen=True)
class Plain:
    key: str
    lines_taken: int = 1
    selectable: bool = True

    def height(self, width: int) -> int:
        return self.lines_taken

    def lines(self, width: int, look: Look) -> list[Line]:
        return [[(self.key, "text")]] * self.lines_taken

    def text(self) -> str:
        return self.key


def rows(*keys: str) -> list[Plain]:
    """Keys in capitals are headings."""
    return [Plain(key, selectable=not key.isupper()) for key in keys]


def numbered(first: int, last: int) -> list[Plain]:
    return rows(*(f"r{number}" for number in range(first, last + 1)))


def made(*, tail: bool = False, height: int = 4) -> ListState:
    state = ListState(tail=tail)
    state.resize(20, height)
    return state


def at(state: ListState) -> str:
    return state.current.key if state.current else ""


def shown(state: ListState) -> list[str]:
    return [row.key for _, row, _ in state.visible()]


def test_a_stream_is_followed_until_the_user_moves_away() -> None:
    state = made(tail=True)
    state.update(numbered(1, 6))
    assert at(state) == "r6" and shown(state) == ["r3", "r4", "r5", "r6"]
    state.move(-1)
    state.update(numbered(1, 9))
    assert at(state) == "r5" and state.unseen == 3
    assert shown(state) == ["r3", "r4", "r5", "r6"]
    state.to_bottom()
    assert at(state) == "r9" and state.unseen == 0
    state.update(numbered(1, 10))
    assert at(state) == "r10"


def test_rows_that_drop_out_at_the_front_do_not_move_the_view() -> None:
    state = made(tail=True)
    state.update(numbered(1, 10))
    state.move(-3)
    before = shown(state)
    state.update(numbered(4, 14))
    assert at(state) == "r7" and shown(state) == before


def test_the_cursor_goes_to_a_neighbour_when_its_row_vanishes() -> None:
    state = made()
    state.update(rows("a", "b", "c"))
    state.move(1)
    state.update(rows("a", "c"))
    assert at(state) == "c"
    state.update(rows("a"))
    assert at(state) == "a"
    state.update([])
    assert at(state) == "" and state.total == 0 and shown(state) == []


def test_until_the_user_moves_the_cursor_stays_on_the_first_row() -> None:
    state = made()
    state.update(rows("b", "c"))
    state.update(rows("a", "b", "c"))
    assert at(state) == "a"
    state.move(1)
    state.update(rows("z", "a", "b", "c"))
    assert at(state) == "b"


def test_headings_are_passed_over_and_shown_with_their_first_row() -> None:
    state = made(height=2)
    state.update(rows("A", "a", "b", "B", "c"))
    assert at(state) == "a"
    state.move(2)
    assert at(state) == "c" and shown(state) == ["B", "c"]
    state.to_top()
    assert at(state) == "a" and shown(state) == ["A", "a"]


def test_the_filter_keeps_headings_of_what_is_left_and_the_cursor_s_row() -> None:
    state = made()
    state.update(rows("A", "apple", "pear", "B", "plum", "grape"))
    state.to_bottom()
    state.set_filter("AP")
    assert [row.key for row in state.rows] == ["A", "apple", "B", "grape"]
    assert at(state) == "grape"
    state.set_filter("nothing of that kind")
    assert state.rows == [] and state.everything == 4
    state.set_filter("")
    assert len(state.rows) == 6


def test_all_words_of_the_filter_must_be_there() -> None:
    state = made()
    state.update(rows("red apple", "red pear", "green apple"))
    state.set_filter("apple red")
    assert [row.key for row in state.rows] == ["red apple"]


def test_choosing() -> None:
    state = made()
    state.update(rows("a", "b", "c"))
    state.choose()
    state.choose()
    assert [row.key for row in state.chosen_rows] == ["a", "b"] and at(state) == "c"
    state.update(rows("b", "c"))
    assert state.chosen == {"b"}
    state.choose_all()
    assert state.chosen == {"b", "c"}
    state.choose_all()
    assert [row.key for row in state.chosen_rows] == ["c"]


def test_pages_and_jumps() -> None:
    state = made()
    state.update(numbered(1, 20))
    state.page(1)
    assert at(state) == "r4"
    state.page(-1)
    assert at(state) == "r1"
    state.jump(1.0)
    assert shown(state)[-1] == "r20"
    state.jump(0.0)
    assert shown(state)[0] == "r1"


def test_the_wheel_draws_the_cursor_along() -> None:
    state = made(tail=True)
    state.update(numbered(1, 20))
    state.scroll(-10)
    assert not state.follow and shown(state) == ["r7", "r8", "r9", "r10"] and at(state) == "r10"
    state.scroll(100)
    assert state.follow and at(state) == "r20"


def test_clicks() -> None:
    state = made()
    state.update([Plain("A", selectable=False), Plain("a", 2), Plain("b")])
    assert not state.click(0)
    assert state.click(2) and at(state) == "a"
    assert state.click(3) and at(state) == "b"
    assert not state.click(4)


@given(
    st.lists(
        st.sampled_from(["down", "up", "top", "bottom", "page_down", "page_up", "grow", "shrink", "wheel", "all"])
    ),
    st.booleans(),
    st.integers(1, 7),
)
def test_cursor_and_window_stay_inside_whatever_happens(moves: list[str], tail: bool, height: int) -> None:
    state = made(tail=tail, height=height)
    first, last = 1, 5
    for move in moves:
        if move == "grow":
            last += 3
        elif move == "shrink":
            first = min(last + 1, first + 4)
        elif move == "wheel":
            state.scroll(-2)
        elif move == "all":
            state.choose_all()
        state.act(move)
        state.update([Plain(f"r{n}", 1 + n % 2, selectable=n % 4 != 0) for n in range(first, last + 1)])
        assert 0 <= state.top <= max(0, state.total - height)
        assert len(shown(state)) == min(height, state.total)
        assert (state.current is None) == (not any(row.selectable for row in state.rows))
        if state.current:
            assert state.current.selectable
            assert state.current.key in shown(state)


def test_a_steady_list_keeps_its_row_while_others_come_and_follows_again_at_the_end() -> None:
    state = ListState(tail=True)
    state.update([Plain("a"), Plain("b")])
    state.steady = True
    state.update([Plain("a"), Plain("b"), Plain("c")])
    assert state.current and state.current.key == "b" and state.unseen == 1
    state.update([Plain("a"), Plain("b")])
    assert state.current.key == "b" and state.unseen == 0
    state.steady = False
    state.update([Plain("a"), Plain("b"), Plain("d")])
    assert state.current and state.current.key == "d"
