"""The session of the pictures: realistic data for the dashboard's tests."""

from __future__ import annotations

from typing import Any

from core.ledger.observations import Tokens
from core.ledger.repeats import RepeatRow, RepeatsView
from core.ledger.steps import Call, Step
from core.views import (
    ExtractionView,
    FindingView,
    LogRow,
    MeterView,
    PairView,
    ReceiptCall,
    RunningCall,
    ServerView,
    SessionItem,
    SessionView,
    TopicView,
)

NOW = 1_790_426_470_000
"""2026-09-26 12:41:10 UTC, in ms."""

MINUTE = 60_000
ROOT = "ses_root"
CHILD = "ses_child"


def live_server(**fields: Any) -> ServerView:
    """A server that answers."""
    whole: dict[str, Any] = {
        "url": "http://127.0.0.1:4096",
        "version": "1.18.33",
        "state": "live",
        "delivery": "patch",
    } | fields
    return ServerView(**whole)


def lost_server() -> ServerView:
    """A server that was there and is waited for."""
    return live_server(state="reconnecting", attempt=3, retry_at=NOW + 4_000)


def call(key: str, tool: str, command: str, output: str = "", *, ok: bool = True, code: int = 0, ms: int = 31) -> Call:
    """A finished call."""
    return Call(
        call=key,
        tool=tool,
        ok=ok,
        summary=command,
        command=command if tool == "bash" else "",
        path="",
        output=output,
        exit=code if tool == "bash" else None,
        ended=NOW - MINUTE,
        ms=ms,
    )


def step(n: int, *calls: Call, origin: str = ROOT, earlier: bool = False) -> Step:
    """A step with these calls."""
    return Step(
        n=n,
        origin=origin,
        message=f"msg{n}",
        part=f"part{n}{origin}",
        t=NOW - (60 - n) * 20_000,
        calls=calls,
        tokens=Tokens(input=1_800, output=120),
        cost=0.008,
        earlier=earlier,
    )


def finding(key: str, fact: str, topic: str, at_step: int, t: int, **fields: Any) -> FindingView:
    """A finding."""
    whole: dict[str, Any] = {
        "state": "accepted",
        "pinned": False,
        "source": "extraction",
        "history": ("12:31 extracted by x2",),
    } | fields
    return FindingView(id=key, fact=fact, topic=topic, step=at_step, established_at=t, **whole)


HEXDUMP = """\
00000000: cdcc 4c3e 0000 803f 9a99 993e 0000 0000  ..L>...?...>....
00000010: 3333 b33e cdcc cc3d 0000 003f 6666 e63e  33.>...=...?ff.>
00000020: 0000 803f 9a99 193f cdcc 4c3f 0000 803f  ...?...?..L?...?"""

RECEIPT = (
    ReceiptCall(
        step=12,
        t=NOW - 10 * MINUTE,
        tool="bash",
        summary="xxd model.ckpt | head -3",
        command="xxd model.ckpt | head -3",
        ok=True,
        exit=0,
        output=HEXDUMP,
    ),
    ReceiptCall(
        step=13,
        t=NOW - 9 * MINUTE,
        tool="bash",
        summary="python probe.py",
        ok=True,
        exit=0,
        command="python3 -c \"import numpy as np; print(np.fromfile('model.ckpt', '<f4', 4))\"",
        output="read model.ckpt as raw float32 from byte 0\n[0.2 1.  0.3 0. ]\nno header found, all values finite\n",
    ),
)


CKPT, BPE, CONFIG, WEIGHTS = "file-format:model.ckpt", "tokenizer:vocab.bpe", "settings:config.json", "weights:layout"


def topics() -> tuple[TopicView, ...]:
    """The findings of the example."""
    return tuple(
        TopicView(topic=topic, cap=5, muted=topic == CONFIG, findings=tuple(f for f in _findings() if f.topic == topic))
        for topic in (CKPT, BPE, CONFIG, WEIGHTS)
    )


def _findings() -> tuple[FindingView, ...]:
    def one(key: str, topic: str, at_step: int, minutes: int, fact: str, **fields: Any) -> FindingView:
        return finding(key, fact, topic, at_step, NOW - minutes * MINUTE, **fields)

    values = "model.ckpt holds 124,439,808 values, which matches GPT-2 small without its tied output layer"
    merges = "merges are applied in file order; rank is the line number minus one"
    by_hand = ("12:34 added by hand",)
    return (
        one("f1", CKPT, 12, 10, "model.ckpt has no header: raw float32 from byte 0", pinned=True, receipt=RECEIPT),
        one("f2", CKPT, 27, 5, "model.ckpt is little-endian float32", receipt=RECEIPT[:1]),
        one("f3", CKPT, 30, 4, values, state="doubtful", stale_for="/home/ada/shop/model.ckpt", stale_at=NOW - MINUTE),
        one("f4", BPE, 33, 3, "token 46107 decodes to ' Damien'"),
        one("f5", BPE, 34, 3, "vocab.bpe has 50,000 merges after one comment line"),
        one("f6", BPE, 34, 3, merges, state="fresh"),
        one("f7", BPE, 36, 2, "byte 0x20 is written as Ġ (U+0120)"),
        one("f8", CONFIG, 20, 8, "n_layer 12, n_head 12, n_embd 768"),
        one("f9", CONFIG, 0, 7, "n_ctx is 1024", source="user", history=by_hand),
        one("f11", WEIGHTS, 31, 4, "wte comes first, then wpe"),
        one("f12", WEIGHTS, 38, 1, "layers are stored in order h0 … h11"),
    )


def held() -> tuple[FindingView, ...]:
    """The facts of the example that wait for a person."""
    return (
        finding(
            "f10",
            "weights start at byte 128",
            WEIGHTS,
            28,
            NOW - 5 * MINUTE,
            state="held",
            held_for="no output says 128",
            receipt=RECEIPT,
        ),
    )


def pairs() -> tuple[PairView, ...]:
    """One pair of each kind."""

    def one(key: str, kind: Any, older: str, newer: str, minutes: int, state: Any = "accepted") -> PairView:
        at = NOW - minutes * MINUTE
        follows = newer if state == "superseded" else ""
        old = finding(key + "o", older, CKPT, 20, at - MINUTE, state=state, superseded_by=follows, receipt=RECEIPT)
        return PairView(id=key, kind=kind, old=old, new=finding(key + "n", newer, CKPT, 31, at, receipt=RECEIPT), t=at)

    return (
        one("p1", "near", "File has no header.", "no header in file", 7),
        one("p2", "unsure", "values are little-endian", "values are big-endian", 5),
        one("p3", "superseded", "model.ckpt holds 8,128 values", "model.ckpt holds 8,192 values", 4, "superseded"),
    )


def repeats() -> RepeatsView:
    """What came again."""
    return RepeatsView(
        rows=(
            RepeatRow(command="xxd model.ckpt | head -3", before=4, after=1, tokens=2_400),
            RepeatRow(command="stat -c %s model.ckpt", before=2, after=0, tokens=3),
        ),
        more=2,
        noted=True,
        calls_before=31,
        calls_after=12,
        repeats_before=9,
        repeats_after=1,
        repeated_tokens_before=2_100,
        repeated_tokens_after=300,
        extraction_tokens=4_584,
        note_tokens=190,
    )


def meters() -> tuple[MeterView, ...]:
    """The meters of the example."""

    def meter(topic: str, name: str, count: int, action: Any, shown: int, **fields: Any) -> MeterView:
        whole: dict[str, Any] = {"origin": ROOT, "is_sub_agent": False, "muted": False, "threshold": 4} | fields
        return MeterView(topic=topic, name=name, count=count, action=action, shown_at=shown, **whole)

    return (
        meter("file-format:model.ckpt", "model.ckpt", 3, "quiet", 38),
        meter("tokenizer:vocab.bpe", "vocab.bpe", 1, "gentle", 41),
        meter("weights:layout", "layout", 4, "stop", 20),
        meter("tokenizer:vocab.bpe", "vocab.bpe", 2, "quiet", 40, origin=CHILD, is_sub_agent=True),
        meter("settings:config.json", "config.json", 2, "quiet", 22, muted=True),
    )


def extractions() -> tuple[ExtractionView, ...]:
    """The extractions of the example."""

    def one(key: str, state: Any, first: int, last: int, **fields: Any) -> ExtractionView:
        whole: dict[str, Any] = {"agent": "ledger-extractor", "model": "gpt-5-mini", "started": NOW - 3_200} | fields
        return ExtractionView(id=key, state=state, first_step=first, last_step=last, steps=last - first + 1, **whole)

    return (
        one("x1", "done", 1, 14, found=6, added=5, duplicates=1, ms=2_310, tokens=2_480, prompt_chars=9_312),
        one("x2", "failed", 15, 28, error="prompt is too long: 210,000 tokens", ms=900, retry_at=NOW + 12_000),
        one("x3", "done", 15, 28, found=5, added=3, duplicates=1, rejected=1, ms=1_900, tokens=2_104),
        one("x4", "running", 29, 43),
    )


def log() -> tuple[LogRow, ...]:
    """The log of the example."""
    rows: list[tuple[int, str, str, str, Any]] = [
        (12, "connection", "live, OpenCode 1.18.33 on :4096", "", "info"),
        (10, "note", "gentle, 2 facts, arrived with the next request", "xxd model.ckpt | head -3", "info"),
        (9, "finding", "added: model.ckpt is little-endian float32", "file-format:model.ckpt", "info"),
        (6, "extraction", "x2 failed: prompt is too long: 210,000 tokens", "again in 30 s", "error"),
        (5, "warning", "notes will be one request late", "snapshots are off on this server", "warn"),
        (4, "extraction", "x3 done: 3 new, 1 known, 1 rejected", "1.9 s, 2,104 tokens", "info"),
        (3, "touch", "vocab.bpe  1 of 4, gentle", "head -3 vocab.bpe", "info"),
        (2, "note", "gentle, 4 facts, arrived with the next request", "stat -c %s model.ckpt", "info"),
        (1, "touch", "model.ckpt  3 of 4, quiet", "xxd model.ckpt | head -3", "info"),
        (0, "note", "STOP, 3 facts, arrived with the next request", "python3 layout.py --dump", "info"),
    ]
    return tuple(
        LogRow(t=NOW - minute * MINUTE, kind=kind, text=text, detail=detail, level=level)
        for minute, kind, text, detail, level in rows
    )


def steps() -> tuple[Step, ...]:
    """The steps of the example: the last ones, with a sub-agent and a step without calls."""
    commands = [
        "ls -la",
        "cat config.json",
        "head -c 64 vocab.bpe",
        "xxd model.ckpt | head -3",
        "wc -l vocab.bpe",
        "stat -c %s model.ckpt",
    ]
    early = [step(n, call(f"c{n}", "bash", commands[n % 6], HEXDUMP, ms=12 + n * 7)) for n in range(22, 36)]
    return (
        *early,
        step(36, call("c36", "bash", "python3 decode_token.py 46107", " Damien\n", ms=120)),
        step(37, call("c37a", "bash", "ls tokenizer", "vocab.bpe\n", ms=9), origin=CHILD),
        step(
            38,
            call("c38", "bash", "cat missing.txt", "cat: missing.txt: No such file", ok=True, code=1, ms=8),
            origin=CHILD,
        ),
        step(39),
        step(40, call("c40", "task", "probe tokenizer", "done", ms=4_100)),
        step(
            41,
            call("c41a", "bash", "cat notes.md", "…", ms=22),
            call("c41b", "read", "notes.md", "not found", ok=False, ms=80),
        ),
        step(42, call("c42", "bash", "stat -c %s model.ckpt", "497759232\n", ms=31)),
    )


def example(**fields: Any) -> SessionView:
    """The session of the picture."""
    whole: dict[str, Any] = {
        "root": ROOT,
        "title": "Figure out model.ckpt",
        "directory": "/home/ada/shop",
        "state": "busy",
        "agent": "build",
        "model": "gpt-5-mini",
        "steps": steps(),
        "running": (
            RunningCall(call="c43", origin=ROOT, tool="bash", summary="xxd model.ckpt | head -3", since=NOW - 2_000),
        ),
        "completed": 42,
        "buffered": 7,
        "interval": 15,
        "earlier": 0,
        "topics": topics(),
        "held_findings": held(),
        "findings": 11,
        "max_findings": 50,
        "held": 1,
        "cap_full_of_pins": False,
        "meters": meters(),
        "extractions": extractions(),
        "log": log(),
        "tokens": 81_240,
        "cost": 0.42,
        "ledger_tokens": 6_190,
        "ledger_cost": 0.012,
        "origins": {ROOT: "Figure out model.ckpt", CHILD: "probe tokenizer"},
        "queued_note": 0,
    }
    return SessionView(**(whole | fields))


def blank(**fields: Any) -> SessionView:
    """A session in which nothing has happened yet."""
    empty: dict[str, Any] = {
        "steps": (),
        "running": (),
        "completed": 0,
        "buffered": 0,
        "topics": (),
        "findings": 0,
        "held": 0,
        "held_findings": (),
        "meters": (),
        "extractions": (),
        "log": (),
        "tokens": 0,
        "cost": 0.0,
        "ledger_tokens": 0,
        "ledger_cost": 0.0,
        "state": "idle",
    }
    return example(**(empty | fields))


def session_items() -> list[SessionItem]:
    """Sessions for the picker."""
    titles = ["Figure out model.ckpt", "Port the tokenizer to Rust", "Why does the build flake on Mondays?"]
    return [
        SessionItem(
            root=ROOT if not index else f"ses_{index}",
            title=title,
            directory="/home/ada/shop",
            state="idle" if index else "busy",
            updated=NOW - index * 47 * MINUTE,
            findings=12 - index * 5,
        )
        for index, title in enumerate(titles)
    ]
