"""A child that replays a recording into a store, killed at a random moment; and what the store must hold then."""

from __future__ import annotations

import fcntl
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

import msgspec

from core.ledger.distil import Run
from core.ledger.effects import NoteReport
from core.ledger.finding import Finding
from core.ledger.repeats import KeptRepeats
from core.ledger.saved import Decided, Lasting
from core.ledger.steps import Step
from core.store.bodies import decode

Line = dict[str, Any]

SCRIPT: Final = str(Path(sys.executable).with_name("ledger-tui"))
DEMO: Final = Path(__file__).parents[2] / "core" / "demo"
COMMAND: Final = (
    *(SCRIPT, "replay", str(DEMO / "recording.jsonl.gz"), "--answers", str(DEMO / "answers.jsonl")),
    *("--set", "extraction_interval_steps=4", "--set", "review=off", "--set", "max_findings_per_topic=2"),
)
"""Short jobs and small caps, so that much happens: facts come, go and are looked at."""
PIPE_BYTES: Final = 4096
"""So that the child cannot run far ahead of whoever reads it."""
LIVE: Final = (
    "added",
    "held",
    "accepted",
    "pinned",
    "edited",
    "restored",
    "doubtful",
    "fresh",
    "superseded",
    "evicted",
)
"""Changes after which a fact is in the store."""


def whole(store: Path) -> list[Line]:
    """A run to the end; what it said."""
    done = subprocess.run([*COMMAND, "--store", str(store)], capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.splitlines()]


def killed(store: Path, lines: int, random_: random.Random) -> list[Line]:
    """A run that is killed when it has said about `lines` lines (it may end before that); what it said."""
    child = subprocess.Popen(
        [*COMMAND, "--store", str(store)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    assert child.stdout is not None
    assert child.stderr is not None
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        fcntl.fcntl(child.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    try:
        said = b""
        while said.count(b"\n") < lines and (more := os.read(child.stdout.fileno(), random_.choice((64, 512, 4096)))):
            said += more
        if random_.random() < 0.5:  # else it is found where it waits for a reader
            os.set_blocking(child.stdout.fileno(), False)
            time.sleep(random_.uniform(0, 0.004))
            said += child.stdout.read() or b""
        child.send_signal(signal.SIGKILL)
        os.set_blocking(child.stdout.fileno(), True)
        said += child.stdout.read()
        assert child.stderr.read() == b""
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
        child.stderr.close()
    return [json.loads(line) for line in said.split(b"\n")[:-1]]


def missing(store: Path, said: list[Line]) -> list[Line]:
    """Lines that tell of something that the store does not hold."""
    if not said:
        return []
    held = contents(store)
    steps = {(row[0], step.n): step for row, step in held["step"] if step is not None and not step.broken_off}
    facts = {(root, finding.id): finding for (root, *_), finding in held["finding"]}
    notes = Counter((note.session, note.call, note.kind, note.text) for _, note in held["note"])
    runs = {(root, run.id): run for (root, *_), run in held["run"]}
    lost = []
    for line in said:
        root = line["session"]
        if line["type"] == "step":
            step = steps.get((root, line["n"]))
            if step is None or [call.call for call in step.calls] != [tool["call"] for tool in line["tools"]]:
                lost.append(line)
        elif line["type"] == "finding" and line["change"] in LIVE:
            finding = facts.get((root, line["id"]))
            if finding is None or (finding.fact, finding.topic) != (line["fact"], line["topic"]):
                lost.append(line)
        elif line["type"] == "note":
            key = (root, line["call"], line["kind"], line["text"])
            notes[key] -= 1
            if notes[key] < 0:
                lost.append(line)
        elif line["type"] == "extraction" and (root, line["id"]) not in runs:
            lost.append(line)
    return lost


def doubled(said: list[Line]) -> list[tuple[Any, ...]]:
    """What was told more than once though it happens once."""
    keys = Counter(
        (
            line["session"],
            line["type"],
            line.get("n"),
            line.get("call"),
            line.get("kind"),
            line.get("change"),
            line.get("id"),
        )
        for line in said
        if line["type"] in ("step", "note") or line.get("change") in ("added", "held")
    )
    return [key for key, times in keys.items() if times > 1]


def contents(store: Path) -> dict[str, list[tuple[Any, Any]]]:
    """All that a store holds, by table: the row and its decoded body."""
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        parts = {"lasting": Lasting, "decided": Decided, "repeats": KeptRepeats, "known": tuple[bytes, ...]}
        return {
            "ledger": [(row, None) for row in database.execute(_HEADS)],
            "part": [((root, name), decode(body, parts[name])) for root, name, body in database.execute(_PARTS)],
            "finding": [((root, gone), decode(body, Finding)) for root, gone, body in database.execute(_FINDINGS)],
            "step": [(row[:-1], decode(row[-1], Step) if row[-1] else None) for row in database.execute(_STEPS)],
            "note": [((root,), decode(body, NoteReport)) for root, body in database.execute(_NOTES)],
            "run": [((root,), decode(body, Run)) for root, body in database.execute(_RUNS)],
        }
    finally:
        database.close()


def comparable(store: Path) -> Any:
    """The same as plain data."""
    return msgspec.to_builtins(contents(store), builtin_types=(bytes,))


_HEADS: Final = (
    "SELECT root, directory, title, created, updated, findings, completed, observed, answered FROM ledger ORDER BY root"
)
_PARTS: Final = "SELECT root, name, body FROM ledger_part ORDER BY root, name"
_FINDINGS: Final = "SELECT root, gone, body FROM ledger_finding ORDER BY root, seq"
_STEPS: Final = "SELECT root, part, seq, body FROM ledger_step ORDER BY root, seq, part"
_NOTES: Final = "SELECT root, body FROM ledger_note ORDER BY root, id"
_RUNS: Final = "SELECT root, body FROM ledger_run ORDER BY root, seq"
