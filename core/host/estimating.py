"""What an extraction would send, without building its prompt."""

from __future__ import annotations

from core.ledger.engine import Engine
from core.ledger.schedule import completed
from core.ledger.steps import Step
from core.settings import Settings
from core.views import Estimate

_INSTRUCTION_CHARS = 2_000
"""Characters of the instruction around the steps, about."""
_CHARS_PER_TOKEN = 4


def estimate(engine: Engine, settings: Settings) -> Estimate:
    """Size of the prompts for all steps that wait, those from before attaching included; 0 where rules alone read."""
    schedule = engine.extractions.schedule
    jobs = schedule.split((*schedule.earlier, *schedule.waiting))
    facts = sum(map(len, engine.state.ledger.facts))
    chars = sum(
        _INSTRUCTION_CHARS + min(settings.extraction_prompt_chars, facts + sum(_size(step, settings) for step in job))
        for job in jobs
    )
    if settings.extractor == "rules":
        chars = 0
    return Estimate(steps=sum(map(completed, jobs)), prompt_chars=chars, tokens=chars // _CHARS_PER_TOKEN)


def _size(step: Step, settings: Settings) -> int:
    return sum(len(call.command) + min(len(call.output), settings.extraction_output_chars) for call in step.calls)
