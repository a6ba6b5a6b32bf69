"""What passes between OpenCode and its model provider, as pure data: requests taken apart, answers put together.

The format is that of OpenAI's chat completions with `stream: true`, as `@ai-sdk/openai-compatible` sends and reads it.
No input or output here; :mod:`tests.e2e.model_server` does that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["title", "summary", "extraction", "agent"]

TITLE_PROMPT = "You are a title generator"
SUMMARY_PROMPT = "You are a context summarization agent"


def text_of(content: object) -> str:
    """The text of a message's `content`: a string, or a list of typed parts of which only text counts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return ""


@dataclass(frozen=True)
class ChatRequest:
    """One request as the model server received it; `n` counts from 1 over the life of the server."""

    n: int
    body: dict[str, Any]
    path: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All messages, system ones included."""
        messages = self.body.get("messages")
        return [m for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []

    @property
    def system(self) -> str:
        """All system prompts, joined."""
        return "\n".join(text_of(m.get("content")) for m in self.messages if m.get("role") == "system")

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the model is offered."""
        return tuple(t["function"]["name"] for t in self.body.get("tools") or () if "function" in t)

    @property
    def users(self) -> list[str]:
        """Texts of the user messages, oldest first."""
        return [text_of(m.get("content")) for m in self.messages if m.get("role") == "user"]

    @property
    def kind(self) -> Kind:
        """Title and summary requests by OpenCode's own prompts; any other without tools is an extraction."""
        if TITLE_PROMPT in self.system[:400]:
            return "title"
        if SUMMARY_PROMPT in self.system[:400]:
            return "summary"
        return "agent" if self.tools else "extraction"

    @property
    def turn(self) -> int:
        """How many assistant messages follow the last user message: the index of the answer now due."""
        count = 0
        for message in reversed(self.messages):
            if message.get("role") == "user":
                break
            count += message.get("role") == "assistant"
        return count

    @property
    def tool_messages(self) -> dict[str, str]:
        """Call id -> what the model is given as that call's result."""
        tools = (m for m in self.messages if m.get("role") == "tool")
        return {str(m.get("tool_call_id")): text_of(m.get("content")) for m in tools}


@dataclass(frozen=True)
class ToolCall:
    """A tool call the model makes; an empty `id` is filled in by the server, unique over its life."""

    name: str
    arguments: dict[str, Any]
    id: str = ""


@dataclass(frozen=True)
class Turn:
    """One answer of the model.

    Attributes:
        delay: seconds before the first byte.
        pace: seconds between chunks.
        status: HTTP status; anything but 200 is a provider error with `error` as its message.
        failures: how often the error is given before the same turn succeeds; 0 means always.
        drop: close the connection in the middle of the answer.
        usage: prompt and completion tokens; by default a quarter of the characters.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    delay: float = 0.0
    pace: float = 0.0
    status: int = 200
    error: str = ""
    failures: int = 0
    drop: bool = False
    usage: tuple[int, int] | None = None


def bash(command: str, description: str = "Run a command", **more: Any) -> ToolCall:
    """A call of OpenCode's bash tool."""
    return ToolCall("bash", {"command": command, "description": description, **more})


def read(path: str) -> ToolCall:
    """A call of OpenCode's read tool."""
    return ToolCall("read", {"filePath": path})


def write(path: str, content: str) -> ToolCall:
    """A call of OpenCode's write tool."""
    return ToolCall("write", {"filePath": path, "content": content})


def edit(path: str, old: str, new: str) -> ToolCall:
    """A call of OpenCode's edit tool; the file must have been read before."""
    return ToolCall("edit", {"filePath": path, "oldString": old, "newString": new})


def task(prompt: str, description: str = "Ask a sub-agent", agent: str = "general") -> ToolCall:
    """A call of OpenCode's task tool, which starts a sub-agent."""
    return ToolCall("task", {"description": description, "prompt": prompt, "subagent_type": agent})


def ask(*questions: dict[str, Any]) -> ToolCall:
    """A call of OpenCode's question tool, which waits for the user."""
    return ToolCall("question", {"questions": list(questions)})


def run(*calls: ToolCall, text: str = "", **more: Any) -> Turn:
    """A turn that makes these calls, in parallel where there are several."""
    return Turn(text=text, calls=calls, **more)


def say(text: str, **more: Any) -> Turn:
    """A turn that only answers with text, which ends the agent's work."""
    return Turn(text=text, **more)


def _pieces(text: str, size: int = 40) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _deltas(turn: Turn, ids: list[str]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for piece in _pieces(turn.reasoning):
        yield {"reasoning_content": piece}
    for piece in _pieces(turn.text):
        yield {"content": piece}
    for index, (call, call_id) in enumerate(zip(turn.calls, ids, strict=True)):
        head = {"index": index, "id": call_id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield {"tool_calls": [head]}
        for piece in _pieces(json.dumps(call.arguments), 200):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def chunks(request: ChatRequest, turn: Turn, ids: list[str]) -> Iterator[bytes]:
    """The answer as SSE frames; `ids` are the call ids, one per call."""
    head = {"id": f"chatcmpl-{request.n}", "object": "chat.completion.chunk", "created": 0}
    head["model"] = str(request.body.get("model", "m1"))
    for delta in _deltas(turn, ids):
        yield _frame({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    reason = "tool_calls" if turn.calls else "stop"
    prompt, completion = turn.usage or (len(json.dumps(request.messages)) // 4, 20 + len(turn.text) // 4)
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    yield _frame({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage})
    yield b"data: [DONE]\n\n"


def _frame(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"
