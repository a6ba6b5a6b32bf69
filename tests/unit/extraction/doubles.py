"""A server and a store of own sessions that live in memory, and keep an account of what was asked of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.errors import LedgerError, NotFound


@dataclass(frozen=True)
class Cache:
    read: float = 0
    write: float = 0


@dataclass(frozen=True)
class Tokens:
    input: float = 0
    output: float = 0
    reasoning: float = 0
    cache: Cache = Cache()


@dataclass(frozen=True)
class Data:
    message: str = ""


@dataclass(frozen=True)
class Fault:
    name: str
    data: Data = Data()


@dataclass(frozen=True)
class Info:
    error: Fault | None = None
    tokens: Tokens = Tokens()
    cost: float = 0.0
    is_summary: bool = False
    finish: str | None = None


@dataclass(frozen=True)
class Part:
    type: str = "text"
    text: str = ""
    synthetic: bool = False
    ignored: bool = False


@dataclass(frozen=True)
class Reply:
    info: Info = Info()
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Session:
    id: str
    title: str = "ledger-extraction"


@dataclass(frozen=True)
class Agent:
    name: str
    model: str = ""


@dataclass(frozen=True)
class Models:
    names: tuple[str, ...] = ("p/big", "p/small", "p/agent", "q/own")


@dataclass(frozen=True)
class Config:
    model: str = "p/big"
    small_model: str = "p/small"


def answer(text: str, info: Info = Info()) -> Reply:
    return Reply(info, (Part("step-start"), Part("reasoning", "[]"), Part("text", text), Part("step-finish")))


NOTHING = answer("[]")


@dataclass
class Server:
    """Fits `ExtractionClient`; `log` has every call that changes something, in order."""

    reply: Callable[[], Awaitable[Reply]] | Reply = NOTHING
    names: tuple[str, ...] = ("build", "general")
    config_value: Config = Config()
    there: dict[str, Session] = field(default_factory=dict)
    busy: set[str] = field(default_factory=set)
    retried: set[str] = field(default_factory=set)
    faults: dict[str, LedgerError] = field(default_factory=dict)
    """By method: raised instead of an answer."""
    log: list[tuple[str, str]] = field(default_factory=list)
    prompts: list[dict[str, object]] = field(default_factory=list)
    opened: int = 0
    said: tuple[Reply, ...] = ()
    """Messages of every session."""
    url: str = "http://127.0.0.1:4096"

    async def agents(self) -> Sequence[Agent]:
        self._fault("agents")
        return [Agent(name, "p/agent" if name == "ledger-extractor" else "") for name in self.names]

    async def config(self) -> Config:
        return self.config_value

    async def providers(self) -> Models:
        return Models()

    async def sessions(self) -> Sequence[Session]:
        self._fault("sessions")
        return list(self.there.values())

    async def messages(self, session: str, *, limit: int | None = None) -> Sequence[Reply]:
        self._fault("messages")
        return self.said

    async def statuses(self) -> Mapping[str, str]:
        self._fault("statuses")
        return dict.fromkeys(self.busy, "busy") | dict.fromkeys(self.retried, "retry")

    async def create_session(self, title: str) -> Session:
        self._fault("create")
        self.opened += 1
        session = Session(f"ses_{self.opened}", title)
        self.there[session.id] = session
        self.log.append(("create", session.id))
        await asyncio.sleep(0)
        return session

    async def prompt(
        self,
        session: str,
        text: str,
        *,
        agent: str | None,
        model: str | None,
        system: str | None,
        tools: Mapping[str, bool] | None,
    ) -> Reply:
        self.log.append(("prompt", session))
        self.prompts.append({"text": text, "agent": agent, "model": model, "system": system, "tools": tools})
        self._fault("prompt")
        return self.reply if isinstance(self.reply, Reply) else await self.reply()

    async def abort(self, session: str) -> None:
        self.log.append(("abort", session))
        await asyncio.sleep(0)
        self._fault("abort")

    async def delete_session(self, session: str) -> None:
        self.log.append(("delete", session))
        await asyncio.sleep(0)
        self._fault("delete")
        if self.there.pop(session, None) is None:
            raise NotFound(f"There is no session {session}")

    def _fault(self, method: str) -> None:
        if method in self.faults:
            raise self.faults[method]


@dataclass
class Own:
    """Fits `OwnStore`."""

    log: list[tuple[str, str]]
    ids: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)

    def __contains__(self, id: object) -> bool:
        return id in self.ids

    def add(self, id: str, server: str, t: int) -> None:
        self.ids.add(id)
        self.log.append(("own", id))

    def remove(self, id: str) -> None:
        self.left.discard(id)
        self.log.append(("gone", id))

    def abandon(self, id: str) -> None:
        self.log.append(("abandon", id))
        self.left.add(id)

    def leftovers(self, server: str = "") -> list[str]:
        return sorted(self.left)
