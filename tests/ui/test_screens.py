from __future__ import annotations

from typing import Any

import msgspec
import pytest

from core.ledger.commands import Add, Edit
from core.views import DeliveryView
from ledger_tui.actions import ACTIONS
from ledger_tui.screens.form import Form
from ledger_tui.screens.picker import Picker
from tests.ui.example import NOW, ROOT, example, finding, live_server
from tests.ui.stage import stage

# -- receipt


async def test_the_receipt_moves_and_goes_back() -> None:
    async with stage(size=(80, 24)) as play:
        await play.press("2", "enter")
        assert "Receipt" in play.text() and "$ xxd model.ckpt | head -3" in play.text()
        top = play.lines()[1]
        await play.press("j")
        assert play.lines()[1] != top or "more ↓" not in play.text()
        await play.press("g")
        assert play.lines()[1] == top
        await play.press("q")
        assert play.on_board


async def test_the_receipt_follows_its_finding() -> None:
    async with stage() as play:
        await play.press("2", "enter")
        topics = list(example().topics)
        play.host.change("findings", topics=topics[1:])
        await play.settle()
        assert "no longer in the ledger" in play.text()


async def test_copying_says_which_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "here there")
    async with stage() as play:
        copied: list[str] = []
        play.app.copy_to_clipboard = copied.append  # type: ignore[method-assign,assignment]
        await play.press("2", "y")
        assert copied == ["model.ckpt has no header: raw float32 from byte 0"]
        assert "Copied 1 fact through the terminal (OSC 52)" in play.footer()
        await play.press("enter", "y")
        assert copied[-1].startswith("model.ckpt has no header") and "$ xxd model.ckpt" in copied[-1]
        assert "Copied the fact and its calls" in play.footer()


async def test_show_all_is_possible_only_where_there_may_be_more() -> None:
    async with stage() as play:
        await play.press("4", "k", "enter", "o")
        assert "All of it is shown." in play.footer()
        await play.press("escape", "2", "enter", "o")
        assert "All of it is shown." not in play.footer()


# -- form


async def test_edit_a_fact() -> None:
    async with stage() as play:
        await play.press("2", "e")
        assert isinstance(play.app.screen, Form)
        await play.press(*"!!", "enter")
        edited = Edit(
            t=NOW,
            session=ROOT,
            id="f1",
            fact="model.ckpt has no header: raw float32 from byte 0!!",
            topic="file-format:model.ckpt",
        )
        assert play.host.commands == [edited]
        assert play.on_board and "u takes it back" in play.footer()


async def test_add_a_fact_in_the_topic_under_the_cursor() -> None:
    async with stage() as play:
        await play.press("2", "a", *"n_ctx", "ctrl+j", *"1024", "enter")
        assert play.host.commands == [Add(t=NOW, session=ROOT, fact="n_ctx\n1024", topic="file-format:model.ckpt")]


async def test_letters_in_a_form_are_text() -> None:
    async with stage() as play:
        await play.press("a", *"qdx?/1", "tab", *"t:q", "enter")
        assert play.host.commands == [Add(t=NOW, session=ROOT, fact="qdx?/1", topic="t:q")]


async def test_an_empty_fact_or_topic_is_refused() -> None:
    async with stage() as play:
        await play.press("a", "space", "enter")
        assert "A fact needs words." in play.text() and play.host.commands == []
        await play.press(*"fact")
        assert "A fact needs words." not in play.text()
        await play.press("enter")
        assert "A fact needs a topic" in play.text() and play.host.commands == []
        await play.press(*"t", "enter")
        assert play.host.commands == [Add(t=NOW, session=ROOT, fact="fact", topic="t")]


async def test_escape_leaves_the_form() -> None:
    async with stage() as play:
        await play.press("2", "e", *"xyz", "escape")
        assert play.host.commands == [] and play.app.screen is play.board
        await play.press("e", "tab", "escape")
        assert play.on_board


async def test_a_fact_too_long_for_a_note_is_pointed_out() -> None:
    long = finding("f1", "word " * 100, "t", 1, NOW)
    view = example()
    topics = (type(view.topics[0])(topic="t", findings=(long,), cap=5, muted=False),)
    async with stage(example(topics=topics)) as play:
        await play.press("2", "e")
        assert "499 characters; a note shows the first 400.   enter save   esc leave" in play.text()


@pytest.mark.parametrize("size", [(60, 20), (80, 24)])
async def test_windows_fit_small_terminals(size: tuple[int, int]) -> None:
    async with stage(example(earlier=3), size=size) as play:
        for keys, word in ((["a"], "leave"), (["x"], "leave it"), (["s"], "Follow whichever"), (["ctrl+p"], "pin")):
            await play.press("2", *keys)
            assert word in play.text()
            assert all(len(line) <= size[0] for line in play.lines())
            await play.press("escape")


# -- sessions


async def test_the_picker_starts_on_the_shown_session_and_picks() -> None:
    async with stage() as play:
        await play.press("s")
        text = play.text()
        assert "▸◐ busy" in text and "(shown now)" in text and "47 min ago" in text
        await play.press("j", "enter")
        assert play.host.selections == ["ses_1"]
        await play.press("s", "g", "enter")
        assert play.host.selections == ["ses_1", None]


async def test_the_picker_shows_steps_and_of_several_which_opencode() -> None:
    async with stage() as play:
        first, second, *_ = play.host.items
        replace = msgspec.structs.replace
        play.host.items = [replace(first, steps=42, server="http://127.0.0.1:38051"), replace(second, steps=1)]
        await play.press("s")
        assert any("Figure out" in line and ":38051" in line and "42 steps" in line for line in play.lines())
        (idle,) = [line for line in play.lines() if "Port the tokenizer" in line]
        assert "○ idle" in idle and "1 step " in idle


async def test_a_box_has_a_footer_of_its_own() -> None:
    async with stage(example(earlier=9)) as play:
        await play.press("x")
        assert "Extract earlier steps?" in play.text()
        assert "y extract the earlier steps too" in play.footer() and "quit" not in play.footer()
        await play.press("escape")
        assert "q quit" in play.footer()


async def test_the_footer_offers_nothing_that_cannot_be_done_to_the_agent() -> None:
    async with stage(example(meters=(), topics=(), findings=0, buffered=0)) as play:
        await play.press("3")
        for words in ("i tell", "m mute", "x extract"):
            assert words not in play.footer()
        await play.press("?")
        said = play.text()
        for _ in range(4):
            await play.press("pagedown")
            said += play.text()
        assert "No steps wait for extraction." in said and "This topic has no finding to tell." in said


async def test_the_picker_filters_and_follows_the_sessions() -> None:
    async with stage() as play:
        await play.press("s", "/", *"rust", "enter")
        assert "Port the tokenizer" in play.text() and "Mondays" not in play.text()
        play.host.items = play.host.items[:1]
        play.host.touch("sessions")
        await play.settle()
        picker = play.app.screen
        assert isinstance(picker, Picker) and picker.pane.list.everything == 2


async def test_no_sessions() -> None:
    async with stage() as play:
        play.host.items = []
        await play.press("s")
        assert "No session here yet." in play.text()
        await play.press("enter")
        assert "The list is empty." in play.footer()
        await play.press("escape")
        assert play.host.selections == []


# -- help and palette


async def test_the_help_shows_what_became_of_the_notes() -> None:
    notes = DeliveryView(in_flight=3, late=1, questions=90, missed=1, p50_ms=1.4, p95_ms=8.25)
    async with stage(server=live_server(delivery="hook", notes=notes)) as play:
        assert "notes in flight 1.4 ms, 1 late, 1 missed" in play.text()
        await play.press("5", "?")
        assert "Notes go in flight: 3 in flight, 1 late by one request." in play.text()
        assert "asked about 90 calls; round trip p50 1.4 ms, p95 8.2 ms; 1 answer did not come" in play.text()


@pytest.mark.parametrize("pane", ["1", "2", "3", "4", "5"])
async def test_help_is_about_the_pane_and_names_its_keys(pane: str) -> None:
    async with stage(size=(120, 64)) as play:
        await play.press(pane, "?")
        text = play.text()
        here = play.board.situation().context
        for action in ACTIONS:
            assert (action.help[:30] in text) == (here in action.contexts), action.id


async def test_help_gives_the_reason_of_what_is_not_possible() -> None:
    async with stage(example(buffered=0), size=(120, 60)) as play:
        await play.press("?")
        assert "No steps wait for extraction." in play.text()


async def test_help_shows_own_keys() -> None:
    async with stage(keys={"extract": "X, ctrl+x"}, size=(120, 60)) as play:
        await play.press("?")
        assert "X ctrl+x" in play.text()


async def test_the_palette_holds_every_action_of_the_dashboard() -> None:
    async with stage() as play:
        await play.press("2", "ctrl+p")
        ids = {row.key for row in play.app.screen.pane.list.rows}  # type: ignore[attr-defined]
        elsewhere = ("Answer", "Pairs", "Past sessions")
        assert ids == {action.id for action in ACTIONS if action.group not in elsewhere} - {"close", "expand"}


async def test_the_palette_searches_and_does() -> None:
    async with stage() as play:
        await play.press("2", "ctrl+p", *"escal", "enter")
        await play.pilot.pause()
        assert play.board.active == "meters"
        await play.press("ctrl+p", *"zoom", "enter")
        await play.pilot.pause()
        assert play.board.zoomed


async def test_the_palette_says_why_not() -> None:
    async with stage() as play:
        await play.press("ctrl+p", *"faster")
        assert "Only a replay has a speed." in play.text()
        await play.press("enter")
        await play.pilot.pause()
        assert "Only a replay has a speed." in play.footer() and play.host.speeds == []


async def test_the_palette_names_panes_as_the_screen_does() -> None:
    async with stage(size=(120, 60)) as play:
        await play.press("ctrl+p", *"mute")
        assert "Not here; it works in Findings and Escalation." in play.text()
        await play.press(*["backspace"] * 4, *"demo")
        assert "Not here; it works in the welcome." in play.text()


async def test_screens_change_colours_with_the_theme() -> None:
    async with stage() as play:
        await play.press("2", "enter")
        before = background(play)
        play.app.next_theme()
        await play.pilot.pause()
        assert background(play) != before


def background(play: Any) -> Any:
    strip = play.app.screen._compositor.render_strips()[3]
    return [segment.style.bgcolor for segment in strip if segment.style]


async def test_a_replay_s_help_has_its_keys() -> None:
    async with stage(server=live_server(replay=True), size=(120, 60)) as play:
        await play.press("?")
        assert "Play the replay faster." in play.text() and "Only a replay" not in play.text()
