"""A session as one text."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from core.history.parts import read_parts
from core.history.pieces import Bounds
from core.history.rows import PartRow
from core.history.source import Source
from core.history.transcript import Transcript, transcript
from tests import history_data as data
from tests.history_data import BASE, Builder, text


def of(path: Path, session: str, bounds: Bounds = Bounds()) -> Transcript:  # noqa: B008
    with Source.open(path) as source:
        return transcript(read_parts(source, session), bounds)


def said(words: str, role: str = "user") -> PartRow:
    return PartRow(id="p", message="m", session="s", owner="s", role=role, data=json.dumps(text(words)).encode())


def test_a_small_session(tmp_path: Path) -> None:
    made = of(data.small_v1(tmp_path / "a.db"), "ses_a")
    assert made.text == (
        "[user]\nWhy does the build fail?\n\n"
        "[assistant, reasoning]\nLook at the log first.\n\n"
        "[assistant, tool bash, completed]\ncommand: make\noutput:\nerror: no rule\n\n"
        "[assistant]\nThe Makefile has no rule for it.\n\n"
        "[assistant, files changed]\n/home/u/project/Makefile"
    )
    assert (made.chars, made.left_out) == (len(made.text), 0)
    assert (made.parts, made.roles) == (5, {"user": 1, "assistant": 4})
    assert (made.skipped, made.moved) == ({}, 0)
    assert made.hints == ("Look at the log first.",)


def test_a_session_of_v2(tmp_path: Path) -> None:
    made = of(data.small_v2(tmp_path / "a.db"), "ses_two")
    assert "[user]\nCount the lines" in made.text
    assert "[user, file] file:///home/u/a.txt (text/plain)" in made.text
    assert "[assistant, tool shell, completed]\ncommand: wc -l a.txt\noutput:\n12 a.txt" in made.text
    assert "[assistant, tool read, error]\npath: b.txt\noutput:\nno b.txt" in made.text
    assert "summary of what came before]\nLines were counted." in made.text
    assert "hidden from the user" not in made.text
    assert made.skipped == {"model-switched": 1, "synthetic": 1, "idle": 1}


def test_a_compaction_of_v1_is_the_text_of_its_summary_message(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_1")
        b.message("ses_1", "msg_1", "user")
        b.part("msg_1", "prt_1", {"type": "compaction", "auto": True})
        b.message("ses_1", "msg_2", "assistant", BASE + 1, summary=True)
        b.part("msg_2", "prt_2", text("All of it."))
    assert of(tmp_path / "a.db", "ses_1").text == "[assistant, summary of what came before]\nAll of it."


def test_strays_are_counted(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_1")
        b.message("ses_1", "msg_1", raw="[")
        b.part("msg_1", "prt_1", text("kept"), session="ses_2")
        b.part("msg_1", "prt_2", "{")
        b.part("msg_1", "prt_3", {"type": "snapshot"})
        b.part("msg_1", "prt_4", {"type": "snapshot"})
        b.part("msg_0", "prt_5", text("lost"), session="ses_1")
    made = of(tmp_path / "a.db", "ses_1")
    assert made.text == "[unknown]\nkept"
    assert made.moved == 1
    assert made.skipped == {"unreadable": 1, "snapshot": 2, "no message": 1}


@pytest.mark.parametrize("total", [17_999, 18_000, 18_001])
def test_the_budget_at_its_edge(total: int) -> None:
    """Six texts of which the last one makes up the length; emoji lie at both cuts."""
    heading = len("[user]\n")
    body = "".join("😀🎉é漢"[n % 4] for n in range(4_000))
    parts, length = [], -2
    while total - length - 2 - heading > 4_000:
        parts.append(said(body[:3_500]))
        length += 2 + heading + 3_500
    parts.append(said(body[: total - length - 2 - heading]))
    made = transcript(parts)
    whole = "\n\n".join(f"[user]\n{json.loads(part.data or b'')['text']}" for part in parts)
    assert len(whole) == total == made.chars
    assert made.left_out == max(0, total - 18_000)
    if total <= 18_000:
        assert made.text == whole
    else:
        assert made.text[:6_000] == whole[:6_000]
        assert made.text[-12_000:] == whole[-12_000:]
        assert len(made.text) - 18_000 <= 200
        assert "1 of 18001" in made.text


def test_many_kinds_of_dropped_parts_are_counted_in_bounded_room() -> None:
    parts = [
        PartRow(id=str(n), message="m", session="s", data=json.dumps({"type": f"kind{n}"}).encode()) for n in range(200)
    ]
    skipped = transcript(parts).skipped
    assert len(skipped) <= 51
    assert sum(skipped.values()) == 200


def test_no_parts_make_no_text() -> None:
    assert transcript([]) == Transcript(text="", chars=0, left_out=0, skipped={}, parts=0, roles={})


def test_any_order_of_rows_in_the_file_gives_the_same_text(tmp_path: Path) -> None:
    rng = random.Random(7)
    texts = set()
    for n in range(3):
        path = tmp_path / f"{n}.db"
        messages = list(range(6))
        rng.shuffle(messages)
        with Builder(path) as b:
            b.session("ses_1")
            for m in messages:
                b.message("ses_1", f"msg_{m}", "user", BASE + m // 2)
            for p in rng.sample(range(30), 30):
                b.part(f"msg_{p % 6}", f"prt_{p:02}", text(f"part {p}"), BASE + p // 10)
        texts.add(of(path, "ses_1").text)
    assert len(texts) == 1
