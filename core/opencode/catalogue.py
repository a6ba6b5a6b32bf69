"""What a server offers: agents, models and the few configuration values the ledger needs.

`/config` and `/config/providers` contain API keys. The structs here decode only what they name, so a key never becomes
a Python object; do not log the bodies themselves. Unknown fields pass; an entry that cannot be used is left out.
"""

from __future__ import annotations

from typing import Any

import msgspec

from core.text import clean_line

_NAME_CHARS = 200


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that can be prompted."""

    name: str
    mode: str = ""
    """primary, subagent or all."""
    hidden: bool = False
    model: str = ""
    """provider/model of the agent's own; empty when it takes the default."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the configuration that bears on the ledger."""

    model: str = ""
    """provider/model; empty when none is configured."""
    small_model: str = ""
    snapshot: bool = True
    """False: snapshots are off, and a note patched into a finished call arrives one request late."""


class Models(msgspec.Struct, frozen=True, kw_only=True):
    """The models of all providers that are set up."""

    names: tuple[str, ...] = ()
    """As provider/model."""
    defaults: dict[str, str] = {}
    """Default model (without the provider's name) by provider."""


class _ModelRef(msgspec.Struct):
    provider: str = msgspec.field(name="providerID", default="")
    model: str = msgspec.field(name="modelID", default="")


class _Agent(msgspec.Struct):
    name: str
    mode: str = ""
    hidden: bool | None = False
    model: _ModelRef | None = None


class _Config(msgspec.Struct):
    model: str | None = ""
    small_model: str | None = ""
    snapshot: bool | None = True


class _Provider(msgspec.Struct):
    id: str
    models: dict[str, msgspec.Raw] = {}


class _Providers(msgspec.Struct):
    providers: list[_Provider] = []
    default: dict[str, str] = {}


class _Status(msgspec.Struct):
    type: str = ""


def decode_agents(body: bytes) -> list[Agent]:
    """The agents of `GET /agent`, in the server's order. Raises `msgspec.DecodeError` when it is no list."""
    agents = []
    for raw in msgspec.json.decode(body, type=list[msgspec.Raw]):
        agent = _lenient(raw, _Agent)
        if agent is not None and _is_plain(agent.name):
            own = agent.model and agent.model.provider and f"{agent.model.provider}/{agent.model.model}"
            agents.append(
                Agent(
                    name=agent.name,
                    mode=clean_line(agent.mode, 20),
                    hidden=bool(agent.hidden),
                    model=own if own and _is_plain(own) else "",
                )
            )
    return agents


def decode_config(body: bytes) -> Config:
    """The values of `GET /config`. Raises `msgspec.DecodeError` when it is no such object."""
    config = msgspec.json.decode(body, type=_Config)
    return Config(
        model=clean_line(config.model or "", _NAME_CHARS),
        small_model=clean_line(config.small_model or "", _NAME_CHARS),
        snapshot=config.snapshot is not False,
    )


def decode_models(body: bytes) -> Models:
    """The models of `GET /config/providers`. Raises `msgspec.DecodeError` when it is no such object."""
    answer = msgspec.json.decode(body, type=_Providers)
    names = [f"{provider.id}/{model}" for provider in answer.providers for model in provider.models]
    defaults = {provider: model for provider, model in answer.default.items() if _is_plain(f"{provider}/{model}")}
    return Models(names=tuple(filter(_is_plain, names)), defaults=defaults)


def decode_statuses(body: bytes) -> dict[str, str]:
    """Status by session id of `GET /session/status` (busy or retry; idle sessions are not in it).

    Raises `msgspec.DecodeError` when it is no object.
    """
    statuses = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    decoded = {session: _lenient(raw, _Status) for session, raw in statuses.items()}
    return {session: clean_line(status.type, 20) for session, status in decoded.items() if status is not None}


def _lenient(raw: msgspec.Raw, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.MsgspecError:
        return None


def _is_plain(name: str) -> bool:
    """Whether a name can be shown as it is; it is sent back to the server, so it must not be altered."""
    return bool(name) and clean_line(name, _NAME_CHARS) == name
