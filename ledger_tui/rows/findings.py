"""Rows of the Findings pane: a heading per topic, then its findings, pinned ones first, superseded ones last."""

from __future__ import annotations

from dataclasses import dataclass

from core.views import FindingView, SessionView, TopicView
from ledger_tui.format import clock, fit, left, right, width_of, wrap
from ledger_tui.rows.look import Line, Look, clip, measure, spread

MAX_LINES = 2
"""Lines a fact may take in the list; the receipt shows all of it."""

LONG_LIST = 400
"""From this many findings on each takes one line, so that measuring the list stays cheap."""

_SIDE = 12
"""Cells for step and clock time beside the first line."""

_MARK_CELLS = 48
"""Cells a mark may take."""

_WIDE = 44
"""From this width on a state's word says the reason as well."""


@dataclass(frozen=True, slots=True)
class TopicRow:
    """The heading of a topic."""

    key: str
    topic: TopicView
    selectable: bool = False

    def height(self, width: int) -> int:
        """Always 1."""
        return 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """The topic, whether it is muted, and how many of its places are taken."""
        full = len(self.topic.findings) >= self.topic.cap > 0
        places = f"{len(self.topic.findings)} of {self.topic.cap}" if self.topic.cap else str(len(self.topic.findings))
        side: Line = [(" muted ", "waiting")] if self.topic.muted else []
        return [spread(width, [], (self.topic.topic, "topic"), [*side, (" " + places, "waiting" if full else "faint")])]

    def text(self) -> str:
        """The topic."""
        return self.topic.topic


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding."""

    key: str
    finding: FindingView
    topic: str
    muted: bool
    max_lines: int = MAX_LINES
    selectable: bool = True

    def height(self, width: int) -> int:
        """As many lines as the fact needs, up to `max_lines`."""
        if self.max_lines == 1:
            return 1
        return len(self._wrapped(width, Look()))

    def lines(self, width: int, look: Look) -> list[Line]:
        """Sign, fact, a word for any state out of the ordinary, step, clock time."""
        finding = self.finding
        role = role_of(finding)
        step = step_of(finding)
        side = [(" " + right(step, 5), "faint"), (right(clock(finding.established_at, look.zone), 6), "faint")]
        style = {"superseded": "superseded", "held": "muted"}.get(finding.state, "text")
        first, *more = self._wrapped(width, look)
        out = [spread(width, [(look.signs.of(role) + " ", role)], (first, style), side)]
        out += [clip([("  ", "text"), (line, style)], width) for line in more]
        if finding.superseded_by and self.max_lines > 1:
            start = "  superseded → "
            out[-1] = [(start, "superseded"), (fit(finding.superseded_by, width - width_of(start)), "superseded")]
        elif word := self._word(width, look):
            _append_word(out, word, role, width)
        return out

    def text(self) -> str:
        """Fact, topic and state."""
        return f"{self.finding.fact} {self.topic} {word_of(self.finding)} {self.finding.superseded_by}".rstrip()

    def _word(self, width: int, look: Look) -> str:
        wide = width >= _WIDE and self.max_lines > 1
        return fit(word_of(self.finding, look if wide else None), width - 4)

    def _wrapped(self, width: int, look: Look) -> list[str]:
        if self.finding.superseded_by:
            return [*wrap(self.finding.fact, max(10, width - 2 - _SIDE), 1), ""][: self.max_lines]
        word = self._word(width, look)
        room = max(10, width - 2 - _SIDE)
        lines = wrap(self.finding.fact, room, self.max_lines, rest=width - 2)
        if word and self.max_lines > 1 and len(lines) == 1 and len(lines[0]) + len(word) + 2 > room:
            lines.append("")
        return lines


def _append_word(lines: list[Line], word: str, role: str, width: int) -> None:
    """Put the state's word behind the fact where there is room, else over its end."""
    if len(lines) > 1:
        last = clip([span for span in lines[-1] if span[0]], width - len(word) - 2)
        lines[-1] = [*last, ("  " if measure(last) > 2 else "", "text"), (word, role)]
        return
    sign, (fact, style), *side = lines[0]
    shown = fact.rstrip()
    room = measure([(fact, style)])
    kept = left(shown, max(0, min(len(shown), room - len(word) - 2)))
    filler = max(0, room - measure([(kept, style)]) - len(word) - 2)
    lines[0] = clip([sign, (kept, style), ("  " + word, role), (" " * filler, style), *side], width)


def step_of(finding: FindingView) -> str:
    """ "s12"; without a step "you" for a fact of a person's own, "early" for one from before the ledger came."""
    if finding.step:
        return f"s{finding.step}"
    return "you" if finding.source == "user" else "early"


def role_of(finding: FindingView) -> str:
    """The role that signs and colours a finding."""
    if finding.mark and finding.state in ("accepted", "fresh"):
        return "marked"
    if finding.state == "accepted":
        return "pinned" if finding.pinned else "known"
    return finding.state


def word_of(finding: FindingView, look: Look | None = None) -> str:
    """The word for a state out of the ordinary, with its reason when `look` is given; empty for a plain known fact."""
    words = {"accepted": "", "held": "held: waits for you", "fresh": "confirmed again"}
    word = words.get(finding.state, finding.state)
    if look and finding.state == "doubtful" and finding.stale_for:
        word = f"doubtful: file changed {clock(finding.stale_at, look.zone)}".rstrip()
    mark = mark_of(finding) if look else "marked" if finding.mark else ""
    return ", ".join(part for part in ("pinned" if finding.pinned else "", word, mark) if part)


def mark_of(finding: FindingView) -> str:
    """What a reader should know of it, without a subject: "reads like an order to the agent"."""
    return fit(finding.mark.removeprefix("it "), _MARK_CELLS)


def finding_rows(view: SessionView) -> list[TopicRow | FindingRow]:
    """The rows for this session, topics in the order of the view."""
    lines = 1 if view.findings > LONG_LIST else MAX_LINES
    rows: list[TopicRow | FindingRow] = []
    for topic in view.topics:
        if not topic.findings:
            continue
        rows.append(TopicRow("topic:" + topic.topic, topic))
        ordered = sorted(topic.findings, key=lambda found: found.state == "superseded")
        rows += [FindingRow(found.id, found, topic.topic, topic.muted, lines) for found in ordered]
    return rows
