"""The inbox of pairs: what differs is marked, one key decides."""

from __future__ import annotations

from datetime import UTC

import pytest

from core.ledger.commands import Resolve, Undo
from ledger_tui.marks import differing
from ledger_tui.rows.look import Line, Look
from ledger_tui.rows.pairs import pair_rows
from ledger_tui.screens.inbox import Inbox
from ledger_tui.screens.reading import Reading
from tests.ui.example import NOW, ROOT, example, pairs
from tests.ui.stage import stage

LOOK = Look(NOW, UTC, key_of=lambda action: f"<{action}>")


def plain(line: Line) -> str:
    return "".join(text for text, _ in line)


def marked(text: str, other: str) -> list[str]:
    return [text[start:end] for start, end in differing(text, other).marks]


def test_differing_values_are_marked_else_differing_words() -> None:
    assert marked("model.ckpt holds 8,128 values", "model.ckpt holds 8192 values") == ["8,128"]
    assert marked("holds 0x80 bytes", "holds 128 bytes") == [], "equal by value"
    assert marked("values are little-endian", "values are big-endian") == ["little"]
    assert marked("debug is true", "debug is false") == ["true"]
    assert marked("the same", "the same") == []


def test_a_pair_shows_both_facts_with_what_differs() -> None:
    row = pair_rows(pairs())[0]
    lines = row.lines(80, LOOK)
    assert len(lines) == row.height(80)
    assert [plain(line).rstrip() for line in lines[1:]] == [
        "  older × model.ckpt holds 8,128 values",
        "  newer ● model.ckpt holds 8,192 values",
        "",
    ]
    assert plain(lines[0]).startswith("The newer fact took the place of the older one.")
    assert {text for line in lines for text, style in line if style == "mark"} == {"8,128", "8,192"}


async def test_the_way_in_is_shown_in_both_panes() -> None:
    async with stage(example(pairs=pairs())) as play:
        assert "11 of 50 · 1 held: 4 · 3 pairs: v" in play.text()
        assert "? 3 pairs: 1 superseded, 1 conflict?, 1 alike" in play.text()
        await play.press("4", "k", "enter")
        assert isinstance(play.app.screen, Inbox)
        await play.press("escape", "2", "v")
        assert isinstance(play.app.screen, Inbox)
        await play.press("q")
        assert play.on_board


async def test_without_pairs_the_key_says_so() -> None:
    async with stage() as play:
        await play.press("v")
        assert play.on_board and "No pair of facts waits for you." in play.footer()


@pytest.mark.parametrize(
    ("keys", "pair", "how", "said"),
    [
        ("s", "p3", "swap", "Swapped: the other fact holds."),
        ("b", "p3", "keep_both", "Both facts hold."),
        ("d", "p3", "dismiss", "Left as it is."),
        ("j s", "p2", "swap", "Swapped"),
        ("G m", "p1", "merge", "Merged into one fact."),
    ],
)
async def test_one_key_decides(keys: str, pair: str, how: str, said: str) -> None:
    async with stage(example(pairs=pairs())) as play:
        await play.press("v", *keys.split())
        assert play.host.commands == [Resolve(t=NOW, session=ROOT, pair=pair, how=how)]  # type: ignore[arg-type]
        assert said in play.footer() and "u takes it back." in play.footer()
        await play.settle()
        screen = play.app.screen
        assert isinstance(screen, Inbox) and len(screen.pane.list.rows) == 2
        await play.press("u")
        assert play.host.commands[-1] == Undo(t=NOW, session=ROOT)


async def test_what_makes_no_sense_is_refused_with_a_reason() -> None:
    async with stage(example(pairs=pairs())) as play:
        await play.press("v", "m")
        assert "Only facts that say the same can be merged." in play.footer()
        await play.press("G", "s")
        assert "These say the same: merge them, or keep both." in play.footer()
        assert play.host.commands == []


async def test_the_last_pair_leaves_a_sentence_and_undo() -> None:
    async with stage(example(pairs=pairs()[:1])) as play:
        await play.press("v", "d")
        await play.settle()
        assert "No pair waits for you." in play.text()
        await play.press("s")
        assert "No pair waits for you." in play.footer() and len(play.host.commands) == 1


async def test_both_receipts_can_be_read() -> None:
    async with stage(example(pairs=pairs()), size=(120, 60)) as play:
        await play.press("v", "o")
        assert isinstance(play.app.screen, Reading)
        text = play.text()
        assert (
            text.index("The newer") < text.index("holds 8,192") < text.index("The older") < text.rindex("Superseded by")
        )
        assert "Superseded by: model.ckpt holds 8,192 values." in " ".join(text.split())
        await play.press("escape")
        assert isinstance(play.app.screen, Inbox)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_it_fits_and_names_its_keys(size: tuple[int, int]) -> None:
    async with stage(example(pairs=pairs()), size=size) as play:
        await play.press("v")
        assert all(len(line) == size[0] for line in play.lines())
        for words in ("s swap", "b keep both", "m merge", "d dismiss", "esc back"):
            assert words in play.footer()
        await play.press("?")
        assert "Help: Pairs of facts" in play.text() and "The other one holds" in play.text()


async def test_a_watching_dashboard_shows_pairs_and_decides_nothing() -> None:
    async with stage(example(pairs=pairs()), read_only=True) as play:
        await play.press("v", "s")
        assert "only watches" in play.footer() and play.host.commands == []
