"""Answers of OpenAI-compatible endpoints, read leniently: what is missing or odd counts as not said. Pure."""

from __future__ import annotations

import math
from typing import Any, Final

import msgspec

from core.errors import ServerError, WrongServer
from core.history.inference import Reply
from core.ledger.observations import Tokens
from core.text import clean_line, mask_line

_DETAIL_CHARS: Final = 300
_MOST: Final = 10**12


def read_reply(content: bytes, base: str) -> Reply:
    """The answer in the body of a chat completion.

    Raises:
        WrongServer: it is none.
        ServerError: it is an error message in spite of its status.
    """
    data = _object(content)
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        if said := detail(content):
            raise ServerError(f"{base} failed: {said}")
        raise WrongServer(f"{base} does not answer as a chat completion does", "Check --endpoint.")
    message = _dict(choice.get("message"))
    usage = _dict(data.get("usage"))
    model = data.get("model")
    return Reply(
        text=_text(message.get("content")),
        tokens=_tokens(usage),
        cost=_number(usage.get("cost")),
        model=model if isinstance(model, str) else "",
        cut=choice.get("finish_reason") == "length",
    )


def models(content: bytes) -> list[str]:
    """Names in the answer to a question for models."""
    listed = _object(content).get("data")
    ids = [item.get("id") for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return [clean_line(id, 100) for id in ids if isinstance(id, str)]


def detail(content: bytes) -> str:
    """What the body of an error says, on one line, secrets masked; empty when that cannot be told."""
    data = _object(content)
    error = data.get("error", data)
    found = error.get("message") if isinstance(error, dict) else error
    return mask_line(found, _DETAIL_CHARS) if isinstance(found, str) else ""


def _tokens(usage: dict[str, Any]) -> Tokens:
    cached = _whole(_dict(usage.get("prompt_tokens_details")).get("cached_tokens"))
    thought = _whole(_dict(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    return Tokens(
        input=max(0, _whole(usage.get("prompt_tokens")) - cached),
        output=max(0, _whole(usage.get("completion_tokens")) - thought),
        reasoning=thought,
        cache_read=cached,
    )


def _text(content: object) -> str:
    """A message's content: text, or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else 0


def _number(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) and 0 <= value < _MOST else 0.0  # type: ignore[arg-type,operator]
