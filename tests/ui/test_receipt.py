"""The receipt of a finding: what supports it, why it is in its state, what is folded away."""

from __future__ import annotations

from datetime import UTC

import msgspec

from ledger_tui.rows.look import Line, Look
from ledger_tui.rows.receipt import receipt_lines, receipt_text
from tests.ui.example import NOW, finding, topics

LOOK = Look(NOW, UTC, key_of=lambda action: f"<{action}>")


def plain(line: Line) -> str:
    return "".join(text for text, _ in line)


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


def test_what_is_copied_of_a_receipt() -> None:
    text = receipt_text(topics()[0].findings[0])
    assert text.startswith("model.ckpt has no header") and "step 12: $ xxd model.ckpt | head -3\n00000000:" in text


# -- lines that are known to support the fact


def evident(**fields: object) -> list[Line]:
    call = topics()[0].findings[0].receipt[0]
    noise = [f"line {n} of noise" for n in range(1, 41)]
    noise[29] = "total 124439808 value in f32"
    calls = (
        msgspec.structs.replace(call, step=1, command="stat a.bin", output="\n".join(noise), lines=(30,)),
        msgspec.structs.replace(call, step=2, command="python probe.py a.bin", output="done", lines=(0,)),
        msgspec.structs.replace(call, step=3, command="ls", output="a.bin 124,439,808 values"),
    )
    whole = {"receipt": calls} | fields
    return receipt_lines(finding("f", "a.bin has 124,439,808 values", "t", 3, NOW, **whole), 80, LOOK, everything=False)


def test_supporting_lines_have_a_sign_and_context_and_the_rest_is_folded() -> None:
    text = [plain(line) for line in evident()]
    assert any("From 3 calls, the 2 that support it" in line for line in text)
    at = text.index("▸ total 124439808 value in f32")
    assert text[at - 2 : at] == ["│ line 28 of noise", "│ line 29 of noise"]
    assert text[at + 1 : at + 3] == ["│ line 31 of noise", "│ line 32 of noise"]
    assert "│ ⋮ 27 lines left out" in text and "│ ⋮ 8 lines left out" in text
    assert not any(line.startswith("step 3") for line in text)
    assert "1 more call was extracted with it; <expand> shows all." in text


def test_what_supports_is_marked_by_value_and_by_word_and_only_there() -> None:
    marked = [
        span[0] for line in evident() for span in line if span[1] == "mark" and span[0].strip() not in ("", "marked")
    ]
    assert marked == ["124439808", "value", "a.bin"]
    assert "▸ python probe.py a.bin" in [plain(line) for line in evident()], "the command supports it"


def test_all_calls_and_lines_when_asked_for() -> None:
    call = topics()[0].findings[0].receipt[0]
    long = "\n".join(["noise"] * 500 + ["the size is 77"])
    found = finding(
        "f", "the size is 77", "t", 1, NOW, receipt=(msgspec.structs.replace(call, output=long, lines=(501,)),)
    )
    text = [plain(line) for line in receipt_lines(found, 80, LOOK, everything=True)]
    assert "▸ the size is 77" in text and len(text) < 260


def test_the_state_line_says_why() -> None:
    def said(**fields: object) -> str:
        return " ".join(" ".join(plain(line) for line in evident(**fields)).split())

    held = said(state="held", held_for="no output says 128")
    assert "Held: no output says 128. Not shown to the agent. <accept> accepts it, <reject_fact> rejects it." in held
    assert "the 2 that come nearest" in held
    doubtful = said(state="doubtful", stale_for="/w/a.bin", stale_at=NOW, files=("/w/a.bin",))
    assert "Doubtful: /w/a.bin changed at 12:41. No stop rests on it" in doubtful and "about /w/a.bin" in doubtful
    gone = said(state="superseded", superseded_by="a.bin has 9 values")
    assert "Superseded by: a.bin has 9 values. Not shown to the agent any more." in gone
    assert "It reads like an order to the agent" in said(mark="it reads like an order to the agent")
    assert said(state="fresh").index("confirmed again") < said(state="fresh").index("12:31 extracted by x2")
