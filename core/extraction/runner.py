"""Runs extractions on the server: one at a time, each in a session of its own that is deleted whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

import msgspec

from core.errors import LedgerError, NotFound
from core.extraction.agents import NotThere, choose_agent, choose_model
from core.extraction.parse import Answer, AnswerError, parse_answer
from core.extraction.ports import ExtractionClient, OwnStore, Reply
from core.extraction.prompt import Prompt, build_prompt
from core.extraction.turn import Turn
from core.extraction.waiting import Stuck, answer_of
from core.ledger.effects import EXTRACTION_TITLE, Extract
from core.ledger.observations import ExtractionAnswered, ExtractionFailed, ExtractionStarted, Observation, Tokens
from core.ledger.steps import Step
from core.settings import Settings
from core.text import mask_line

NO_TOOLS: Final = {"*": False}
"""An empty map would leave all tools on (seen with OpenCode 1.18.33: 9 to 11 tools, 28 kB more a request)."""
CLEANING_SECONDS: Final = 10.0
"""For aborting and deleting one session; what cannot be deleted in that time is left for the next connect."""

_log = logging.getLogger(__name__)


class _Failed(Exception):  # noqa: N818
    """The extraction cannot be read; the message says why."""


class _Question(msgspec.Struct, frozen=True):
    agent: str
    model: str
    prompt: Prompt


class Runner:
    """Carries out the `Extract` effects of all ledgers of one server.

    Args:
        client: calls to the server.
        own: where ids of the opened sessions are kept, so that their events are ignored and leftovers are found.
        settings: agent, model, timeout and the bounds of the prompt.
        report: told what became of each job: ExtractionStarted, then ExtractionAnswered or ExtractionFailed.
        clock: time in ms since the epoch.
        turn: shared with the runners of the project's other servers.
    """

    def __init__(
        self,
        client: ExtractionClient,
        own: OwnStore,
        settings: Settings,
        report: Callable[[Observation], None],
        clock: Callable[[], int],
        turn: Turn | None = None,
    ) -> None:
        self._client = client
        self._own = own
        self._settings = settings
        self._report = report
        self._clock = clock
        self._turn = turn or Turn()
        self._open: set[str] = set()
        self._left: set[str] = set()
        """Sessions that could not be deleted, for when the store is memory only and forgets whose they are."""

    async def run(self, job: Extract) -> None:
        """Carry out a job; every outcome is reported, none is raised. When cancelled it cleans up first."""
        begun, reply = self._clock(), None
        try:
            async with self._turn.lock:
                begun = self._clock()
                reply = await self._ask(job, await self._question(job))
                answer = await _read(reply)
                outputs = await asyncio.to_thread(_weigh, job.steps, answer)
        except asyncio.CancelledError:
            self._fail(job, begun, "stopped before the answer came", reply)
            raise
        except (LedgerError, NotThere, AnswerError, _Failed) as error:
            self._fail(job, begun, str(error), reply)
        except Exception as error:
            _log.exception("extraction %s failed", job.id)
            self._fail(job, begun, f"fault of the ledger itself: {type(error).__name__}: {error}", reply)
        else:
            self._succeed(job, begun, answer, reply, outputs)

    async def clean_up(self) -> int:
        """Delete what earlier runs left on the server; to be called after each connect. Returns how many there were.

        Left over is a session whose stored owner no longer runs, or one with our title that nobody is known to work
        with and that is not busy. Raises ServerError when the server cannot be asked.
        """
        titled = {found.id for found in await self._client.sessions() if found.title == EXTRACTION_TITLE}
        stored = self._left.union(self._own.leftovers(self._client.url), titled.intersection(self._own.leftovers()))
        unknown = {id for id in titled - stored if id not in self._own and not self._turn.opening}
        busy = set(await self._client.statuses()) if unknown else set()
        left = sorted((stored | (unknown - busy)) - self._open)
        for id in left:
            await self._discard(id)
        return len(left)

    def _fail(self, job: Extract, begun: int, error: str, reply: Reply | None) -> None:
        """An answer that cannot be read costs what a good one does."""
        now = self._clock()
        self._report(
            ExtractionFailed(
                t=now,
                session=job.session,
                id=job.id,
                error=mask_line(error, 300),
                ms=max(0, now - begun),
                tokens=_tokens(reply) if reply is not None else None,
                cost=float(reply.info.cost) if reply is not None else None,
            )
        )

    def _succeed(self, job: Extract, begun: int, answer: Answer, reply: Reply, outputs: object) -> None:
        now = self._clock()
        self._report(
            ExtractionAnswered(
                t=now,
                session=job.session,
                id=job.id,
                items=answer.items,
                rejected=answer.rejected,
                ms=max(0, now - begun),
                tokens=_tokens(reply),
                cost=float(reply.info.cost),
                outputs=outputs,
            )
        )

    async def _question(self, job: Extract) -> _Question:
        agents, config, models = await asyncio.gather(
            self._client.agents(), self._client.config(), self._client.providers()
        )
        agent, _ = choose_agent(self._settings.agent, [found.name for found in agents])
        model = choose_model(
            self._settings.extraction_model,
            agent=agent,
            agent_model=next(found.model for found in agents if found.name == agent),
            small_model=config.small_model,
            default_model=config.model,
            available=models.names,
        )
        prompt = await asyncio.to_thread(
            build_prompt,
            job.steps,
            job.known,
            output_chars=self._settings.extraction_output_chars,
            total_chars=self._settings.extraction_prompt_chars,
        )
        return _Question(agent, model, prompt)

    async def _ask(self, job: Extract, question: _Question) -> Reply:
        """Ask in a new session, which is gone when this returns or raises."""
        session = await self._create()
        try:
            self._report(
                ExtractionStarted(
                    t=self._clock(),
                    session=job.session,
                    id=job.id,
                    agent=question.agent,
                    model=question.model,
                    prompt_chars=question.prompt.chars,
                )
            )
            return await self._prompt(session, question)
        finally:
            await even_if_cancelled(self._discard(session))
            self._open.discard(session)

    async def _create(self) -> str:
        self._turn.opening = True
        try:
            session = (await self._client.create_session(EXTRACTION_TITLE)).id
        finally:
            self._turn.opening = False
        self._own.add(session, self._client.url, self._clock())
        self._open.add(session)
        return session

    async def _prompt(self, session: str, question: _Question) -> Reply:
        seconds = self._settings.extraction_timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                asking = self._client.prompt(
                    session,
                    question.prompt.text,
                    agent=question.agent,
                    model=question.model or None,
                    system=question.prompt.system,
                    tools=NO_TOOLS,
                )
                return await answer_of(self._client, session, asking)
        except Stuck as error:
            raise _Failed(str(error)) from error
        except TimeoutError as error:
            raise _Failed(f"no answer within {seconds:g} s{await self._why_late(session)}") from error

    async def _why_late(self, session: str) -> str:
        """OpenCode repeats a request that the provider refuses for the moment, for ever and without a word."""
        try:
            async with asyncio.timeout(CLEANING_SECONDS):
                status = (await self._client.statuses()).get(session)
        except (LedgerError, TimeoutError):
            return ""
        return (
            ": the provider keeps failing (rate limit or overload) and OpenCode keeps trying"
            if status == "retry"
            else ""
        )

    async def _discard(self, session: str) -> None:
        """Abort and delete a session; if that fails it is remembered as left over."""
        try:
            async with asyncio.timeout(CLEANING_SECONDS):
                await self._abort(session)
                with contextlib.suppress(NotFound):
                    await self._client.delete_session(session)
        except (LedgerError, TimeoutError) as error:
            _log.info("session %s of an extraction is left over: %s", session, error)
            self._own.abandon(session)
            self._left.add(session)
        else:
            self._own.remove(session)
            self._left.discard(session)

    async def _abort(self, session: str) -> None:
        try:
            await self._client.abort(session)
        except LedgerError as error:
            _log.debug("session %s could not be aborted: %s", session, error)


async def even_if_cancelled(work: Coroutine[Any, Any, None]) -> None:
    """Wait for `work` to end; a cancellation in the meantime is passed on after that."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


async def _read(reply: Reply) -> Answer:
    """The findings in the text of the reply, or the reason why there are none to be read."""
    error = reply.info.error
    if error is not None:
        raise _Failed(f"the turn failed: {': '.join(filter(None, (error.name, error.data.message)))}")
    parts = [part for part in reply.parts if part.type == "text" and not (part.synthetic or part.ignored)]
    # In a thread: a hostile answer of a megabyte takes over a second.
    return await asyncio.to_thread(parse_answer, "\n".join(part.text for part in parts))


def _weigh(steps: Sequence[Step], answer: Answer) -> object:
    """Judge the facts beforehand, where that keeps nobody waiting."""
    from core.ledger import judging  # noqa: F401, PLC0415 - takes long to import, and is wanted next, in the loop
    from core.ledger.support import weighed  # noqa: PLC0415 - takes long to import, and is wanted now for the first time
    from core.ledger.untrusted import suspicion  # noqa: PLC0415

    for item in answer.items:
        suspicion(item.fact)
    return weighed(steps, answer.items)


def _tokens(reply: Reply) -> Tokens:
    counts = reply.info.tokens
    return Tokens(
        input=int(counts.input),
        output=int(counts.output),
        reasoning=int(counts.reasoning),
        cache_read=int(counts.cache.read),
        cache_write=int(counts.cache.write),
    )
