"""Whether outputs bear a fact out."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ledger.observations import Tokens
from core.ledger.steps import Call, Step
from core.ledger.support import Evidence, Outputs, support


def steps(*pairs: tuple[str, str]) -> list[Step]:
    """One step a (command, output)."""
    return [
        Step(
            n=n + 1,
            origin="ses",
            message=f"m{n}",
            part=f"p{n}",
            t=0,
            calls=(
                Call(
                    call=f"c{n}",
                    tool="bash",
                    ok=True,
                    summary="",
                    command=command,
                    path="",
                    output=output,
                    exit=0,
                    ended=0,
                    ms=0,
                ),
            ),
            tokens=Tokens(),
            cost=0,
        )
        for n, (command, output) in enumerate(pairs)
    ]


HEADER = steps(("inspect w.bin", "magic = 0x80\nlen = 0x1c0\ndtype = float32\nn_tensors = 1,234"))
SERVICE = steps(
    ("curl -si http://127.0.0.1:7071/health", 'HTTP/1.1 503 Unavailable\nretry-after: 30\n\n{"db":"down","queue":41}')
)
COUNTS = steps(("wc -l a/*.csv", " 1128 a/train.csv\n  282 a/valid.csv\n 1410 total"))
PODS = steps(("kubectl get pods", "NAME READY STATUS RESTARTS\napi-6d8f 1/1 Running 0\nworker-7b5c 0/1 Crashed 218"))
CONFIG = steps(("cat c.json", '{\n  "hidden_size": 768,\n  "n_layers": 12,\n  "tie": true,\n  "mode": "fast"\n}'))
BUILD = steps(
    (
        "cargo build",
        "error[E0308]: mismatched types\n --> src/lexer.rs:212:24\nexpected `usize`, found `i32`\n"
        "could not compile `lumen`",
    )
)
IMAGE = steps(("file logo.png", "logo.png: PNG image data, 1024 x 512, non-interlaced, UTF-8 with BOM"))


@pytest.mark.parametrize(
    ("seen", "fact"),
    [
        (HEADER, "w.bin has magic 128"),
        (HEADER, "w.bin stores 1234 tensors as float32"),
        (SERVICE, "GET /health says retry-after: 30"),
        (SERVICE, '/health reports db "down" and a queue of 41'),
        (COUNTS, "a/train.csv has 1,128 lines"),
        (COUNTS, "a/valid.csv has 282 lines and all csv files together 1410"),
        (PODS, "worker-7b5c has 218 restarts"),
        (CONFIG, "c.json: hidden_size is 768 and n_layers is 12"),
        (CONFIG, "c.json sets tie to true"),
        (CONFIG, "c.json hat 12 Layer und hidden_size 768"),
        (BUILD, "src/lexer.rs:212 has error E0308: expected `usize`, found `i32`"),
        (BUILD, "lumen does not compile"),
        (IMAGE, "logo.png is 1024 x 512"),
    ],
)
def test_what_is_printed_is_supported(seen: list[Step], fact: str) -> None:
    judged = support(fact, "", seen)
    assert judged.ok, judged
    assert judged.reason == ""
    assert judged.evidence


@pytest.mark.parametrize(
    ("seen", "fact", "reason"),
    [
        (HEADER, "w.bin has magic 129", "no output says 129"),
        (HEADER, "w.bin stores 32 tensors", "no output says 32"),
        (HEADER, "w.bin stores its tensors as float16", "no output or command names float16"),
        (SERVICE, '/health reports db "up"', 'no output says "up"'),
        (COUNTS, "a/train.csv has 128 lines", "no output says 128"),
        (COUNTS, "a/test.csv has 282 lines", "no output or command names a/test.csv"),
        (COUNTS, "a/train.csv has 282 lines", "of another one than a/train.csv"),
        (PODS, "api-6d8f has 218 restarts", "the output says 218 of another one than api-6d8f"),
        (CONFIG, "c.json sets tie to false", "no output says false"),
        (CONFIG, "c.json has n_layers 768", "another one than n_layers"),
        (BUILD, "src/lexer.rs:212: expected `i32`, found `usize`", "the output says expect of usize, not of i32"),
        (BUILD, "lumen can compile", "the output says not compile"),
        (IMAGE, "logo.png is 512 x 1024", "the output has 1024 before 512"),
        (IMAGE, "logo.png is interlaced", "the output says not interlaced"),
        (IMAGE, "logo.png is PNG image data without BOM", "the output says with bom"),
        (IMAGE, "logo.png has 1024 of 512 pixels", "1024 cannot be a part of 512"),
        (COUNTS, "a/train.csv is longer than a/valid.csv", "no output says longer"),
        (COUNTS, "the moon is made of cheese", "no output says anything of it"),
        (COUNTS, "", "no output says anything of it"),
    ],
)
def test_what_is_not_printed_waits_with_its_reason(seen: list[Step], fact: str, reason: str) -> None:
    judged = support(fact, "", seen)
    assert not judged.ok
    assert reason in judged.reason
    assert judged.reason


def test_a_number_of_the_command_is_no_evidence() -> None:
    seen = steps(("head -c 512 blob.bin | xxd", "00000000: 8950 4e47"))
    assert support("blob.bin is 512 bytes long", "", seen).reason == "no output says 512"
    assert support("blob.bin starts with 8950 4e47", "", seen).ok


def test_the_count_of_characters_left_out_is_no_output() -> None:
    assert not support("5000 characters were printed", "", steps(("ls", "a\n… [5000 characters left out] …\nb"))).ok


def test_a_value_from_a_call_about_another_file_is_no_evidence() -> None:
    seen = steps(("wc -l a.csv", "12 a.csv"), ("wc -l b.csv", "4711 b.csv"))
    assert not support("a.csv has 4711 lines", "", seen).ok
    assert support("b.csv has 4711 lines", "", seen).evidence == (Evidence("p1", "c1", (1,)),)


def test_evidence_names_call_lines_and_the_command_that_has_the_name() -> None:
    assert support("w.bin stores 1234 tensors as float32", "", HEADER).evidence == (Evidence("p0", "c0", (0, 3, 4)),)


def test_a_path_may_be_put_together_from_command_and_listing() -> None:
    seen = steps(("ls -l ckpt/", "-rw-r--r-- 1 ml ml 536870912 Nov 29 04:41 step_2000.ckpt"))
    assert support("ckpt/step_2000.ckpt is 536,870,912 bytes", "", seen).ok
    assert not support("old/step_2000.ckpt is 536,870,912 bytes", "", seen).ok


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert support('a.csv says "hält in Köln"', "", steps(("head a.csv", "ha\u0308lt in Ko\u0308ln"))).ok
    assert support('a.csv says "ha\u0308lt in Ko\u0308ln"', "", steps(("head a.csv", "HÄLT in KÖLN"))).ok


def test_words_of_the_topic_need_not_be_printed() -> None:
    seen = steps(("nvidia-smi", "81920 MiB"))
    assert not support("accelerator memory capacity: 81920", "", seen).ok
    assert support("accelerator memory capacity: 81920", "accelerator:memory-capacity", seen).ok


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=50))
def test_never_raises(fact: str, output: str, command: str) -> None:
    judged = support(fact, "t", steps((command, output)))
    assert judged.ok is not bool(judged.reason)
    assert 0 <= judged.score <= 1
    for one in judged.evidence:
        assert all(0 <= n <= len(output.splitlines()) for n in one.lines)


WORDS = st.sampled_from(
    [
        *[
            "api-1",
            "api-2",
            "12",
            "45",
            "46",
            "x.csv",
            "y.csv",
            "has",
            "rows",
            "fails",
            "not",
            "passes",
            "=",
            ":",
            "true",
            "false",
            "and",
            "'a",
            "b'",
            "|",
            "port",
            "x",
            "to",
            "(",
        ],
        "\n",
    ]
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.lists(st.tuples(TEXTS, TEXTS), max_size=3), st.lists(st.tuples(TEXTS, TEXTS), max_size=3))
def test_further_outputs_never_take_support_away(
    fact: str, first: list[tuple[str, str]], more: list[tuple[str, str]]
) -> None:
    if support(fact, "", steps(*first)).ok:
        assert support(fact, "", steps(*first, *more)).ok


@settings(deadline=None)
@given(st.integers(min_value=10, max_value=10**9))
def test_a_number_is_found_however_it_is_printed_and_no_other(number: int) -> None:
    for printed in (str(number), f"{number:,}", hex(number), f"{number}ms", f"h:{number}", f"({number})"):
        seen = steps(("count x.csv", f"rows {printed}"))
        assert support(f"x.csv has {number:,} rows", "", seen).ok
        assert not support(f"x.csv has {number + 1} rows", "", seen).ok


def events(work: Callable[[], object]) -> int:
    """Python calls made, a measure of work that no busy machine disturbs."""
    count = 0

    def on(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(on)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("piece", ["w12 34 x.csv\n", "1,", "'a ", "a.b/", "not 5 of 6 to 7; ", "é漢\n"])
def test_work_grows_with_the_length_of_the_outputs(piece: str) -> None:
    small, large = piece * 500, piece * 4_000
    assert events(lambda: Outputs(steps(("c", large)))) < 12 * events(lambda: Outputs(steps(("c", small)))) + 2_000


@pytest.mark.parametrize("piece", ["w12 34 x.csv\n", "1,", "'a ", "a.b/", "not 5 of 6 to 7; ", "é漢 "])
def test_judging_does_not_scan_the_outputs_again(piece: str) -> None:
    fact = (piece * 2_000)[:2_000]
    small, large = (Outputs(steps(*[("c", piece * n)] * 4)) for n in (1_000, 8_000))
    assert events(lambda: support(fact, "", large)) < 3 * events(lambda: support(fact, "", small)) + 2_000
