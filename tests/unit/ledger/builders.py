"""Short ways to write observations in tests."""

from __future__ import annotations

from typing import Any

from core.ledger import observations as seen
from core.ledger.commands import ExtractNow
from core.ledger.effects import Deliver, Effect, Extract, FindingReport, TouchReport
from core.ledger.engine import Engine
from core.ledger.state import EngineSettings

ROOT = "ses_root"


class Bench:
    """An engine with a clock that goes on by 1,000 ms per step, and helpers to drive it."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("review", "off")  # most facts in these tests are made up
        self.engine = Engine(ROOT, EngineSettings(**settings))
        self.t = 0
        self.calls = 0
        self.messages = 0
        self.effects: list[Effect] = []
        self.see(seen.SessionInfo(t=0, session=ROOT, title="probe", directory="/p"))

    def see(self, told: seen.Observation) -> list[Effect]:
        effects = self.engine.observe(told)
        self.effects += effects
        return effects

    def call(
        self, command: str, output: str = "out", *, session: str = ROOT, tool: str = "bash", **more: Any
    ) -> list[Effect]:
        """A finished call in the current step."""
        self.calls += 1
        fields: dict[str, Any] = {
            "t": self.t,
            "session": session,
            "message": f"msg_{self.messages:04}",
            "part": f"prt_{self.calls}",
            "call": f"call_{self.calls}",
            "tool": tool,
            "ok": True,
            "summary": command,
            "command": command,
            "output": output,
        }
        return self.see(seen.ToolFinished(**{**fields, **more}))

    def end(self, *, session: str = ROOT, **more: Any) -> list[Effect]:
        """The current step ends."""
        self.t += 1_000
        message = f"msg_{self.messages:04}"
        self.messages += 1
        return self.see(seen.StepFinished(t=self.t, session=session, message=message, part=f"fin_{message}", **more))

    def step(self, command: str, output: str = "out", **more: Any) -> list[Effect]:
        """A whole step with one call."""
        session = str(more.get("session", ROOT))
        effects = self.call(command, output, **more)
        backfill = bool(more.get("backfill", False))
        return effects + self.end(session=session, backfill=backfill)

    def answer(self, *facts: tuple[str, str], id: str | None = None) -> list[Effect]:
        """The running extraction's answer."""
        running = self.engine.extractions.schedule.running
        job = id or (running.id if running else "x?")
        items = tuple(seen.Candidate(fact, topic) for fact, topic in facts)
        return self.see(seen.ExtractionAnswered(t=self.t, session=ROOT, id=job, items=items))

    def know(self, *facts: tuple[str, str]) -> None:
        """Run an extraction that finds these facts."""
        self.step("true", f"output {self.calls}")  # an extraction of what was seen before is skipped
        self.see(ExtractNow(t=self.t, session=ROOT))
        self.answer(*facts)


def notes(effects: list[Effect]) -> list[str]:
    """Kinds of the notes to deliver."""
    return [effect.note.kind for effect in effects if isinstance(effect, Deliver)]


def actions(effects: list[Effect]) -> list[str]:
    """Actions of the touches."""
    return [effect.action for effect in effects if isinstance(effect, TouchReport)]


def changes(effects: list[Effect]) -> list[tuple[str, str]]:
    """Changes of findings with their facts."""
    return [(effect.change, effect.fact) for effect in effects if isinstance(effect, FindingReport)]


def jobs(effects: list[Effect]) -> list[Extract]:
    """Extractions asked for."""
    return [effect for effect in effects if isinstance(effect, Extract)]
