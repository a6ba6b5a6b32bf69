"""Printing of benchmark figures: each with its workload and a ratio to something run beside it."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence


def section(title: str) -> None:
    """Head of one benchmark."""
    sys.stdout.write(f"\n{title}\n")
    sys.stdout.flush()


def line(what: str, figure: str, beside: str = "") -> None:
    """One figure."""
    sys.stdout.write(f"  {what:<58} {figure:>14}  {beside}\n")
    sys.stdout.flush()


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one run."""
    start = time.process_time()
    work()
    return time.process_time() - start


def best(work: Callable[[], object], rounds: int = 3) -> float:
    """The least CPU seconds of several runs: the one least disturbed."""
    return min(cpu(work) for _ in range(rounds))


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return statistics.median(values)
