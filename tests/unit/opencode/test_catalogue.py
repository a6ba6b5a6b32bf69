from __future__ import annotations

import json

import msgspec
import pytest

from core.opencode.catalogue import (
    Agent,
    Config,
    Models,
    decode_agents,
    decode_config,
    decode_models,
    decode_statuses,
)


def test_agents() -> None:
    body = json.dumps(
        [
            {"name": "build", "mode": "primary", "permission": [], "options": {}},
            {"name": "mine", "mode": "subagent", "hidden": True, "model": {"providerID": "p", "modelID": "a/b"}},
            {"name": "evil\x1b[2J"},
            {"name": 7},
            "text",
        ]
    ).encode()
    assert decode_agents(body) == [
        Agent(name="build", mode="primary"),
        Agent(name="mine", mode="subagent", hidden=True, model="p/a/b"),
    ]


def test_config_keeps_no_key() -> None:
    body = b'{"model":"p/m","small_model":null,"snapshot":false,"provider":{"p":{"options":{"apiKey":"sk-1"}}}}'
    config = decode_config(body)
    assert config == Config(model="p/m", small_model="", snapshot=False)
    assert "sk-1" not in repr(config)
    assert decode_config(b"{}").snapshot is True


def test_models() -> None:
    body = b'{"providers":[{"id":"p","key":"sk-1","models":{"m":{},"n\\u0007":{}}},{"id":"q"}],"default":{"p":"m"}}'
    assert decode_models(body) == Models(names=("p/m",), defaults={"p": "m"})


def test_statuses() -> None:
    body = b'{"ses_1":{"type":"busy"},"ses_2":{"type":"retry","attempt":1},"ses_3":4}'
    assert decode_statuses(body) == {"ses_1": "busy", "ses_2": "retry"}


@pytest.mark.parametrize("decode", [decode_agents, decode_config, decode_models, decode_statuses])
def test_something_else_is_a_decoding_error(decode: object) -> None:
    assert callable(decode)
    for body in (b"", b"7", b"<html>"):
        with pytest.raises(msgspec.DecodeError):
            decode(body)
