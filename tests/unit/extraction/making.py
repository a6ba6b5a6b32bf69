"""Steps and calls for the tests of this folder."""

from __future__ import annotations

from core.ledger.observations import Tokens
from core.ledger.steps import Call, Step


def call(
    command: str = "ls", output: str = "a\n", *, tool: str = "bash", ok: bool = True, exit: int | None = 0
) -> Call:
    return Call(
        call="c1", tool=tool, ok=ok, summary=command, command=command, path="", output=output, exit=exit, ended=0, ms=3
    )


def step(n: int, *calls: Call) -> Step:
    return Step(n=n, origin="ses_1", message="m", part="p", t=0, calls=calls, tokens=Tokens(), cost=0.0)
