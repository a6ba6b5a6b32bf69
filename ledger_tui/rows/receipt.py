"""The receipt of a finding as lines: the fact, why it is in its state, its history, and the calls that support it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.views import FindingView, ReceiptCall
from ledger_tui.format import clock, plural, tame, wrap
from ledger_tui.marks import Telling, borne_out, pattern_of, supported, telling
from ledger_tui.rows.findings import mark_of, role_of, word_of
from ledger_tui.rows.look import Line, Look, say, wrap_line
from ledger_tui.rows.outputs import call_head, command_lines, ending_of, output_lines, shortened, text_lines

BEST_CALLS = 4
"""Calls of a receipt that are shown before all are asked for, where no lines are known to support the fact."""

_SCORED_CHARS = 20_000
_COMMAND_CHARS = 2_000


def receipt_lines(finding: FindingView, width: int, look: Look, *, everything: bool) -> list[Line]:
    """The fact, its state and history, then the calls it came from with their outputs, supporting words marked.

    Only the calls that support it are shown (where that is not known, those with most of its words), unless
    `everything` is asked for.
    """
    out = [*fact_lines(finding, width, look), []]
    if not finding.receipt:
        by_hand = finding.source == "user"
        return [*out, [("Added by hand: no output stands behind it." if by_hand else "No output is kept.", "muted")]]
    known = any(call.lines for call in finding.receipt)
    pattern = pattern_of(finding.fact)
    best = [call for call in finding.receipt if call.lines] if known else _best(finding.receipt, pattern)
    calls = list(finding.receipt) if everything else best
    out += wrap_line(_count_line(finding, len(calls), look, known=known), width)
    found = telling(finding.fact)
    for call in calls:
        out += [[], *_call_lines(call, None if known else pattern, found, width, look, everything=everything)]
    if rest := len(finding.receipt) - len(calls):
        sent = "more call was" if rest == 1 else "more calls were"
        out += [[], *wrap_line(say(f"{rest} {sent} extracted with it; {{expand}} shows all.", look), width)]
    return out


def fact_lines(finding: FindingView, width: int, look: Look) -> list[Line]:
    """The fact, its state and why it is so, its files and its history."""
    role = role_of(finding)
    word = word_of(finding) or "known"
    out: list[Line] = [[(text, "strong")] for text in wrap(finding.fact, width, 12)]
    out.append([(f"{look.signs.of(role)} {word}", role), (f"  {tame(finding.topic[:200])}", "topic")])
    for line in _why(finding, look):
        out += wrap_line(line, width)
    if finding.files:
        out += [[(text, "muted")] for text in wrap("about " + ", ".join(finding.files), width, 3)]
    for said in finding.history:
        out += [[(f"{look.signs.dot} ", "faint"), (text, "muted")] for text in wrap(said, width - 2, 3)]
    return out


def _why(finding: FindingView, look: Look) -> list[Line]:
    """Sentences for a state out of the ordinary: why, and what follows from it."""
    out: list[Line] = []
    if finding.state == "held":
        reason = tame((finding.held_for or "it waits for you")[:400])
        does = say("Not shown to the agent. {accept} accepts it, {reject_fact} rejects it.", look)
        out += [[(f"Held: {reason}. ", "held"), *does]]
    elif finding.state == "doubtful":
        file = tame((finding.stale_for or "its file")[-300:])
        when = f" at {clock(finding.stale_at, look.zone)}" if finding.stale_at else ""
        out.append([(f"Doubtful: {file} changed{when}. ", "doubtful"), (_DOUBTFUL, "muted")])
    elif finding.state == "superseded":
        newer = tame(finding.superseded_by[:400]) or "a newer fact"
        out.append([(f"Superseded by: {newer}. ", "strong"), ("Not shown to the agent any more.", "muted")])
    if finding.mark:
        out.append([(f"It {tame(mark_of(finding)[:200])}", "marked"), ("; it was not held (review is off).", "muted")])
    return out


_DOUBTFUL = "No stop rests on it; it holds again when a later extraction finds it again."


def _call_lines(
    call: ReceiptCall, pattern: re.Pattern[str] | None, found: Telling, width: int, look: Look, *, everything: bool
) -> list[Line]:
    """One call; its own lines say what supports the fact, else every match of `pattern` is marked."""
    command = call.command or call.summary
    evidence = {line - 1 for line in call.lines if line}
    lines = [
        borne_out(shortened(text), found) if n in evidence else supported(shortened(text), pattern)
        for n, text in enumerate(call.output.splitlines())
    ]
    by_command = 0 in call.lines
    shown = _marked(command, found, width) if by_command else command_lines(command, width)
    sign = look.signs.crumb if by_command else ""
    return [
        *call_head(_when(call, look), call.tool, shown, ending_of(call.ok, call.exit), sign),
        *output_lines(lines, width, look, everything=everything, evidence=evidence),
    ]


def _marked(command: str, found: Telling, width: int) -> list[Line]:
    text = " ".join(command[:_COMMAND_CHARS].split())
    return text_lines(borne_out(text, found), max(8, width - 2))[:6]


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


def _count_line(finding: FindingView, shown: int, look: Look, *, known: bool) -> Line:
    whole = len(finding.receipt)
    text = f"From {plural(whole, 'call')}"
    verb = ("comes nearest", "come nearest") if finding.state == "held" else ("supports it", "support it")
    if shown < whole and known:
        text += f", the {shown} that {verb[1]}" if shown > 1 else f", the one that {verb[0]}"
    elif shown < whole:
        text += f", the {shown} that support it best first" if shown > 1 else ", the one that supports it best"
    signed = f"; such lines have {look.signs.crumb}, its words are " if known else "; its words are "
    return [(text, "title"), (signed, "muted"), (" marked ", "mark")]


def _when(call: ReceiptCall, look: Look) -> str:
    step = f"step {call.step}" if call.step else "before the ledger"
    return f"{step}  {clock(call.t, look.zone, seconds=True)}".rstrip()


def receipt_text(finding: FindingView) -> str:
    """A receipt as plain text, for copying."""
    calls = [f"step {call.step}: $ {call.command or call.summary}\n{call.output}".rstrip() for call in finding.receipt]
    return "\n\n".join([f"{finding.fact}\n[{finding.topic}]", *calls])
