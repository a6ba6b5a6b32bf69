"""Lines of a ledger without servers behind them."""

from __future__ import annotations

from typing import Any

from core.extraction.turn import Turn
from core.host.finding_server import Target
from core.host.junction import Junction
from core.host.line import Company, Line
from core.host.lines import Lines

TARGET = Target(url="http://127.0.0.1:9", credentials=None, named=True)


def company(owner: Any, **more: Any) -> Company:
    """What a single line shares with nobody."""
    shared: dict[str, Any] = {
        "junction": Junction(owner, owner.clock),
        "own": set(),
        "turn": Turn(),
        "said": lambda *_: None,
        "ended": lambda *_: None,
        "attached_at": lambda: 0,
    }
    return Company(**{**shared, **more})


def attach(lines: Lines, client: Any = None, target: Target = TARGET) -> Line:
    """Give them a line that was never started, with that client."""
    line = Line(lines._owner, target, company(lines._owner, junction=lines._junction, said=lines._connection))
    line._client = client
    lines._lines.append(line)
    lines._junction.add(line)
    return line
