"""Commands that end with the same exit code again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from core.ledger.rules.shown import Found, one_line
from core.ledger.steps import Call
from core.text import clip

_FEWEST: Final = 2
_INTERRUPTED: Final = 130


def repeated_codes(calls: Sequence[Call]) -> Iterator[tuple[Call, Found]]:
    """Commands of which all runs, two at least, ended with one and the same code other than 0.

    A run that was interrupted by hand says nothing.
    """
    runs: dict[str, list[Call]] = {}
    for call in calls:
        if call.exit is not None and (command := call.command.strip()):
            runs.setdefault(command, []).append(call)
    for command, times in runs.items():
        code = times[-1].exit
        if code in {0, _INTERRUPTED} or len(times) < _FEWEST or any(call.exit != code for call in times):
            continue
        shown = one_line(command)
        if not shown:
            continue
        fact = f"`{shown}` exited with code {code} each of the {len(times)} times it was run."
        yield times[-1], Found(fact, f"exit-code:{clip(shown, 100)}", (0,))
