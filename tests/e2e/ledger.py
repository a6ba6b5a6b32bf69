"""`ledger-tui` as a subprocess, away from the user's home: its JSON lines, its standard error, its exit code."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

COMMAND = Path(sys.executable).parent / "ledger-tui"
Line = dict[str, Any]


def environment(home: Path, **more: str) -> dict[str, str]:
    """What the command sees: an empty home of its own, no server, no settings, no proxy."""
    home.mkdir(parents=True, exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL", "TMPDIR")}
    return {**kept, "HOME": str(home), "LEDGER_HOME": str(home / "ledger"), **more}


@dataclass
class Ledger:
    """One run of the command.

    Attributes:
        arguments: after `ledger-tui`.
        home: folder for its state.
        lines: the JSON lines so far, in order; a line that is no JSON object fails the run.
        errors: standard error so far.
        code: exit code, once it has ended.
    """

    arguments: list[str]
    home: Path
    variables: dict[str, str] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    raw: bytes = b""
    errors: str = ""
    code: int | None = None
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _process: asyncio.subprocess.Process | None = None
    _silent: bool = False
    _readers: list[asyncio.Task[None]] = field(default_factory=list)

    async def __aenter__(self) -> Ledger:
        self.home.mkdir(parents=True, exist_ok=True)
        self._process = await asyncio.create_subprocess_exec(
            COMMAND, *self.arguments, env=environment(self.home, **self.variables), cwd=self.home,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            limit=1 << 24,
        )  # fmt: skip
        self._readers = [asyncio.create_task(self._read_lines()), asyncio.create_task(self._read_errors())]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.code is None:
            await self.interrupt()

    async def until(self, wanted: Callable[[Line], bool], seconds: float = 60) -> Line:
        """The first line, earlier ones included, that `wanted` accepts. Raises AssertionError with what there is."""
        found: list[Line] = []

        def there() -> bool:
            found.extend([line for line in self.lines if wanted(line)][:1])
            return bool(found) or self._silent

        try:
            async with asyncio.timeout(seconds), self.changed:
                await self.changed.wait_for(there)
        except TimeoutError:
            pass
        if self._silent and not found:
            await self.ended(5)
        assert found, f"not seen; last lines: {self.lines[-3:]}; errors: {self.errors[-500:]}; code: {self.code}"
        return found[0]

    async def state(self, connection: str, nth: int = 1) -> None:
        """Wait until the connection has been in this state `nth` times."""

        def reached(line: Line) -> bool:
            states = [x for x in self.lines if x["type"] == "connection" and x["state"] == connection]
            return len(states) >= nth and line is states[nth - 1]

        await self.until(reached)

    async def interrupt(self) -> int:
        """Ctrl-C; returns the exit code. After 20 s the process is killed."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)
        return await self.ended(20)

    def kill(self) -> None:
        """End it as `kill -9` does."""
        assert self._process is not None
        self._process.kill()

    async def ended(self, seconds: float = 60) -> int:
        """Wait for the end; returns the exit code, -9 when it had to be killed."""
        assert self._process is not None
        try:
            await asyncio.wait_for(asyncio.gather(self._process.wait(), *self._readers), seconds)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        self.code = self._process.returncode
        assert self.code is not None
        return self.code

    async def _read_lines(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.raw += line
            value = json.loads(line)
            assert isinstance(value, dict)
            async with self.changed:
                self.lines.append(value)
                self.changed.notify_all()
        async with self.changed:
            self._silent = True
            self.changed.notify_all()

    async def _read_errors(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            self.errors += line.decode()


async def once(arguments: list[str], home: Path, **variables: str) -> Ledger:
    """Run the command to its end."""
    async with Ledger(arguments, home, variables) as run:
        await run.ended()
    return run
