"""Short ways to run the rules on calls."""

from __future__ import annotations

from core.ledger.observations import Tokens
from core.ledger.rules import RuleFact, facts_of
from core.ledger.steps import Call, Step


def call(command: str, output: str = "", exit: int | None = 0, *, id: str = "call_1", ok: bool = True) -> Call:
    """A finished bash call."""
    return Call(
        call=id,
        tool="bash",
        ok=ok,
        summary=command,
        command=command,
        path="",
        output=output,
        exit=exit,
        ended=0,
        ms=0,
    )


def step(*calls: Call, n: int = 1) -> Step:
    """A completed step of these calls."""
    return Step(
        n=n, origin="ses_root", message=f"msg_{n}", part=f"prt_{n}", t=n, calls=calls, tokens=Tokens(), cost=0.0
    )


def found(command: str, output: str, exit: int | None = 0) -> tuple[RuleFact, ...]:
    """The facts of one call."""
    return facts_of([step(call(command, output, exit))])


def facts(command: str, output: str, exit: int | None = 0) -> list[str]:
    """Their texts."""
    return [one.fact for one in found(command, output, exit)]
