"""How far a run that makes notes has come, on one line of standard error."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Final

from ledger_tui.format import count, elapsed, fit, money, plural

if TYPE_CHECKING:
    from core.history.fates import Progress

_CELLS: Final = 16


class RunProgress:
    """Draws the line on a terminal, and nothing elsewhere."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> RunProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, progress: Progress) -> None:
        """The run has come so far."""
        if self._is_terminal:
            room = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{fit(line(progress), room)}")
            sys.stderr.flush()


def line(progress: Progress) -> str:
    """A bar, how many of how many, what became of them, what it cost, and how long it may take yet."""
    share = progress.done / progress.total if progress.total else 1.0
    filled = round(_CELLS * share)
    seconds = progress.seconds_left
    rest = f" · at most {elapsed(round(seconds * 1000))} left" if seconds is not None else ""
    bar = "█" * filled + "░" * (_CELLS - filled)
    return f"{bar} {progress.done:,}/{progress.total:,} {summary(progress)}{rest}"


def summary(progress: Progress) -> str:
    """What became of the sessions, and what it cost."""
    from core.history.fates import Fate  # noqa: PLC0415

    words = {
        Fate.NOTE: plural(progress.count(Fate.NOTE), "note"),
        Fate.JUNK: f"{progress.count(Fate.JUNK)} junk",
        Fate.KEPT: f"{progress.count(Fate.KEPT)} kept",
        Fate.STALE: f"{progress.count(Fate.STALE)} stale",
        Fate.ERROR: plural(progress.count(Fate.ERROR), "error"),
        Fate.FAILED: f"{progress.count(Fate.FAILED)} failed",
        Fate.GONE: f"{progress.count(Fate.GONE)} gone",
    }
    told = [text for fate, text in words.items() if fate is Fate.NOTE or progress.count(fate)]
    spent = progress.spent
    return f"{', '.join(told)} · {count(spent.tokens.total)} tokens, {money(spent.cost)}"
