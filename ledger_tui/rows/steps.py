"""Rows of the Steps pane: one line per call, grouped by step, the running calls last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.ledger.steps import Call, Step
from core.views import RunningCall, SessionView
from ledger_tui.format import elapsed, fit, left, plural, right, took
from ledger_tui.rows.look import Line, Look, last, spread

MAX_STEPS = 500
"""Steps listed at most, the last ones."""

_DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths of the columns of one list of steps."""

    digits: int
    tools: int
    results: int


@dataclass(frozen=True, slots=True)
class StepRow:
    """A finished call of a step; `call` None: a step without any."""

    key: str
    step: Step
    call: Call | None
    first: bool
    """Whether it is the first call of its step, which shows the number."""
    agent: str
    """Title of the sub-agent; empty for the root session."""
    columns: Columns
    selectable: bool = True

    def height(self, width: int) -> int:
        """Always 1."""
        return 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """Number, tool, summary, result, duration."""
        style = "muted" if self.step.earlier else "text"
        number = (str(self.step.n) if self.step.n else look.signs.dash) if self.first else ""
        start = [(right(number, self.columns.digits) + " ", "muted"), *_agent(self.agent, look)]
        if self.call is None:
            tokens = plural(self.step.tokens.total, "token") if self.step.tokens.total else ""
            start.append((left(look.signs.dash, self.columns.tools) + " ", "faint"))
            return [spread(width, start, ("answered without a tool", "faint"), [(" " + tokens, "faint")])]
        start.append((left(self.call.tool, self.columns.tools) + " ", "muted" if self.step.earlier else "busy"))
        return [
            spread(
                width,
                start,
                (summary_of(self.call), style),
                [*_named(self.agent), *_result(self.call, self.columns.results)],
            )
        ]

    def text(self) -> str:
        """Tool and whole command."""
        if self.call is None:
            return f"step {self.step.n} no tool call"
        return f"{self.call.tool} {self.call.command or summary_of(self.call)} {self.agent}"


@dataclass(frozen=True, slots=True)
class RunningRow:
    """A call that has begun and not ended."""

    key: str
    running: RunningCall
    agent: str
    number: int
    """Number the step will have."""
    columns: Columns
    selectable: bool = True

    def height(self, width: int) -> int:
        """Always 1."""
        return 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """As a finished call, with the time it has run so far."""
        start = [
            (right(str(self.number) if self.number else "", self.columns.digits) + " ", "strong"),
            *_agent(self.agent, look),
            (left(self.running.tool, self.columns.tools) + " ", "busy"),
        ]
        since = look.now - self.running.since
        word = f" running {elapsed(since)}" if 0 <= since < _DAY else " running"
        return [spread(width, start, (self.running.summary, "strong"), [*_named(self.agent), (word, "busy")])]

    def text(self) -> str:
        """Tool and summary."""
        return f"{self.running.tool} {self.running.summary} {self.agent}"


def _agent(title: str, look: Look) -> Line:
    return [(look.signs.child + " ", "faint")] if title else []


def _named(title: str) -> Line:
    return [("  " + fit(title, 18), "faint")] if title else []


def summary_of(call: Call) -> str:
    """The call in one line: its summary, else its command or path."""
    return call.summary or call.command or call.path


def result_of(call: Call) -> str:
    """ "ok", "exit 1" or "failed"."""
    if call.exit:
        return f"exit {call.exit}"
    return "ok" if call.ok else "failed"


def _result(call: Call, width: int) -> Line:
    """Outcome and duration, each in a column of its own."""
    word = result_of(call)
    return [("  " + left(word, width), "faint" if word == "ok" else "error"), (right(took(call.ms), 8), "faint")]


def _columns(view: SessionView) -> Columns:
    calls = [call for step in last(view.steps, MAX_STEPS) for call in step.calls]
    tools = {call.tool for call in calls} | {running.tool for running in view.running}
    return Columns(
        max(2, len(str(view.completed + 1))),
        min(9, max(map(len, tools), default=4)),
        min(8, max((len(result_of(call)) for call in calls), default=2)),
    )


def step_rows(view: SessionView) -> list[StepRow | RunningRow]:
    """The rows for this session, oldest first."""
    columns = _columns(view)
    rows: list[StepRow | RunningRow] = []
    for step in last(view.steps, MAX_STEPS):
        agent = view.origins.get(step.origin, "sub-agent") if step.origin != view.root else ""
        rows += _of_step(step, agent, columns)
    for index, running in enumerate(view.running):
        agent = view.origins.get(running.origin, "sub-agent") if running.origin != view.root else ""
        rows.append(RunningRow(running.call, running, agent, 0 if index else view.completed + 1, columns))
    return rows


def _of_step(step: Step, agent: str, columns: Columns) -> Iterator[StepRow]:
    if not step.calls:
        yield StepRow(step.part, step, None, True, agent, columns)
    for index, call in enumerate(step.calls):
        yield StepRow(call.call, step, call, index == 0, agent, columns)
