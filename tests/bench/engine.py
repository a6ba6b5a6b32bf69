"""Engine time per touched call, at 50 and at 10,000 findings."""

from __future__ import annotations

import gc
import time

from core.ledger import observations as seen
from core.ledger.effects import TouchReport
from core.ledger.engine import Engine
from core.ledger.state import EngineSettings
from tests.bench import figures

ROUNDS = 4_000
COMMANDS = (
    "xxd model_{n}.ckpt | head -3",
    "stat -c %s weights/model_{n}.ckpt",
    "python3 -c \"import struct; print(struct.unpack('<4f', open('model_{n}.ckpt','rb').read(16)))\"",
    "od -A d -t f4 -N 64 model_{n}.ckpt",
)


def engine_with(findings: int) -> Engine:
    """An engine that knows `findings` facts, five a topic, each topic a file."""
    engine = Engine("ses_root", EngineSettings(max_findings=findings, extraction_interval_steps=10**9))
    engine.observe(seen.StepFinished(t=1, session="ses_root", message="m", part="p"))
    ledger = engine.state.ledger
    for n in range(findings):
        engine.state.apply(
            n, ledger.add(n, f"fact {n}: offset {n * 8} holds a float32", f"file-format:model_{n // 5}.ckpt")
        )
    return engine


def measure(findings: int, files: int) -> list[float]:
    """Microseconds of each touched call, the text of its note included; the calls go over so many of the files.

    Between the calls, untimed, the step ends and the note's fate becomes known, as in a session.
    """
    engine = engine_with(findings)
    times = []
    gc.collect()
    for n in range(ROUNDS):
        command = COMMANDS[n % len(COMMANDS)].format(n=(n * 7919) % files)
        done = seen.ToolFinished(
            t=n,
            session="ses_root",
            message=f"msg_{n}",
            part=f"prt_{n}",
            call=f"call_{n}",
            tool="bash",
            ok=True,
            summary=command,
            command=command,
            description="Inspect the file",
            output="00000000: 0000 803f",
        )
        start = time.perf_counter_ns()
        effects = engine.observe(done)
        times.append((time.perf_counter_ns() - start) / 1000)
        if not any(isinstance(effect, TouchReport) for effect in effects):
            raise AssertionError(f"no touch: {command}")
        engine.close(n)
        engine.observe(seen.StepFinished(t=n, session="ses_root", message=f"msg_{n}", part=f"fin_{n}"))
    return times


def main() -> None:
    """Print the figures."""
    figures.section(f"Engine, {ROUNDS:,} touched bash calls, 5 facts a file (wall clock)")
    small, large, wide = measure(50, 10), measure(10_000, 10), measure(10_000, 2_000)
    ratio = figures.median(large) / figures.median(small)
    rows = (
        ("50 findings, calls over 10 files, p50", small, ""),
        ("10,000 findings, the same calls, p50", large, f"; {ratio:.2f} × the first"),
        ("10,000 findings, calls over 2,000 files, p50", wide, ""),
    )
    for what, times, more in rows:
        p99 = figures.percentile(times, 0.99)
        figures.line(what, f"{figures.median(times):.1f} µs", f"p99 {p99:.1f} µs{more}")


if __name__ == "__main__":
    main()
