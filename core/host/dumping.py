"""The dump file of all ledgers of one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from core.ledger.engine import Engine
from core.store.dump import DumpWriter
from core.store.entries import DumpEntry


class Dump:
    """Keeps the file at `path` in step; `warn` is told (code, sentence) when that fails."""

    def __init__(self, path: Path, warn: Callable[[str, str], None]) -> None:
        self._writer = DumpWriter(path, warn)

    def changed(self, engines: Iterable[Engine]) -> None:
        """The findings of these root sessions are what is to be in the file now."""
        self._writer.changed([entry for engine in engines for entry in entries(engine)])

    async def close(self) -> None:
        """Write what waits to be written and let another process have the file."""
        await self._writer.close()


def entries(engine: Engine) -> list[DumpEntry]:
    """Accepted findings of a root session, oldest first; none of a deleted one."""
    if engine.session_state == "deleted":
        return []
    return [
        DumpEntry(
            fact=finding.fact,
            topic=finding.topic,
            established_at=finding.established_at,
            source_step=finding.step,
            session=engine.root,
            id=finding.id,
            pinned=finding.pinned,
            source=finding.source,
            origin=finding.origin,
            call=finding.call,
            title=engine.title,
            directory=engine.directory,
        )
        for finding in engine.state.ledger
        if finding.shown_to_agent
    ]
