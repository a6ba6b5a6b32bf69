"""Long texts: the receipt of a finding, a step with its outputs, an extraction, an event - as lines for one width."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.ledger.steps import Call, Step
from core.views import ExtractionView, FindingView, LogRow, ReceiptCall
from ledger_tui.format import clock, cut, money, plural, tame, took, width_of, wrap
from ledger_tui.marks import Support, pattern_of, supported
from ledger_tui.rows.extractions import ROLES, outcome, steps_of
from ledger_tui.rows.findings import role_of, word_of
from ledger_tui.rows.look import Line, Look
from ledger_tui.rows.steps import summary_of

MAX_OUTPUT_LINES = 200
"""Lines of one output that are shown when all are asked for."""

NEAR = 2
"""Lines shown around one with a supporting word."""

WHOLE = 12
"""An output of up to so many lines is shown whole."""

_LINE_CHARS = 1_000
"""Characters of one output line that are shown."""

BEST_CALLS = 4
"""Calls of a receipt that are shown before all are asked for."""

_SCORED_CHARS = 20_000
_SHELLS = ("bash", "shell")


def receipt_lines(finding: FindingView, width: int, look: Look, *, everything: bool) -> list[Line]:
    """The fact, its state and history, then the calls it came from with their outputs, supporting words marked.

    Of many calls only those that support it best are shown, the best first, unless `everything` is asked for.
    """
    out = [*_fact_lines(finding, width, look), []]
    if not finding.receipt:
        by_hand = finding.source == "user"
        return [*out, [("Added by hand: no output stands behind it." if by_hand else "No output is kept.", "muted")]]
    pattern = pattern_of(finding.fact)
    calls = list(finding.receipt) if everything else _best(finding.receipt, pattern)
    out.append(_count_line(len(finding.receipt), len(calls)))
    for call in calls:
        command = call.command or call.summary
        out += [[], *_call_head(_when(call, look), call.tool, command, _ending(call.ok, call.exit), width)]
        lines = [supported(_shortened(line), pattern) for line in call.output.split("\n")]
        out += _output(lines, width, look, everything=everything)
    return out


def _fact_lines(finding: FindingView, width: int, look: Look) -> list[Line]:
    role = role_of(finding)
    word = word_of(finding) or "known"
    out: list[Line] = [[(text, "strong")] for text in wrap(finding.fact, width, 12)]
    out.append([(f"{look.signs.of(role)} {word}", role), (f"  {tame(finding.topic[:200])}", "topic")])
    for said in finding.history:
        out += [[(f"{look.signs.dot} ", "faint"), (text, "muted")] for text in wrap(said, width - 2, 3)]
    return out


def _best(calls: Sequence[ReceiptCall], pattern: re.Pattern[str] | None) -> list[ReceiptCall]:
    """The calls with the most telling words, those of the output counting double; all when no word tells.

    Numbers alone do not tell when another call has a word: a 64 is in many outputs by chance.
    """
    words = {id(call): (_words_in(call.output, pattern), _words_in(call.command, pattern)) for call in calls}
    ranked = sorted(calls, key=lambda call: -2 * len(words[id(call)][0]) - len(words[id(call)][1]))
    some = [call for call in ranked if any(words[id(call)])]
    sure = [call for call in some if not all(word.isdigit() for word in set.union(*words[id(call)]))]
    return (sure or some)[:BEST_CALLS] or list(calls)


def _words_in(text: str, pattern: re.Pattern[str] | None) -> set[str]:
    return {match[0].casefold() for match in pattern.finditer(text[:_SCORED_CHARS])} if pattern else set()


def _count_line(whole: int, shown: int) -> Line:
    calls = f"From {plural(whole, 'call')}"
    if shown < whole:
        calls += f", the {shown} that support it best first" if shown > 1 else ", the one that supports it best"
    return [(calls, "title"), ("; its words are ", "muted"), (" marked ", "mark")]


def _when(call: ReceiptCall, look: Look) -> str:
    step = f"step {call.step}" if call.step else "before the ledger"
    return f"{step}  {clock(call.t, look.zone, seconds=True)}".rstrip()


def _ending(ok: bool, code: int | None) -> tuple[str, str]:
    if ok and not code:
        return ("ok", "faint")
    return (f"exit {code}" if code else "failed", "error")


def _call_head(when: str, tool: str, command: str, ending: tuple[str, str], width: int) -> list[Line]:
    """One line that says which call, then the command."""
    start: Line = [(when, "muted"), (f"  {tame(tool[:40])}", "busy"), ("  " + ending[0], ending[1])]
    prompt = "$ " if tool in _SHELLS else "  "
    lines: list[Line] = [[("  ", "faint"), (text, "text")] for text in wrap(command, width - 2, 6)]
    lines[0][0] = (prompt, "faint")
    return [start, *lines]


def _output(lines: list[Support], width: int, look: Look, *, everything: bool) -> Iterator[Line]:
    """Output lines behind a rule; of a long output only what is near a mark, unless `everything` is asked for."""
    rule: Line = [(look.signs.frame[5] + " ", "frame")]
    while lines and not lines[-1].text.strip():
        lines.pop()
    if not lines:
        yield [*rule, ("no output", "faint")]
    shown = _chosen(lines, everything=everything)
    skipped = 0
    for index, line in enumerate(lines):
        if index not in shown:
            skipped += 1
            continue
        if skipped:
            yield [*rule, (f"{look.signs.gap} {plural(skipped, 'line')} left out", "faint")]
            skipped = 0
        for piece in _pieces(line, max(8, width - 2)):
            yield [*rule, *piece]
    if skipped:
        yield [*rule, (f"{look.signs.gap} {plural(skipped, 'line')} left out", "faint")]


def _shortened(line: str) -> str:
    rest = len(line) - _LINE_CHARS
    return f"{line[:_LINE_CHARS]} … {plural(rest, 'more character')}" if rest > 0 else line


def _chosen(lines: list[Support], *, everything: bool) -> set[int]:
    if everything or len(lines) <= WHOLE:
        return set(range(min(len(lines), MAX_OUTPUT_LINES)))
    marked = [index for index, line in enumerate(lines) if line.marks][: MAX_OUTPUT_LINES // 4]
    if not marked:
        return set(range(WHOLE // 2)) | set(range(len(lines) - WHOLE // 2, len(lines)))
    return {near for index in marked for near in range(index - NEAR, index + NEAR + 1)}


def _pieces(line: Support, width: int) -> list[Line]:
    """One output line cut into screen lines, its marks kept."""
    spans: Line = []
    at = 0
    for start, end in line.marks:
        spans += [(tame(line.text[at:start].expandtabs(4)), "muted"), (tame(line.text[start:end]), "mark")]
        at = end
    spans.append((tame(line.text[at:].expandtabs(4)), "muted"))
    out: list[Line] = [[]]
    used = 0
    for text, style in spans:
        rest = text
        while rest:
            if used >= width:
                out.append([])
                used = 0
            head = cut(rest, width - used) or ("" if used else rest[:1])
            out[-1].append((head, style))
            used = used + width_of(head) if head else width
            rest = rest[len(head) :]
    return out


def step_lines(step: Step, agent: str, width: int, look: Look, *, everything: bool) -> list[Line]:
    """A step: its calls with command and output."""
    head = f"Step {step.n}" if step.n else "Step from before the ledger"
    facts = [clock(step.t, look.zone, seconds=True), plural(step.tokens.total, "token"), money(step.cost), agent]
    out: list[Line] = [[(head, "strong"), ("  " + f" {look.signs.dot} ".join(tame(f) for f in facts if f), "muted")]]
    for call in step.calls:
        out.append([])
        ending = _ending(call.ok, call.exit)
        out += _call_head(took(call.ms), call.tool, call.command or summary_of(call), ending, width)
        lines = [Support(_shortened(line), ()) for line in call.output.split("\n")]
        out += _output(lines, width, look, everything=everything)
    if not step.calls:
        out += [[], [("The agent answered without calling a tool.", "muted")]]
    return out


def call_text(call: Call) -> str:
    """A call as plain text, for copying."""
    return f"$ {call.command or summary_of(call)}\n{call.output}".rstrip()


def receipt_text(finding: FindingView) -> str:
    """A receipt as plain text, for copying."""
    calls = [f"step {call.step}: $ {call.command or call.summary}\n{call.output}".rstrip() for call in finding.receipt]
    return "\n\n".join([f"{finding.fact}\n[{finding.topic}]", *calls])


def extraction_lines(x: ExtractionView, width: int, look: Look) -> list[Line]:
    """All that is known of an extraction, one fact a line."""
    facts = {
        "state": x.state,
        "outcome": outcome(x) if x.state in ("done", "failed", "skipped") else "",
        "steps": f"{steps_of(x)}, {plural(x.steps, 'step')}",
        "agent": x.agent,
        "model": x.model,
        "started": clock(x.started, look.zone, seconds=True),
        "took": took(x.ms) if x.ms else "",
        "sent": plural(x.prompt_chars, "character") if x.prompt_chars else "",
        "tokens": f"{x.tokens:,}" if x.tokens else "",
        "cost": money(x.cost) if x.cost else "",
        "found": f"{x.found}, {x.added} new, {x.duplicates} known, {x.rejected} rejected" if x.state == "done" else "",
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
