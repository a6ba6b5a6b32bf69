"""Notes in Cognee, a store that makes a knowledge graph of them: https://docs.cognee.ai. An optional extra.

Cognee is set up by its own environment variables (LLM_API_KEY, LLM_ENDPOINT, EMBEDDING_ENDPOINT, …), and keeps its
stores where these say. `add` takes each note as it comes, under an id that the session's id gives; `cognify` makes the
graph once, at the end of a run. Seen with Cognee 1.6.5.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, UUID, uuid5

from core.errors import LedgerError, ServerError, UsageError
from core.history.sinks import COGNEE, Delivery
from core.text import mask_line

DATASET: Final = "opencode-sessions"
INSTALL: Final = "Install it: pip install 'ledger-tui[cognee]'."
_QUIET: Final = {"TELEMETRY_DISABLED": "1", "LOG_LEVEL": "ERROR", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""Set unless the user has set them: nothing is reported to anybody, no list of prices is fetched, no chatter."""
_CANCELLING_SECONDS: Final = 5.0
_TABLES: Final = ("litellm", "litellm_core_utils/tokenizers")
"""Where the tables lie that Cognee counts tokens with: it would fetch them, though a package that it needs has them."""


class CogneeSink:
    """One dataset of Cognee. Fits :class:`core.history.sinks.Sink`.

    All of Cognee runs in the event loop of one thread: its engines belong to the loop they were made in.

    Args:
        dataset: name of the dataset.
        load: gives a module by its name.

    Raises:
        UsageError: Cognee is not installed.
    """

    name = COGNEE

    def __init__(self, dataset: str = DATASET, load: Callable[[str], Any] = importlib.import_module) -> None:
        for variable, value in (*_QUIET.items(), *_tables()):
            os.environ.setdefault(variable, value)
        try:
            self._cognee = load("cognee")
            self._item = load("cognee.tasks.ingestion.data_item").DataItem
            self._set_up = load("cognee.modules.engine.operations.setup").setup
        except ImportError as error:
            raise UsageError(f"the sink {COGNEE} needs a package that is not there: {error.name}", INSTALL) from error
        self._dataset = dataset
        self._held: set[UUID] | None = None
        self._is_ready = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="cognee", daemon=True)
        self._thread.start()

    def holds(self, session: str) -> bool:
        """Whether the dataset has a note of the session; it is asked once a run."""
        if self._held is None:
            self._held = self._run(self._ids())
        return self.id_of(session) in self._held

    def put(self, delivery: Delivery) -> None:
        """Add a note, in place of an earlier one of the session. Raises ServerError."""
        self._run(self._put(delivery))
        if self._held is not None:
            self._held.add(self.id_of(delivery.session))

    def drop(self, session: str) -> None:
        """Delete the note of a session, and what the graph has from it. Raises ServerError."""
        self._run(self._delete(self.id_of(session)))
        if self._held is not None:
            self._held.discard(self.id_of(session))

    def finish(self) -> None:
        """Make the graph of what was added since it was last made. Raises ServerError."""
        self._run(self._cognify())

    def close(self) -> None:
        """End the thread; harmless when repeated."""
        if self._thread.is_alive():
            # A call that is still under way, as after Ctrl-C, is given up: somebody waits for it in another thread.
            asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def id_of(self, session: str) -> UUID:
        """The id of a session's note: always the same one."""
        return uuid5(NAMESPACE_URL, f"ledger-tui:{self._dataset}:{session}")

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except LedgerError:
            raise
        except Exception as error:
            reason = mask_line(str(error), 300) or type(error).__name__
            hint = "Check the variables that Cognee is set up with (LLM_API_KEY, LLM_ENDPOINT and the like)."
            raise ServerError(f"Cognee failed: {reason}", hint) from error

    async def _put(self, delivery: Delivery) -> None:
        id = self.id_of(delivery.session)
        # `add` refuses to change a document that it has.
        await self._delete(id)
        item = self._item(data=delivery.note, label=delivery.session, data_id=id, literal_text=True)
        await self._cognee.add(item, dataset_name=self._dataset)

    async def _delete(self, id: UUID) -> None:
        dataset = await self._find()
        if dataset is not None and id in {found.id for found in await self._cognee.datasets.list_data(dataset)}:
            await self._cognee.datasets.delete_data(dataset_id=dataset, data_id=id)

    async def _ids(self) -> set[UUID]:
        dataset = await self._find()
        return {found.id for found in await self._cognee.datasets.list_data(dataset)} if dataset else set()

    async def _cognify(self) -> None:
        if await self._ids():
            await self._cognee.cognify(datasets=[self._dataset])

    async def _find(self) -> UUID | None:
        """Id of the dataset; None when there is none yet."""
        if not self._is_ready:
            # Without its tables Cognee answers no question; `add` would make them, but comes later.
            # It prints what it does to its tables, and standard output is for the answer of a command.
            with contextlib.redirect_stdout(sys.stderr):
                await self._set_up()
            self._is_ready = True
        found = await self._cognee.datasets.list_datasets()
        return next((dataset.id for dataset in found if dataset.name == self._dataset), None)


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=_CANCELLING_SECONDS)


def _tables() -> list[tuple[str, str]]:
    package, folder = _TABLES
    found = importlib.util.find_spec(package)
    if found is None or not found.origin:
        return []
    path = Path(found.origin).parent / folder
    return [("TIKTOKEN_CACHE_DIR", str(path))] if path.is_dir() else []
