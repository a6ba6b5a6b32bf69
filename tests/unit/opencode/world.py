"""An OpenCode server in miniature: its state follows from its events, and events are made as it makes them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from core.opencode.wire import Event, MessageWithParts, Session, decode_event, decode_messages, decode_sessions

DATA = Path(__file__).parents[2] / "data" / "opencode"

START = 1_790_000_000_000
DIRECTORY = "/home/user/project"


def recorded(name: str) -> list[bytes]:
    """The frames of a recording made from a real server."""
    return gzip.decompress((DATA / f"{name}.jsonl.gz").read_bytes()).splitlines()


def decoded(frame: bytes) -> Event:
    event = decode_event(frame)
    assert event is not None
    return event


class ServerState:
    """What HTTP would say after some events."""

    def __init__(self, frames: Iterable[bytes] = ()) -> None:
        self.infos: dict[str, dict[str, Any]] = {}
        self.histories: dict[str, dict[str, dict[str, Any]]] = {}
        self.busy: set[str] = set()
        for frame in frames:
            self.apply(json.loads(frame))

    def apply(self, event: dict[str, Any]) -> None:
        data = event["properties"]
        session = data.get("sessionID", "")
        match event["type"]:
            case "session.created" | "session.updated":
                self.infos[data["info"]["id"]] = data["info"]
                self.histories.setdefault(data["info"]["id"], {})
            case "session.deleted":
                self.infos.pop(data["info"]["id"], None)
                self.histories.pop(data["info"]["id"], None)
                self.busy.discard(data["info"]["id"])
            case "session.status":
                (self.busy.discard if data["status"]["type"] == "idle" else self.busy.add)(session)
            case "session.idle":
                self.busy.discard(session)
            case "message.updated":
                message = self.histories.setdefault(session, {}).setdefault(data["info"]["id"], {"parts": {}})
                message["info"] = data["info"]
            case "message.removed":
                self.histories.get(session, {}).pop(data["messageID"], None)
            case "message.part.updated":
                part = data["part"]
                self.histories[session][part["messageID"]]["parts"][part["id"]] = part
            case "message.part.removed":
                self.histories[session][data["messageID"]]["parts"].pop(data["partID"], None)

    def sessions(self) -> list[Session]:
        return decode_sessions(json.dumps(list(self.infos.values())).encode())

    def messages(self, session: str) -> list[MessageWithParts]:
        history = self.histories[session].values()
        whole = [{"info": message["info"], "parts": list(message["parts"].values())} for message in history]
        return decode_messages(json.dumps(whole).encode())

    def all_messages(self) -> dict[str, list[MessageWithParts]]:
        return {id: self.messages(id) for id in self.infos}


class World:
    """Makes events; each takes some time, and each is in `frames` when its method returns."""

    def __init__(self, directory: str = DIRECTORY) -> None:
        self.frames: list[bytes] = []
        self.t = START
        self._directory = directory
        self._serial = 0
        self._infos: dict[str, dict[str, Any]] = {}
        self._messages: dict[str, dict[str, Any]] = {}
        self._parts: dict[str, dict[str, Any]] = {}

    @property
    def state(self) -> ServerState:
        return ServerState(self.frames)

    @property
    def events(self) -> list[Event]:
        return [decoded(frame) for frame in self.frames]

    def emit(self, type: str, **properties: Any) -> bytes:
        self.t += 10
        frame = json.dumps({"id": self.id("evt"), "type": type, "properties": properties}).encode()
        self.frames.append(frame)
        return frame

    def id(self, kind: str) -> str:
        self._serial += 1
        return f"{kind}_{self._serial:06d}"

    def session(self, parent: str = "", title: str = "A session", **changes: Any) -> str:
        info: dict[str, Any] = {"id": self.id("ses"), "directory": self._directory, "title": title}
        info |= {"time": {"created": self.t + 10, "updated": self.t + 10}}
        info |= {"parentID": parent} if parent else {}
        info |= changes
        self._infos[info["id"]] = info
        self.emit("session.created", sessionID=info["id"], info=info)
        return str(info["id"])

    def update_session(self, session: str, **changes: Any) -> None:
        info = self._infos[session]
        info.update(changes)
        for name in [name for name, value in changes.items() if value is None]:
            del info[name]
        info["time"] = {**info["time"], "updated": self.t + 10}
        self.emit("session.updated", sessionID=session, info=info)

    def delete_session(self, session: str) -> None:
        self.emit("session.deleted", sessionID=session, info=self._infos[session])

    def status(self, session: str, type: str) -> None:
        self.emit("session.status", sessionID=session, status={"type": type})

    def idle(self, session: str) -> None:
        self.status(session, "idle")
        self.emit("session.idle", sessionID=session)

    def message(self, session: str, role: str, **changes: Any) -> str:
        info: dict[str, Any] = {"id": self.id("msg"), "sessionID": session, "role": role, "agent": "build"}
        info |= {"time": {"created": self.t + 10}}
        info |= {"providerID": "fake", "modelID": "m1"} if role == "assistant" else {}
        info |= changes
        self._messages[info["id"]] = info
        self.emit("message.updated", sessionID=session, info=info)
        return str(info["id"])

    def user(self, session: str, text: str = "go", **changes: Any) -> str:
        message = self.message(session, "user")
        self.part(message, "text", text=text, **changes)
        return message

    def assistant(self, session: str, **changes: Any) -> str:
        return self.message(session, "assistant", **changes)

    def complete(self, message: str, **changes: Any) -> None:
        info = self._messages[message]
        info["time"] = {**info["time"], "completed": self.t + 10}
        info.update(changes)
        self.emit("message.updated", sessionID=info["sessionID"], info=info)

    def part(self, message: str, type: str, **fields: Any) -> str:
        session = self._messages[message]["sessionID"]
        part: dict[str, Any] = {"id": self.id("prt"), "sessionID": session, "messageID": message}
        part |= {"type": type, **fields}
        self._parts[part["id"]] = part
        self.send_part(part["id"])
        return str(part["id"])

    def send_part(self, part: str) -> None:
        data = self._parts[part]
        self.emit("message.part.updated", sessionID=data["sessionID"], part=data, time=self.t + 10)

    def begin(self, message: str, tool: str = "bash", call: str = "", **arguments: Any) -> str:
        """A call that is running."""
        arguments = arguments or {"command": f"cat {self._serial}.json"}
        call = call or self.id("call")
        part = self.part(message, "tool", tool=tool, callID=call, state={"status": "pending", "input": {}})
        self._parts[part]["state"] = {"status": "running", "input": arguments, "time": {"start": self.t + 10}}
        self.send_part(part)
        return part

    def end(self, part: str, output: str = "done", *, ok: bool = True, **changes: Any) -> None:
        """The call of `begin` ends."""
        before = self._parts[part]["state"]
        state = {**before, "status": "completed" if ok else "error", "output" if ok else "error": output}
        state |= {"metadata": {"exit": 0}, "time": {**before["time"], "end": self.t + 10}, **changes}
        self._parts[part]["state"] = state
        self.send_part(part)

    def note(self, part: str, note: str) -> None:
        """The output of a finished call gets something appended, as by a PATCH."""
        self._parts[part]["state"]["output"] += note
        self.send_part(part)

    def call(self, message: str, output: str = "done", tool: str = "bash", **arguments: Any) -> str:
        part = self.begin(message, tool, **arguments)
        self.end(part, output)
        return part

    def finish(self, message: str, **fields: Any) -> str:
        """The end of a step."""
        tokens = {"input": 10, "output": 5, "reasoning": 1, "cache": {"read": 2, "write": 3}}
        return self.part(message, "step-finish", **{"reason": "stop", "tokens": tokens, "cost": 0.25, **fields})

    def step(self, session: str, *outputs: str) -> str:
        """A whole step with a call for each output."""
        message = self.assistant(session)
        for output in outputs:
            self.call(message, output)
        self.finish(message)
        self.complete(message)
        return message


def actor(world: World, session: str, turns: list[list[list[int]]]) -> Iterator[None]:
    """A session at work, one event at a time: turns of steps of calls; each call's number says when it ends."""
    for steps in turns:
        message = world.message(session, "user")
        yield
        world.part(message, "text", text="go")
        yield
        world.status(session, "busy")
        yield
        for calls in steps:
            message = world.assistant(session)
            yield
            begun = []
            for _ in calls:
                begun.append(world.begin(message))
                yield
            for _, part in sorted(zip(calls, begun, strict=True)):
                world.end(part, f"output of {part}")
                yield
            world.finish(message)
            yield
            world.complete(message)
            yield
        world.idle(session)
        yield
