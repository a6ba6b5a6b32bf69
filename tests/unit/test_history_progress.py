"""The line that tells how far a run has come."""

from __future__ import annotations

import pytest

from core.history.fates import Fate, Progress
from core.history.state import Spent
from core.ledger.observations import Tokens
from ledger_tui.commands.history_progress import line


@pytest.mark.parametrize(
    ("progress", "shown"),
    [
        (Progress(done=0, total=0, fates={}), "████████████████ 0/0 0 notes · 0 tokens, $0"),
        (Progress(done=0, total=8, fates={}), "░░░░░░░░░░░░░░░░ 0/8 0 notes · 0 tokens, $0"),
        (
            Progress(
                done=4,
                total=8,
                fates={Fate.NOTE: 1, Fate.JUNK: 2, Fate.ERROR: 1},
                asked=4,
                spent=Spent(requests=5, tokens=Tokens(input=2_000, output=100), cost=0.25),
                seconds_left=90.0,
            ),
            "████████░░░░░░░░ 4/8 1 note, 2 junk, 1 error · 2.1k tokens, $0.25 · at most 1m 30s left",
        ),
    ],
)
def test_line(progress: Progress, shown: str) -> None:
    assert line(progress) == shown
