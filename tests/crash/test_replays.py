"""`replay --store`, killed at random moments and started again.

`LEDGER_CRASHES` kills (20 unless it is set), from the seed `LEDGER_CRASH_SEED` (a new one each time, printed).
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.crash.replays import Line, comparable, doubled, killed, missing, whole

KILLS = int(os.environ.get("LEDGER_CRASHES", "20"))
CHAIN = 5
"""Kills of one store, one after the other."""
SEED = int(os.environ.get("LEDGER_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, object]:
    """How much a run says that nobody kills, and what it keeps."""
    store = tmp_path_factory.mktemp("unharmed") / "ledger.db"
    said = whole(store)
    kinds = {line["type"] for line in said} | {line["change"] for line in said if line["type"] == "finding"}
    assert {"step", "note", "touch", "extraction", "added", "evicted"} <= kinds
    return len(said), comparable(store)


@pytest.mark.parametrize("chain", range((KILLS + CHAIN - 1) // CHAIN))
def test_what_was_said_is_kept_and_nothing_is_doubled(
    chain: int, tmp_path: Path, unharmed: tuple[int, object], capsys: pytest.CaptureFixture[str]
) -> None:
    total, kept = unharmed
    seeded = random.Random(f"{SEED}/{chain}")
    store = tmp_path / "ledger.db"
    said: list[Line] = []
    with capsys.disabled():
        print(f" [LEDGER_CRASH_SEED={SEED}, chain {chain}]", end="")
    for kill in range(CHAIN):
        left = max(1, total - len(said))
        said += killed(store, seeded.randint(0, max(1, left * 2 // (CHAIN - kill))), seeded)
        assert missing(store, said) == []
    said += whole(store)
    assert missing(store, said) == []
    assert doubled(said) == []
    assert comparable(store) == kept
