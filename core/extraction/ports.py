"""What the runner needs of the server's client and of the store of own sessions, as protocols.

:class:`core.opencode.client.Client` and :class:`core.store.own.OwnSessions` fit; this package knows neither.
"""

# ruff: noqa: D102 - what a class holds is said once, in its own docstring
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class CacheCounts(Protocol):
    """Tokens read from and written to the provider's cache."""

    @property
    def read(self) -> float: ...
    @property
    def write(self) -> float: ...


class TokenCounts(Protocol):
    """Tokens of one message."""

    @property
    def input(self) -> float: ...
    @property
    def output(self) -> float: ...
    @property
    def reasoning(self) -> float: ...
    @property
    def cache(self) -> CacheCounts: ...


class ErrorData(Protocol):
    """Details of an error."""

    @property
    def message(self) -> str: ...


class ErrorInfo(Protocol):
    """Why a turn failed."""

    @property
    def name(self) -> str: ...
    @property
    def data(self) -> ErrorData: ...


class ReplyInfo(Protocol):
    """A message without its parts; `is_summary`: a compaction made it; `finish`: why it ended."""

    @property
    def is_summary(self) -> bool: ...
    @property
    def finish(self) -> str | None: ...

    @property
    def error(self) -> ErrorInfo | None: ...
    @property
    def tokens(self) -> TokenCounts: ...
    @property
    def cost(self) -> float: ...


class ReplyPart(Protocol):
    """A part of a message."""

    @property
    def type(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def synthetic(self) -> bool: ...
    @property
    def ignored(self) -> bool: ...


class Reply(Protocol):
    """The last assistant message of a turn."""

    @property
    def info(self) -> ReplyInfo: ...
    @property
    def parts(self) -> Sequence[ReplyPart]: ...


class SessionInfo(Protocol):
    """A session of the server."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...


class AgentInfo(Protocol):
    """An agent of the server; `model` is provider/model or empty."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...


class ServerConfig(Protocol):
    """Models as provider/model; empty when not configured."""

    @property
    def model(self) -> str: ...
    @property
    def small_model(self) -> str: ...


class ServerModels(Protocol):
    """Names of all models that can be used, as provider/model."""

    @property
    def names(self) -> Sequence[str]: ...


class ExtractionClient(Protocol):
    """Calls to one server; they raise :class:`core.errors.ServerError` and nothing else."""

    @property
    def url(self) -> str: ...
    async def agents(self) -> Sequence[AgentInfo]: ...
    async def config(self) -> ServerConfig: ...
    async def providers(self) -> ServerModels: ...
    async def sessions(self) -> Sequence[SessionInfo]: ...
    async def messages(self, session: str, *, limit: int | None = None) -> Sequence[Reply]: ...
    async def statuses(self) -> Mapping[str, str]: ...
    async def create_session(self, title: str) -> SessionInfo: ...
    async def abort(self, session: str) -> None: ...
    async def delete_session(self, session: str) -> None: ...
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
        """Wait for the end of the turn, however long that takes."""
        ...


class OwnStore(Protocol):
    """Ids of the sessions that ledgers opened for themselves."""

    def __contains__(self, id: object) -> bool: ...
    def add(self, id: str, server: str, t: int) -> object: ...
    def remove(self, id: str) -> object: ...
    def abandon(self, id: str) -> object: ...
    def leftovers(self, server: str = "") -> Sequence[str]: ...
