"""What a whole ledger makes of labelled facts: a model's answer through parser, engine, judge and store of findings."""

from __future__ import annotations

import json
from collections.abc import Sequence

from core.extraction.parse import GENERAL, parse_answer
from core.ledger import observations as seen
from core.ledger.effects import Extract
from core.ledger.engine import Engine
from core.ledger.finding import Finding
from core.ledger.state import EngineSettings
from core.ledger.untrusted import HIDDEN_REASON, ORDER_REASON
from core.text import clean, mask
from tests.corpus.cases import ConflictCase, OrderCase, ReceiptCase, Statement, Step

ROOT, DIRECTORY = "ses_root", "/home/dev/proj"
_PAIRS = {"superseded": "supersedes", "unsure": "inbox", "near": "near_duplicate"}


class Following:
    """A ledger that follows a session and is given the model's answers.

    Args:
        settings: those that matter; each `extraction_interval_steps` steps one answer is wanted.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self.engine = Engine(ROOT, settings)
        self.engine.observe(seen.SessionInfo(t=0, session=ROOT, directory=DIRECTORY))
        self._calls = 0

    def learn(self, steps: Sequence[Step], facts: Sequence[Statement]) -> None:
        """Steps of one bash call each, after which an extraction is due, and its answer."""
        wanted = [self._step(step) for step in steps][-1]
        if wanted is None:
            raise AssertionError("no extraction was due")
        text = json.dumps([{"fact": one.fact, "topic": one.topic} for one in facts])
        answer = parse_answer(text)
        self.engine.observe(
            seen.ExtractionAnswered(
                t=self._calls, session=ROOT, id=wanted, items=answer.items, rejected=answer.rejected
            )
        )

    @property
    def findings(self) -> list[Finding]:
        """All that is there, held ones last."""
        ledger = self.engine.state.ledger
        return [*ledger, *ledger.held.values()]

    def _step(self, step: Step) -> str | None:
        """Id of the extraction that is due at its end, if one is."""
        n = self._calls
        self._calls += 1
        self.engine.observe(
            seen.ToolFinished(
                t=n,
                session=ROOT,
                message=f"msg_{n}",
                part=f"prt_{n}",
                call=str(n),
                tool="bash",
                ok=True,
                summary=clean(step.command)[:80],
                command=mask(clean(step.command)),
                output=mask(clean(step.output)),
                exit=step.exit,
                ended=n + 1,
            )
        )
        effects = self.engine.observe(seen.StepFinished(t=n, session=ROOT, message=f"msg_{n}", part=f"fin_{n}"))
        return next((effect.id for effect in effects if isinstance(effect, Extract)), None)


def receipt(case: ReceiptCase) -> tuple[str, bool]:
    """The label that the ledger gives a case, by what it would let an agent read; whether its lines hold the labelled.

    A fact that waits for another reason than its receipt counts as unsupported all the same.
    """
    following = Following(EngineSettings(extraction_interval_steps=len(case.steps)))
    following.learn(case.steps, [Statement(fact=case.fact, topic=GENERAL)])
    (finding,) = following.findings
    shown = {(int(one.call), line) for one in finding.evidence for line in one.lines}
    wanted = {(one.call, line) for one in case.support for line in one.lines}
    return "supported" if finding.shown_to_agent else "unsupported", wanted <= shown


def conflict(case: ConflictCase) -> str:
    """The label that the ledger gives a case: what becomes of the older fact, or which pair waits for a person.

    Nothing is held here, so that every later fact comes to be compared.
    """
    following = Following(EngineSettings(extraction_interval_steps=1, review="off"))
    if case.same_answer:
        following.learn([_saying(f"{case.older.fact}\n{case.later.fact}")], [case.older, case.later])
    else:
        following.learn([_saying(case.older.fact)], [case.older])
        following.learn([_saying(case.later.fact)], [case.later])
    pairs = [pair.kind for pair in following.engine.state.ledger.pairs.values()]
    return _PAIRS[pairs[0]] if pairs else "both"


def order(case: OrderCase) -> str:
    """The label that the ledger gives a case: `held` when it waits as an order, or for what is hidden in it."""
    following = Following(EngineSettings(extraction_interval_steps=1))
    following.learn([_saying(case.fact)], [Statement(fact=case.fact, topic=GENERAL)])
    return "held" if any(one.held_for in (ORDER_REASON, HIDDEN_REASON) for one in following.findings) else "pass"


def _saying(text: str) -> Step:
    return Step(command="cat notes.txt", output=text)
