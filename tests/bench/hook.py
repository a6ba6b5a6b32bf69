"""The plugin's question to the ledger, measured inside OpenCode's own runtime, beside a hook that does nothing.

The real OpenCode works off turns of quick bash calls for a scripted model. A wrapper in the temporary project times
`tool.execute.after`: the time the agent waits at each call. Turns of the different projects alternate, so that what
else the machine does falls on all of them.

When a call ends OpenCode has work of its own to do (its database, its events), and whoever waits for anything at that
moment waits for that work too. How long, a timer of 0 ms shows: no answer from outside can come sooner.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.bench import figures
from tests.bench.load import ROOT
from tests.e2e.ledger import Ledger, environment
from tests.e2e.model_server import ModelServer
from tests.e2e.opencode import NoOpenCode, OpenCode, _environment, find_binary
from tests.e2e.shim_server import PLUGIN, SHIM, calls, prepared

CALLS, ROUNDS = 60, 2
TRIPS = 1000
RATE, EVENTS = 1000, 500_000
"""Of the replay server: events a second, and more of them than are played."""
NEVER = 1_000_000
NOTHING = 'export default { pauses: true, server: async () => ({ "tool.execute.after": async () => {} }) }\n'
TIMED = """\
import fs from "node:fs"
import inner from "../timed/ledger.mjs"
const server = async (input) => {
  const hooks = await inner.server(input)
  return { ...hooks, "tool.execute.after": async (...given) => {
    const timed = async (name, work) => {
      const began = performance.now()
      await work()
      fs.appendFileSync(`${input.directory}/../${name}`, `${performance.now() - began}\\n`)
    }
    await timed("waited", () => hooks["tool.execute.after"](...given))
    if (inner.pauses) await timed("paused", () => new Promise((done) => setTimeout(done, 0)))
  } }
}
export default { id: "timed", server }
"""

ALONE = """\
import shim from "./ledger.mjs"
const hooks = await shim.server({ directory: process.argv[2] })
await new Promise((done) => setTimeout(done, 500))
const times = []
for (let n = 0; n < Number(process.argv[3]); n += 1) {
  const call = { tool: "bash", sessionID: "ses_bench", callID: `call_${n}`, args: { command: "true" } }
  const output = { title: "t", output: "a line of output\\n".repeat(20), metadata: { exit: 0 } }
  await hooks["tool.execute.before"](call, {})
  const began = performance.now()
  await hooks["tool.execute.after"](call, output)
  times.push(performance.now() - began)
  await new Promise((done) => setTimeout(done, 2))
}
await hooks.dispose()
console.log(JSON.stringify(times))
"""


@dataclass
class Agent:
    """An OpenCode with its project.

    Attributes:
        turns: ms per call, of each turn.
        waited: ms at the hook, of each call.
        paused: ms for a timer of 0 ms there, of each call; empty with the ledger's plugin.
    """

    server: OpenCode
    client: httpx.AsyncClient
    turns: list[float] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    paused: list[float] = field(default_factory=list)

    async def turn(self) -> None:
        """One turn in a session of its own."""
        session = (await self.client.post("/session", json={})).json()["id"]
        begun = time.perf_counter()
        body = {"parts": [{"type": "text", "text": "[calls] go"}]}
        (await self.client.post(f"/session/{session}/message", json=body)).raise_for_status()
        self.turns.append((time.perf_counter() - begun) * 1000 / CALLS)
        self.waited += self._logged("waited")
        self.paused += self._logged("paused")

    def _logged(self, name: str) -> list[float]:
        """The times of the last turn's calls."""
        log = self.server.base / name
        if not log.exists():
            return []
        times = [float(line) for line in log.read_text().split()]
        log.unlink()
        if len(times) != CALLS:
            raise AssertionError(f"{len(times)} calls were timed, not {CALLS}")
        return times

    async def alone(self) -> list[float]:
        """The same in the same runtime, but without OpenCode and its work: ms of each round trip."""
        folder = self.server.project / ".opencode" / "timed"
        (folder / "alone.mjs").write_text(ALONE)
        process = await asyncio.create_subprocess_exec(
            self.server.binary, folder / "alone.mjs", self.server.project, str(TRIPS),
            env={**_environment(self.server.base / "home"), **self.server.variables, "BUN_BE_BUN": "1"},
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, _ = await asyncio.wait_for(process.communicate(), 120)
        times: list[float] = json.loads(out)
        return times

    def forget(self) -> None:
        """Begin anew."""
        self.turns.clear()
        self.waited.clear()
        self.paused.clear()


def main() -> None:
    """Print the figures; one line where there is no OpenCode."""
    figures.section(f"Hook round trip in the real OpenCode ({CALLS} bash calls a turn, {ROUNDS} turns of each kind)")
    try:
        binary = find_binary()
    except NoOpenCode as error:
        figures.line("not measured", "", str(error))
        return
    with tempfile.TemporaryDirectory(prefix="ledger-bench-") as folder:
        asyncio.run(_measure(binary, Path(folder).resolve()))


async def _measure(binary: Path, base: Path) -> None:
    async with ModelServer(calls(CALLS, "true")) as model, contextlib.AsyncExitStack() as stack:
        agents = {
            name: await stack.enter_async_context(_agent(binary, base / name, model, plugin))
            for name, plugin in (("ledger", SHIM), ("nothing", NOTHING), ("none", ""))
        }
        for agent in agents.values():
            await agent.turn()  # the first one is slower everywhere
        project = agents["ledger"].server.project
        quiet = f"extraction_interval_steps={NEVER}"
        async with _ledger(agents["ledger"], agents["ledger"].server.url, "--set", quiet):
            await _rounds(agents)
            trips = await agents["ledger"].alone()
            _report("the ledger has nothing else to do", agents, trips)
        async with _events(project) as url, _ledger(agents["ledger"], url):
            await _rounds(agents)
            trips = await agents["ledger"].alone()
            _report(f"the ledger takes {RATE:,} events a second from another server", agents, trips)


@contextlib.asynccontextmanager
async def _agent(binary: Path, base: Path, model: ModelServer, plugin: str) -> AsyncIterator[Agent]:
    """OpenCode with this plugin, timed; without any when it is empty."""
    server = prepared(binary, base, model, **{PLUGIN: TIMED, ".opencode/timed/ledger.mjs": plugin})
    if not plugin:
        server.files.pop(PLUGIN)
        (server.project / PLUGIN).unlink()
    server.variables.update(LEDGER_HOME=environment(base / "ledger-home")["LEDGER_HOME"])
    async with server, server.client() as client:
        yield Agent(server, client)


@contextlib.asynccontextmanager
async def _ledger(agent: Agent, url: str, *more: str) -> AsyncIterator[None]:
    """`ledger-tui headless` as the host of the agent's project."""
    base = agent.server.base
    place = ["headless", "--server", url, "--directory", str(agent.server.project)]
    async with Ledger([*place, "--set", f"dump_path={base / 'facts.json'}", *more], base / "ledger-home") as ledger:
        await ledger.state("live")
        await asyncio.sleep(5.5)  # the plugin looks every 2 s, and after a refusal pauses for 5 s
        await agent.turn()
        agent.forget()
        yield
        if ledger.code is not None:
            raise AssertionError(f"the ledger ended: {ledger.errors[-300:]}")


@contextlib.asynccontextmanager
async def _events(project: Path) -> AsyncIterator[str]:
    """The replay server with that project: its address."""
    arguments = ("-m", "tests.bench.load", "--events", str(EVENTS), "--rate", str(RATE))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=ROOT, env={**os.environ, "TMPDIR": str(project)}, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield str(json.loads(await process.stdout.readline())["url"])
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def _rounds(agents: dict[str, Agent]) -> None:
    for agent in agents.values():
        agent.forget()
    for _ in range(ROUNDS):
        for agent in agents.values():
            await agent.turn()


def _report(when: str, agents: dict[str, Agent], trips: list[float]) -> None:
    ledger, nothing, none = agents["ledger"], agents["nothing"], agents["none"]
    figures.section(f"  Beside each other, while {when}")
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        figures.line(
            f"round trip in the runtime without OpenCode's work, {name}",
            f"{figures.percentile(trips, share):.2f} ms",
            f"of {TRIPS:,}",
        )
        waited, bare, timer = (figures.percentile(x, share) for x in (ledger.waited, nothing.waited, nothing.paused))
        figures.line(
            f"the agent waits for the ledger at a call, {name}",
            f"{waited:.2f} ms",
            f"a timer of 0 ms {timer:.2f} ms, a hook that does nothing {bare:.2f} ms",
        )
    alone = figures.median(none.turns)
    added = figures.median([with_it - without for with_it, without in zip(ledger.turns, none.turns, strict=True)])
    figures.line(
        "added to a call by plugin and ledger", f"{added:+.1f} ms", f"to {alone:.1f} ms of it without a plugin"
    )


if __name__ == "__main__":
    main()
