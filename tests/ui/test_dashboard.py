from __future__ import annotations

import asyncio
import os
import signal

import msgspec
import pytest

from core.errors import UsageError
from core.ledger.commands import Pin
from core.views import LogRow
from ledger_tui.actions import PANES
from ledger_tui.screens.picker import Picker
from ledger_tui.screens.reading import Reading
from tests.ui.example import NOW, ROOT, blank, call, example, live_server, log, lost_server, step, steps
from tests.ui.fake_host import FakeHost
from tests.ui.stage import make_app, stage

# -- what is on screen


async def test_all_panes_at_120_by_40() -> None:
    async with stage() as play:
        text = play.text()
        for title in ("1 Steps", "2 Findings", "3 Escalation", "4 Extractions", "5 Log"):
            assert title in text
        assert "going in circles" in text and "▸43 bash xxd model.ckpt | head -3" in text
        assert play.footer().rstrip().endswith("? help  q quit")
        assert all(len(line) == 120 for line in play.lines())


async def test_80_by_24_shows_steps_findings_and_gauges_and_keeps_help_and_quit() -> None:
    async with stage(size=(80, 24)) as play:
        text = play.text()
        assert "1 Steps" in text and "2 Findings  3 Escalation  4 Extractions  5 Log" in text
        assert "layout ▰▰▰▰ STOP" in text
        assert "? help  q quit" in play.footer()
        await play.press("5")
        assert "12:41:10   note      STOP, 3 facts" in play.text()
        assert "token 46107" not in play.text()
        await play.press("1")
        assert "STOP, 3 facts" in play.text(), "the other half stays as it was"


async def test_60_by_20_shows_one_pane_and_numbers_switch() -> None:
    async with stage(size=(60, 20)) as play:
        assert "1 Steps" in play.text() and "token 46107" not in play.text()
        await play.press("2")
        assert "2 Findings" in play.text() and "token 46107" in play.text()
        await play.press("3")
        assert "▸layout       ▰▰▰▰  4 of 4  STOP" in play.text()
        assert "? help  q quit" in play.footer()


async def test_below_that_a_sentence() -> None:
    async with stage(size=(50, 16)) as play:
        assert "This terminal is 50×16. The dashboard needs 60×20 or more." in " ".join(play.text().split())
        await play.pilot.resize_terminal(120, 40)
        await play.pilot.pause()
        assert "2 Findings" in play.text()


@pytest.mark.parametrize("size", [(120, 40), (100, 30), (120, 26), (80, 24), (60, 20)])
async def test_nothing_is_wider_than_the_terminal(size: tuple[int, int]) -> None:
    async with stage(size=size) as play:
        for pane in "12345":
            await play.press(pane)
            assert [len(line) for line in play.lines()] == [size[0]] * size[1]


async def test_zoom_gives_a_pane_all_the_room_and_back() -> None:
    async with stage() as play:
        await play.press("5", "z")
        assert "12:29:10" in play.text() and "Findings" in play.text() and "token 46107" not in play.text()
        await play.press("escape")
        assert "token 46107" in play.text()
        await play.press("z", "z")
        assert "token 46107" in play.text()


async def test_empty_states_are_sentences() -> None:
    async with stage(blank()) as play:
        text = " ".join(play.text().replace("│", " ").split())
        assert "No steps yet." in text and "Nothing looked at twice." in text
        assert "No facts yet. The first extraction comes after 15 steps" in text


async def test_an_empty_pane_follows_the_steps_it_speaks_of() -> None:
    async with stage(blank()) as play:
        assert "15 more to go" in play.text()
        play.host.change("steps", buffered=4, completed=4)
        await play.settle()
        assert "11 more to go" in play.text()


async def test_the_banner_ends_in_an_ellipsis_when_it_is_cut() -> None:
    server = live_server(state="reconnecting", attempt=1, detail="word " * 40)
    async with stage(server=server) as play:
        assert any("nothing is lost." in line and line.rstrip().endswith("…") for line in play.lines())


async def test_a_lost_server_without_a_session_offers_no_demo() -> None:
    server = live_server(state="reconnecting", version="", detail="Nothing answers.")
    host = FakeHost(None, server)
    app = make_app(host)
    app.desk.demo = lambda: host
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        text = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "at once with R." in text and "demo" not in text and "Nothing is lost" not in text


async def test_no_server_offers_the_demo_and_starts_it() -> None:
    other = FakeHost(example(title="The demo"))
    host = FakeHost(None, live_server(state="none", url="", version=""))
    app = make_app(host)
    app.desk.demo = lambda: other
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        text = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "opencode --port 4096" in text and "Press d for the demo" in text
        await pilot.press("d")
        await pilot.pause()
        text = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "The demo" in text and "2 Findings" in text
        assert host.stopped == 1 and other.started == 1
    assert other.stopped == 1 and host.stopped == 1


async def test_a_lost_server_shows_try_and_countdown_and_the_panes_stay() -> None:
    async with stage() as play:
        play.host.serve(lost_server())
        await play.settle()
        assert "Reconnecting, try 3, next in 4 s; nothing is lost." in play.text()
        assert "token 46107" in play.text()
        play.host.serve(live_server())
        await play.settle()
        assert "Reconnecting" not in play.text()


async def test_the_host_is_started_and_stopped_once() -> None:
    async with stage() as play:
        await play.pilot.pause()
        host = play.host
        assert host.started == 1
    assert host.stopped == 1


# -- keys: panes and lists


async def test_numbers_and_tab_go_through_the_panes() -> None:
    async with stage() as play:
        for number, pane in enumerate(PANES, 1):
            await play.press(str(number))
            assert play.board.active == pane
        await play.press("tab")
        assert play.board.active == "steps"
        await play.press("shift+tab")
        assert play.board.active == "log"


@pytest.mark.parametrize(
    ("keys", "fact"),
    [(["j"], "f2"), (["down", "down"], "f3"), (["j", "k"], "f1"), (["G"], "f12"), (["end", "up"], "f11"),
     (["G", "g"], "f1"), (["end", "home"], "f1"), (["pagedown", "pageup"], "f1")],
)  # fmt: skip
async def test_moving_the_cursor(keys: list[str], fact: str) -> None:
    async with stage() as play:
        await play.press("2", *keys)
        current = play.rows("findings").current
        assert current and current.key == fact


async def test_steps_are_followed_until_the_user_scrolls() -> None:
    async with stage() as play:
        await play.press("k", "k")
        more = (*steps(), step(43, call("c43", "bash", "new one")), step(44, call("c44", "bash", "new two")))
        play.host.change("steps", steps=more, running=(), completed=44)
        await play.settle()
        assert "1 new ↓" in play.text(), "43 ran already, only 44 is new"
        await play.press("G")
        assert "new ↓" not in play.text() and "▸44 bash new two" in play.text()
        play.host.change("steps", steps=(*more, step(45, call("c45", "bash", "new three"))), completed=45)
        await play.settle()
        assert "▸45 bash new three" in play.text()


@pytest.mark.parametrize(
    ("pane", "word", "left"),
    [("1", "decode", 1), ("2", "vocab", 4), ("3", "stop", 1), ("4", "failed", 1), ("5", "touch", 2)],
)
async def test_each_list_can_be_filtered(pane: str, word: str, left: int) -> None:
    async with stage() as play:
        await play.press(pane, "/", *word)
        state = play.rows(play.board.active)
        assert sum(row.selectable for row in state.rows) == left
        assert f"/ {word}" in play.text() and f"{left} of {state.everything}" in play.text()
        assert "keep the filter" in play.footer()
        await play.press("enter", "escape")
        assert state.filter == "" and f"/ {word}" not in play.text()


async def test_letters_of_a_filter_are_no_commands() -> None:
    async with stage() as play:
        await play.press("2", "/", *"qdpx", "backspace")
        assert play.rows("findings").filter == "qdp" and play.host.commands == []
        assert "Nothing here contains “qdp”; esc shows all again." in play.text()
        await play.press("escape")
        assert "token 46107" in play.text()


async def test_pasting_into_a_filter() -> None:
    async with stage() as play:
        await play.press("2", "/")
        from textual.events import Paste

        play.app.post_message(Paste("vocab\nbpe"))
        await play.pilot.pause()
        assert play.rows("findings").filter == "vocab bpe"


# -- replay, themes, leaving


async def test_the_replay_is_labelled_and_its_speed_is_set() -> None:
    async with stage(server=live_server(replay=True, speed=1.0)) as play:
        assert "REPLAY ×1" in play.text()
        await play.press("+", "+", "-", "0", "0")
        assert play.host.speeds == [2.0, 4.0, 2.0, 0.0, 2.0]
        await play.press("0")
        await play.settle()
        assert "REPLAY paused" in play.text()


async def test_themes_go_round() -> None:
    async with stage() as play:
        names = [play.app.theme]
        for _ in range(3):
            await play.press("T")
            names.append(play.app.theme)
        assert names == ["ledger-dark", "ledger-light", "ledger-ansi", "ledger-dark"]


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
async def test_quit(key: str) -> None:
    async with stage() as play:
        await play.press(key)
        assert play.app.return_value == 0


async def test_own_keys_work_and_are_shown() -> None:
    async with stage(keys={"pin": "V", "down": "n"}) as play:
        await play.press("2", "n", "p")
        assert play.host.commands == []
        await play.press("V")
        assert play.host.commands == [Pin(t=NOW, session=ROOT, ids=("f2",), on=True)]
        await play.pilot.pause()
        assert "V pin" in play.footer()


def test_wrong_settings_are_refused_before_the_screen_is_touched() -> None:
    with pytest.raises(UsageError, match="ledger-drak"):
        make_app(FakeHost(), theme="ledger-drak")
    with pytest.raises(UsageError, match="no_such_action"):
        make_app(FakeHost(), keys={"no_such_action": "p"})


# -- colours


async def test_ascii_draws_with_ascii_only() -> None:
    async with stage(ascii=True) as play:
        for key in ("2", "5", "?"):
            await play.press(key)
            assert play.text().isascii()


async def test_no_color_writes_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with stage() as play:
        await play.press("2", "j")
        styles = [segment.style for strip in play.app.screen._compositor.render_strips() for segment in strip]
        assert all(
            colour is None or colour.is_default for style in styles if style for colour in (style.color, style.bgcolor)
        )
        cursor = next(
            strip
            for strip in play.app.screen._compositor.render_strips()
            if "model.ckpt is little-endian" in strip.text
        )
        assert any(segment.style and segment.style.reverse for segment in cursor)


# -- mouse


async def test_the_mouse_chooses_panes_and_rows() -> None:
    async with stage() as play:
        await play.pilot.click("#findings", offset=(10, 4))
        current = play.rows("findings").current
        assert play.board.active == "findings" and current and current.key == "f2"
        await play.pilot.click("#findings", offset=(10, 4), times=2)
        await play.pilot.pause()
        assert isinstance(play.app.screen, Reading)


async def test_the_mouse_presses_the_footer_and_the_tabs() -> None:
    async with stage(size=(80, 24)) as play:
        spot = play.footer().index("sessions")
        await play.pilot.click("#hints", offset=(spot, 0))
        await play.pilot.pause()
        assert isinstance(play.app.screen, Picker)
        await play.press("escape")
        await play.pilot.click("#findings", offset=(30, 0))
        assert play.board.active == "extractions", play.text()
        await play.pilot.click("#gauges", offset=(5, 0))
        assert play.board.active == "meters"


# -- sessions come and go


async def test_another_session_starts_afresh() -> None:
    async with stage() as play:
        await play.press("2", "/", *"vocab", "enter", "space")
        play.host.show(msgspec.structs.replace(example(), root="ses_2", title="Another"))
        await play.settle()
        assert "Another" in play.text()
        assert play.rows("findings").filter == "" and play.rows("findings").chosen == set()


async def test_the_last_session_may_vanish() -> None:
    async with stage() as play:
        play.host.show(None)
        await play.settle()
        assert "No session here yet." in play.text()
        play.host.show(example())
        await play.settle()
        assert "token 46107" in play.text()


async def test_only_changed_lines_are_drawn_again() -> None:
    async with stage() as play:
        pane = play.board.panes["log"]
        drawn: list[int] = []
        original = pane.render_line
        pane.render_line = lambda y: drawn.append(y) or original(y)  # type: ignore[func-returns-value, method-assign]
        play.host.touch("log")
        await play.settle()
        assert drawn == []
        rows = (*log()[:-1], LogRow(t=NOW, kind="note", text="changed"))
        play.host.change("log", log=rows)
        await play.settle()
        assert drawn == [pane.size.height - 2]


async def test_blur_and_focus() -> None:
    from textual.events import AppBlur, AppFocus

    async with stage() as play:
        play.app.post_message(AppBlur())
        await play.pilot.pause()
        assert play.app.feed and play.app.feed.blurred
        play.app.post_message(AppFocus())
        await play.pilot.pause()
        assert not play.app.feed.blurred
        await play.press("2", "p")
        assert len(play.host.commands) == 1


async def test_a_lost_server_can_be_tried_at_once() -> None:
    async with stage() as play:
        await play.press("R")
        assert play.host.retries == 0
        play.host.serve(lost_server())
        await play.settle()
        await play.press("R")
        assert play.host.retries == 1


async def test_a_signal_ends_it_cleanly() -> None:
    async with stage() as play:
        await play.pilot.pause()
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0.1)
        await play.pilot.pause()
    assert play.app.return_value == 143
    assert play.host.stopped == 1
