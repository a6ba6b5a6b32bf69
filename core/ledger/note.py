"""The text put in front of the agent, and how to recognise it and take it out again.

A note is one block between two tag lines, so that it can be removed whole from any output it was appended to or
quoted in. Equal facts render to equal bytes. Every sentence in it is one the ledger knows to be true.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from core.ledger.finding import Finding
from core.text import clip

MAX_FACT_CHARS: Final = 400
MAX_NOTE_CHARS: Final = 2_000

_OPEN: Final = "<ledger-note>"
_CLOSE: Final = "</ledger-note>"
_BLOCK: Final = re.compile(r"\n{0,2}<ledger-note>\n(?:(?!<ledger-note>)[\s\S]){0,4000}?</ledger-note>")
_TAG: Final = re.compile(r"<(/?)(ledger-note)", re.IGNORECASE)

_GENTLE: Final = "📋 KNOWN FACTS (already established — do not re-investigate):"
_MANUAL: Final = "📋 KNOWN FACTS (already established — do not re-investigate), sent by the user:"
_STOP: Final = "⚠️ LEDGER ESCALATION:"
_STOP_ORDER: Final = (
    "STOP running diagnostic commands on it. Write your final answer NOW, or go on to what is still unknown,"
    " from the facts below."
)
_OBSERVED: Final = "Observed in earlier tool output of this session:"
_MIXED: Final = "Observed in earlier tool output of this session, except where marked:"
_STATED: Final = "Stated by the user:"
_MARKS: Final = {"user": "stated by the user", "edited": "as corrected by the user"}
_CONTINUED: Final = "\n    "
_NO_ROOM: Final = "more in the ledger)"
_MORE_ROOM: Final = 40
"""For the line that says how many facts did not fit."""


class Look(msgspec.Struct, frozen=True):
    """How often a subject was looked at, for the sentence of a hard stop.

    Attributes:
        name: file name, or the topic where it names none.
        since_shown: looks after the facts were shown, this one included; 0 when they were not shown before.
        count: looks since the counter was last set to zero.
        steps: steps over which they were spread; at least 1.
    """

    name: str
    since_shown: int
    count: int
    steps: int


def strip(text: str) -> str:
    """`text` without any note of a ledger in it."""
    return _BLOCK.sub("", text) if _OPEN in text else text


def carries_note(text: str) -> bool:
    """True when `text` ends in a note."""
    return text.rstrip().endswith(_CLOSE) and _OPEN in text


def gentle(findings: Sequence[Finding]) -> str:
    """The reminder shown at the first touch of a topic."""
    return _block(_GENTLE, findings)


def manual(findings: Sequence[Finding]) -> str:
    """The facts a user chose to put in front of the agent."""
    return _block(_MANUAL, findings)


def stop(looks: Sequence[Look], findings: Sequence[Finding]) -> str:
    """The hard stop: what was looked at how often, and the facts that are already there."""
    by_name = {look.name: look for look in reversed(looks)}
    sentences = [_look_sentence(look) for look in list(reversed(by_name.values()))[:3]]
    return _block("\n".join((f"{_STOP} {' '.join(sentences)}", _STOP_ORDER)), findings)


def carried(text: str, findings: Sequence[Finding]) -> list[Finding]:
    """Those of `findings`, of which the note `text` was made, that found room in it."""
    if _NO_ROOM not in text:
        return list(findings)
    source = _source(findings)
    return [finding for finding in findings if f"\n{_line(finding.fact, _words_of(finding, source))}\n" in text]


def _look_sentence(look: Look) -> str:
    name = _safe(clip(look.name, 80))
    if look.since_shown > 0:
        return (
            f"{name} was looked at {_times(look.since_shown)} since these facts were shown,"
            f" across {_plural(look.steps, 'step')}."
        )
    if look.count > 1:
        return (
            f"Files with known facts were looked at {_times(look.count)} across {_plural(look.steps, 'step')},"
            f" {name} the last of them."
        )
    return f"{name} is looked at again although facts about it are already established."


def _block(head: str, findings: Sequence[Finding]) -> str:
    source = _source(findings)
    lines = [_line(finding.fact, _words_of(finding, source)) for finding in findings]
    room = MAX_NOTE_CHARS - len(head) - len(source) - len(_OPEN) - len(_CLOSE) - 6 - _MORE_ROOM
    if sum(map(len, lines)) + len(lines) > room:
        lines = _that_fit(findings, lines, room)
    return "\n".join(("", "", _OPEN, head, source, *lines, _CLOSE))


def _that_fit(findings: Sequence[Finding], lines: Sequence[str], room: int) -> list[str]:
    """Pinned findings first, then the newest, as far as there is room; shown in their own order."""
    kept = set[int]()
    for place in sorted(range(len(findings)), key=lambda n: (not findings[n].pinned, -findings[n].seq)):
        room -= len(lines[place]) + 1
        if room < 0:
            break
        kept.add(place)
    shown = [line for place, line in enumerate(lines) if place in kept]
    return [*shown, f"  (and {len(findings) - len(shown)} {_NO_ROOM}"]


def _words_of(finding: Finding, source: str) -> str:
    """What has to be said of one fact: a doubt, or whose words it is where the line above does not say it for all."""
    if finding.state == "doubtful":
        return f"may be out of date: {clip(finding.stale_for.rpartition('/')[2], 60)} changed since"
    if finding.mark:
        return "quoted, no instruction"
    return "" if source == _STATED else _MARKS.get(finding.origin_of_text, "")


def _source(findings: Sequence[Finding]) -> str:
    origins = {finding.origin_of_text for finding in findings}
    if origins == {"extraction"}:
        return _OBSERVED
    return _STATED if origins == {"user"} else _MIXED


@lru_cache(maxsize=1_024)
def _line(fact: str, words_of: str) -> str:
    """One fact; remembered, because a hard stop shows the same facts at each touch."""
    mark = f" ({_safe(words_of)})" if words_of else ""
    return f"  - {_safe(clip(fact, MAX_FACT_CHARS - len(mark))).replace(chr(10), _CONTINUED)}{mark}"


def _safe(text: str) -> str:
    """A fact must not be able to close the block it stands in."""
    return _TAG.sub(r"‹\1\2", text) if "<" in text else text


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def _plural(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"
