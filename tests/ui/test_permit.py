"""What the agent waits for: the status line, the dialog, the answers."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import pytest

from core.ledger.observations import Option, Question
from core.views import PermissionView
from ledger_tui.screens import request
from ledger_tui.screens.permit import Permit
from tests.ui.example import CHILD, ROOT, example
from tests.ui.stage import Stage, stage


def waiting(id: str = "per_1", **more: Any) -> PermissionView:
    fields: dict[str, Any] = {"kind": "permission", "title": "bash", "text": "cat /etc/hosts", "patterns": "/etc/*"}
    return PermissionView(**{"id": id, **fields, "always": "cat *", "origin": ROOT, "since": 1, **more})


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_the_status_line_says_what_is_waited_for(size: tuple[int, int]) -> None:
    view = example(permissions=(waiting(), waiting("per_2")))
    async with stage(view, size=size) as play:
        head = "\n".join(play.lines()[:2])
        assert "wait" in head
        assert "P" in head
        if size[0] == 120:
            assert '? waiting for you: bash "cat /etc/hosts" and 1 more  P answers' in play.lines()[1]
            assert "P answer" in play.footer()
        play.host.change("status", permissions=())
        await play.settle()
        assert "waiting for you" not in play.text()


@pytest.mark.parametrize(("key", "reply"), [("o", "once"), ("a", "always"), ("r", "reject")])
async def test_an_answer(key: str, reply: Literal["once", "always", "reject"]) -> None:
    async with stage(example(permissions=(waiting(), waiting("per_2")))) as play:
        await play.press("3", "P")
        assert isinstance(play.app.screen, Permit)
        text = play.text()
        assert "cat /etc/hosts" in text
        assert "This time for: /etc/*" in text
        assert "allow cat * from now on" in text
        await play.press(key)
        if key == "a":
            assert not play.host.replies
            assert "Press a again to allow cat * from now on." in play.footer()
            await play.press("a")
        assert play.on_board
        assert play.host.replies == [("per_1", reply)]


async def test_always_is_asked_for_twice_in_a_row() -> None:
    async with stage(example(permissions=(waiting(),))) as play:
        await play.press("P", "a", "j", "a")
        assert not play.on_board and not play.host.replies
        await play.press("o")
        assert play.host.replies == [("per_1", "once")]


@pytest.mark.parametrize("kind", ["permission", "question"])
async def test_keys_typed_blindly_answer_nothing(
    kind: Literal["permission", "question"], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = waiting(kind=kind, questions=(Question(text="Which?", options=(Option(label="A"), Option(label="B"))),))
    async with stage(example(permissions=(asked,))) as play:
        monkeypatch.setattr(request, "SETTLE_SECONDS", 1_000.0)
        await play.press("P", *"lease a 1or", "enter")
        assert not play.on_board
        assert not play.host.replies and not play.host.answers
        assert "Wait a moment" in play.footer()
        await play.press("escape")
        assert play.on_board


class Elsewhere:
    """Two sessions, of which the one out of sight waits; choosing it shows it."""

    def __init__(self, play: Stage) -> None:
        other = msgspec.structs.replace(play.host.items[1], state="waiting", waits_for="permission")
        play.host.items = [play.host.items[0], other]
        play.host.select = self.select  # type: ignore[method-assign]
        play.host.touch()
        self.play = play

    def select(self, root: str | None) -> None:
        self.play.host.selections.append(root)
        self.play.host.show(example(root="ses_1", permissions=(waiting(origin="ses_1"),)))


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_one_that_waits_in_another_session_is_said_and_gone_to(size: tuple[int, int]) -> None:
    async with stage(size=size) as play:
        Elsewhere(play)
        await play.settle()
        head = play.lines()[:2]
        if size[0] == 120:
            assert "? another session waits for a permission: Port the tokenizer to Rust  P goes there, s" in head[1]
        else:
            assert "? another waits P" in head[0]
        await play.press("P")
        assert play.host.selections == ["ses_1"]
        assert isinstance(play.app.screen, Permit)
        await play.press("o")
        assert play.host.replies == [("per_1", "once")]


async def test_what_waits_in_sight_comes_first() -> None:
    async with stage(example(permissions=(waiting(),))) as play:
        Elsewhere(play)
        await play.settle()
        assert "waiting for you" in play.lines()[1]
        await play.press("P", "o")
        assert not play.host.selections


async def test_who_only_watches_is_told_of_another_session_too() -> None:
    async with stage(read_only=True) as play:
        Elsewhere(play)
        await play.settle()
        assert "another session waits" in play.lines()[1]
        await play.press("P")
        assert play.on_board and not play.host.selections
        assert "answer in OpenCode" in play.footer()


@pytest.mark.parametrize("key", ["escape", "q", "ctrl+c"])
async def test_back_answers_nothing(key: str) -> None:
    async with stage(example(permissions=(waiting(),))) as play:
        await play.press("P", "x", "y", key)
        assert play.on_board
        assert not play.host.replies
        assert not play.host.commands


async def test_nothing_waits() -> None:
    async with stage() as play:
        assert "P answer" not in play.footer()
        await play.press("P")
        assert play.on_board
        assert "The agent waits for no answer." in play.footer()


async def test_who_only_watches_cannot_answer() -> None:
    async with stage(example(permissions=(waiting(),)), read_only=True) as play:
        await play.press("P")
        assert play.on_board
        assert not play.host.replies


async def test_the_sub_agent_that_asks_is_named() -> None:
    async with stage(example(permissions=(waiting(origin=CHILD),))) as play:
        await play.press("P")
        assert "The sub-agent asks for a permission" in play.text()
        assert "Sub-agent: probe tokenizer" in play.text()


async def test_the_keys_of_the_answers_are_those_of_the_table() -> None:
    async with stage(example(permissions=(waiting(),)), keys={"once": "Y", "reject": ""}) as play:
        await play.press("P", "o", "r")
        assert not play.host.replies
        assert "Y  once: allow this" in play.text()
        assert "Y once" in play.footer()
        await play.press("?")
        assert "Help: Permission" in play.text()
        await play.press("escape", "Y")
        assert play.on_board
        assert play.host.replies == [("per_1", "once")]


async def test_one_answered_under_the_help_is_gone_after_it() -> None:
    async with stage(example(permissions=(waiting(),))) as play:
        await play.press("P", "?")
        play.host.change("status", permissions=())
        await play.settle()
        assert "Help: Permission" in play.text()
        await play.press("escape")
        assert play.on_board


async def test_an_answer_given_elsewhere_closes_the_dialog() -> None:
    async with stage(example(permissions=(waiting(),))) as play:
        await play.press("P")
        play.host.change("status", permissions=(waiting("per_2"),))
        await play.settle()
        assert play.on_board
        assert not play.host.replies


async def test_a_long_request_can_be_read_whole() -> None:
    command = "\n".join(f"echo line-{n:03} {'x' * 90}" for n in range(60)) + "\nrm -rf \x1b[8m/"
    async with stage(example(permissions=(waiting(text=command),)), size=(80, 24)) as play:
        await play.press("P")
        seen = play.text()
        for _ in range(20):
            await play.press("pagedown")
            seen += play.text()
        assert all(f"line-{n:03}" in seen for n in range(60))
        assert "rm -rf" in seen
        assert "once: allow this" in play.text()
        assert "\x1b" not in seen
        assert "o once" in play.footer()


async def test_the_picker_says_who_waits() -> None:
    async with stage() as play:
        item = msgspec.structs.replace(play.host.items[0], state="waiting")
        play.host.items = [
            msgspec.structs.replace(item, waits_for="permission"),
            msgspec.structs.replace(item, root="ses_2", waits_for="question"),
        ]
        await play.press("s")
        assert "waiting for a permission  Figure out" in play.text()
        assert "waiting for an answer  Figure out" in play.text()
