"""Is it worth it? What was asked again with the same answer, beside what the ledger has spent - as lines."""

from __future__ import annotations

from core.ledger.repeats import RepeatRow, RepeatsView
from ledger_tui.format import count, left, plural, right
from ledger_tui.rows.look import Line, Look, clip, wrap_line

_LABEL = 36
_FIGURE = 10


def repeats_lines(seen: RepeatsView, width: int, look: Look) -> list[Line]:
    """What this is and is not, totals, what was spent, then a row for each repeated command."""
    out: list[Line] = []
    for text in (*_ABOUT, *(() if seen.noted else (_NO_NOTE,))):
        out += wrap_line([(text, "muted")], width)
    out += [[], *_totals(seen, width), [], *_spent(seen, width), []]
    if not seen.rows:
        return [*out, *wrap_line([("No command has given the same output twice.", "text")], width)]
    out.append(_row(width, "same command, same output", ("before", "after", "tokens"), "title", "title"))
    for row in seen.rows:
        figures = (f"{row.before:,}", f"{row.after:,}", f"≈{count(row.tokens)}")
        out.append(_row(width, row.command, figures, "text", "text"))
    if seen.more:
        out += wrap_line([(f"{look.signs.gap} {plural(seen.more, 'more command')} with fewer tokens", "faint")], width)
    return out


def repeats_text(seen: RepeatsView) -> str:
    """The rows with their figures as tab-separated text, for copying."""
    rows = ["command\tbefore\tafter\ttokens again", *map(_line_of, seen.rows)]
    return "\n".join(rows)


_ABOUT = (
    "An observation, no proof: it counts what came again, not what would have come again without the notes. "
    "Before and after mean the first note of this session, whatever it was about.",
    "≈ is an estimate: characters / 4.",
)
_NO_NOTE = "No note was put in front of the agent yet: everything counts as before."


def _totals(seen: RepeatsView, width: int) -> list[Line]:
    rows: list[Line] = [_row(width, "", ("before", "after", ""), "title", "title")]
    figures = (
        ("calls", f"{seen.calls_before:,}", f"{seen.calls_after:,}"),
        (
            "same command, same output again",
            _share(seen.repeats_before, seen.calls_before),
            _share(seen.repeats_after, seen.calls_after),
        ),
        ("tokens read again", f"≈{count(seen.repeated_tokens_before)}", f"≈{count(seen.repeated_tokens_after)}"),
    )
    return rows + [_row(width, label, (before, later, ""), "muted", "text") for label, before, later in figures]


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({part * 100 / whole:.0f} %)" if whole else f"{part:,}"


def _spent(seen: RepeatsView, width: int) -> list[Line]:
    repeated = seen.repeated_tokens_before + seen.repeated_tokens_after
    rows = (
        ("read again by the agent", f"≈{count(repeated)} tokens"),
        ("extractions, OpenCode's count", f"{count(seen.extraction_tokens)} tokens"),
        ("notes shown to the agent", f"≈{count(seen.note_tokens)} tokens"),
    )
    return [clip([(left(label, _LABEL), "muted"), (figure, "strong")], width) for label, figure in rows]


def _row(width: int, label: str, figures: tuple[str, str, str], style: str, figure_style: str) -> Line:
    """A label that takes the room there is, and figures in columns."""
    kept = figures if figures[2] else figures[:2]
    cells = min(_FIGURE, max(6, (width - 8) // 3))
    room = max(1, width - cells * len(kept))
    room = room if figures[2] else min(_LABEL, room)
    return [(left(label, room), style), *((right(figure, cells), figure_style) for figure in kept)]


def _line_of(row: RepeatRow) -> str:
    return f"{row.command}\t{row.before}\t{row.after}\t{row.tokens}"
