"""Rows of the list of past sessions: a session, or a session in whose texts words were found."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import msgspec

from core.history.rows import SessionRow
from ledger_tui.format import count, fit, left, money, plural, right, tame, wrap
from ledger_tui.rows.look import Line, Look, clip, spread

if TYPE_CHECKING:
    from core.history.search import Hit

_WIDE: Final = 76
"""From this width on a moment says its year as well."""
_UNTITLED: Final = "(no title)"


def moment(ms: int, zone: tzinfo | None, *, year: bool = True) -> str:
    """Date and time to the minute; empty when there is no such time."""
    try:
        return datetime.fromtimestamp(ms / 1000, tz=zone).strftime("%Y-%m-%d %H:%M" if year else "%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return ""


def _began(ms: int, width: int, look: Look) -> Line:
    cells = 16 if width >= _WIDE else 11
    return [(f"{moment(ms, look.zone, year=width >= _WIDE):<{cells}}  ", "faint")]


@dataclass(slots=True)
class Scope:
    """What all rows of the list share: whether the sessions of all projects are listed."""

    every: bool = False


class PastRow(msgspec.Struct, frozen=True):
    """A past session. A struct, because there may be very many of them at once."""

    key: str
    session: SessionRow
    facts: int
    scope: Scope
    selectable: bool = True

    def height(self, width: int) -> int:
        """Always 1."""
        return 1

    def lines(self, width: int, look: Look) -> list[Line]:
        """When it began, title, project, messages, tokens, cost, facts; the least telling ones go first."""
        session = self.session
        where: Line = [(f"  {left(project_name(session.directory), 16)}", "muted")] if self.scope.every else []
        side: Line = [
            (right(f"{session.messages.all:,} msg", 11), "faint"),
            (right(f"{count(session.tokens.total)} tok", 10), "faint"),
            *where,
            (right(money(session.cost), 9), "muted"),
            (right(plural(self.facts, "fact") if self.facts else "", 10), "known"),
        ]
        title = (session.title or _UNTITLED) + ("  (archived)" if session.archived else "")
        return [spread(width, _began(session.time_created, width, look), (title, "text"), side)]

    def text(self) -> str:
        """What the filter looks at: title, folder, id."""
        return f"{self.session.title} {self.session.directory} {self.key}"


@dataclass(frozen=True, slots=True)
class HitRow:
    """A session that holds the words searched for, and the text that fits them best."""

    key: str
    hit: Hit
    scope: Scope
    selectable: bool = True

    def height(self, width: int) -> int:
        """Always 2."""
        return 2

    def lines(self, width: int, look: Look) -> list[Line]:
        """Title and number of texts, then the text around the words, which are marked."""
        hit = self.hit
        side: Line = [(f"  {left(project_name(hit.directory), 16)}", "muted")] if self.scope.every else []
        side.append((right(plural(hit.matches, "text"), 12), "muted"))
        first = spread(width, _began(hit.time_created, width, look), (hit.title or _UNTITLED, "text"), side)
        return [first, clip([("  ", "muted"), *snippet(hit)], width)]

    def text(self) -> str:
        """What the filter looks at: title, text, folder, id."""
        return f"{self.hit.title} {self.hit.snippet} {self.hit.directory} {self.key}"


def snippet(hit: Hit) -> Line:
    """The text around the words, these marked, who said it in front."""
    speaker = {"user": "you: ", "assistant": "agent: ", "title": "title: "}.get(hit.role, "")
    out: Line = [(speaker, "faint")] if speaker else []
    at = 0
    for start, end in hit.marks:
        out += [(tame(hit.snippet[at:start]), "muted"), (tame(hit.snippet[start:end]), "mark")]
        at = end
    return [*out, (tame(hit.snippet[at:]), "muted")]


def project_name(directory: str) -> str:
    """A project's folder in a word."""
    return PurePath(directory).name or directory


def is_in(directory: str, project: str) -> bool:
    """Whether a session's folder is the project's or lies in it."""
    return directory == project or directory.startswith(project.rstrip("/") + "/")


def head_lines(session: SessionRow, width: int, look: Look) -> list[Line]:
    """What is known of a session besides its content, in at most three lines."""
    dot = f" {look.signs.dot} "
    spent = f"{count(session.tokens.total)} tok {money(session.cost)}"
    facts = [
        moment(session.time_created, look.zone),
        f"{session.messages.all:,} messages",
        spent,
        session.model,
        "archived" if session.archived else "",
        "sub-agent" if session.parent else "",
        session.directory,
        session.id,
    ]
    said = dot.join(tame(fact) for fact in facts if fact)
    return [[(fit(session.title or _UNTITLED, width), "strong")], *([(line, "muted")] for line in wrap(said, width, 2))]
