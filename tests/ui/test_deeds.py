"""Acting on findings, meters and steps; reasons; opening things."""

from __future__ import annotations

import pytest

from core.ledger.commands import Delete, ExtractNow, Mute, Pin, ResetMeter, TellAgent, Undo
from ledger_tui.screens.help import Help
from ledger_tui.screens.palette import ActionPalette
from ledger_tui.screens.picker import Picker
from ledger_tui.screens.reading import Reading
from tests.ui.example import NOW, ROOT, blank, example
from tests.ui.stage import stage

# -- keys: acting on findings


async def test_pin_and_unpin() -> None:
    async with stage() as play:
        await play.press("2", "j", "p")
        assert play.host.commands == [Pin(t=NOW, session=ROOT, ids=("f2",), on=True)]
        assert "Pinned 1 fact" in play.footer()
        await play.press("p")
        assert play.host.commands[-1] == Pin(t=NOW, session=ROOT, ids=("f2",), on=False)


async def test_delete_asks_nothing_and_offers_undo() -> None:
    async with stage() as play:
        await play.press("2", "d")
        assert play.host.commands == [Delete(t=NOW, session=ROOT, ids=("f1",))]
        assert "Deleted. u brings it back." in play.footer()
        await play.settle()
        assert "has no header" not in play.text()
        await play.press("u")
        assert play.host.commands[-1] == Undo(t=NOW, session=ROOT)
        assert "Took back" in play.footer()


async def test_several_at_once() -> None:
    async with stage() as play:
        await play.press("2", "space", "space")
        assert "2 chosen" in play.text() and "✓◆" in play.text()
        await play.press("d")
        assert play.host.commands == [Delete(t=NOW, session=ROOT, ids=("f1", "f2"))]
        assert "Deleted 2 facts. u brings them back." in play.footer()
        assert play.rows("findings").chosen == set()


async def test_choose_all_and_let_go() -> None:
    async with stage() as play:
        await play.press("2", "A")
        assert "11 chosen" in play.text()
        await play.press("escape")
        assert "chosen" not in play.text()


async def test_tell_the_agent() -> None:
    async with stage() as play:
        await play.press("2", "space", "space", "i")
        assert play.host.commands == [TellAgent(t=NOW, session=ROOT, ids=("f1", "f2"))]
        await play.press("3", "j", "i")
        assert play.host.commands[-1] == TellAgent(t=NOW, session=ROOT, ids=("f1", "f2"))


async def test_mute_and_reset_act_on_the_topic() -> None:
    async with stage() as play:
        await play.press("3", "j", "m", "r")
        topic = "file-format:model.ckpt"
        assert play.host.commands == [
            Mute(t=NOW, session=ROOT, topic=topic, on=True),
            ResetMeter(t=NOW, session=ROOT, topic=topic),
        ]
        await play.press("2", "G", "m")
        assert play.host.commands[-1] == Mute(t=NOW, session=ROOT, topic="weights:layout", on=True)


async def test_a_muted_topic_is_unmuted() -> None:
    async with stage() as play:
        await play.press("3", "G", "m")
        assert play.host.commands == [Mute(t=NOW, session=ROOT, topic="settings:config.json", on=False)]


async def test_extract_now_at_once_when_no_earlier_steps_are_waiting() -> None:
    async with stage() as play:
        await play.press("x")
        assert play.host.commands == [ExtractNow(t=NOW, session=ROOT)]


@pytest.mark.parametrize(("key", "earlier"), [("y", True), ("n", False)])
async def test_earlier_steps_are_asked_about_with_an_estimate(key: str, earlier: bool) -> None:
    async with stage(example(earlier=31)) as play:
        await play.press("x")
        text = " ".join(play.text().replace("│", " ").split())
        assert "31 steps happened before the ledger came." in text and "5,870 tokens" in text
        assert play.host.commands == []
        await play.press(key)
        assert play.host.commands == [ExtractNow(t=NOW, session=ROOT, earlier=earlier)]


async def test_leaving_the_question_does_nothing() -> None:
    async with stage(example(earlier=31, buffered=0)) as play:
        await play.press("x", "n")
        assert "happened before" in play.text(), "n is no answer when nothing new waits"
        await play.press("escape")
        assert play.host.commands == [] and "happened before" not in play.text()


async def test_the_host_s_refusal_is_shown() -> None:
    async with stage() as play:
        play.host.refuse = "The ledger is full of pinned facts."
        await play.press("2", "p")
        assert "▲ The ledger is full of pinned facts." in play.footer()


# -- reasons


async def test_keys_that_do_nothing_say_why() -> None:
    async with stage(blank()) as play:
        await play.press("x")
        assert "No steps wait for extraction." in play.footer()
        await play.press("+")
        assert "Only a replay has a speed." in play.footer()
        await play.press("p")
        assert "p means “pin”; it does nothing here." in play.footer()
        assert play.host.commands == []


async def test_a_watching_dashboard_refuses_changes() -> None:
    async with stage(read_only=True) as play:
        await play.press("2", "d")
        assert "only watches" in play.footer() and play.host.commands == []


# -- opening things


async def test_enter_opens_what_is_under_the_cursor() -> None:
    async with stage() as play:
        for pane, keys, words in (
            ("2", [], "its words are"),
            ("1", ["k"], "Step 42"),
            ("4", ["g"], "Extraction x1"),
            ("5", ["g"], "live, OpenCode 1.18.33"),
        ):
            await play.press(pane, *keys, "enter")
            assert isinstance(play.app.screen, Reading)
            assert words in play.text()
            await play.press("escape")
            assert play.on_board


async def test_enter_on_a_meter_goes_to_its_findings() -> None:
    async with stage() as play:
        await play.press("3", "enter")
        current = play.rows("findings").current
        assert play.board.active == "findings" and current and current.key == "f11"


async def test_a_running_call_has_nothing_to_open_yet() -> None:
    async with stage() as play:
        await play.press("enter")
        assert "still running" in play.footer()


async def test_the_windows_open() -> None:
    async with stage() as play:
        for key, kind in (("s", Picker), ("?", Help), ("ctrl+p", ActionPalette)):
            await play.press(key)
            assert isinstance(play.app.screen, kind)
            await play.press("escape")
            assert play.on_board
