"""The dashboard in a real terminal: start, memory, keys under load, and what it costs while nothing happens."""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.bench import figures
from tests.bench.load import DIRECTORY, serving
from tests.bench.terminal import Terminal

SCRIPT = str(Path(sys.executable).with_name("ledger-tui"))
STARTS = 5
FEW, HALF, MANY = 20_000, 100_000, 200_000
IDLE_SECONDS = 20.0
NOBODY = "127.0.0.1:9"


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory(prefix="ledger-bench-") as folder:
        home = {"LEDGER_HOME": folder, "LEDGER_DUMP_PATH": f"{folder}/facts.json"}
        start(home)
        asyncio.run(load(home))


def start(home: dict[str, str]) -> None:
    """Time to first paint and memory, beside the minimal app."""
    figures.section(f"Start of the dashboard with nobody to connect to (medians of {STARTS}, 120×40)")
    minimal = [_start([sys.executable, "-m", "tests.bench.minimal"], "minimal app", home) for _ in range(STARTS)]
    ours = [_start([SCRIPT, "--server", NOBODY], "ledger", home) for _ in range(STARTS)]
    paint, memory = (statistics.median(column) for column in zip(*ours, strict=True))
    paint_0, memory_0 = (statistics.median(column) for column in zip(*minimal, strict=True))
    figures.line(
        "start to first paint", f"{paint:.2f} s", f"{paint / paint_0:.2f} × a minimal Textual app ({paint_0:.2f} s)"
    )
    figures.line(
        "memory 2 s later", f"{memory:.0f} MiB", f"{memory / memory_0:.2f} × a minimal Textual app ({memory_0:.0f} MiB)"
    )


def _start(command: list[str], text: str, home: dict[str, str]) -> tuple[float, float]:
    terminal = Terminal(command, home)
    try:
        painted = terminal.wait_for(text) - terminal.started
        terminal.idle(2.0)
        return painted, terminal.memory_mib
    finally:
        terminal.close()


async def load(home: dict[str, str]) -> None:
    """Events at full speed: keys meanwhile, memory, then silence."""
    figures.section(f"{MANY:,} events as fast as the dashboard takes them (120×40)")
    few = await _under_load(FEW, home)
    half = await _under_load(HALF, home)
    many = await _under_load(MANY, home)
    keys = many["keys"]
    figures.line("events taken", f"{MANY / many['seconds'][0]:,.0f} /s")
    figures.line("key press to paint, p50", f"{figures.median(keys) * 1000:.0f} ms", f"{len(keys)} presses of ?")
    figures.line("key press to paint, p95", f"{figures.percentile(keys, 0.95) * 1000:.0f} ms")
    quiet = many["quiet keys"]
    figures.line("the same key when nothing happens, p50", f"{figures.median(quiet) * 1000:.0f} ms")
    first, middle, last = (run["memory"][0] for run in (few, half, many))
    beside = f"{last / middle:.2f} × after {HALF:,}, {last / first:.2f} × after {FEW:,}"
    figures.line(f"memory after {MANY:,} events", f"{last:.0f} MiB", beside)
    figures.section(f"Nothing happens for {IDLE_SECONDS:.0f} s, connection open")
    figures.line("CPU", f"{many['idle cpu'][0] * 100:.2f} %", "of one core")
    figures.line("bytes written to the terminal", f"{many['idle bytes'][0]:.0f}")


async def _under_load(events: int, home: dict[str, str]) -> dict[str, list[float]]:
    """Figures of one run, by name; times in s, memory in MiB, CPU as a share."""
    async with serving(events) as (url, server):
        terminal = Terminal([SCRIPT, "--server", url, "--directory", DIRECTORY], home)
        try:
            terminal.wait_for("Steps")
            begun = time.perf_counter()
            sent = asyncio.create_task(server.stdout.readline()) if server.stdout else None
            found: dict[str, list[float]] = {"keys": []}
            while sent is not None and not sent.done():
                found["keys"].append(await asyncio.to_thread(_press, terminal))
            found["seconds"] = [time.perf_counter() - begun]
            await asyncio.to_thread(terminal.idle, 5.0)
            found["memory"] = [terminal.memory_mib]
            found["quiet keys"] = [await asyncio.to_thread(_press, terminal) for _ in range(10)]
            await asyncio.to_thread(terminal.idle, 3.0)
            cpu = terminal.cpu_seconds
            found["idle bytes"] = [await asyncio.to_thread(terminal.idle, IDLE_SECONDS)]
            found["idle cpu"] = [(terminal.cpu_seconds - cpu) / IDLE_SECONDS]
            return found
        finally:
            terminal.close()


def _press(terminal: Terminal) -> float:
    """Seconds from pressing `?` to the help on the screen."""
    terminal.idle(0.3)
    pressed = terminal.press("?")
    painted = terminal.wait_for("Help:")
    terminal.press("\x1b")
    terminal.idle(0.4)
    return painted - pressed


if __name__ == "__main__":
    main()
