"""Past sessions: a large database, and how much of what a session shows is left in its transcript.

The size is that of `make bench`; smaller ones are for a first look::

    python -m tests.bench.history --sessions 500 --facts 40
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests import history_data
from tests.bench import figures, history_kept
from tests.bench.history_works import PAGE, Measured, index_of, measure

SESSIONS, MESSAGES, PARTS = 10_000, 20, 5
"""Sessions of the large database, messages of each, and parts of each message."""
FACTS = 200
"""Sessions with known facts."""
HUGE = 8
"""Sessions of the database with enormous rows."""
ENORMOUS = 57_000_000
"""Code points of the diffs in one message; so large a one was seen."""
ROUNDS: Final = 3
"""Runs of a work that takes less than a minute; the one least disturbed counts."""


def main(sessions: int = SESSIONS, facts: int = FACTS) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory(prefix="ledger-bench-") as folder:
        path = history_data.large(Path(folder, "opencode.db"), sessions, MESSAGES, PARTS)
        size = path.stat().st_size / 2**20
        figures.section(
            f"{sessions:,} past sessions of {MESSAGES * PARTS} parts, {sessions * MESSAGES * PARTS:,} in all,"
            f" {size:,.0f} MiB; CPU seconds, each work in a process of its own"
        )
        listing(path, sessions)
        searching(path, sessions)
        transcripts(path)
    with tempfile.TemporaryDirectory(prefix="ledger-bench-") as folder:
        enormous(Path(folder, "opencode.db"))
    with tempfile.TemporaryDirectory(prefix="ledger-bench-") as folder:
        history_kept.main(Path(folder, "opencode.db"), facts)


def listing(path: Path, sessions: int) -> None:
    """The list, whole and by the page, beside reading everything."""
    base = _best(path, "nothing")
    figures.line("interpreter and imports alone, memory", _mib(base))
    whole = _best(path, "listed")
    plain, read = _best(path, "plainly_listed"), _best(path, "plainly_read")
    assert whole.answer == plain.answer == read.answer == sessions
    figures.line("list, with message counts", f"{whole.cpu:.2f} s", _mib(whole))
    _beside("plain: SELECT * of sessions and messages, json", plain, whole)
    _beside("plain: SELECT * of the parts too, json", read, whole)
    for what, page in (
        (f"first page of {PAGE}", _best(path, "first_page")),
        (f"last page of {PAGE}", _best(path, "last_page", str(sessions))),
    ):
        figures.line(
            what, f"{page.cpu * 1000:.1f} ms", f"{_mib(page)}; {plain.cpu / page.cpu:,.0f} × faster than plain"
        )
    sums = measure("counted_up", path)
    assert sums.answer == sessions
    figures.line("sums by day, model, project and tool", f"{sums.cpu:.1f} s", _mib(sums))


def searching(path: Path, sessions: int) -> None:
    """Making the index, keeping it up to date, and searching, beside a search without it."""
    built = measure("indexed", path)
    assert built.answer == sessions
    size = index_of(path).stat().st_size / 2**20
    figures.line("index, made anew", f"{built.cpu:.1f} s", f"{_mib(built)}; index {size:,.0f} MiB")
    again = _best(path, "indexed")
    assert again.answer == 0
    figures.line("index, nothing changed", f"{again.cpu * 1000:.1f} ms")
    middle = sessions // 2
    rare = f"s{middle}m4p2"
    for what, query, hits in (
        ("search: a word that occurs once", rare, 1),
        ("search: two words, one of them in every text", f"{rare} fox", 1),
        ("search: words of all titles, of one the number", f"session number {middle}", 1),
        ("search: a word that is in every text", "fox", min(20, sessions)),
    ):
        found = _best(path, "searched", query)
        assert found.answer == hits, (query, found.answer)
        figures.line(what, f"{found.cpu * 1000:.1f} ms", _mib(found))
    plain = _best(path, "plainly_searched", rare)
    assert plain.answer == 1
    figures.line("plain: LIKE over all parts", f"{plain.cpu:.2f} s", _mib(plain))


def transcripts(path: Path) -> None:
    """Transcripts of sessions from all over the database."""
    for what, work in (
        ("transcript", "transcribed"),
        ("plain: SELECT * of its parts, json, all of it", "plainly_transcribed"),
    ):
        found = _best(path, work)
        p50, p99 = (figures.percentile(found.each, share) * 1000 for share in (0.5, 0.99))
        told = f"p99 {p99:.1f} ms; {found.answer / len(found.each):,.0f} characters each; {_mib(found)}"
        figures.line(f"{what}, p50 of {len(found.each)}", f"{p50:.1f} ms", told)


def enormous(path: Path) -> None:
    """Sessions with a message that holds all diffs."""
    diffs = history_data.dump([{"file": "a.json", "before": "", "after": "x" * ENORMOUS}])
    message = f'{{"role":"user","time":{{"created":1}},"summary":{{"diffs":{diffs}}}}}'
    with history_data.Builder(path) as b:
        for n in range(HUGE):
            b.message(b.session(f"ses_{n}", history_data.BASE + n), f"msg_{n}", raw=message)
            b.part(f"msg_{n}", f"prt_{n}", history_data.text("Look at all files"))
    figures.section(
        f"{HUGE} sessions with a message of {ENORMOUS / 1e6:.0f} MB each, {path.stat().st_size / 2**20:,.0f} MiB"
    )
    whole, plain, texts = (measure(work, path) for work in ("listed", "plainly_listed", "transcribed"))
    assert whole.answer == plain.answer == len(texts.each) == HUGE
    figures.line("list, with message counts", f"{whole.cpu:.2f} s", _mib(whole))
    _beside("plain: SELECT * of sessions and messages, json", plain, whole)
    figures.line("transcripts of all", f"{texts.cpu:.2f} s", _mib(texts))


def _best(path: Path, work: str, *words: str) -> Measured:
    return min((measure(work, path, *words) for _ in range(ROUNDS)), key=lambda found: found.cpu)


def _beside(what: str, plain: Measured, ours: Measured) -> None:
    figures.line(what, f"{plain.cpu:.2f} s", f"{_mib(plain)}; {plain.cpu / ours.cpu:.1f} × the list's time")


def _mib(found: Measured) -> str:
    return f"{found.memory / 2**20:.0f} MiB"


def _arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure reading, searching and cutting down past sessions.")
    parser.add_argument(
        "--sessions", type=int, default=SESSIONS, help=f"of the large database (default: {SESSIONS:,}, 656 MB)"
    )
    parser.add_argument("--facts", type=int, default=FACTS, help=f"sessions with known facts (default: {FACTS})")
    asked = parser.parse_args(given)
    if asked.sessions < PAGE or asked.facts < len(history_kept.SIZES):
        parser.error(f"there must be {PAGE} sessions and {len(history_kept.SIZES)} with facts at least")
    return asked


if __name__ == "__main__":
    asked = _arguments()
    main(asked.sessions, asked.facts)
