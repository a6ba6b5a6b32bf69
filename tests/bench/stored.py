"""Fills a store with sessions, as the product itself writes it: every step and every answer is saved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.ledger import observations as seen
from core.ledger.effects import Effect, Extract
from core.ledger.engine import Engine
from core.ledger.state import EngineSettings
from core.store.journal import Journal

STEPS, PER_STEP = 20, 5
"""Steps of a session, and facts that each of them shows; every step is about a file of its own."""
INTERVAL = 5
FACTS = STEPS * PER_STEP
SAID = ("header ends at byte", "tensors in total:", "vocabulary size is", "checksum of block one:", "rows per layer =")
"""What the facts of a step say, with a number each."""
LINES = 30
"""Lines of an output."""
SETTINGS = EngineSettings(extraction_interval_steps=INTERVAL, max_findings=FACTS, max_findings_per_topic=PER_STEP)
MINUTE = 60_000


def fill(path: Path, sessions: int, *, begun: int) -> int:
    """Store so many sessions with :data:`FACTS` facts each, a session a minute; returns how many facts there are."""
    journal = Journal(path, refuse)
    facts = 0
    try:
        for n in range(sessions):
            engine = Engine(f"ses_{n:06}", SETTINGS)
            for effects in session(engine, begun + n * MINUTE, n):
                if not journal.save(engine, effects):
                    raise AssertionError(journal.problem or "not stored")
            facts += len(engine.state.ledger)
    finally:
        journal.close()
    return facts


def session(engine: Engine, t: int, n: int) -> Iterator[list[Effect]]:
    """What an engine says to each observation of the `n`-th session, which begins at `t` (ms since the epoch)."""
    root = engine.root
    yield engine.observe(
        seen.SessionInfo(t=t, session=root, title=f"Session {n}", directory=f"/home/dev/proj_{n % 50}")
    )
    for step in range(STEPS):
        yield engine.observe(call(root, t + step, n, step))
        effects = engine.observe(step_end(root, t + step, step))
        yield effects
        for job in effects:
            if isinstance(job, Extract):
                yield engine.observe(answer(root, t + step, job.id, n, range(step + 1 - INTERVAL, step + 1)))


def call(root: str, t: int, n: int, step: int) -> seen.ToolFinished:
    """A call that shows the step's facts among other lines."""
    told = [fact(n, step, k) for k in range(PER_STEP)]
    shown = [*told, *(f"{k:08x}: {(n * 7919 + step * 31 + k) % 65521:04x} block {k}" for k in range(LINES - PER_STEP))]
    command = f"python3 probe.py {file(n, step)}"
    return seen.ToolFinished(
        t=t,
        session=root,
        message=f"msg_{step}",
        part=f"{root}_prt_{step}",
        call=f"call_{step}",
        tool="bash",
        ok=True,
        summary=command,
        command=command,
        output="\n".join(shown),
        exit=0,
        ended=t,
    )


def step_end(root: str, t: int, step: int) -> seen.StepFinished:
    """The end of a step."""
    return seen.StepFinished(t=t, session=root, message=f"msg_{step}", part=f"{root}_fin_{step}")


def answer(root: str, t: int, job: str, n: int, steps: range) -> seen.ExtractionAnswered:
    """All facts of some steps."""
    items = [
        seen.Candidate(fact(n, step, k), f"file-format:{file(n, step)}") for step in steps for k in range(PER_STEP)
    ]
    return seen.ExtractionAnswered(
        t=t, session=root, id=job, items=tuple(items), tokens=seen.Tokens(input=4_000, output=500)
    )


def file(n: int, step: int) -> str:
    """The file a step looks at."""
    return f"model_{n}_{step}.ckpt"


def fact(n: int, step: int, k: int) -> str:
    """A fact about it."""
    return f"{file(n, step)}: {SAID[k]} {4096 + n * 640 + step * 128 + k * 16}"


def refuse(code: str, message: str) -> None:
    """A journal that has to warn is no measurement."""
    raise AssertionError(f"{code}: {message}")
