"""Held facts in the Extractions pane: read, accept, reject, edit - and nothing decided by accident."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import msgspec
import pytest

from core.ledger.commands import Accept, Edit, Reject, Undo
from core.views import BudgetView, Estimate, FindingView, TopicView
from ledger_tui.rows.empty import empty_text
from ledger_tui.rows.extractions import extraction_rows
from ledger_tui.rows.findings import finding_rows
from ledger_tui.rows.heads import info_of
from ledger_tui.rows.look import Line, Look
from ledger_tui.screens.ask import extract_question
from ledger_tui.screens.form import Form
from ledger_tui.screens.reading import Reading
from tests.ui.example import NOW, ROOT, blank, example, extractions, finding, held, pairs
from tests.ui.stage import Stage, stage

LOOK = Look(NOW, UTC, key_of=lambda action: f"<{action}>")


def plain(line: Line) -> str:
    return "".join(text for text, _ in line)


def waiting(number: int) -> tuple[FindingView, ...]:
    texts = [f"value {n} is {n * 100}" for n in range(number)]
    return tuple(
        finding(f"h{n}", text, "t", 1, NOW, state="held", held_for=f"no output says {n * 100}")
        for n, text in enumerate(texts)
    )


def cursor(play: Stage) -> str:
    current = play.rows("extractions").current
    return current.key if current else ""


async def test_held_facts_are_seen_with_their_reason_and_the_way_to_them() -> None:
    async with stage() as play:
        assert "? held: “weights start at byte 128”  no output says 128" in play.text()
        assert "1 held: 4" in play.text()
        await play.press("4")
        assert "enter accept" in play.footer() and "d reject" in play.footer() and "o receipt" in play.footer()


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_on_a_small_screen_too(size: tuple[int, int]) -> None:
    async with stage(size=size) as play:
        await play.press("4")
        text = " ".join(play.text().split())
        assert "held: “weights start at byte 128”" in text and "no output says 128" in text
        assert "enter accept" in play.footer() and "d reject" in play.footer()


@pytest.mark.parametrize(("key", "command", "said"), [("enter", Accept, "Accepted 1"), ("d", Reject, "Rejected 1")])
async def test_one_key_decides_and_undo_is_offered(key: str, command: type, said: str) -> None:
    async with stage() as play:
        await play.press("4", key)
        assert play.host.commands == [command(t=NOW, session=ROOT, ids=("f10",))]
        assert f"{said} fact. u takes it back." in play.footer()
        await play.settle()
        assert "held:" not in play.text()
        await play.press("u")
        assert play.host.commands[-1] == Undo(t=NOW, session=ROOT)


async def test_several_at_once_and_all_means_all_that_wait() -> None:
    async with stage(example(held_findings=waiting(4))) as play:
        await play.press("4", "A")
        assert "4 chosen" in play.text()
        await play.press("d")
        assert play.host.commands == [Reject(t=NOW, session=ROOT, ids=("h0", "h1", "h2", "h3"))]
    async with stage(example(held_findings=waiting(4))) as play:
        await play.press("4", "k", "k", "space", "space", "g", "enter")
        assert play.host.commands == [Accept(t=NOW, session=ROOT, ids=("h1", "h2"))]


async def test_a_fact_that_comes_meanwhile_is_not_decided_over() -> None:
    async with stage(example(held_findings=waiting(1))) as play:
        await play.press("4")
        play.host.change("extractions", held_findings=waiting(3), held=3)
        await play.settle()
        assert cursor(play) == "held:h0" and "2 new ↓" in play.text()
        await play.press("enter")
        assert play.host.commands == [Accept(t=NOW, session=ROOT, ids=("h0",))]


async def test_what_comes_above_the_cursor_is_not_announced() -> None:
    async with stage() as play:
        await play.press("4")
        play.host.change("extractions", pairs=pairs()[:1])
        await play.settle()
        assert cursor(play) == "held:f10" and "1 pair: 1 alike" in play.text() and "new ↓" not in play.text()


async def test_after_the_last_decision_the_list_follows_again() -> None:
    async with stage() as play:
        await play.press("4", "d")
        await play.settle()
        assert cursor(play) == "x4" and play.board.situation().context == "extractions"
        more = msgspec.structs.replace(extractions()[0], id="x5")
        play.host.change("extractions", extractions=(*extractions(), more))
        await play.settle()
        assert cursor(play) == "x5"


async def test_editing_accepts() -> None:
    async with stage() as play:
        await play.press("4", "e")
        assert isinstance(play.app.screen, Form) and "Edit and accept" in play.text()
        await play.press("!", "enter")
        edited = Edit(t=NOW, session=ROOT, id="f10", fact="weights start at byte 128!", topic="weights:layout")
        assert play.host.commands == [edited]
        assert "Changed and accepted. u takes it back." in play.footer()


async def test_the_receipt_says_what_is_missing_and_takes_the_decision() -> None:
    for key, command in (("enter", Accept), ("d", Reject)):
        async with stage() as play:
            await play.press("4", "o")
            assert isinstance(play.app.screen, Reading)
            text = " ".join(play.text().split())
            assert "Held: no output says 128. Not shown to the agent. enter accepts it, d rejects it." in text
            assert "enter accept" in play.footer() and "d reject" in play.footer()
            await play.press(key)
            assert play.on_board
            assert play.host.commands == [command(t=NOW, session=ROOT, ids=("f10",))]
            assert "u takes it back." in play.footer()


async def test_copying_and_filtering_held_facts() -> None:
    async with stage(example(held_findings=waiting(3))) as play:
        copied: list[str] = []
        play.app.copy_to_clipboard = copied.append  # type: ignore[method-assign,assignment]
        play.board.desk.environ = {"SSH_CONNECTION": "here there"}
        await play.press("4", "y")
        assert copied == ["value 2 is 200"] and "Copied 1 fact" in play.footer()
        await play.press("/", *"says", "enter")
        assert sum(row.selectable for row in play.rows("extractions").rows) == 3


async def test_a_watching_dashboard_decides_nothing() -> None:
    async with stage(read_only=True) as play:
        await play.press("4", "enter")
        assert "only watches" in play.footer() and play.host.commands == []


async def test_own_keys() -> None:
    async with stage(keys={"accept": "Y", "receipt": "enter"}) as play:
        await play.press("4", "enter")
        assert isinstance(play.app.screen, Reading) and "Y accepts it" in " ".join(play.text().split())
        await play.press("Y")
        assert play.host.commands == [Accept(t=NOW, session=ROOT, ids=("f10",))]


async def test_in_ascii() -> None:
    async with stage(example(held_findings=waiting(2)), ascii=True) as play:
        for keys in (["4"], ["o"], ["escape", "w"], ["escape", "v"]):
            await play.press(*keys)
            assert play.text().isascii()


def test_a_long_fact_and_its_reason_take_three_lines_at_most() -> None:
    long = finding("h", "word " * 80, "t", 1, NOW, state="held", held_for="no output says " + "x" * 200)
    for width in range(20, 130):
        row = extraction_rows(example(held_findings=(long,)))[-1]
        lines = [plain(line) for line in row.lines(width, LOOK)]
        assert len(lines) == row.height(width) <= 3
        assert "no output says" in lines[-1] or width < 30


# -- states in the list


def one(**fields: Any) -> list[str]:
    found = finding("f", "port 8080 is open", "net", 3, NOW, **fields)
    view = example(topics=(TopicView(topic="net", findings=(found,), cap=5, muted=False),))
    return [plain(line).rstrip() for line in finding_rows(view)[1].lines(60, LOOK)]


def test_every_state_has_a_sign_and_words() -> None:
    assert one(state="doubtful", stale_for="/a/b.txt", stale_at=NOW)[-1].endswith("doubtful: file changed 12:41")
    assert one(state="doubtful", stale_for="/a/b.txt", stale_at=NOW)[0].startswith("◌ ")
    assert one(state="fresh") == ["✓ port 8080 is open  confirmed again                s3 12:41"]
    assert one(mark="it reads like an order to the agent")[-1].endswith("reads like an order to the agent")
    assert one(mark="it reads like an order to the agent")[0].startswith("▲ ")
    assert one(state="superseded", superseded_by="port 8080 is closed") == [
        "× port 8080 is open                                 s3 12:41",
        "  superseded → port 8080 is closed",
    ]
    assert one(pinned=True, state="doubtful")[0].startswith("◌ ")


def test_superseded_facts_come_last_in_their_topic_and_are_dimmed() -> None:
    facts = (
        finding("f1", "old", "t", 1, NOW, state="superseded", superseded_by="new"),
        finding("f2", "new", "t", 2, NOW),
    )
    rows = finding_rows(example(topics=(TopicView(topic="t", findings=facts, cap=5, muted=False),)))
    assert [row.key for row in rows] == ["topic:t", "f2", "f1"]
    assert {style for line in rows[-1].lines(60, LOOK) for text, style in line if text.strip()} == {
        "superseded", "faint",
    }  # fmt: skip


# -- budget


def test_the_budget_nearest_to_its_end_is_said() -> None:
    def head(**fields: Any) -> str:
        return plain(info_of("extractions", blank(budget=BudgetView(**fields)), LOOK))

    assert head() == "next in 15 steps"
    assert head(day_tokens=12_000, day_limit=50_000) == "next in 15 steps · budget 12k/50k today"
    both = head(day_tokens=12_000, day_limit=50_000, session_tokens=9_000, session_limit=10_000)
    assert both == "next in 15 steps · budget 9.0k/10k this session"


async def test_a_budget_that_is_used_up_is_a_sentence() -> None:
    sentence = (
        "Today's extractions have used 50,120 of 50,000 tokens: no more are started (extraction_budget_day_tokens)."
    )
    budget = BudgetView(day_tokens=50_120, day_limit=50_000, reached=sentence)
    done = extractions()[:1]
    async with stage(example(budget=budget, extractions=done, held_findings=())) as play:
        assert "stopped · budget 50k/50k today" in play.text()
        text = " ".join(play.text().replace("│", " ").split())
        assert "▲ Today's extractions have used 50,120 of 50,000 tokens" in text
        await play.press("4", "enter")
        assert sentence in " ".join(play.text().split())


async def test_before_the_first_extraction_its_size_is_estimated() -> None:
    async with stage(blank(buffered=3, completed=3)) as play:
        text = " ".join(play.text().replace("│", " ").split())
        assert "First extraction ≈ 5.9k tokens with the steps so far." in text
    assert "≈" not in plain(empty_text("extractions", blank(), LOOK, 0))


def test_no_facts_but_some_that_wait() -> None:
    text = plain(empty_text("findings", blank(held=2, held_findings=waiting(2)), LOOK))
    assert text == "2 facts wait for you: <extractions_pane> leads there."


def test_rules_are_not_said_to_cost_tokens() -> None:
    _, text, _ = extract_question(Estimate(steps=3, prompt_chars=0, tokens=0), 0)
    assert text == "3 steps happened before the ledger came. Rules read them; no model is asked."


def test_a_skipped_extraction_says_why() -> None:
    why = "nothing new: only commands seen before with the same output"
    x = msgspec.structs.replace(extractions()[0], state="skipped", error=why)
    row = extraction_rows(example(extractions=(x,), held_findings=()))[0]
    assert why in plain(row.lines(110, LOOK)[0])
    counted = msgspec.structs.replace(extractions()[0], held=2)
    row = extraction_rows(example(extractions=(counted,), held_findings=held()))[0]
    assert "5 new, 1 known, 2 held" in plain(row.lines(100, LOOK)[0])
