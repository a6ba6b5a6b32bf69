"""The real OpenCode with a plugin of ours, timed: what the agent waits for at each of its calls.

A wrapper in the temporary project times `tool.execute.after`. When a call ends OpenCode has work of its own to do (its
database, its events), and whoever waits for anything at that moment waits for that work too. How long, a hook shows
that only yields, with a timer of 0 ms: no answer from outside can come sooner.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.e2e.ledger import environment
from tests.e2e.model_server import ModelServer
from tests.e2e.opencode import OpenCode, _environment
from tests.e2e.shim_server import PLUGIN, prepared

NOTHING = 'export default { yields: true, server: async () => ({ "tool.execute.after": async () => {} }) }\n'
"""A plugin whose hook does nothing; beside it a hook that yields is timed."""
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
    if (inner.yields) await timed("yielded", () => new Promise((done) => setTimeout(done, 0)))
  } }
}
export default { id: "timed", server }
"""
ALONE = """\
import shim from "./ledger.mjs"
const hooks = await shim.server({ directory: process.argv[2] })
await new Promise((done) => setTimeout(done, 500))
const asked = [], yielded = []
for (let n = 0; n < Number(process.argv[3]); n += 1) {
  const call = { tool: "bash", sessionID: "ses_bench", callID: `call_${n}`, args: { command: "true" } }
  const output = { title: "t", output: "a line of output\\n".repeat(20), metadata: { exit: 0 } }
  await hooks["tool.execute.before"](call, {})
  const timed = async (times, work) => {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  await timed(asked, () => hooks["tool.execute.after"](call, output))
  await timed(yielded, () => new Promise((done) => setTimeout(done, 0)))
}
await hooks.dispose()
console.log(JSON.stringify([asked, yielded]))
"""


@dataclass
class Agent:
    """An OpenCode with its project.

    Attributes:
        calls: of a turn.
        turns: ms, of each turn.
        waited: ms at the hook, of each call.
        yielded: ms at a hook that only yields, of each call; empty with the ledger's plugin.
    """

    server: OpenCode
    client: httpx.AsyncClient
    calls: int
    turns: list[float] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    yielded: list[float] = field(default_factory=list)

    async def turn(self) -> None:
        """One turn in a session of its own."""
        session = (await self.client.post("/session", json={})).json()["id"]
        begun = time.perf_counter()
        body = {"parts": [{"type": "text", "text": "[calls] go"}]}
        (await self.client.post(f"/session/{session}/message", json=body)).raise_for_status()
        self.turns.append((time.perf_counter() - begun) * 1000)
        self.waited += self._logged("waited")
        self.yielded += self._logged("yielded")

    def _logged(self, name: str) -> list[float]:
        """The times of the last turn's calls."""
        log = self.server.base / name
        if not log.exists():
            return []
        times = [float(line) for line in log.read_text().split()]
        log.unlink()
        if len(times) != self.calls:
            raise AssertionError(f"{len(times)} calls were timed, not {self.calls}")
        return times

    async def alone(self, trips: int) -> tuple[list[float], list[float]]:
        """So many round trips in the same runtime without OpenCode and its work, and hooks that only yield: ms each."""
        folder = self.server.project / ".opencode" / "timed"
        (folder / "alone.mjs").write_text(ALONE)
        process = await asyncio.create_subprocess_exec(
            self.server.binary, folder / "alone.mjs", self.server.project, str(trips),
            env={**_environment(self.server.base / "home"), **self.server.variables, "BUN_BE_BUN": "1"},
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        async with ended(process):
            out, _ = await asyncio.wait_for(process.communicate(), 120)
        asked, yielded = json.loads(out)
        return asked, yielded

    def forget(self) -> None:
        """Begin anew."""
        self.turns.clear()
        self.waited.clear()
        self.yielded.clear()


@contextlib.asynccontextmanager
async def ended(process: asyncio.subprocess.Process) -> AsyncIterator[None]:
    """The process is gone afterwards."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


@contextlib.asynccontextmanager
async def agent(binary: Path, base: Path, model: ModelServer, plugin: str, calls: int) -> AsyncIterator[Agent]:
    """OpenCode with this plugin, timed; without any when it is empty."""
    server = prepared(binary, base, model, **{PLUGIN: TIMED, ".opencode/timed/ledger.mjs": plugin})
    if not plugin:
        server.files.pop(PLUGIN)
        (server.project / PLUGIN).unlink()
    server.variables.update(LEDGER_HOME=environment(base / "ledger-home")["LEDGER_HOME"])
    try:
        await server.start()
        async with server.client() as client:
            yield Agent(server, client, calls)
    finally:
        await server.stop()
