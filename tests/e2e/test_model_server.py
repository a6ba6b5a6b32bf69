"""The scripted model server itself: what it streams, and what it remembers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.chat import Turn, bash, run, say
from tests.e2e.model_server import ModelServer
from tests.e2e.scripts import Fact, Plans, distil, findings

TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {}}}]


async def ask(server: ModelServer, messages: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    """One streaming request; returns the decoded chunks."""
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        body = {"model": "m1", "stream": True, "messages": messages, **more}
        answer = await client.post("chat/completions", json=body)
    assert answer.headers["content-type"] == "text/event-stream"
    frames = answer.text.split("\n\n")
    assert frames[-2:] == ["data: [DONE]", ""]
    return [json.loads(frame.removeprefix("data: ")) for frame in frames[:-2]]


def text_in(chunks: list[dict[str, Any]]) -> str:
    return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)


async def test_calls_and_text_are_streamed_and_the_plan_goes_on_after_results(tmp_path: Path) -> None:
    plan = Plans({"[go]": [run(bash("ls", "List"), bash("pwd", "Where"), text="Looking."), say("Seen.")]})
    async with ModelServer(plan, log=tmp_path / "log.jsonl") as server:
        asked = [{"role": "user", "content": "[go] now"}]
        first = await ask(server, asked, tools=TOOLS)
        calls = [c for chunk in first for c in chunk["choices"][0]["delta"].get("tool_calls", [])]
        named = [call["id"] for call in calls if "id" in call]
        assert named == ["call_0001_bash", "call_0002_bash"]
        arguments = "".join(c["function"]["arguments"] for c in calls if c["index"] == 1)
        assert json.loads(arguments)["command"] == "pwd"
        assert first[-1]["choices"][0]["finish_reason"] == "tool_calls"
        assert first[-1]["usage"]["total_tokens"] > 0
        asked += [{"role": "assistant", "content": "Looking."}]
        asked += [{"role": "tool", "tool_call_id": call, "content": f"result of {call}"} for call in named]
        assert text_in(await ask(server, asked, tools=TOOLS)) == "Seen."
        assert server.results("call_0002_bash") == ["result of call_0002_bash"]
    assert [json.loads(line)["turn"] for line in (tmp_path / "log.jsonl").read_text().splitlines()] == [0, 1]


async def test_kinds_of_requests_are_told_apart() -> None:
    plan = Plans({}, extractions=(findings(("a", "b")), say("[]")), title="A title", summary="A summary")
    user = {"role": "user", "content": "x"}
    title = {"role": "system", "content": "You are a title generator. Output a title."}
    summary = {"role": "system", "content": "You are a context summarization agent. Summarise."}
    async with ModelServer(plan) as server:
        assert text_in(await ask(server, [title, user])) == "A title"
        assert text_in(await ask(server, [summary, user])) == "A summary"
        assert json.loads(text_in(await ask(server, [user]))) == [{"fact": "a", "topic": "b"}]
        assert text_in(await ask(server, [user])) == "[]"
        assert [r.kind for r in server.requests] == ["title", "summary", "extraction", "extraction"]


async def test_an_error_is_given_as_often_as_asked_for() -> None:
    plan = Plans({"[flaky]": [Turn(status=503, error="overloaded", failures=2, text="Here.")]})
    body = {"model": "m1", "messages": [{"role": "user", "content": "[flaky]"}], "tools": TOOLS}
    async with ModelServer(plan) as server, httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        answers = [await client.post("chat/completions", json=body) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [503, 503, 200]
        assert answers[0].json()["error"]["message"] == "overloaded"


async def test_a_distilling_model_tells_only_what_the_request_shows() -> None:
    facts = [Fact("it has 31 lines", "t:v", "31 v.bpe"), Fact("it is even", "t:v", "remainder 0")]
    plan = Plans({}, extractions=distil(facts))
    async with ModelServer(plan) as server:
        told = json.loads(text_in(await ask(server, [{"role": "user", "content": "wc: 31 v.bpe"}])))
        assert [item["fact"] for item in told] == ["it has 31 lines"]
        known = "known: it has 31 lines; wc: 31 v.bpe"
        assert json.loads(text_in(await ask(server, [{"role": "user", "content": known}]))) == []
