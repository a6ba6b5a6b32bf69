"""A small recorded session, shaped after the streams of OpenCode 1.18.33."""

from __future__ import annotations

from typing import Any

from core.demo.recording import Event

T = 1_796_015_774_000
ROOT, CHILD = "ses_root", "ses_child"
DIRECTORY = "/home/dev/shop"


class Tape:
    """Collects events; `t` is the time of the next one, ms since the epoch."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.t = T
        self.begun: dict[str, int] = {}

    def add(self, kind: str, after: int = 10, **properties: Any) -> None:
        self.t += after
        stamp = (self.t << 12 | len(self.events) & 0xFFF) & (1 << 48) - 1
        self.events.append({"id": f"evt_{stamp:012x}abcdefghijklmn", "type": kind, "properties": properties})

    def session(self, id: str, title: str = "Look at model.ckpt", kind: str = "created", **more: Any) -> None:
        info = {
            "id": id,
            "title": title,
            "directory": DIRECTORY,
            "time": {"created": self.t, "updated": self.t},
            **more,
        }
        self.add(f"session.{kind}", sessionID=id, info=info)

    def status(self, kind: str, session: str = ROOT) -> None:
        self.add("session.status", sessionID=session, status={"type": kind})

    def message(self, id: str, role: str = "assistant", session: str = ROOT, after: int = 10, **more: Any) -> None:
        created = self.begun.setdefault(id, self.t)
        info = {"id": id, "sessionID": session, "role": role, "time": {"created": created}, **more}
        if role == "assistant":
            info |= {"providerID": "acme", "modelID": "m1"}
        self.add("message.updated", after, sessionID=session, info=info)

    def part(self, id: str, message: str, session: str = ROOT, after: int = 10, **part: Any) -> None:
        whole = {"id": id, "messageID": message, "sessionID": session, **part}
        self.add("message.part.updated", after, sessionID=session, part=whole, time=self.t + after)

    def bash(self, n: int, message: str, command: str, output: str, session: str = ROOT) -> None:
        """A whole call, pending to completed."""
        call: dict[str, Any] = {"type": "tool", "callID": f"call_{n}", "tool": "bash"}
        given = {"command": command, "description": "Look"}
        part = f"prt_{n:03}b"
        self.part(part, message, session, state={"status": "pending", "input": {}}, **call)
        started = self.t
        self.part(
            part, message, session, state={"status": "running", "input": given, "time": {"start": started}}, **call
        )
        time = {"start": started, "end": self.t + 30}
        done = {"status": "completed", "input": given, "output": output, "title": command, "metadata": {"exit": 0}}
        self.part(part, message, session, after=30, state={**done, "time": time}, **call)

    def step(self, n: int, command: str = "xxd model.ckpt", session: str = ROOT, output: str | None = None) -> None:
        """An assistant message with one call."""
        message = f"msg_{n:03}"
        self.message(message, session=session)
        self.part(f"prt_{n:03}a", message, session, type="step-start")
        self.bash(n, message, command, output if output is not None else f"output {n}\n", session)
        tokens = {"input": 100, "output": 10, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        self.part(f"prt_{n:03}c", message, session, type="step-finish", reason="tool-calls", tokens=tokens, cost=0.01)
        self.message(message, session=session, finish="tool-calls")


def session(steps: int = 3, pause: int = 10) -> list[Event]:
    """A root session of so many steps, with a pause (ms) before each."""
    tape = Tape()
    tape.add("server.connected", 0)
    tape.add("plugin.added", 0, id="x")
    tape.session(ROOT)
    tape.message("msg_000", role="user")
    tape.part("prt_000", "msg_000", type="text", text="Find out how model.ckpt is laid out.")
    tape.status("busy")
    for n in range(1, steps + 1):
        tape.t += pause
        tape.step(n)
    tape.status("idle")
    tape.add("session.idle", sessionID=ROOT)
    return tape.events
