"""What an assembler tells of a world."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from core.ledger.observations import Observation
from core.opencode.assemble import Assembler, Told

from .world import START, ServerState, World

T = TypeVar("T", bound=Observation)
NOTE = "\n\n<ledger-note>\nKNOWN FACTS\n  - x\n</ledger-note>"


def told_of(world: World, assembler: Assembler | None = None) -> list[Told]:
    """All that is told of the events so far, the n-th of them at time n."""
    assembler = assembler or Assembler()
    return [told for t, event in enumerate(world.events) for told in assembler.feed(event, t)]


def only(kind: type[T], told: Iterable[Told]) -> list[T]:
    return [observation for _, observation in told if isinstance(observation, kind)]


def read_back(state: ServerState, assembler: Assembler, attached_at: int = 0, **options: Any) -> list[Told]:
    messages = options.pop("messages", None) or state.all_messages()
    options.setdefault("busy", state.busy)
    return assembler.snapshot(state.sessions(), messages, START + 1_000_000, attached_at, **options)


def compaction(world: World, session: str, **changes: Any) -> str:
    world.part(world.message(session, "user"), "compaction", auto=False)
    summary = world.assistant(session, summary=True, agent="compaction")
    world.finish(summary)
    world.complete(summary, **changes)
    return summary
