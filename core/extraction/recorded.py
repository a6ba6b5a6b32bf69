"""Extractions without a server: recorded answers take the place of the agent's, all else is as in a live run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import Final

from core.extraction.parse import AnswerError, parse_answer
from core.extraction.prompt import build_prompt
from core.ledger.effects import Extract
from core.ledger.observations import ExtractionAnswered, ExtractionFailed, ExtractionStarted, Observation
from core.settings import Settings

AGENT: Final = "recorded"
"""Reported as the agent of such an extraction."""
_KINDS: Final = {
    **{dict: "an object", list: "an array", int: "a number", float: "a number", bool: "true or false"},
    type(None): "null",
}


class Answers:
    """Recorded answers, used in order; after the last one every extraction fails."""

    def __init__(self, answers: Iterable[str], settings: Settings) -> None:
        self._answers = iter(answers)
        self._settings = settings

    def skip(self, answers: int) -> None:
        """So many of them were used before."""
        for _ in islice(self._answers, answers):
            pass

    def extract(self, job: Extract) -> tuple[Observation, ...]:
        """What a live run would report, at the time of the job and in no time."""
        prompt = build_prompt(
            job.steps,
            job.known,
            output_chars=self._settings.extraction_output_chars,
            total_chars=self._settings.extraction_prompt_chars,
        )
        started = ExtractionStarted(t=job.t, session=job.session, id=job.id, agent=AGENT, prompt_chars=prompt.chars)
        return started, self._answer(job)

    def _answer(self, job: Extract) -> Observation:
        text = next(self._answers, None)
        if text is None:
            return ExtractionFailed(t=job.t, session=job.session, id=job.id, error="no answer left")
        try:
            answer = parse_answer(text)
        except AnswerError as error:
            return ExtractionFailed(t=job.t, session=job.session, id=job.id, error=error.reason)
        return ExtractionAnswered(t=job.t, session=job.session, id=job.id, items=answer.items, rejected=answer.rejected)


def decode_answers(text: str) -> list[str]:
    """The answers in a file of JSON strings, one a line; blank lines are skipped.

    Raises:
        ValueError: a line is no JSON string; the message names it.
    """
    answers = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number} is not a JSON string") from error
        if not isinstance(answer, str):
            raise ValueError(f"line {number} is {_KINDS[type(answer)]}, not a JSON string")  # noqa: TRY004
        answers.append(answer)
    return answers
