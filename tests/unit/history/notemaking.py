"""Answers, sessions and a model without a network, for the tests of distilling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import LedgerError
from core.history.inference import Reply
from core.history.material import Material, Work
from core.history.question import question
from core.history.rows import Schema, SessionRow
from core.history.transcript import Bounds, Transcript
from core.ledger.observations import Tokens

GOOD = "## What Was Worked On\n\nThe parser in `alpha.py`.\n\n## Follow-ups\n\n- Test it.\n"


def row(id: str = "ses_a", **more: object) -> SessionRow:
    """A session that began at 2026-01-31 23:59:59 UTC."""
    values: dict[str, object] = {
        "id": id, "title": f"Title of {id}", "directory": "/home/u/project", "parent": "", "schema": Schema.V1,
        "time_created": 1_769_903_999_000, "time_updated": 1_769_904_000_000,
    }  # fmt: skip
    return SessionRow(**(values | more))  # type: ignore[arg-type]


def said(text: str, hints: Sequence[str] = ()) -> Transcript:
    """A transcript of one part, or of none when there is no text."""
    parts = int(bool(text))
    return Transcript(
        text=text, chars=len(text), left_out=0, skipped={}, parts=parts, roles={"user": parts}, hints=tuple(hints)
    )


def works(count: int) -> list[Work]:
    """Sessions ses_0, ses_1, …"""
    return [Work(row=row(f"ses_{n}"), database=Path("unused.db")) for n in range(count)]


@dataclass
class Sessions:
    """Reads sessions from memory; `texts` has those that differ from the others, None: deleted."""

    texts: dict[str, str | None] = field(default_factory=dict)
    hints: tuple[str, ...] = ()

    def __call__(self, work: Work, bounds: Bounds) -> Material | None:
        text = self.texts.get(work.row.id, f"[user]\nWork of {work.row.id}")
        if text is None:
            return None
        made = said(text, self.hints)
        return Material(question=question(work.row, made), parts=made.parts, hints=made.hints)


Answer = str | LedgerError


@dataclass
class Model:
    """Fits `Distiller`: answers the n-th question with `answers[n]`, all others with `otherwise`."""

    answers: list[Answer] = field(default_factory=list)
    otherwise: Answer = GOOD
    cut: bool = False
    questions: list[str] = field(default_factory=list)
    before: Callable[[], object] = lambda: None
    at_once: int = 0
    most_at_once: int = 0

    async def distil(self, question: object) -> Reply:
        text = str(getattr(question, "text", ""))
        self.questions.append(text)
        answer = self.answers.pop(0) if self.answers else self.otherwise
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0)
            self.before()
        finally:
            self.at_once -= 1
        if isinstance(answer, LedgerError):
            raise answer
        return Reply(text=answer, tokens=Tokens(input=100, output=20), cost=0.5, ms=10, model="p/m", cut=self.cut)

    async def aclose(self) -> None:
        pass
