"""Is it worth it? Figures with what they mean."""

from __future__ import annotations

import msgspec
import pytest

from core.ledger.repeats import RepeatsView
from ledger_tui.rows.look import Line, Look
from ledger_tui.rows.repeats import repeats_lines, repeats_text
from tests.ui.example import example, repeats
from tests.ui.stage import stage

LOOK = Look()
SEEN = repeats()


def plain(lines: list[Line]) -> list[str]:
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def test_totals_costs_and_rows() -> None:
    text = plain(repeats_lines(SEEN, 90, LOOK))
    rows = [line.split() for line in text]
    assert ["calls", "31", "12"] in rows
    assert ["same", "command,", "same", "output", "again", "9", "(29", "%)", "1", "(8", "%)"] in rows
    assert ["tokens", "read", "again", "≈2.1k", "≈300"] in rows
    assert ["xxd", "model.ckpt", "|", "head", "-3", "4", "1", "≈2.4k"] in rows
    assert any(line.startswith("read again by the agent") and "≈2.4k tokens" in line for line in text)
    assert any(line.startswith("extractions, OpenCode's count") and "4.6k tokens" in line for line in text)
    assert any(line.startswith("notes") and "≈190 tokens" in line for line in text)
    assert text[-1] == "⋮ 2 more commands with fewer tokens"


def test_it_is_labelled_as_what_it_is() -> None:
    text = " ".join(plain(repeats_lines(SEEN, 60, LOOK)))
    assert "An observation, no proof" in text and "≈ is an estimate" in text
    nothing = " ".join(plain(repeats_lines(RepeatsView(), 60, LOOK)))
    assert (
        "No note was put in front of the agent yet" in nothing
        and "No command has given the same output twice." in nothing
    )


@pytest.mark.parametrize("width", [30, 56, 76, 116])
def test_lines_keep_to_their_width(width: int) -> None:
    for seen in (SEEN, RepeatsView(), msgspec.structs.replace(SEEN, calls_before=10**9, repeats_before=10**9)):
        assert all(len(line) <= width for line in plain(repeats_lines(seen, width, LOOK)))


def test_the_copy_is_a_table() -> None:
    assert repeats_text(SEEN).split("\n")[1] == "xxd model.ckpt | head -3\t4\t1\t2400"


async def test_the_screen_opens_follows_and_closes() -> None:
    async with stage(example(repeats=SEEN)) as play:
        await play.press("w")
        assert "Is it worth it?" in play.text() and "9 (29 %)" in play.text()
        play.host.change("steps", repeats=msgspec.structs.replace(SEEN, repeats_before=10))
        await play.settle()
        assert "10 (32 %)" in play.text()
        await play.press("?")
        assert "what the ledger has cost" in play.text()
        await play.press("escape", "escape")
        assert play.on_board


async def test_the_palette_opens_it() -> None:
    async with stage(example(repeats=SEEN)) as play:
        await play.press("ctrl+p", *"worth", "enter")
        await play.pilot.pause()
        assert "OpenCode's count" in play.text()
