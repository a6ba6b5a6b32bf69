from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from typing import Any

import msgspec
import pytest
from rich.cells import cell_len

from core.views import LogRow, MeterView, PermissionView, SessionView, TopicView
from ledger_tui.actions import PANES
from ledger_tui.rows.empty import empty_text
from ledger_tui.rows.extractions import extraction_rows
from ledger_tui.rows.findings import LONG_LIST, finding_rows
from ledger_tui.rows.heads import info_of, interval_bar
from ledger_tui.rows.log import log_rows
from ledger_tui.rows.look import Line, Look, Row, say, spread, wrap_line
from ledger_tui.rows.meters import filled, gauge, gauge_strip, meter_rows
from ledger_tui.rows.reading import event_lines, extraction_lines, step_lines
from ledger_tui.rows.receipt import receipt_lines
from ledger_tui.rows.status import banner, status_lines, verdict, welcome
from ledger_tui.rows.steps import step_rows
from ledger_tui.theme import ROLES
from tests.ui.example import NOW, blank, example, extractions, finding, live_server, log, meters, steps
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
    assert any(line.startswith("◌ ") for line in text)
    assert any(line.endswith("doubtful: file changed 12:40") for line in text)
    assert not any("weights start at byte 128" in line for line in text), "held facts wait in Extractions"
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
        (example(meters=(), completed=400), "steady", "11 facts known, nothing looked at twice"),
        (
            example(meters=(), topics=(), findings=0, extractions=()),
            "watching",
            "no facts yet, first extraction in 8 steps",
        ),
        (
            example(meters=(), topics=(), findings=0, extractions=extractions()[:2]),
            "watching",
            "no facts yet, next extraction in 8 steps",
        ),
        (example(meters=(), topics=(), findings=0), "watching", "no facts yet, x4 is running"),
        (example(state="idle"), "went in circles", "over layout, looked at 4 times since s20; told to stop"),
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


@pytest.mark.parametrize("width", [60, 80])
def test_the_one_line_status_says_that_it_only_watches(width: int) -> None:
    server = live_server(host="process 1234 in pts/3", delivery="off")
    (line,) = status_lines(server, example(title="A long title that takes all the room there is"), width, 1, LOOK)
    assert "watching process 1234" in plain(line) and "going in circles" in plain(line)
    assert "watching" not in plain(status_lines(live_server(), example(), width, 1, LOOK)[0])


def test_a_fact_without_a_step_is_only_yours_when_you_wrote_it() -> None:
    found = finding("f1", "a fact", "topic", 0, NOW)
    mine = msgspec.structs.replace(found, source="user")
    topic = TopicView(topic="topic", findings=(found, mine), cap=5, muted=False)
    text = drawn(finding_rows(example(topics=(topic,))))
    assert "early 12:41" in text[1] and "you 12:41" in text[2]


def test_an_extraction_of_earlier_steps_counts_them_once() -> None:
    early = msgspec.structs.replace(extractions()[0], first_step=0, last_step=0, steps=29)
    text = "\n".join(map(plain, extraction_lines(early, 80, LOOK)))
    assert "29 steps from before" in text and text.count("29 steps") == 1


def test_an_empty_pane_says_what_is_running() -> None:
    view = example(topics=(), findings=0, held=0, held_findings=())
    assert "x4 is running" in plain(empty_text("findings", view, LOOK))


def test_the_head_of_the_log_counts_what_still_matters() -> None:
    rows = [LogRow(t=NOW, kind="request", text="The agent waits", level="warn")]
    waiting = PermissionView(
        id="p", kind="permission", title="bash", text="ls", patterns="", always="", origin="", since=1
    )
    assert info_of("log", example(log=rows), LOOK) == []
    assert plain(info_of("log", example(log=rows, permissions=(waiting,)), LOOK)) == "1 request open"
    rows.append(LogRow(t=NOW, kind="warning", text="trouble", level="warn"))
    assert plain(info_of("log", example(log=rows), LOOK)) == "1 warning"


def test_the_banner_counts_down_and_is_empty_while_all_is_well() -> None:
    assert banner(live_server(), LOOK) == []
    server = live_server(state="reconnecting", attempt=3, retry_at=NOW + 3_200)
    assert plain(banner(server, LOOK)) == "Reconnecting, try 3, next in 4 s; nothing is lost."
    unstored = live_server(store="Facts are not stored: ledger.db: the disk is full.")
    assert plain(banner(unstored, LOOK)) == "▲ Facts are not stored: ledger.db: the disk is full."
    refused = live_server(state="refused", detail="The password is wrong.")
    assert plain(banner(refused, LOOK)) == "The password is wrong."


def test_the_advice_is_seen_where_there_is_room_for_a_line_only() -> None:
    server = live_server(state="none", detail="OpenCode runs here without a way in (process 4711).")
    assert plain(banner(server, LOOK, offered=True)).startswith("Press <init>, then restart OpenCode. OpenCode runs")
    assert plain(banner(server, LOOK)).startswith("OpenCode runs here")


def test_servers_of_other_folders_come_last() -> None:
    others = tuple(f"http://127.0.0.1:{n} (/a/long/path/{'x' * 80})" for n in range(3))
    server = live_server(state="none", detail="OpenCode runs here without a way in (process 4711).", others=others)
    lines = [plain(line) for line in welcome(server, LOOK, demo=True, offered=True)]
    assert lines[-1].startswith("OpenCode for other folders: http://127.0.0.1:0")
    assert any("press <init>" in line for line in lines[:-1])


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
    assert plain(info_of("findings", view, LOOK)) == "11 of 50 · 4 topics · 1 held: <extractions_pane>"
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


def test_a_step_shows_every_call_with_its_output() -> None:
    text = [plain(line) for line in step_lines(steps()[-2], "", 80, LOOK, everything=False)]
    assert text[0].startswith("Step 41") and "$ cat notes.md" in text and "80 ms  read  failed" in text
