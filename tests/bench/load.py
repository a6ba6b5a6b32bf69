"""A synthetic OpenCode stream of any length, alone or served over HTTP by a replay server in a process of its own.

The mix of a step is that of a streaming model with one or two tool calls: 25 events on average, of them 12 text deltas,
4 or 8 parts of calls (pending, running while the output grows, completed), one step-finish, three `message.updated`.
Every tenth step is a sub-agent's. The same arguments give the same stream, but for the times::

    python -m tests.bench.load --events 200000             # as fast as it is read
    python -m tests.bench.load --events 200000 --rate 500  # events a second

It prints one JSON line with the address when it listens and another one when the last event was sent.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from core.demo.recording import Event, Recorded
from core.demo.server import ReplayServer

ROOT = Path(__file__).parents[2]
DIRECTORY = str(Path(tempfile.gettempdir()).resolve())
"""The project: a folder that is there, so that a dashboard can be started for it."""
SESSION, CHILD = "ses_load_root", "ses_load_child"
FILES = 20
"""Files that the commands name: `data0.bin` and so on; answers tell facts about them."""
WORDS = ("header", "holds", "float", "values", "at", "offset", "block", "layer", "norm", "token", "little", "endian")
OUTPUTS = 500
"""Different tool outputs, of 2 to 39 lines."""
_COMMANDS = (
    "xxd data{n}.bin | head -4",
    "python3 probe.py data{n}.bin --layer {m}",
    "cat notes.md",
    "ls -la",
    "grep -rn offset src | head",
    "stat -c %s data{n}.bin && git status --short",
)


class Stream:
    """Makes events one after the other; `events()` has no end."""

    def __init__(self, seed: int = 0) -> None:
        self._dice = random.Random(seed)
        self._count = 0
        self._calls = 0
        self._outputs = ["\n".join(self._text(9) for _ in range(2 + n % 38)) for n in range(OUTPUTS)]

    def events(self) -> Iterator[Event]:
        """All events: the sessions, then step after step."""
        yield self._session(SESSION, "Load")
        yield self._session(CHILD, "Look (@general subagent)", parentID=SESSION)
        user = self._id("msg")
        info = {"id": user, "sessionID": SESSION, "role": "user", "time": {"created": _now()}}
        yield self._event("message.updated", SESSION, info=info)
        yield self._part(SESSION, user, self._id("prt"), type="text", text="Find out how the files are laid out.")
        n = 0
        while True:
            n += 1
            yield from self._step(CHILD if n % 10 == 0 else SESSION, user)

    def answers(self) -> Iterator[str]:
        """Answers for extractions, each with two facts that were not told before."""
        n = 0
        while True:
            n += 1
            facts = [{"fact": f"{self._text(6)} {n}.{m}", "topic": f"file-format:data{n % FILES}.bin"} for m in (1, 2)]
            yield json.dumps(facts)

    def _step(self, session: str, user: str) -> Iterator[Event]:
        message = self._id("msg")
        info: dict[str, Any] = {
            "id": message,
            "sessionID": session,
            "role": "assistant",
            "parentID": user,
            "agent": "build",
            "providerID": "acme",
            "modelID": "m1",
            "time": {"created": _now()},
        }
        yield self._event("session.status", session, status={"type": "busy"})
        yield self._event("message.updated", session, info=info)
        yield self._part(session, message, self._id("prt"), type="step-start")
        yield from self._said(session, message)
        for _ in range(1 if self._dice.random() < 0.8 else 2):
            yield from self._call(session, message)
        tokens = {"input": 4000, "output": 200, "reasoning": 0, "cache": {"read": 3000, "write": 0}}
        yield self._part(
            session, message, self._id("prt"), type="step-finish", reason="tool-calls", tokens=tokens, cost=0.002
        )
        yield self._event("message.updated", session, info={**info, "finish": "tool-calls"})
        done = {**info, "finish": "tool-calls", "time": {**info["time"], "completed": _now()}}
        yield self._event("message.updated", session, info=done)

    def _said(self, session: str, message: str) -> Iterator[Event]:
        id, text = self._id("prt"), ""
        yield self._part(session, message, id, type="text", text="")
        for _ in range(12):
            delta = self._text(3) + " "
            text += delta
            where = {"messageID": message, "partID": id}
            yield self._event("message.part.delta", session, **where, field="text", delta=delta)
        yield self._part(session, message, id, type="text", text=text)

    def _call(self, session: str, message: str) -> Iterator[Event]:
        self._calls += 1
        command = self._dice.choice(_COMMANDS).format(n=self._dice.randrange(FILES), m=self._dice.randrange(12))
        given = {"command": command, "description": self._text(4)}
        output = self._dice.choice(self._outputs)
        begun = _now()
        states: list[dict[str, Any]] = [{"status": "pending", "input": {}}]
        states += [
            {"status": "running", "input": given, "metadata": {"output": grown}, "time": {"start": begun}}
            for grown in ("", output[: len(output) // 2])
        ]
        time_ = {"start": begun, "end": begun + 40}
        states.append({"status": "completed", "input": given, "output": output, "title": command, "time": time_})
        states[-1]["metadata"] = {"output": output, "exit": 0, "truncated": False}
        id = self._id("prt")
        for state in states:
            call = {"callID": f"call_{self._calls}", "tool": "bash", "state": state}
            yield self._part(session, message, id, type="tool", **call)

    def _session(self, id: str, title: str, **more: str) -> Event:
        now = _now()
        info = {"id": id, "title": title, "directory": DIRECTORY, "time": {"created": now, "updated": now}, **more}
        return self._event("session.created", id, info=info)

    def _part(self, session: str, message: str, id: str, **part: Any) -> Event:
        whole = {"id": id, "messageID": message, "sessionID": session, **part}
        return self._event("message.part.updated", session, part=whole, time=_now())

    def _event(self, kind: str, session: str, **properties: Any) -> Event:
        return {"id": self._id("evt"), "type": kind, "properties": {"sessionID": session, **properties}}

    def _id(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}_{self._count:012x}loadloadload"

    def _text(self, words: int) -> str:
        return " ".join(self._dice.choices(WORDS, k=words))


def lines(events: int, seed: int = 0) -> Iterator[bytes]:
    """So many events as `/event` sends them, one JSON each."""
    for event in islice(Stream(seed).events(), events):
        yield json.dumps(event, separators=(",", ":")).encode()


def server(events: int, rate: float = 0.0, *, seed: int = 0, lead_in: float = 1.0) -> ReplayServer:
    """A server that plays so many events to its first listener; `rate` in events a second, 0: as fast as it is read."""
    stream = Stream(seed)
    return ReplayServer(
        _paced(islice(stream.events(), events), rate),
        stream.answers(),
        1.0 if rate else math.inf,
        directory=DIRECTORY,
        move_times=False,
        hold_turns=False,
        lead_in=lead_in,
    )


def _paced(events: Iterator[Event], rate: float) -> Iterator[Recorded]:
    """Pauses that add up to the rate, however late the last event was; a rate above 1,000 comes in bursts of a ms."""
    begun = time.monotonic()
    for number, event in enumerate(events):
        ahead = number / rate - (time.monotonic() - begun) if rate else 0.0
        yield Recorded(max(0, int(ahead * 1000)), _now(), event)


def _now() -> int:
    return time.time_ns() // 1_000_000


@contextlib.asynccontextmanager
async def serving(events: int, rate: float = 0.0) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """The server in a process of its own: its address, and the process, which is ended with the block."""
    arguments = ("-m", "tests.bench.load", "--events", str(events), "--rate", str(rate))
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield json.loads(await process.stdout.readline())["url"], process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def _serve(asked: argparse.Namespace) -> None:
    async with server(asked.events, asked.rate, seed=asked.seed) as running:
        print(json.dumps({"url": running.url, "directory": DIRECTORY}), flush=True)
        await running.finished.wait()
        print(json.dumps({"sent": asked.events}), flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="Serve a synthetic OpenCode stream on loopback.")
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--rate", type=float, default=0.0, help="events a second; 0: as fast as they are read")
    parser.add_argument("--seed", type=int, default=0)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
