"""A ledger on which a person works without a pause; each deed is told when it is stored.

Run as a program it goes on until it is killed: `python -m tests.crash.commanding STORE SEED`. The same seed gives the
same deeds, so whoever knows how many were told knows what must be stored.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from core.ledger import commands as ask
from core.ledger.handover import kept_of
from core.ledger.observations import NoteOutcome
from core.ledger.saved import decided_of, lasting_of, restore
from core.store.journal import Journal
from tests.unit.ledger.builders import ROOT, Bench

DEEDS: Final = 100_000
TOPICS: Final = ("file:a.bin", "file:b.csv", "notes")


class Person:
    """Steps, answers, touches and commands, one after the other."""

    def __init__(self, seed: int) -> None:
        self.bench = Bench(review="off", extraction_interval_steps=2, max_findings=20, max_findings_per_topic=8)
        self._random = random.Random(seed)
        self._n = 0

    def act(self) -> list[Any]:
        """The next deed; its effects."""
        self._n += 1
        running = self.bench.engine.extractions.schedule.running
        if running is not None:
            return self.bench.answer((f"fact {self._n} is so", self._random.choice(TOPICS)))
        if self._random.random() < 0.3:
            return self.bench.step(self._random.choice(("cat a.bin", "head b.csv", "ls")), f"out {self._n}")
        return self.bench.see(self._command())

    def _command(self) -> ask.Command:
        draw, common = self._random, dict[str, Any](t=self._n, session=ROOT)
        ids = [finding.id for finding in self.bench.engine.state.ledger] or ["f0"]
        some, topic = (draw.choice(ids),), draw.choice(TOPICS)
        return draw.choice(
            (
                ask.Pin(ids=some, on=draw.random() < 0.6, **common),
                ask.Delete(ids=some, **common),
                ask.Edit(id=some[0], fact=f"edited {self._n}", topic=topic, **common),
                ask.Add(fact=f"added {self._n}", topic=topic, **common),
                ask.Undo(**common),
                ask.Mute(topic=topic, on=draw.random() < 0.5, **common),
                ask.ResetMeter(topic=topic, **common),
                ask.TellAgent(ids=some, **common),
            )
        )


def state(engine: Any) -> Any:
    """All that lasts of an engine, as plain data."""
    ledger = engine.state.ledger
    kept = [kept_of(finding) for finding in (*ledger, *ledger.held.values())]
    lasting, repeats = lasting_of(engine), engine.state.repeats.export()
    return msgspec.to_builtins(
        (lasting, decided_of(engine), kept, list(engine.recent), repeats), builtin_types=(bytes,)
    )


def after(deeds: int, seed: int) -> Any:
    """The state after so many deeds, without a store."""
    person = Person(seed)
    for _ in range(deeds):
        person.act()
    return settled(person.bench)


def stored(store: Path) -> Any:
    """The state that a process finds that goes on from the store."""
    bench = Bench(review="off", extraction_interval_steps=2, max_findings=20, max_findings_per_topic=8)
    journal = Journal(store, _refuse)
    found = journal.load(ROOT)
    if found is not None:
        restore(bench.engine, 0, found[0])
    journal.close()
    return state(bench.engine)


def settled(bench: Bench) -> Any:
    """What a process makes of it that goes on: notes under way have an unknown fate."""
    for note in bench.engine.injector.under_way:
        bench.see(NoteOutcome(t=0, session=ROOT, note=note, delivery="none", arrived="unknown"))
    return state(bench.engine)


def main(store: Path, seed: int) -> None:
    """Act, store, tell; until killed."""
    person = Person(seed)
    journal = Journal(store, _refuse)
    for deed in range(1, DEEDS):
        journal.save(person.bench.engine, person.act())
        sys.stdout.write(f"{deed}\n")
        sys.stdout.flush()


def _refuse(code: str, text: str) -> None:
    raise AssertionError(f"{code}: {text}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
