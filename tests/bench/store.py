"""The database: what a step costs to store, and what 50,000 stored facts cost whoever does not ask for them."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from core.store.database import DATABASE
from core.store.journal import Journal
from tests.bench import figures
from tests.bench.terminal import Terminal
from tests.unit.ledger.builders import ROOT, Bench

SCRIPT = str(Path(sys.executable).with_name("ledger-tui"))
SESSIONS, FACTS = 500, 100
STEPS, OUTPUT = 1_000, 2_000
STARTS = 7
NOBODY = "127.0.0.1:9"
TABLES: Final = ("ledger", "ledger_part", "ledger_finding", "ledger_receipt", "ledger_step", "ledger_run")


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory(prefix="ledger-bench-") as folder:
        empty, full = Path(folder, "empty"), Path(folder, "full")
        _steps(Path(folder) / DATABASE)
        _fill(full / "state" / DATABASE)
        start(empty, full)
        listing(full)


def _steps(path: Path) -> None:
    """Store a session step by step."""
    figures.section(f"Storing {STEPS:,} steps with outputs of {OUTPUT:,} characters, one call each")
    saves: list[float] = []
    journal = _work(path, STEPS, OUTPUT, 50, saves)
    journal.close()
    figures.line("CPU of a save, p50", f"{figures.median(saves) * 1000:.2f} ms", f"{len(saves):,} saves")
    figures.line("CPU of a save, p99", f"{figures.percentile(saves, 0.99) * 1000:.2f} ms")
    again = Journal(path, _refuse)
    begun = time.process_time()
    again.load(ROOT)
    figures.line("CPU of going on from it", f"{(time.process_time() - begun) * 1000:.0f} ms", "its last 500 steps")
    again.close()


def _work(path: Path, steps: int, output: int, facts: int, saves: list[float]) -> Journal:
    """A session of so many steps, in which each second one brings a fact; `saves`: CPU seconds."""
    draw = random.Random(1)
    bench = Bench(review="off", extraction_interval_steps=2, max_findings=facts, max_findings_per_topic=facts)
    journal = Journal(path, _refuse)
    for n in range(steps):
        effects = bench.step(f"cat part{n}.json", "".join(draw.choices("abcdef \n", k=output)))
        if bench.engine.extractions.schedule.running is not None:
            effects = [*effects, *bench.answer((f"part{n}.json has {n} keys", f"file:part{n}.json"))]
        begun = time.thread_time()
        journal.save(bench.engine, effects)
        saves.append(time.thread_time() - begun)
    return journal


def _fill(path: Path) -> None:
    """The same session 500 times."""
    _work(path, 2 * FACTS, 200, FACTS, []).close()
    database = sqlite3.connect(path)
    for table in TABLES:
        names = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1] != "root"]
        columns = ", ".join(names)
        query = f"INSERT INTO {table} (root, {columns}) SELECT ?, {columns} FROM {table} WHERE root = ?"
        database.executemany(query, [(f"ses_{n:04}", ROOT) for n in range(1, SESSIONS)])
    database.commit()
    (count,) = database.execute("SELECT count(*) FROM ledger_finding WHERE gone = ''").fetchone()
    assert count == SESSIONS * FACTS
    database.close()


def start(empty: Path, full: Path) -> None:
    """Time to first paint with facts stored and without, in turns."""
    size = (full / "state" / DATABASE).stat().st_size / 2**20
    figures.section(f"{SESSIONS * FACTS:,} stored facts over {SESSIONS} sessions, {size:.0f} MiB (medians of {STARTS})")
    paints: dict[Path, list[float]] = {empty: [], full: []}
    for _ in range(STARTS):
        for home, seconds in paints.items():
            seconds.append(_paint(home))
    without, beside = figures.median(paints[empty]), figures.median(paints[full])
    ratio = f"{beside / without:.2f} × with an empty store ({without:.2f} s)"
    figures.line("start to first paint", f"{beside:.2f} s", ratio)


def listing(full: Path) -> None:
    """`facts`, beside the start of the interpreter with nothing to list."""
    base = _seconds(full, "facts", "--json")
    figures.line("`facts --json` of a folder without sessions", f"{base:.2f} s")
    for what, arguments in (
        ("`facts --session ID`", ("--session", "ses_0042")),
        ("`facts --all --json`, all 50,000 with their receipts", ("--all", "--json")),
    ):
        seconds = _seconds(full, "facts", *arguments)
        figures.line(what, f"{seconds:.2f} s", f"{seconds / base:.1f} × that")


def _paint(home: Path) -> float:
    terminal = Terminal([SCRIPT, "--server", NOBODY], {"LEDGER_HOME": str(home)})
    try:
        return terminal.wait_for("ledger") - terminal.started
    finally:
        terminal.close()


def _seconds(home: Path, *arguments: str) -> float:
    """The least of three runs."""
    return min(_once([SCRIPT, *arguments], home) for _ in range(3))


def _once(command: Sequence[str], home: Path) -> float:
    begun = time.perf_counter()
    done = subprocess.run(command, env={"LEDGER_HOME": str(home)}, cwd=home, capture_output=True, check=True)
    assert done.stdout
    return time.perf_counter() - begun


def _refuse(code: str, text: str) -> None:
    raise AssertionError(f"{code}: {text}")


if __name__ == "__main__":
    main()
