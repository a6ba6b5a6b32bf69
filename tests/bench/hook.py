"""The plugin's question to the ledger, measured inside OpenCode's own runtime, beside hooks that do not ask.

The real OpenCode works off turns of quick bash calls for a scripted model (see :mod:`tests.bench.agents`). Turns of the
different projects alternate, so that what else the machine does falls on all of them. A small run::

    python -m tests.bench.hook --calls 6 --rounds 1 --trips 50
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench import figures
from tests.bench.agents import NOTHING, Agent, agent, ended
from tests.bench.ending import run
from tests.bench.load import ROOT
from tests.e2e.ledger import Ledger
from tests.e2e.model_server import ModelServer
from tests.e2e.opencode import NoOpenCode, find_binary
from tests.e2e.shim_server import SHIM, calls

RATE, EVENTS = 1000, 500_000
"""Of the replay server: events a second, and more of them than are played."""
QUIET = "extraction_interval_steps=1000000"
HOSTED_SECONDS = 5.5
"""The plugin looks for a ledger every 2 s, and after a refusal pauses for 5 s."""


@dataclass(frozen=True)
class Size:
    """How much is measured.

    Attributes:
        calls: bash calls of a turn.
        rounds: turns of each kind.
        kills: turns in which the ledger is killed.
        trips: round trips without OpenCode's work.
    """

    calls: int = 60
    rounds: int = 2
    kills: int = 3
    trips: int = 1000


def main(size: Size | None = None) -> None:
    """Print the figures; one line where there is no OpenCode."""
    size = size or Size()
    figures.section(f"Hook round trip in the real OpenCode ({size.calls} bash calls a turn)")
    try:
        binary = find_binary()
    except NoOpenCode as error:
        figures.line("not measured", "", str(error))
        return
    with tempfile.TemporaryDirectory(prefix="ledger-bench-") as folder:
        run(_measure(binary, Path(folder).resolve(), size))


async def _measure(binary: Path, base: Path, size: Size) -> None:
    async with ModelServer(calls(size.calls, "true")) as model, contextlib.AsyncExitStack() as stack:
        agents = {
            name: await stack.enter_async_context(agent(binary, base / name, model, plugin, size.calls))
            for name, plugin in (("ledger", SHIM), ("nothing", NOTHING), ("none", ""))
        }
        for one in agents.values():
            await one.turn()  # the first one is slower everywhere
        ledger = agents["ledger"]
        async with _hosting(ledger, ledger.server.url, "--set", QUIET) as running:
            await _rounds(agents, size, running)
            _report("the ledger has nothing else to do", agents, await ledger.alone(size.trips))
        async with _events(ledger.server.project) as url, _hosting(ledger, url) as running:
            await _rounds(agents, size, running)
            when = f"the ledger takes {RATE:,} events a second from another server"
            _report(when, agents, await ledger.alone(size.trips))
        await _kills(ledger, agents["none"], size)


@contextlib.asynccontextmanager
async def _hosting(one: Agent, url: str, *more: str) -> AsyncIterator[Ledger]:
    """`ledger-tui headless` as the host of the agent's project."""
    base = one.server.base
    place = ["headless", "--server", url, "--directory", str(one.server.project)]
    async with Ledger([*place, "--set", f"dump_path={base / 'facts.json'}", *more], base / "ledger-home") as ledger:
        await ledger.state("live")
        await asyncio.sleep(HOSTED_SECONDS)
        await one.turn()
        one.forget()
        yield ledger


@contextlib.asynccontextmanager
async def _events(project: Path) -> AsyncIterator[str]:
    """The replay server with that project: its address."""
    arguments = ("-m", "tests.bench.load", "--events", str(EVENTS), "--rate", str(RATE))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=ROOT, env={**os.environ, "TMPDIR": str(project)}, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    async with ended(process):
        yield str(json.loads(await process.stdout.readline())["url"])


async def _rounds(agents: dict[str, Agent], size: Size, ledger: Ledger) -> None:
    for one in agents.values():
        one.forget()
    for _ in range(size.rounds):
        for one in agents.values():
            await one.turn()
    if ledger.code is not None:
        raise AssertionError(f"the ledger ended: {ledger.errors[-300:]}")


async def _kills(ledger: Agent, none: Agent, size: Size) -> None:
    """Turns in the middle of which the ledger is killed, each beside one without a plugin."""
    none.forget()
    turns: list[float] = []
    waited: list[float] = []
    for _ in range(size.kills):
        async with _hosting(ledger, ledger.server.url, "--set", QUIET) as running:
            before = _steps(running)
            turn = asyncio.create_task(ledger.turn())
            await running.until(lambda _, ledger=running, n=before + size.calls // 2: _steps(ledger) >= n)  # type: ignore[misc]
            running.kill()
            await running.ended()
            await turn
        turns += ledger.turns
        waited += ledger.waited
        await none.turn()
    figures.section(f"  The ledger is killed in the middle of a turn ({size.kills} times)")
    figures.line(
        "that turn", f"{figures.median(turns):.0f} ms", f"{figures.median(none.turns):.0f} ms without a plugin"
    )
    added = [with_it - without for with_it, without in zip(turns, none.turns, strict=True)]
    figures.line("added to the turn", f"{figures.median(added):+.0f} ms", "median of the differences")
    figures.line(
        "the longest wait at one of its calls", f"{max(waited):.1f} ms", f"p50 {figures.median(waited):.1f} ms"
    )


def _steps(ledger: Ledger) -> int:
    return sum(line["type"] == "step" for line in ledger.lines)


def _report(when: str, agents: dict[str, Agent], alone: tuple[Sequence[float], Sequence[float]]) -> None:
    ledger, nothing, none = agents["ledger"], agents["nothing"], agents["none"]
    figures.section(f"  While {when}")
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        trip, floor = (figures.percentile(times, share) for times in alone)
        figures.line(
            f"round trip in OpenCode's runtime, no agent at work, {name}",
            f"{trip:.2f} ms",
            f"of {len(alone[0]):,}; a hook that only yields {floor:.2f} ms",
        )
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        waited, bare, floor = (figures.percentile(x, share) for x in (ledger.waited, nothing.waited, nothing.yielded))
        figures.line(
            f"the same at the calls of an agent at work, {name}",
            f"{waited:.2f} ms",
            f"of {len(ledger.waited):,}; a hook that only yields {floor:.2f} ms, one that does nothing {bare:.2f} ms",
        )
    added = [with_it - without for with_it, without in zip(ledger.turns, none.turns, strict=True)]
    per_call = ledger.calls
    figures.line(
        "added to a call by plugin and ledger",
        f"{figures.median(added) / per_call:+.1f} ms",
        f"to {figures.median(none.turns) / per_call:.1f} ms of it without a plugin",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure the plugin's round trip inside the real OpenCode.")
    for option, number in vars(Size()).items():
        parser.add_argument(f"--{option}", type=int, default=number, help="default %(default)s")
    main(Size(**vars(parser.parse_args())))
