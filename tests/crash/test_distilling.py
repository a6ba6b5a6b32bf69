"""A distil run is killed at random moments and begun again: one note a session, none lost, none half, none paid twice.

Kills in chains of five, each chain on one folder of 100 sessions: one chain, and ten with `LEDGER_CRASHES=200`.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.history.fates import Fate
from core.history.folder import NOTES, PARTIAL, STATE, TRANSCRIPTS
from core.history.state import Book, State
from tests.crash.distilling import MARK, ModelServer, body, distil, sessions
from tests.crash.test_replays import KILLS, SEED

ROOT = Path(__file__).parents[2]
SESSIONS = 100
CHAIN = 5


def killed(command: list[str], notes: int, random_: random.Random) -> None:
    """A run that is killed at some moment after it has told of so many notes (it may end before that)."""
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        for line in child.stdout:
            if int(line.split()[1]) >= notes:
                break
        time.sleep(random_.uniform(0, 0.03))
        child.send_signal(signal.SIGKILL)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def check_files(out: Path) -> set[str]:
    """Every file that is there is whole; the numbers of the notes."""
    numbers = set()
    for path in (out / NOTES).iterdir():
        number = path.stem.removeprefix("ses_")
        content = path.read_text()
        assert content.startswith('---\nsource: "opencode"\n'), path.name
        assert content.endswith(f"\n# Title of ses_{number}\n\n{body(number)}"), path.name
        numbers.add(number)
    for path in (out / TRANSCRIPTS).iterdir():
        number = path.stem.removeprefix("ses_")
        assert f"{MARK}{number}." in path.read_text(), path.name
        assert path.read_text().endswith("nothing to be kept.")
    return numbers


@pytest.mark.parametrize("chain", range(max(1, KILLS // 20)))
async def test_a_killed_run_loses_nothing_and_pays_nothing_twice(
    chain: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeded = random.Random(f"{SEED}/distil/{chain}")
    with capsys.disabled():
        print(f" [LEDGER_CRASH_SEED={SEED}, distil {chain}]", end="")
    jobs, out = seeded.choice((1, 2, 4)), tmp_path / "out"
    database = sessions(tmp_path / "opencode.db", SESSIONS)
    server = ModelServer(seconds=0.003)
    try:
        command = [sys.executable, "-m", "tests.crash.distilling", str(database), str(out), server.url, str(jobs)]
        had: set[str] = set()
        for _ in range(CHAIN):
            killed(command, seeded.randint(0, 2 * (SESSIONS - len(had)) // CHAIN), seeded)
            if out.exists():
                now = check_files(out)
                assert had <= now
                had = now
        done = await distil(database, out, server.url, jobs)
    finally:
        server.stop()
    assert done.count(Fate.NOTE) + done.count(Fate.KEPT) == done.total == SESSIONS
    assert check_files(out) == {f"{n:03}" for n in range(SESSIONS)}
    assert len(list((out / TRANSCRIPTS).iterdir())) == SESSIONS
    assert list((out / PARTIAL).iterdir()) == []
    with capsys.disabled():
        print(f" [{server.asked.total()} requests, {jobs} jobs]", end="")
    assert SESSIONS <= server.asked.total() <= SESSIONS + CHAIN * jobs
    check_records(out)


def check_records(out: Path) -> None:
    """Each session is recorded as done, with the note that its file holds."""
    book = Book.open(out / STATE)
    try:
        for n in range(SESSIONS):
            record = book.find(f"ses_{n:03}")
            assert record is not None
            assert (record.state, record.note) == (State.DONE, (out / NOTES / f"ses_{n:03}.md").read_text())
    finally:
        book.close()
