"""The real OpenCode, run from a temporary home against the scripted model server.

The binary is that of the npm package `opencode-ai`'s platform package, taken from the environment variable
`LEDGER_OPENCODE_BIN` or else from the ignored folder `.opencode-bin/` of the project root, into which npm installs it
once.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import platform
import secrets
import shutil
import signal
import socket
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

VERSION = "1.18.33"
ROOT = Path(__file__).resolve().parents[2]
INSTALLED = ROOT / ".opencode-bin"
START_SECONDS = 60.0
_PORTS = range(20_000, 30_000)


class NoOpenCode(Exception):
    """The binary is not there and cannot be installed; the message says why."""


def _candidates(folder: Path) -> list[Path]:
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())
    system = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system())
    names = [f"opencode-{system}-{machine}{tail}" for tail in ("", "-baseline", "-musl", "-baseline-musl")]
    return [folder / "node_modules" / name / "bin" / "opencode" for name in names]


def _runs(binary: Path, home: Path) -> bool:
    """Whether the binary answers `--version` (one built for a newer processor or another libc does not)."""
    if not binary.is_file():
        return False
    home.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            [binary, "--version"], env=_environment(home), capture_output=True, timeout=60, check=False
        )
        return done.returncode == 0
    return False


def find_binary() -> Path:
    """The binary to run, installed if need be. Raises NoOpenCode."""
    if shutil.which("git") is None:
        raise NoOpenCode("git is not installed, and OpenCode takes no snapshots without it")
    asked = os.environ.get("LEDGER_OPENCODE_BIN")
    if asked:
        if not Path(asked).is_file():
            raise NoOpenCode(f"LEDGER_OPENCODE_BIN names {asked}, which is not a file")
        return Path(asked)
    INSTALLED.mkdir(exist_ok=True)
    with (INSTALLED / "lock").open("w") as lock:  # several test processes may come here at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = _installed()
        if found is None:
            _install()
            found = _installed()
    if found is not None:
        return found
    raise NoOpenCode(f"opencode-ai@{VERSION} brought no binary that runs on this {platform.machine()} machine")


def _installed() -> Path | None:
    wanted = INSTALLED / "node_modules" / "opencode-ai" / "package.json"
    if not wanted.is_file() or json.loads(wanted.read_text())["version"] != VERSION:
        return None
    return next((binary for binary in _candidates(INSTALLED) if _runs(binary, INSTALLED / "home")), None)


def _install() -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NoOpenCode("npm is not installed")
    command = [npm, "install", "--prefix", str(INSTALLED), "--no-audit", "--no-fund", f"opencode-ai@{VERSION}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoOpenCode(f"npm install failed: {error}") from error
    if done.returncode != 0:
        raise NoOpenCode(f"npm install failed: {done.stderr.strip()[-300:]}")


def _environment(home: Path) -> dict[str, str]:
    """A bare environment in which nothing of the real home is read or written."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL", "TMPDIR", "TERM")}
    xdg = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("DATA", "CONFIG", "STATE", "CACHE")}
    return {**kept, **xdg, "HOME": str(home), "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on at the moment.

    It is not one of those that systems give to outgoing connections, so that it is still free when a server is started
    on it, also for a second time. Chosen at random, because several test processes may ask at the same moment.
    """
    while True:
        port = secrets.choice(_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def make_project(folder: Path) -> None:
    """A small project under investigation, in a git repository: raw float32 weights, merges, a configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = [((i * 37) % 101 - 50) / 64 for i in range(1024)]
    (folder / "model.ckpt").write_bytes(struct.pack("<1024f", *weights))
    merges = ["#version: 0.2", *(f"{a} {b}" for a, b in zip("thinreonats", "heneshtndto", strict=True))]
    (folder / "vocab.bpe").write_text("\n".join(merges) + "\n")
    (folder / "config.json").write_text(json.dumps({"n_embd": 32, "n_layer": 2, "n_vocab": 12}, indent=2) + "\n")
    commit_all(folder)


def commit_all(folder: Path) -> None:
    """Make the folder a git repository with one commit: without one OpenCode takes no snapshots."""
    environment = _environment(folder.parent / "git-home")
    git = ["git", "-c", "user.name=dev", "-c", "user.email=dev@example.invalid", "-C", str(folder)]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Weights to look at"]):
        subprocess.run([*git, *arguments], check=True, capture_output=True, env=environment)


def provider_config(
    model_url: str, *, context: int = 200_000, snapshot: bool = True, names: str = "fake/m1", **more: Any
) -> dict[str, Any]:
    """The project's `opencode.json`: one provider on loopback with one model (`names` is both), bash allowed."""
    provider, _, model_id = names.partition("/")
    model = {"name": model_id, "limit": {"context": context, "output": 8192}, "reasoning": True, "tool_call": True}
    fake = {
        "npm": "@ai-sdk/openai-compatible",
        "name": provider.capitalize(),
        "options": {"baseURL": model_url, "apiKey": "x"},
        "models": {model_id: model},
    }
    config: dict[str, Any] = {
        "provider": {provider: fake},
        "model": names,
        "small_model": names,
        "autoupdate": False,
        "permission": {"bash": "allow", "edit": "allow", "external_directory": "allow"},
    }
    if not snapshot:
        config["snapshot"] = False
    return {**config, **more}


@dataclass
class OpenCode:
    """One `opencode serve` of ours, with its own home; survives `kill` and `start` on the same port and state.

    Attributes:
        binary: the executable.
        base: folder for home and logs; the project is `base/project` unless given.
        config: content of the project's opencode.json.
        password: switches Basic authentication on when not empty.
        files: further files of the project, relative path -> text (agents, plugins).
        variables: further variables of its environment.
    """

    binary: Path
    base: Path
    config: dict[str, Any]
    project: Path = Path()
    password: str = ""
    port: int = 0
    files: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    _process: asyncio.subprocess.Process | None = None

    def __post_init__(self) -> None:
        if self.project == Path():
            self.project = self.base / "project"
        self.port = self.port or free_port()

    @property
    def url(self) -> str:
        """Address of the server."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> Path:
        """What the server wrote to its standard streams."""
        return self.base / "opencode.log"

    def client(self, **more: Any) -> httpx.AsyncClient:
        """An HTTP client for the server and project; close it after use."""
        auth = httpx.BasicAuth("opencode", self.password) if self.password else None
        more.setdefault("params", {"directory": str(self.project)})
        return httpx.AsyncClient(base_url=self.url, auth=auth, timeout=120, trust_env=False, **more)

    def prepare(self) -> None:
        """Write the project and its configuration; done once."""
        if not (self.project / "model.ckpt").exists():
            make_project(self.project)
        (self.project / "opencode.json").write_text(json.dumps(self.config, indent=1))
        for name, text in self.files.items():
            target = self.project / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)

    async def start(self) -> None:
        """Start the server and wait until it is healthy. Raises RuntimeError with the end of its log."""
        home = self.base / "home"
        home.mkdir(parents=True, exist_ok=True)
        environment = {**_environment(home), **self.variables}
        if self.password:
            environment["OPENCODE_SERVER_PASSWORD"] = self.password
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                self.binary, "serve", "--port", str(self.port), "--hostname", "127.0.0.1",
                cwd=self.project, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._healthy()
        except TimeoutError:
            await self.stop()
            raise RuntimeError(f"opencode serve did not get ready: {self.log.read_text()[-500:]}") from None

    async def _healthy(self) -> None:
        assert self._process is not None
        async with self.client(params={}) as client:
            while self._process.returncode is None:
                with contextlib.suppress(httpx.HTTPError):
                    if (await client.get("/global/health", timeout=2)).status_code == 200:
                        return
                await asyncio.sleep(0.1)
        raise RuntimeError(f"opencode serve ended: {self.log.read_text()[-500:]}")

    async def stop(self, how: int = signal.SIGTERM) -> None:
        """End our own server's process group with `how` (after five seconds with SIGKILL); no error if it is gone."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        try:
            await asyncio.wait_for(process.wait(), 5)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    async def kill(self) -> None:
        """Kill the server at once, as a crash would."""
        await self.stop(signal.SIGKILL)

    async def __aenter__(self) -> OpenCode:
        self.prepare()
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
