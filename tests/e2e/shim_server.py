"""What tests of the shim need: a stand-in for the ledger's hook server, and OpenCode with the shim in it.

The stand-in announces itself to the shim and answers each tool call with a scripted note; the real one lives in the
host. It can be made to hang (it accepts and never answers) and to crash.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from core.loopback import LoopbackServer, Request, Response
from tests.e2e.chat import bash, run, say
from tests.e2e.model_server import ModelServer
from tests.e2e.opencode import ROOT, OpenCode, _environment, provider_config
from tests.e2e.scripts import Plans, Script, plain
from tests.e2e.stage import Stage, eventually
from tests.e2e.terminal import Terminal

Body = dict[str, Any]

SHIM = (ROOT / "core" / "opencode" / "plugin.js").read_text(encoding="utf-8").replace("__VERSION__", "0.1.0")
PLUGIN = ".opencode/plugins/ledger.js"
LOCK = json.dumps({"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}})
"""With this lock file beside a `node_modules` OpenCode takes its plugin package for installed. Otherwise the first
plugin in a folder makes it install that package: 20 s and more, and over a minute where there is no network."""
FILES = {PLUGIN: SHIM, ".opencode/node_modules/.keep": "", ".opencode/package-lock.json": LOCK}


def key_of(directory: Path) -> str:
    """The name under which a project's files are found: 32 hex digits of its real path's SHA-256."""
    return hashlib.sha256(os.fsencode(os.path.realpath(directory))).hexdigest()[:32]


def write_private(file: Path, text: str, mode: int = 0o600) -> None:
    """Write atomically, in a folder only this user can enter."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_suffix(f".{secrets.token_hex(4)}")
    draft.write_text(text)
    draft.chmod(mode)
    draft.replace(file)


def numbered_note(body: Body, n: int) -> str:
    """A note that names its call, long enough to be cut by whoever would cut it."""
    return f"\n\n<ledger-note {n}>\n{body['call']}: already established. " + "é fact " * 200 + f"\n</ledger-note {n}>"


class ShimServer:
    """Hook server of one project; use as an async context manager.

    Attributes:
        note: makes the text to append from the body of `/v1/after` and its number; "" for none.
        answers: cleared, requests are accepted and never answered.
        seen: bodies received, by route, oldest first.
        notes: call -> the text it was answered with.
    """

    def __init__(
        self,
        runtime: Path,
        directory: Path,
        *,
        note: Callable[[Body, int], str] = numbered_note,
        deadline_ms: int = 250,
    ) -> None:
        self.note = note
        self.answers = asyncio.Event()
        self.answers.set()
        self.seen: dict[str, list[Body]] = {"/v1/hello": [], "/v1/after": [], "/v1/ack": []}
        self.notes: dict[str, str] = {}
        self.denied = 0
        self.file = runtime / f"{key_of(directory)}.ledger.json"
        self._directory = directory
        self._deadline_ms = deadline_ms
        self._token = secrets.token_hex(32)
        self._server = LoopbackServer(self._handle)

    @property
    def after(self) -> list[Body]:
        """The tool calls reported."""
        return self.seen["/v1/after"]

    @property
    def acks(self) -> dict[str, Body]:
        """Call -> what the shim said about its note."""
        return {body["call"]: body for body in self.seen["/v1/ack"]}

    def announcement(self) -> Body:
        """What the shim finds."""
        return {
            "v": 1, "port": self._server.port, "token": self._token, "pid": os.getpid(),
            "directory": str(self._directory), "version": "0.1.0", "deadline_ms": self._deadline_ms,
        }  # fmt: skip

    async def acked(self, count: int, seconds: float = 10) -> None:
        """Wait for so many acknowledgements. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while len(self.seen["/v1/ack"]) < count:  # noqa: ASYNC110 - a test's wait
                await asyncio.sleep(0.02)

    async def __aenter__(self) -> ShimServer:
        await self._server.start()
        write_private(self.file, json.dumps(self.announcement()))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.crash()
        self.file.unlink(missing_ok=True)

    async def crash(self) -> None:
        """Be gone as after SIGKILL: the port closed, the announcement still there."""
        self.answers.set()
        await self._server.stop()

    async def _handle(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {self._token}":
            self.denied += 1
            return Response.of({"error": "wrong token"}, 401)
        body = request.json()
        self.seen[request.path].append(body)
        await self.answers.wait()
        if request.path != "/v1/after":
            return Response.of({"ok": True})
        number = len(self.after)
        text = self.note(body, number)
        if not text:
            return Response.of({})
        self.notes[body["call"]] = text
        return Response.of({"append": text, "note": f"n{number}"})


def prepared(binary: Path, base: Path, model: ModelServer, **files: str) -> OpenCode:
    """An OpenCode whose project has the shim, without snapshots; nothing is started or installed."""
    settings = base / "home" / "config" / "opencode"
    (settings / "node_modules").mkdir(parents=True, exist_ok=True)
    (settings / "package-lock.json").write_text(LOCK)
    server = OpenCode(binary, base, provider_config(model.url, snapshot=False), files={**FILES, **files})
    server.prepare()
    return server


@asynccontextmanager
async def shimmed(binary: Path, base: Path, script: Script, **files: str) -> AsyncIterator[Stage]:
    """A stage without snapshots, whose project has the shim."""
    async with ModelServer(script) as model:
        server = prepared(binary, base, model, **files)
        async with server, server.client() as client:
            yield Stage(model, server, client, base)


DRIVER = """
import fs from "node:fs"
const shim = (await import(process.argv[2])).default
const hooks = await shim.server({ directory: process.argv[3] })
await new Promise((done) => setTimeout(done, 50))
const outputs = []
for (const [n, { args, output }] of JSON.parse(fs.readFileSync(0, "utf8")).entries()) {
  const result = { title: "t", output, metadata: { exit: 0 } }
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "ses_1", callID: `call_${n}` }, { args })
  await hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_1", callID: `call_${n}`, args }, result)
  outputs.push(result.output)
}
await new Promise((done) => setTimeout(done, 50))
await hooks.dispose()
console.log(JSON.stringify(outputs))
"""


async def drive(binary: Path, base: Path, *given: Body, **variables: str) -> list[str]:
    """Outputs of these tool calls after the shim's hooks, run by the Bun that is inside the binary."""
    (base / "driver.mjs").write_text(DRIVER)
    (base / "shim.mjs").write_text(SHIM)
    (base / "project").mkdir(exist_ok=True)
    process = await asyncio.create_subprocess_exec(
        binary, base / "driver.mjs", base / "shim.mjs", base / "project",
        env={**_environment(base / "home"), "BUN_BE_BUN": "1", **variables},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    out, err = await asyncio.wait_for(process.communicate(json.dumps(given).encode()), 30)
    assert err == b""
    outputs: list[str] = json.loads(out)
    return outputs


@asynccontextmanager
async def tui(binary: Path, base: Path, script: Script, *arguments: str) -> AsyncIterator[tuple[Terminal, ModelServer]]:
    """OpenCode's own screen in a terminal, in a project with the shim."""
    async with ModelServer(script) as model:
        prepared(binary, base, model)
        environment = {**_environment(base / "home"), "TERM": "xterm-256color"}
        with Terminal([str(binary), *arguments], base / "project", environment) as terminal:
            yield terminal, model


def through(door: Body, **more: Any) -> httpx.AsyncClient:
    """A client of the door."""
    headers = {"authorization": f"Bearer {door['token']}"}
    url = f"http://127.0.0.1:{door['port']}"
    return httpx.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=30, **more)


def doors(runtime: Path) -> list[Path]:
    return list(runtime.glob("*.door.json"))


async def door_of(runtime: Path) -> Body:
    """The announcement, once it is there."""

    async def announced() -> bool:
        return bool(doors(runtime))

    await eventually(announced)
    (file,) = doors(runtime)
    said: Body = json.loads(file.read_text())
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert file.name == f"{key_of(Path(said['directory']))}.{said['pid']}.door.json"
    return said


async def no_door(runtime: Path) -> bool:
    return not doors(runtime)


async def watch(client: httpx.AsyncClient, types: list[str]) -> None:
    async with client.stream("GET", "/event", timeout=None) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                types.append(json.loads(line[6:])["type"])  # noqa: PERF401 - read while it grows


def calls(count: int, command: str = "stat -c %s model.ckpt") -> Plans:
    """`[calls]`: so many times the same command; the other markers are those of `plain`."""
    turns = [run(bash(f"{command} # {n}")) for n in range(count)]
    return Plans({"[calls]": [*turns, say("Done.")], **plain().plans})


async def megabytes(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * 1_000_000
