"""What the actions of `history` have in common: where the sessions are, and progress on standard error."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ledger_tui.output import complain

if TYPE_CHECKING:
    from core.history.gathering import Gathering
    from core.history.pieces import Bounds
    from core.settings import Settings

_MOST: Final = 10**12
_PATIENCE: Final = 1.0
"""Seconds after which progress is told."""
_EVERY: Final = 0.2
"""Seconds between two figures on a terminal."""


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say what is read."""
    parser.add_argument(
        "--db",
        metavar="PATH",
        type=Path,
        default=None,
        help="OpenCode's database, or a folder with databases (default: $OPENCODE_DB, else opencode.db and"
        " opencode-*.db in OpenCode's data folder)",
    )
    parser.add_argument(
        "--legacy-json",
        action="store_true",
        default=False,
        help="also read sessions that are kept in JSON files alone, as OpenCode did once (default: count them only)",
    )


def add_children(parser: argparse.ArgumentParser) -> None:
    """Add the flag for sessions of sub-agents."""
    parser.add_argument(
        "--include-children",
        action="store_true",
        default=False,
        help="the sessions of sub-agents too (default: root sessions)",
    )


def add_part(parser: argparse.ArgumentParser) -> None:
    """Add the flags that choose a part of the list."""
    parser.add_argument(
        "--limit", metavar="N", type=whole_number, default=None, help="at most so many, 0 for none (default: all)"
    )
    parser.add_argument(
        "--offset", metavar="N", type=whole_number, default=0, help="pass over so many of the oldest (default: 0)"
    )


def bounds(settings: Settings) -> Bounds:
    """The bounds of a transcript, which are settings."""
    from core.history.pieces import Bounds  # noqa: PLC0415

    return Bounds(
        text=settings.history_text_chars,
        reasoning=settings.history_reasoning_chars,
        tool_input=settings.history_tool_input_chars,
        tool_output=settings.history_tool_output_chars,
        head=settings.history_head_chars,
        tail=settings.history_tail_chars,
    )


def whole_number(text: str) -> int:
    """A number of sessions; the library says what is wrong with a negative one, and larger ones mean all there are."""
    try:
        return min(int(text), _MOST)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


@contextmanager
def gathered(args: argparse.Namespace) -> Iterator[Gathering]:
    """The sources that the flags name; what is left out is complained about.

    Raises:
        FileError: there is none, or none can be used.
    """
    from core.history.gathering import Gathering  # noqa: PLC0415

    with Gathering.open(args.db, legacy_json=args.legacy_json) as gathering:
        for problem in gathering.problems:
            complain(problem)
        unread = gathering.unread()
        if unread:
            one = unread == 1
            what = "1 session in an old JSON file is" if one else f"{unread} sessions in old JSON files are"
            complain(f"{what} not read; --legacy-json reads {'it' if one else 'them'}")
        yield gathering


class Progress:
    """Tells on standard error how far a work has come, once it takes longer than a second.

    On a terminal the figure is kept up to date on one line; elsewhere it is said once.

    Args:
        doing: what is done, as the line begins.
        what: what is counted.
    """

    def __init__(self, doing: str, what: str = "sessions") -> None:
        self._doing = doing
        self._what = what
        self._next = time.monotonic() + _PATIENCE
        self._is_shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown and self._is_terminal():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, done: int, of: int) -> None:
        """So much is done."""
        now = time.monotonic()
        if now < self._next or sys.stderr is None:
            return
        self._next = now + _EVERY
        if self._is_terminal():
            sys.stderr.write(f"\r\x1b[K{self._doing}: {done:,} of {of:,} {self._what}; Ctrl-C stops")
            sys.stderr.flush()
        elif not self._is_shown:
            complain(f"{self._doing}: {done:,} of {of:,} {self._what}")
        self._is_shown = True

    @staticmethod
    def _is_terminal() -> bool:
        return sys.stderr is not None and sys.stderr.isatty()
