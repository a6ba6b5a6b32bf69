"""A person's changes outlast a kill at any moment: stored is the state after the last deed told, or after the next."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.crash.commanding import after, stored
from tests.crash.test_replays import KILLS, SEED

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kill", range(max(1, KILLS // 4)))
def test_every_change_that_was_told_is_stored(kill: int, tmp_path: Path) -> None:
    seeded = random.Random(f"{SEED}/commands/{kill}")
    seed, wanted = seeded.randrange(10**6), seeded.randint(1, 250)
    command = [sys.executable, "-m", "tests.crash.commanding", str(tmp_path / "ledger.db"), str(seed)]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        told = 0
        while told < wanted:
            told = int(child.stdout.readline())
        time.sleep(seeded.uniform(0, 0.003))
        child.send_signal(signal.SIGKILL)
        for line in child.stdout:
            told = int(line) if line.endswith(b"\n") else told
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    found = stored(tmp_path / "ledger.db")
    assert found in (after(told, seed), after(told + 1, seed)), f"LEDGER_CRASH_SEED={SEED}, after {told} deeds"
