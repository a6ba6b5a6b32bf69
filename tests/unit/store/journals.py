"""A ledger with a journal, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from core.ledger import observations as seen
from core.ledger.effects import Effect
from core.store.journal import Journal
from tests.unit.ledger.builders import ROOT, Bench


class Kept(Bench):
    """A bench whose engine is stored after each observation, and goes on from what is stored."""

    made: ClassVar[list[Kept]] = []
    """All of them, to be closed at a test's end."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self.warnings: list[tuple[str, str]] = []
        self.journal = Journal(path, lambda code, text: self.warnings.append((code, text)), clock=lambda: self.t)
        self.saved: list[bool] = []
        self.resumed: list[Effect] = []
        self._is_ready = False
        self.made.append(self)
        super().__init__(**{"review": "off", "extraction_interval_steps": 3, **settings})

    def see(self, told: seen.Observation) -> list[Effect]:
        if not self._is_ready:
            self._is_ready = True
            found = self.journal.load(ROOT)
            if found is not None:
                from core.ledger.saved import restore

                self.resumed = restore(self.engine, self.t, found[0])
                self.journal.begun(self.engine)
        effects = super().see(told)
        self.saved.append(self.journal.save(self.engine, effects))
        return effects

    def learn(self, *facts: str) -> None:
        """Three steps, and the facts found in them."""
        for n in range(3):
            self.step(f"xxd model.ckpt {self.calls}", f"{n}")
        self.answer(*((fact, "file-format:model.ckpt") for fact in facts))

    @property
    def facts(self) -> list[str]:
        return [finding.fact for finding in self.engine.state.ledger]
