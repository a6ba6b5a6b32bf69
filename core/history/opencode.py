"""Distilling through OpenCode: each question in a session of our own, which is deleted whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Final

import msgspec

from core.clock import now_ms
from core.errors import LedgerError, NotFound, ServerError, UsageError
from core.extraction.agents import AUTO, NotThere, choose_agent, choose_model
from core.extraction.ports import ExtractionClient, OwnStore
from core.extraction.ports import Reply as Turned
from core.extraction.runner import CLEANING_SECONDS, NO_TOOLS, even_if_cancelled
from core.extraction.waiting import LOOK_SECONDS, Stuck, answer_of
from core.history.inference import Reply
from core.history.question import Question
from core.ledger.effects import EXTRACTION_TITLE
from core.ledger.observations import Tokens
from core.text import mask_line

ANSWER_SECONDS: Final = 300.0
"""An answer that takes longer is given up; a note of 800 tokens takes a slow model (5 tokens a second) 160 s."""

_log = logging.getLogger(__name__)


class _Way(msgspec.Struct, frozen=True):
    agent: str
    model: str


class OpenCodeDistiller:
    """Asks one OpenCode server. Fits :class:`core.history.inference.Distiller`.

    Args:
        client: calls to the server; closed by whoever made it.
        own: where the ids of our sessions are kept, before their first use.
        agent: name of the agent, or auto.
        model: provider/model; empty: the server's small_model.
        seconds: time for one answer.
        clock: ms since the epoch.
        look_seconds: pause between two looks at a session that has not answered.
    """

    def __init__(
        self,
        client: ExtractionClient,
        own: OwnStore,
        *,
        agent: str = AUTO,
        model: str = "",
        seconds: float = ANSWER_SECONDS,
        clock: Callable[[], int] = now_ms,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._client = client
        self._own = own
        self._wanted = _Way(agent, model)
        self._seconds = seconds
        self._clock = clock
        self._look_seconds = look_seconds
        self._way: _Way | None = None
        self._choosing = asyncio.Lock()

    async def distil(self, question: Question) -> Reply:
        """Ask in a new session, which is gone when this returns or raises.

        Raises:
            UsageError: there is no such agent or model.
            ServerError: the server failed, or no answer came in time.
        """
        way = await self._chosen()
        begun = self._clock()
        session = (await self._client.create_session(EXTRACTION_TITLE)).id
        self._own.add(session, self._client.url, begun)
        try:
            turned = await self._answer(session, question, way)
        finally:
            await even_if_cancelled(self._discard(session))
        return _reply(turned, way.model, max(0, self._clock() - begun))

    async def aclose(self) -> None:
        """Nothing: the sessions are gone, and the client is somebody else's."""

    async def _chosen(self) -> _Way:
        """Agent and model, asked for once a run."""
        async with self._choosing:
            if self._way is None:
                self._way = await self._choose()
            return self._way

    async def _choose(self) -> _Way:
        agents, config, models = await asyncio.gather(
            self._client.agents(), self._client.config(), self._client.providers()
        )
        try:
            agent, _ = choose_agent(self._wanted.agent, [found.name for found in agents])
            model = choose_model(
                self._wanted.model,
                agent=agent,
                agent_model=next(found.model for found in agents if found.name == agent),
                small_model=config.small_model,
                default_model=config.model,
                available=models.names,
            )
        except NotThere as error:
            raise UsageError(str(error)) from error
        return _Way(agent, model)

    async def _answer(self, session: str, question: Question, way: _Way) -> Turned:
        try:
            async with asyncio.timeout(self._seconds):
                asking = self._client.prompt(
                    session,
                    question.text,
                    agent=way.agent,
                    model=way.model or None,
                    system=question.system,
                    tools=NO_TOOLS,
                )
                return await answer_of(self._client, session, asking, look_seconds=self._look_seconds)
        except Stuck as error:
            raise ServerError("the transcript is too long for the model", "Lower its bounds (head, tail).") from error
        except NotFound as error:
            raise ServerError("the session that the question was asked in was deleted by somebody else") from error
        except TimeoutError as error:
            raise ServerError(f"no answer within {self._seconds:g} s") from error

    async def _discard(self, session: str) -> None:
        """Abort and delete a session; if that fails it is remembered as left over."""
        try:
            async with asyncio.timeout(CLEANING_SECONDS):
                with contextlib.suppress(LedgerError):
                    await self._client.abort(session)
                with contextlib.suppress(NotFound):
                    await self._client.delete_session(session)
        except (LedgerError, TimeoutError) as error:
            _log.info("session %s of a note is left over: %s", session, error)
            self._own.abandon(session)
        else:
            self._own.remove(session)


def _reply(turned: Turned, model: str, ms: int) -> Reply:
    error = turned.info.error
    if error is not None:
        reason = ": ".join(filter(None, (error.name, error.data.message)))
        raise ServerError(f"the turn failed: {mask_line(reason, 300)}")
    texts = [part.text for part in turned.parts if part.type == "text" and not (part.synthetic or part.ignored)]
    counts = turned.info.tokens
    return Reply(
        text="\n".join(texts),
        tokens=Tokens(
            input=int(counts.input),
            output=int(counts.output),
            reasoning=int(counts.reasoning),
            cache_read=int(counts.cache.read),
            cache_write=int(counts.cache.write),
        ),
        cost=float(turned.info.cost),
        ms=ms,
        model=model,
        cut=turned.info.finish == "length",
    )
