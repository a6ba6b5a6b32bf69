from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from typing import Any

import msgspec
import pytest
from rich.cells import cell_len

from core.views import MeterView, SessionView, TopicView
from ledger_tui.actions import PANES
from ledger_tui.rows.empty import empty_text
from ledger_tui.rows.extractions import extraction_rows
from ledger_tui.rows.findings import LONG_LIST, finding_rows
from ledger_tui.rows.heads import info_of, interval_bar
from ledger_tui.rows.log import log_rows
from ledger_tui.rows.look import Line, Look, Row, say, spread, wrap_line
from ledger_tui.rows.meters import filled, gauge, gauge_strip, meter_rows
from ledger_tui.rows.reading import event_lines, extraction_lines, receipt_lines, receipt_text, step_lines
from ledger_tui.rows.status import banner, status_lines, verdict, welcome
from ledger_tui.rows.steps import step_rows
from ledger_tui.theme import ROLES
from tests.ui.example import NOW, blank, example, extractions, finding, live_server, log, meters, steps, topics
from tests.ui.hostile import hostile

LOOK = Look(NOW, UTC, key_of=lambda action: f"<{action}>")
MAKERS: dict[str, Callable[[SessionView], Any]] = {
    "steps": step_rows, "findings": finding_rows, "meters": meter_rows, "extractions": extraction_rows, "log": log_rows,
}  # fmt: skip


def plain(line: Line) -> str:
    return "".join(text for text, _ in line)


def drawn(rows: list[Any], width: int = 56) -> list[str]:
    return [plain(line).rstrip() for row in rows for line in row.lines(width, LOOK)]


@pytest.mark.parametrize("pane", PANES)
@pytest.mark.parametrize("view", [example(), blank(), hostile()], ids=["example", "blank", "hostile"])
@pytest.mark.parametrize("width", [30, 56, 76, 116, 200])
def test_rows_keep_to_their_width_and_height(pane: str, view: SessionView, width: int) -> None:
    rows: list[Row] = list(MAKERS[pane](view))
    assert len({row.key for row in rows}) == len(rows)
    for row in rows:
        lines = row.lines(width, LOOK)
        assert len(lines) == row.height(width)
        for line in lines:
            assert cell_len(plain(line)) <= width
            assert plain(line).isprintable()


def test_steps_show_number_tool_command_and_result() -> None:
    text = drawn(step_rows(example()))
    assert text[-1].startswith("43 bash xxd model.ckpt | head -3") and text[-1].endswith("running 2 s")
    assert text[-2].split() == ["42", "bash", "stat", "-c", "%s", "model.ckpt", "ok", "31", "ms"]
    assert text[-3].split() == ["read", "notes.md", "failed", "80", "ms"]
    assert any(line.startswith("38 └ bash cat missing.txt") and "exit 1  " in line for line in text)
    assert any("answered without a tool" in line for line in text)


def test_the_columns_of_a_list_are_aligned() -> None:
    text = drawn(step_rows(example()))
    assert len({line.rindex(" ok ") for line in text if " ok " in line}) == 1
    assert {len(line) for line in text if line.endswith("ms")} == {56}
    names = drawn(meter_rows(example()))
    assert len({line.index("▰") for line in names}) == 1


def test_findings_show_state_by_sign_and_word() -> None:
    text = drawn(finding_rows(example()))
    assert text[0].startswith("file-format:model.ckpt") and text[0].endswith("3 of 5")
    assert text[1].startswith("◆ model.ckpt has no header") and text[1].endswith("s12 12:31")
    assert any(line.startswith("◌ ") for line in text) and any(line.endswith("doubtful") for line in text)
    assert any(line.startswith("? weights start at byte 128") for line in text)
    assert any("held: waits for you" in line for line in text)
    assert any(line.endswith("you 12:34") for line in text)
    assert any("settings:config.json" in line and "muted" in line for line in text)


def test_a_word_is_never_cut_however_long_the_fact() -> None:
    fact = "word " * 60
    for width in range(30, 80):
        found = finding("f", fact, "t", 1, NOW, state="doubtful", pinned=True)
        view = example(topics=(TopicView(topic="t", findings=(found,), cap=5, muted=False),))
        assert drawn(finding_rows(view), width)[-1].endswith("pinned, doubtful")


def test_a_long_list_of_findings_takes_a_line_each() -> None:
    many = tuple(finding(f"f{n}", "word " * 30, "t", n, NOW) for n in range(LONG_LIST + 1))
    view = example(topics=(TopicView(topic="t", findings=many, cap=0, muted=False),), findings=len(many))
    assert all(row.height(40) == 1 for row in finding_rows(view))


def test_meters_say_it_in_words_and_the_worst_comes_first() -> None:
    text = drawn(meter_rows(example()))
    assert text[0].split() == ["layout", "▰▰▰▰", "4", "of", "4", "STOP", "shown", "at", "s20"]
    assert text[1].split()[1:6] == ["▰▰▰▱", "3", "of", "4", "quiet"]
    assert text[-1].split()[5] == "muted"
    assert any("└ probe tokenizer" in line for line in text)


@pytest.mark.parametrize(
    ("count", "threshold", "cells", "full"),
    [(0, 4, 4, 0), (1, 4, 4, 1), (3, 4, 4, 3), (4, 4, 4, 4), (9, 4, 4, 4), (1, 100, 8, 1), (99, 100, 8, 7),
     (1, 1, 1, 1), (0, 1, 1, 0)],
)  # fmt: skip
def test_a_gauge_is_empty_only_at_zero_and_full_only_at_the_threshold(
    count: int, threshold: int, cells: int, full: int
) -> None:
    assert filled(count, threshold, cells) == full


def test_without_a_threshold_a_gauge_never_fills() -> None:
    meter = msgspec.structs.replace(meters()[0], threshold=0, count=99)
    assert "▱" in plain(gauge(meter, LOOK))
    assert "99 looks" in drawn(meter_rows(example(meters=(meter,))))[0]


def test_the_line_of_gauges_names_what_it_leaves_out() -> None:
    assert plain(gauge_strip(example(), 50, LOOK)).endswith("+3 more")
    assert "more" not in plain(gauge_strip(example(), 200, LOOK))
    for width in range(20, 120):
        assert cell_len(plain(gauge_strip(example(), width, LOOK))) <= width


def test_extractions() -> None:
    text = drawn(extraction_rows(example()), 100)
    assert "5 new, 1 known" in text[0] and "2.5k tok" in text[0] and text[0].endswith("2.3 s")
    assert "prompt is too long" in text[1] and text[1].endswith("again in 12 s")
    assert "ledger-extractor gpt-5-mini" in text[3] and text[3].endswith("3 s")
    nothing = msgspec.structs.replace(extractions()[0], added=0, duplicates=0)
    assert "nothing new" in drawn(extraction_rows(example(extractions=(nothing,))))[0]


def test_log_rows_of_the_same_moment_have_their_own_keys() -> None:
    row = log()[0]
    assert len({row.key for row in log_rows(example(log=(row, row, row)))}) == 3


def test_the_log_shows_level_by_sign_and_the_detail_where_there_is_room() -> None:
    wide = drawn(log_rows(example()), 116)
    assert any("✗ extract" in line and line.endswith("again in 30 s") for line in wide)
    assert any("▲ warning" in line for line in wide)
    assert all(len(line) <= 56 for line in drawn(log_rows(example()), 56))


# -- verdict, status, banner, welcome


def only(**fields: Any) -> MeterView:
    return msgspec.structs.replace(meters()[0], **fields)


@pytest.mark.parametrize(
    ("view", "headline", "said"),
    [
        (example(), "going in circles", "layout looked at 4 times since s20; told to stop"),
        (example(meters=meters()[:2]), "looking again", "model.ckpt 3 of 4 looks before a stop"),
        (example(meters=(only(muted=True, action="stop"),)), "learning", "5 new facts in the last 15 steps"),
        (example(meters=(), completed=400), "steady", "12 facts known, nothing looked at twice"),
        (
            example(meters=(), topics=(), findings=0, extractions=()),
            "watching",
            "no facts yet, first extraction in 8 steps",
        ),
        (example(meters=(), topics=(), findings=0), "watching", "no facts yet, next extraction in 8 steps"),
        (blank(), "waiting", "no step yet"),
    ],
)
def test_the_verdict_says_how_the_agent_is_doing(view: SessionView, headline: str, said: str) -> None:
    role, head, why = verdict(view, LOOK)
    assert role in ROLES
    assert head == headline
    if headline == "learning":
        assert "new facts in the last 15 steps" in why
    else:
        assert why == said


def test_the_status_drops_the_server_before_the_session() -> None:
    wide = [plain(line) for line in status_lines(live_server(), example(), 120, 2, LOOK)]
    assert "shop ▸ Figure out model.ckpt" in wide[0] and "● live :4096" in wide[0] and "gpt-5-mini" in wide[0]
    assert "going in circles" in wide[1] and "notes by patch" in wide[1] and "81k tok $0.42" in wide[1]
    several = plain(status_lines(live_server(servers=3), example(), 120, 2, LOOK)[0])
    assert "● live :4096 +2" in several
    narrow = plain(status_lines(live_server(), example(), 80, 1, LOOK)[0])
    assert "Figure out model.ckpt" in narrow and "going in circles" in narrow and "live" in narrow
    assert "OpenCode" not in narrow and "gpt-5-mini" not in narrow
    narrower = plain(status_lines(live_server(), example(), 60, 1, LOOK)[0])
    assert "Figure out model.ckpt" in narrower and "going in circles" in narrower
    for width in range(40, 200):
        for rows in (1, 2):
            assert all(
                cell_len(plain(line)) == width for line in status_lines(live_server(), example(), width, rows, LOOK)
            )


def test_facts_to_tell_are_said_before_figures() -> None:
    view = msgspec.structs.replace(example(), queued_note=2)
    for width in (110, 120, 160):
        assert "2 facts to tell at the next call" in plain(status_lines(live_server(), view, width, 2, LOOK)[1])
    assert "to tell" not in plain(status_lines(live_server(), example(), 160, 2, LOOK)[1])


def test_a_replay_is_labelled_at_every_size() -> None:
    server = live_server(replay=True, speed=4.0)
    for rows, width in ((2, 120), (1, 80), (1, 60)):
        assert "REPLAY ×4" in plain(status_lines(server, example(), width, rows, LOOK)[0])
    assert "REPLAY paused" in plain(status_lines(live_server(replay=True, speed=0), example(), 80, 1, LOOK)[0])
    ended = live_server(replay=True, speed=0, ended=True)
    assert "REPLAY ended" in plain(status_lines(ended, example(), 80, 1, LOOK)[0])
    assert plain(banner(ended, LOOK)) == "The recording has ended: look around, or <quit> to quit."
    assert banner(live_server(replay=True), LOOK) == []


def test_late_notes_are_said() -> None:
    server = live_server(delivery_detail="notes will be one request late (snapshots are off)")
    assert "one request late" in plain(status_lines(server, example(), 160, 2, LOOK)[1])


def test_who_hosts_is_said_in_place_of_how_notes_go() -> None:
    server = live_server(host="process 1234 in pts/3", delivery="off")
    for view in (example(), None):
        line = plain(status_lines(server, view, 160, 2, LOOK)[1])
        assert "hosted by process 1234 in pts/3" in line and "notes" not in line


def test_the_banner_counts_down_and_is_empty_while_all_is_well() -> None:
    assert banner(live_server(), LOOK) == []
    server = live_server(state="reconnecting", attempt=3, retry_at=NOW + 3_200)
    assert plain(banner(server, LOOK)) == "Reconnecting, try 3, next in 4 s; nothing is lost."
    refused = live_server(state="refused", detail="The password is wrong.")
    assert plain(banner(refused, LOOK)) == "The password is wrong."


def test_the_welcome_names_the_next_key() -> None:
    none = live_server(state="none")
    text = "\n".join(plain(line) for line in welcome(none, LOOK, demo=True))
    assert "opencode --port 4096" in text and "<demo>" in text and "<quit>" in text
    assert "<demo>" not in "\n".join(plain(line) for line in welcome(none, LOOK, demo=False))
    for state in ("searching", "connecting", "live", "resyncing", "reconnecting", "refused", "closed", "file"):
        assert len(welcome(live_server(state=state), LOOK, demo=False)) > 2


# -- empty panes, heads


def test_empty_panes_are_sentences_with_the_next_key() -> None:
    fresh = blank(buffered=3)
    assert plain(empty_text("findings", fresh, LOOK)).startswith(
        "No facts yet. The first extraction comes after 15 steps, 12 more"
    )
    assert "<extract>" in plain(empty_text("findings", fresh, LOOK)) and "<add>" in plain(
        empty_text("findings", fresh, LOOK)
    )
    assert "<extract>" not in plain(empty_text("extractions", blank(), LOOK))
    assert "<extract>" in plain(empty_text("steps", blank(earlier=4), LOOK))
    for pane in PANES:
        assert plain(empty_text(pane, blank(), LOOK)).endswith(".")


def test_heads() -> None:
    view = example(earlier=3)
    assert plain(info_of("steps", view, LOOK)) == "42 done · 3 from before"
    assert plain(info_of("findings", view, LOOK)) == "12 of 50 · 4 topics · 1 held"
    assert "pinned" in plain(info_of("findings", example(cap_full_of_pins=True), LOOK))
    assert plain(info_of("meters", view, LOOK)) == "1 told to stop"
    assert plain(info_of("extractions", view, LOOK)) == "running"
    assert plain(info_of("log", view, LOOK)) == "2 warnings"
    assert plain(interval_bar(view, 56, LOOK)[0]) == "▰▰▰▰▰▰▰▱▱▱▱▱▱▱▱  7 of 15 steps to the next extraction"
    assert "20 steps wait" in plain(interval_bar(example(buffered=20), 56, LOOK)[0])


# -- lines


def test_spread_drops_the_right_part_before_it_squeezes_the_middle() -> None:
    line = spread(18, [("ab ", "x")], ("a long summary", "x"), [(" first", "x"), (" last", "x")])
    assert plain(line) == "ab a long su… last"


def test_say_sets_keys_and_code_off() -> None:
    line = say("Start `opencode` or press {demo} now.", LOOK)
    assert line == [
        ("Start ", "muted"), ("opencode", "strong"), (" or press ", "muted"), ("<demo>", "key"), (" now.", "muted"),
    ]  # fmt: skip


def test_wrap_line_keeps_styles() -> None:
    wrapped = wrap_line([("one two ", "a"), ("three", "b")], 8)
    assert [plain(line).strip() for line in wrapped] == ["one two", "three"]
    assert ("three", "b") in wrapped[1]


# -- reading


def test_a_receipt_shows_the_calls_and_marks_the_words() -> None:
    lines = receipt_lines(topics()[0].findings[0], 90, LOOK, everything=False)
    text = [plain(line) for line in lines]
    assert text[0] == "model.ckpt has no header: raw float32 from byte 0"
    assert "◆ pinned  file-format:model.ckpt" in text
    assert "step 12  12:31:10  bash  ok" in text and "$ xxd model.ckpt | head -3" in text
    marked = {span[0] for line in lines for span in line if span[1] == "mark"}
    assert {"model.ckpt", "float32", "header", "raw"} <= marked


def test_a_long_output_is_shown_near_its_marks_only_until_all_is_asked_for() -> None:
    call = msgspec.structs.replace(
        topics()[0].findings[0].receipt[0], output="\n".join(["noise"] * 50 + ["raw float32"] + ["noise"] * 50)
    )
    found = msgspec.structs.replace(topics()[0].findings[0], receipt=(call,))
    short = [plain(line) for line in receipt_lines(found, 80, LOOK, everything=False)]
    assert any("48 lines left out" in line for line in short) and any("raw float32" in line for line in short)
    whole = receipt_lines(found, 80, LOOK, everything=True)
    assert len(whole) > len(short) and not any("left out" in plain(line) for line in whole)


def test_of_many_calls_those_that_support_the_fact_best_come_first() -> None:
    call = topics()[0].findings[0].receipt[0]
    outputs = ["noise", "a header", "raw float32, no header", "noise", "raw", "float32", "header raw", "noise"]
    calls = tuple(msgspec.structs.replace(call, step=n, command="", output=text) for n, text in enumerate(outputs, 1))
    found = msgspec.structs.replace(topics()[0].findings[0], receipt=calls)
    text = [plain(line) for line in receipt_lines(found, 80, LOOK, everything=False)]
    assert [line.split()[1] for line in text if line.startswith("step ")] == ["3", "7", "2", "5"]
    assert any("From 8 calls, the 4 that support it best first" in line for line in text)
    text = [plain(line) for line in receipt_lines(found, 80, LOOK, everything=True)]
    assert [line.split()[1] for line in text if line.startswith("step ")] == [str(n) for n in range(1, 9)]


def test_a_call_that_shares_a_number_by_chance_does_not_support_a_fact() -> None:
    call = topics()[0].findings[0].receipt[0]
    outputs = ["n_vocab 64, n_ctx 32, n_embd 16, n_layer 2", "0000064", "64"]
    calls = tuple(msgspec.structs.replace(call, step=n, command="", output=text) for n, text in enumerate(outputs, 1))
    found = finding("f", "config.json sets n_vocab 64, n_ctx 32, n_embd 16", "t", 3, NOW, receipt=calls)
    text = [plain(line) for line in receipt_lines(found, 80, LOOK, everything=False)]
    assert [line.split()[1] for line in text if line.startswith("step ")] == ["1"]
    only_numbers = msgspec.structs.replace(found, receipt=calls[2:])
    assert any(plain(line).startswith("step 3") for line in receipt_lines(only_numbers, 80, LOOK, everything=False))
    assert any("From 3 calls, the one that supports it best" in line for line in text)


def test_a_fact_added_by_hand_says_so() -> None:
    lines = receipt_lines(topics()[2].findings[1], 80, LOOK, everything=False)
    assert "Added by hand: no output stands behind it." in [plain(line) for line in lines]


@pytest.mark.parametrize("width", [20, 60, 120])
def test_reading_hostile_text_is_harmless(width: int) -> None:
    view = hostile()
    pages = [
        receipt_lines(view.topics[0].findings[0], width, LOOK, everything=True),
        *(step_lines(step, "agent", width, LOOK, everything=True) for step in view.steps),
        *(extraction_lines(x, width, LOOK) for x in view.extractions),
        *(event_lines(event, width, LOOK) for event in view.log),
    ]
    for page in pages:
        assert len(page) < 10_000
        assert all(plain(line).isprintable() for line in page)


def test_what_is_copied_of_a_receipt() -> None:
    text = receipt_text(topics()[0].findings[0])
    assert text.startswith("model.ckpt has no header") and "step 12: $ xxd model.ckpt | head -3\n00000000:" in text


def test_a_step_shows_every_call_with_its_output() -> None:
    text = [plain(line) for line in step_lines(steps()[-2], "", 80, LOOK, everything=False)]
    assert text[0].startswith("Step 41") and "$ cat notes.md" in text and "80 ms  read  failed" in text
