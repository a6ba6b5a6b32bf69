"""Any key: precision and recall on the labelled calls, beside a plain substring search, and time per call."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial

from core.ledger.keycalls import MAX_CHARS
from core.ledger.keys import KeyIndex, text_of
from tests.bench import figures
from tests.corpus.cases import KeyCase
from tests.corpus.load import Part, load_as

TOPICS = 10_000
ROUNDS = 2_000
COMMANDS = (
    "psql -c 'select count(*) from table_{n} where id > 3'",
    "curl -s http://localhost:8080/api/v1/resource_{n}?page=2",
    "grep -rn 'def function_{n}' src",
    "rustc --explain E{n:05}",
    "pytest a.py::test_case_{n} -q",
)
LONG = (
    ("psql -c '{}'", "select c{n}, d from users, t{n} u; "),
    ("curl {}", "$a{n}/b/c "),
    ("grep '{}'", "a{n}::b.c "),
    ("python3 -c '{}'", "x{n} = f.g(h{n}) "),
)
"""Long calls: a frame, and what is repeated in it."""
QUIET = ("ls -l src", "git status --short", "npm run build", "cat README.md | head -40", "python3 train.py --epochs 3")


def judge(case: KeyCase) -> str:
    """The label that the index gives a case."""
    index = KeyIndex()
    index.add(case.topic)
    return "matches" if index.touched(case.tool, text_of(case.tool, case.args)) else "not"


def plain(case: KeyCase) -> str:
    """What a search for the topic's subject as a part of the arguments would say."""
    subject = (case.topic.partition(":")[2] or case.topic).strip().lower()
    return "matches" if any(subject in value.lower() for value in case.args.values()) else "not"


def score(part: Part, decide: Callable[[KeyCase], str] = judge) -> tuple[float, float, int]:
    """Precision and recall (0 to 1) of a judge on a part of the cases, and how many there are."""
    cases = load_as(KeyCase, part)
    said = [(decide(case) == "matches", case.label == "matches") for case in cases]
    right = sum(is_said and is_true for is_said, is_true in said)
    return right / max(1, sum(s for s, _ in said)), right / max(1, sum(t for _, t in said)), len(cases)


def index_of(topics: int) -> KeyIndex:
    """An index with so many topics, a fifth of each kind."""
    index = KeyIndex()
    kinds = (
        "table:table_{n}",
        "api:/api/v1/resource_{n}",
        "symbol:function_{n}",
        "error:E{n:05}",
        "test:a.py::test_case_{n}",
    )
    for n in range(topics):
        index.add(kinds[n % len(kinds)].format(n=n))
    return index


def measure(topics: int, commands: tuple[str, ...]) -> list[float]:
    """Microseconds of each call."""
    index = index_of(topics)
    times = []
    gc.collect()
    for n in range(ROUNDS):
        which = n % len(commands)
        command = commands[which].format(n=(n // len(commands) * len(commands)) % topics + which)
        start = time.perf_counter_ns()
        hits = index.touched("bash", command)
        times.append((time.perf_counter_ns() - start) / 1000)
        if len(hits) != (commands is COMMANDS):
            raise AssertionError(f"{len(hits)} hits: {command}")
    return times


def main() -> None:
    """Print all figures."""
    labelled()
    times()


def labelled() -> None:
    """Print precision and recall."""
    figures.section("Any key: labelled calls")
    for part in ("open", "held"):
        for name, decide in (("whole words in their own sense", judge), ("substring", plain)):
            precision, recall, cases = score(part, decide)
            figures.line(f"{name}, {part} part, {cases} cases", f"{precision:.2f} / {recall:.2f}", "precision / recall")


def times() -> None:
    """Print the time per call."""
    figures.section(f"Any key: time of {ROUNDS:,} calls (wall clock)")
    for what, commands in (("calls that name a key", COMMANDS), ("calls that name none", QUIET)):
        small, large = measure(50, commands), measure(TOPICS, commands)
        for topics, taken in ((50, small), (TOPICS, large)):
            beside = f"p99 {figures.percentile(taken, 0.99):.1f} µs"
            figures.line(f"{what}, {topics:,} topics, p50", f"{figures.median(taken):.1f} µs", beside)
    figures.section(f"Any key: the longest call that is read, {MAX_CHARS:,} characters, {TOPICS:,} topics (CPU)")
    index = index_of(TOPICS)
    index.add("symbol:parse_header")
    for frame, unit in LONG:
        text = "grep parse_header a; " + frame.format("".join(unit.format(n=n) for n in range(MAX_CHARS // len(unit))))
        seconds = figures.best(partial(index.touched, "bash", text[: MAX_CHARS - 1] + "'"))
        figures.line(frame.format(unit.format(n="1").strip()), f"{seconds * 1000:.0f} ms")


if __name__ == "__main__":
    main()
