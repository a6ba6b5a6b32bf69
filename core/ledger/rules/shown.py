"""What a rule is given, a piece of an output with the command that printed it, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import msgspec

from core.ledger.steps import Call
from core.text import clean_line, clip

UNKNOWN: Final = "\0"
"""First character of an argument whose text depends on a variable, a substitution or a pattern."""

LONGEST_LINE: Final = 600
"""Characters of a line that rules look at by pattern; longer lines are data, no report."""

_COMMAND_CHARS: Final = 120


class Line(NamedTuple):
    """A line of an output; `n` counts from 1 in the whole output."""

    n: int
    text: str


class Found(msgspec.Struct, frozen=True):
    """A fact as a rule sees it. `lines` count from 1; 0 is the command itself."""

    fact: str
    topic: str
    lines: tuple[int, ...]


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """The part of an output that one command printed."""

    call: Call
    program: str
    """The name the program is known by, as `python -m` runs it; lower case, without folders."""
    args: tuple[str, ...]
    """Its arguments without redirections; see :data:`UNKNOWN`."""
    word: str
    """The program as it was typed."""
    command: str
    """The command line, for people: one line, bounded."""
    lines: tuple[Line, ...]
    """Without lines that were cut off."""
    whole: bool
    """Nothing of the output is missing."""
    filters: frozenset[str] = frozenset()
    """Programs behind it that pass some lines on as they are: head, tail, cat, tee, grep, sort."""
    source: tuple[str, ...] = ()
    """The command whose output it reads, program first."""
    stdin: str = ""
    """The file it reads from `<`."""
    fed: bool = False
    """Its arguments come from a pipe."""
    inside: str = ""
    """The container it ran in, as words of the command; empty on this machine."""
    exit: int | None = None
    """Its exit code, where that is certainly its own."""

    @property
    def failed(self) -> bool:
        """It is known to have failed."""
        return self.exit not in {None, 0}

    @property
    def short(self) -> Iterable[Line]:
        """The lines that are short enough to be reports."""
        return (line for line in self.lines if len(line.text) <= LONGEST_LINE)

    @property
    def names_open(self) -> bool:
        """Which files it names is not told by its arguments alone."""
        return self.fed or any(arg.startswith(UNKNOWN) for arg in self.args)

    def passed_by(self, *programs: str) -> bool:
        """Whether it was filtered by nothing but these programs (and cat and tee, which change nothing)."""
        return self.filters <= {"cat", "tee", *programs}


Rule = Callable[[Shown], Iterable[Found]]
"""A rule never raises, and gives nothing for an output it does not know with certainty."""


def one_line(command: str) -> str:
    """A command as it is quoted in a fact."""
    return clean_line(command.replace("`", "'"), _COMMAND_CHARS)


def said(text: str, limit: int = 200) -> str:
    """Words of an output as they are quoted in a fact."""
    return clean_line(text, limit)


def topic(category: str, subject: str) -> str:
    """A topic as the extraction prompt describes it: a category and a file's name without folders."""
    name = subject.rstrip("/").replace("\\", "/").rpartition("/")[2] or subject
    return f"{category}:{clip(clean_line(name, 200), 120)}"
