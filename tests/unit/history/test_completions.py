"""Bodies that OpenAI-compatible endpoints send."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import ServerError, WrongServer
from core.history.completions import detail, models, read_reply
from core.ledger.observations import Tokens


def body(content: Any = "hi", reason: str = "stop", **more: Any) -> bytes:
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": reason}
    return json.dumps({"choices": [choice]} | more).encode()


def test_text_tokens_cost_and_model_are_read() -> None:
    usage = {
        "prompt_tokens": 100, "completion_tokens": 50, "cost": 0.25, "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }  # fmt: skip
    reply = read_reply(body(usage=usage, model="m1"), "u")
    assert (reply.text, reply.cost, reply.model, reply.cut) == ("hi", 0.25, "m1", False)
    assert reply.tokens == Tokens(input=40, output=30, reasoning=20, cache_read=60)


@pytest.mark.parametrize(
    "usage", [None, [], {"prompt_tokens": "many"}, {"prompt_tokens": -1, "cost": True}, {"cost": -1}]
)
def test_odd_counts_count_as_not_said(usage: Any) -> None:
    reply = read_reply(body(usage=usage), "u")
    assert (reply.tokens, reply.cost) == (Tokens(), 0.0)


def test_blocks_are_joined_and_a_cut_is_told() -> None:
    assert read_reply(body([{"type": "text", "text": "a"}, 3, {"text": "b"}], "length"), "u").text == "a\nb"
    assert read_reply(body(reason="length"), "u").cut


def test_an_answer_without_text_is_empty() -> None:
    assert read_reply(body(None), "u").text == ""


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b'{"choices": []}', b'{"choices": [3]}', b"\xff"])
def test_what_is_no_completion_is_refused(content: bytes) -> None:
    with pytest.raises(WrongServer):
        read_reply(content, "u")


def test_an_error_with_a_good_status_is_an_error() -> None:
    with pytest.raises(ServerError, match="overloaded"):
        read_reply(b'{"error": {"message": "overloaded"}}', "u")


def test_details_and_models() -> None:
    assert detail(b'{"error": "no"}') == "no"
    assert detail(b'{"message": "no\\nway"}') == "no way"
    assert detail(b"nonsense") == detail(b'{"error": 5}') == ""
    assert models(b'{"data": [{"id": "a"}, {"x": 1}, {"id": "b"}]}') == ["a", "b"]
    assert models(b'{"data": 5}') == []
