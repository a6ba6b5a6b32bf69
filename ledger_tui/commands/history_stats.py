"""`ledger-tui history stats`: past sessions counted up."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from core.errors import UsageError
from ledger_tui.commands import history_list, history_source
from ledger_tui.output import say_json

if TYPE_CHECKING:
    from core.history.stats import Stats, Sum

HELP = "count up past sessions by day, model, project and tool"
EXAMPLES = """\
A session counts on the day it began and under the model it used last. Tokens and cost of sub-agents are counted; their
sessions stand apart (`children` in the JSON). A tool's tokens and cost are those of the messages with its calls, shared
out evenly among the calls of a message. On a terminal a bar shows each group's share of the cost, or of the tokens
where nothing had a price.

examples:
  ledger-tui history stats
  ledger-tui history stats --by day --rows 60
  ledger-tui history stats --by model,project --json
"""
_GROUPS: Final = ("day", "model", "project", "tool")
_ROWS: Final = 15
_EIGHTHS: Final = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this action's own flags."""
    parser.add_argument(
        "--json", action="store_true", default=False, help="one JSON object with every group (default: tables to read)"
    )
    parser.add_argument(
        "--by",
        metavar="GROUPS",
        type=_groups,
        default=_GROUPS,
        help="day, model, project, tool, or some of them with commas between; only tool has to read every part"
        " (default: all four)",
    )
    parser.add_argument(
        "--rows",
        metavar="N",
        type=history_source.whole_number,
        default=_ROWS,
        help=f"rows of a table, the last days or the largest of the others (default: {_ROWS})",
    )
    history_source.add_source(parser)


def run(args: argparse.Namespace) -> int:
    """Count up."""
    if args.rows < 0:
        raise UsageError(f"--rows is {args.rows}, it must not be negative", "Use 0 or more.")
    from core.history.own import own_sessions  # noqa: PLC0415
    from core.history.stats import By, count_up  # noqa: PLC0415

    with (
        history_source.gathered(args) as gathering,
        history_source.Progress("counting up") as progress,
    ):
        stats = count_up(gathering.sources, by=[By(one) for one in args.by], own=own_sessions(), on_progress=progress)
    if args.json:
        groups = {f"by_{by}": [_as_json(one, str(by)) for one in found] for by, found in stats.by.items()}
        say_json({"total": _as_json(stats.total), **groups})
    else:
        _show(stats, args.rows)
    return 0


def _as_json(one: Sum, by: str = "") -> dict[str, Any]:
    name: dict[str, Any] = {by: one.key or None} if by else {}
    calls = {"calls": one.calls, "errors": one.errors} if by == "tool" else {}
    spent = {"sessions": one.sessions, "children": one.children, "tokens": round(one.tokens), "cost": one.cost}
    return {**name, **spent, **calls}


def _show(stats: Stats, rows: int) -> None:
    history_list.write(_heading(stats.total))
    for by, found in stats.by.items():
        kept = found[-rows:] if by == "day" and rows else found[:rows]
        if kept:
            history_list.write((f"\n{_more(str(by), len(kept), len(found))}\n",))
            _table(str(by), kept, found)


def _heading(total: Sum) -> Iterator[str]:
    from ledger_tui.format import count, money, plural  # noqa: PLC0415

    children = f" and {plural(total.children, 'session')} of sub-agents" if total.children else ""
    spent = f"{count(round(total.tokens))} tokens, {money(total.cost)}"
    yield f"{plural(total.sessions, 'session')}{children}: {spent}\n"


def _more(by: str, shown: int, of: int) -> str:
    which = "last" if by == "day" else "largest"
    return f"by {by}" if shown == of else f"by {by}, the {which} {shown} of {of}"


def _table(by: str, kept: Sequence[Sum], found: Sequence[Sum]) -> None:
    """Columns and bars; on a terminal as wide as that, elsewhere whole."""
    import sys  # noqa: PLC0415

    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from ledger_tui.format import count, money  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(by, overflow="ellipsis", no_wrap=True, max_width=48)
    for name in (*(("calls", "failed") if by == "tool" else ()), "sessions", "tokens", "cost"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    is_priced = any(one.cost for one in found)
    most = max((one.cost if is_priced else one.tokens) for one in found)
    for one in kept:
        calls = (f"{one.calls:,}", f"{one.errors:,}") if by == "tool" else ()
        bar = _bar(one.cost if is_priced else one.tokens, most)
        figures = (*calls, f"{one.sessions:,}", count(round(one.tokens)), money(one.cost))
        table.add_row(Text(one.key or "(not known)"), *figures, Text(bar, style="cyan"))
    width = None if sys.stdout is not None and sys.stdout.isatty() else 200
    Console(width=width).print(table)


def _bar(value: float, most: float, cells: int = 20) -> str:
    """A bar in eighths of a cell; the least there is for a value above 0."""
    eighths = round(8 * cells * value / most) if most > 0 else 0
    eighths = max(eighths, 1) if value > 0 else 0
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def _groups(text: str) -> tuple[str, ...]:
    wanted = tuple(part.strip() for part in text.split(","))
    for part in wanted:
        if part not in _GROUPS:
            raise argparse.ArgumentTypeError(f"{part!r} is none of {', '.join(_GROUPS)}")
    return tuple(dict.fromkeys(wanted))
