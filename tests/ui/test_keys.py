from __future__ import annotations

import pytest

from core.errors import UsageError
from ledger_tui.actions import ACTIONS, BY_ID, PANES, Situation
from ledger_tui.keys import canonical, cheatsheet, footer, keymap, shown
from ledger_tui.screens import deeds
from tests.ui.example import example, live_server, topics


def situation(context: str = "findings", **fields: object) -> Situation:
    whole = {
        "view": example(),
        "findings": topics()[0].findings[:1],
        "topic": "file-format:model.ckpt",
        "rows": 3,
    } | fields
    return Situation(context, live_server(), **whole)  # type: ignore[arg-type]


def test_the_table_has_no_clash_and_each_action_is_explained() -> None:
    keymap({})
    assert len(BY_ID) == len(ACTIONS)
    assert all(action.keys and action.label and action.help.endswith(".") for action in ACTIONS)


def test_each_action_of_the_dashboard_has_a_deed() -> None:
    groups = ("Answer", "Pairs", "Past sessions")
    elsewhere = {"close", "expand", *(action.id for action in ACTIONS if action.group in groups)}
    assert set(deeds.ACTIONS) == set(BY_ID) - elsewhere


@pytest.mark.parametrize(
    ("key", "action"),
    [("p", "pin"), ("d", "delete"), ("u", "undo"), ("e", "edit"), ("a", "add"), ("x", "extract"), ("i", "tell"),
     ("m", "mute"), ("r", "reset"), ("/", "filter"), ("s", "sessions"), ("y", "copy"), ("space", "select"),
     ("j", "down"), ("k", "up"), ("g", "top"), ("G", "bottom"), ("z", "zoom"), ("?", "help"), ("ctrl+p", "palette"),
     ("q", "quit"), ("tab", "next_pane"), ("1", "steps_pane"), ("5", "log_pane"), ("enter", "open")],
)  # fmt: skip
def test_the_promised_keys(key: str, action: str) -> None:
    found = keymap({}).action(key, "findings")
    assert found and found.id == action


def test_the_same_key_may_mean_different_things_where_both_cannot_be_meant() -> None:
    keys = keymap({})
    assert [keys.action("d", context) and keys.action("d", context).id for context in ("findings", "welcome")] == [  # type: ignore[union-attr]
        "delete",
        "demo",
    ]
    assert keys.action("q", "receipt").id == "close"  # type: ignore[union-attr]


def test_own_keys_replace_the_table_s() -> None:
    keys = keymap({"pin": "V", "down": "j, down, ctrl+n", "tell": "", "quit": "comma"})
    assert keys.action("p", "findings") is None
    assert keys.action("V", "findings").id == "pin"  # type: ignore[union-attr]
    assert keys.action("ctrl+n", "log").id == "down"  # type: ignore[union-attr]
    assert keys.action("i", "findings") is None
    assert keys.shown("tell") == "ctrl+p tell the agent"
    assert keys.action("comma", "log").id == "quit"  # type: ignore[union-attr]
    assert keys.shown("quit") == ","


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"pinn": "p"}, ["'pinn'", "Did you mean pin?"]),
        ({"pin": "d"}, ["d", "pin", "delete"]),
        ({"pin": "ctrl+spam"}, ["'ctrl+spam'", "pin"]),
        ({"palette": ""}, ["palette"]),
    ],
)
def test_wrong_keys_are_refused_with_their_reason(own: dict[str, str], words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        keymap(own)
    assert all(word in str(caught.value) for word in words)


def test_a_swap_of_two_keys_is_no_clash() -> None:
    keys = keymap({"pin": "d", "delete": "p"})
    assert keys.action("d", "findings").id == "pin"  # type: ignore[union-attr]


def test_names_of_key_presses() -> None:
    assert canonical("question_mark", "?") == "?"
    assert canonical("comma", ",") == "comma"
    assert canonical("space", " ") == "space"
    assert canonical("enter", "\r") == "enter"
    assert shown("escape") == "esc"


def test_disabled_actions_say_why() -> None:
    assert "only watches" in BY_ID["delete"].check(situation(read_only=True))
    hosted = Situation("findings", live_server(host="process 7 in pts/3"), read_only=True)
    assert BY_ID["pin"].check(hosted) == "This dashboard only watches; change facts in process 7 in pts/3."
    assert "No finding" in BY_ID["pin"].check(situation(findings=()))
    assert "one finding at a time" in BY_ID["edit"].check(situation(findings=topics()[0].findings))
    assert "No steps wait" in BY_ID["extract"].check(situation(view=example(buffered=0)))
    assert BY_ID["extract"].check(situation(view=example(buffered=0, earlier=3))) == ""
    assert "looked for" in BY_ID["retry"].check(Situation("welcome", live_server(state="none")))
    assert "needs no help" in BY_ID["retry"].check(situation())
    assert "replay" in BY_ID["faster"].check(situation())
    assert "off" in BY_ID["tell"].check(Situation("findings", live_server(delivery="off"), example(), rows=1))


def test_the_footer_shows_what_is_possible_here() -> None:
    words = [hint[1] for hint in footer(keymap({}), situation())]
    assert "pin" in words and "faster" not in words
    assert words[-2:] == ["help", "quit"]
    impossible = [hint[1] for hint in footer(keymap({}), situation(findings=())) if not hint[2]]
    assert "pin" in impossible
    assert "pin" not in [hint[1] for hint in footer(keymap({}), situation("steps"))]


def test_the_cheatsheet_names_every_action() -> None:
    sheet = cheatsheet(keymap({}))
    assert all(f"| {action.id} |" in sheet for action in ACTIONS)


def test_every_pane_has_a_number() -> None:
    assert [BY_ID[f"{pane}_pane"].keys for pane in PANES] == [("1",), ("2",), ("3",), ("4",), ("5",)]
