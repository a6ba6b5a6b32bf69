"""Sessions a client opens for itself on the replayed server: each prompt gets the next recorded answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Final

from core.demo.pace import Pace
from core.demo.sender import Sender
from core.demo.state import Info

ANSWER_SECONDS: Final = 2.5
"""How long the model takes, at speed 1."""
_NO_MORE: Final = "[]"
_NO_TOKENS: Final = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
_CHARS_PER_TOKEN: Final = 4


class OwnTurns:
    """Opens sessions and answers prompts in them, with the events OpenCode 1.18.33 sends about it.

    Args:
        pace: of the answers.
        answers: used in order; after the last one an empty list is answered.
        directory: of the new sessions.
        model: provider and model that are said to answer.
    """

    def __init__(
        self, sender: Sender, pace: Pace, answers: Iterator[str], *, directory: str, model: tuple[str, str]
    ) -> None:
        self.directory = directory
        self.model = model
        self._sender = sender
        self._pace = pace
        self._answers = answers
        self._aborts: dict[str, asyncio.Event] = {}

    def open(self, title: str, parent: str | None) -> Info:
        """A new session."""
        now = self._sender.clock()
        info: Info = {
            "id": self._sender.ids.new_session(),
            "slug": "own-session",
            "version": "1.18.33",
            "projectID": "demo",
            "directory": self.directory,
            "title": title,
            "cost": 0,
            "tokens": _NO_TOKENS,
            "time": {"created": now, "updated": now},
        }
        if parent:
            info["parentID"] = parent
        self._tell("session.created", info["id"], info=info)
        return info

    def abort(self, session: str) -> None:
        """Cut the answer of a session short, if it is answering."""
        if session in self._aborts:
            self._aborts[session].set()

    async def answer(self, session: str, body: Info) -> Info:
        """The user's message and the turn it leads to; the last assistant message."""
        text = _text(body)
        agent = str(body.get("agent") or "build")
        user = self._user(session, text, agent, body)
        if body.get("noReply"):
            return self._sender.state.whole(session, user)
        self._tell("session.status", session, status={"type": "busy"})
        message = self._assistant(session, user, agent)
        aborted = self._aborts[session] = asyncio.Event()
        work = asyncio.create_task(self._turn(session, message, text))
        stop = asyncio.create_task(aborted.wait())
        try:
            await asyncio.wait((work, stop), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                self._cut_off(session, message)
        finally:
            for task in (work, stop):
                task.cancel()
            await asyncio.gather(work, stop, return_exceptions=True)
            self._aborts.pop(session, None)
        if session not in self._sender.state.sessions:
            return {"info": message, "parts": []}
        self._tell("session.status", session, status={"type": "idle"})
        self._tell("session.idle", session)
        return self._sender.state.whole(session, message["id"])

    def _user(self, session: str, text: str, agent: str, body: Info) -> str:
        provider, model = self.model
        id = self._sender.ids.new("msg")
        info: Info = {
            "id": id,
            "role": "user",
            "sessionID": session,
            "time": {"created": self._sender.clock()},
            "agent": agent,
            "model": {"providerID": provider, "modelID": model},
        }
        info |= {key: body[key] for key in ("system", "tools") if key in body}
        self._tell("message.updated", session, info=info)
        self._part(session, id, {"type": "text", "text": text})
        return id

    def _assistant(self, session: str, user: str, agent: str) -> Info:
        provider, model = self.model
        info: Info = {
            "id": self._sender.ids.new("msg"),
            "parentID": user,
            "role": "assistant",
            "mode": agent,
            "agent": agent,
            "path": {"cwd": self.directory, "root": self.directory},
            "cost": 0,
            "tokens": _NO_TOKENS,
            "modelID": model,
            "providerID": provider,
            "time": {"created": self._sender.clock()},
            "sessionID": session,
        }
        self._tell("message.updated", session, info=info)
        return info

    async def _turn(self, session: str, message: Info, prompt: str) -> None:
        await self._pace.sleep(ANSWER_SECONDS * 0.6)
        self._part(session, message["id"], {"type": "step-start"})
        text = self._part(session, message["id"], {"type": "text", "text": "", "time": {"start": self._sender.clock()}})
        await self._pace.sleep(ANSWER_SECONDS * 0.4)
        answer = next(self._answers, _NO_MORE)
        self._part(
            session, message["id"], {**text, "text": answer, "time": {**text["time"], "end": self._sender.clock()}}
        )
        read, written = len(prompt) // _CHARS_PER_TOKEN, len(answer) // _CHARS_PER_TOKEN
        tokens = {**_NO_TOKENS, "total": read + written, "input": read, "output": written}
        self._part(session, message["id"], {"type": "step-finish", "reason": "stop", "tokens": tokens, "cost": 0})
        done = {**message, "tokens": tokens, "finish": "stop"}
        self._tell("message.updated", session, info=done)
        done = {**done, "time": {**message["time"], "completed": self._sender.clock()}}
        self._tell("message.updated", session, info=done)

    def _cut_off(self, session: str, message: Info) -> None:
        error = {"name": "MessageAbortedError", "data": {"message": "The operation was aborted."}}
        self._tell("session.error", session, error=error)
        done = {**message, "error": error, "time": {**message["time"], "completed": self._sender.clock()}}
        self._tell("message.updated", session, info=done)

    def _part(self, session: str, message: str, part: Info) -> Info:
        whole = {"id": self._sender.ids.new("prt"), **part, "messageID": message, "sessionID": session}
        self._tell("message.part.updated", session, part=whole, time=self._sender.clock())
        return whole

    def _tell(self, kind: str, session: str, **properties: Any) -> None:
        self._sender.emit(kind, sessionID=session, **properties)


def _text(body: Info) -> str:
    parts = body.get("parts")
    texts = [part.get("text") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))
