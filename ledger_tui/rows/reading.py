"""Long texts: a step with its outputs, an extraction, an event - as lines for one width."""

from __future__ import annotations

from core.ledger.steps import Call, Step
from core.views import ExtractionView, LogRow
from ledger_tui.format import clock, money, plural, tame, took, wrap
from ledger_tui.marks import Support
from ledger_tui.rows.extractions import ROLES, outcome, steps_of
from ledger_tui.rows.look import Line, Look
from ledger_tui.rows.outputs import MAX_OUTPUT_LINES, call_head, command_lines, ending_of, output_lines, shortened
from ledger_tui.rows.steps import summary_of


def step_lines(step: Step, agent: str, width: int, look: Look, *, everything: bool) -> list[Line]:
    """A step: its calls with command and output."""
    head = f"Step {step.n}" if step.n else "Step from before the ledger"
    facts = [clock(step.t, look.zone, seconds=True), plural(step.tokens.total, "token"), money(step.cost), agent]
    out: list[Line] = [[(head, "strong"), ("  " + f" {look.signs.dot} ".join(tame(f) for f in facts if f), "muted")]]
    for call in step.calls:
        out.append([])
        command = command_lines(call.command or summary_of(call), width)
        out += call_head(took(call.ms), call.tool, command, ending_of(call.ok, call.exit))
        lines = [Support(shortened(line), ()) for line in call.output.split("\n")]
        out += output_lines(lines, width, look, everything=everything)
    if not step.calls:
        out += [[], [("The agent answered without calling a tool.", "muted")]]
    return out


def call_text(call: Call) -> str:
    """A call as plain text, for copying."""
    return f"$ {call.command or summary_of(call)}\n{call.output}".rstrip()


def found_in(x: ExtractionView) -> str:
    """What became of each fact that was found."""
    return f"{x.found}, {x.added} new, {x.duplicates} known, {x.held} held, {x.rejected} rejected"


def extraction_lines(x: ExtractionView, width: int, look: Look) -> list[Line]:
    """All that is known of an extraction, one fact a line."""
    facts = {
        "state": x.state,
        "outcome": outcome(x) if x.state in ("done", "failed", "skipped") else "",
        "steps": f"{steps_of(x)}, {plural(x.steps, 'step')}" if x.last_step else f"{steps_of(x)} from before",
        "agent": x.agent,
        "model": x.model,
        "started": clock(x.started, look.zone, seconds=True),
        "took": took(x.ms) if x.ms else "",
        "sent": plural(x.prompt_chars, "character") if x.prompt_chars else "",
        "tokens": f"{x.tokens:,}" if x.tokens else "",
        "cost": money(x.cost) if x.cost else "",
        "found": found_in(x) if x.state == "done" else "",
        "next try": clock(x.retry_at, look.zone, seconds=True),
    }
    out: list[Line] = [[(f"Extraction {tame(x.id[:60])}", "strong")], []]
    for name, value in facts.items():
        style = ROLES[x.state] if name == "state" else "error" if name == "outcome" and x.state == "failed" else "text"
        for index, text in enumerate(wrap(value, width - 12, 20) if value else []):
            out.append([(f"{'' if index else name:<12}", "muted"), (text, style)])
    return out


def event_lines(event: LogRow, width: int, look: Look) -> list[Line]:
    """An event of the log, whole."""
    out: list[Line] = [
        [(clock(event.t, look.zone, seconds=True), "muted"), ("  " + tame(event.kind[:40]), "strong")],
        [],
    ]
    style = {"warn": "warn", "error": "error"}.get(event.level, "text")
    out += [[(text, style)] for text in wrap(event.text, width, 40)]
    for line in event.detail.split("\n")[:MAX_OUTPUT_LINES] if event.detail else []:
        out += [[(text, "muted")] for text in wrap(line, width, 40)]
    return out
