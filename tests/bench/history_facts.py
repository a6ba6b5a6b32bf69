"""Past sessions that show known facts at known places, in the manner of an agent that looks into a project.

Every session is a chain of steps: what the agent says, and a tool call with an output; now and then the user speaks.
Each text and each output shows one fact, an exact string that occurs nowhere else in its session.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.history_data import BASE, Builder, text, tool

SHORT: Final = (200, 1_300)
"""Code points of a short output; it fits into the bound of an output."""
LONG: Final = (3_000, 20_000)
"""Those of a long one."""
LONG_SHARE: Final = 0.4
"""Share of the outputs that are long."""
TEXT: Final = (80, 500)
"""Code points of what is said."""
_USER_EVERY: Final = 6
_HOUR: Final = 3_600_000

_SAID: Final = (
    "vocab size {}", "header of {} bytes", "block starts at 0x{}", "listens on port {}", "timeout of {} ms",
    "table has {} rows", "error code E{}", "layer width {}", "/srv/app/conf/part{}.toml", "seed = {}",
)  # fmt: skip
"""Facts, with a number that no other fact of the session has; all have five digits, so that none is part of another."""
_WORDS: Final = (
    "reading", "writing", "checked", "module", "loader", "parser", "buffer", "entry", "stage", "worker", "result",
    "status", "cache", "branch", "commit", "handler", "request", "response", "queue", "thread", "socket", "index",
    "value", "object", "method", "function", "variable", "directory", "file", "line", "test", "case",
)  # fmt: skip


class Kind(StrEnum):
    """What shows a fact, and where in it: the bounds of a transcript take away the middle of a long output."""

    TEXT = "text"
    SHORT = "short output"
    BEGINNING = "long output, its beginning"
    MIDDLE = "long output, its middle"
    END = "long output, its end"


class Place(StrEnum):
    """The third of the session's code points in which a fact stands."""

    HEAD = "first third"
    MIDDLE = "middle third"
    TAIL = "last third"


class Fact(msgspec.Struct, frozen=True):
    """A string to be found again."""

    said: str
    kind: Kind
    place: Place


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it was generated.

    Attributes:
        id: of the session.
        target: code points it was meant to have.
        text: all that was said and shown.
        talk: what was said, without tool calls.
        facts: in the order of the session.
    """

    id: str
    target: int
    text: str
    talk: str
    facts: tuple[Fact, ...]


class _Step(msgspec.Struct, frozen=True):
    role: str
    data: dict[str, Any]
    text: str
    said: str
    kind: Kind


def generate(path: Path, targets: list[int], seed: int = 1) -> list[Told]:
    """A database of OpenCode 1 with a session of each size (in code points), and what they tell."""
    draw = random.Random(seed)
    told = []
    with Builder(path) as b:
        for n, target in enumerate(targets):
            steps = list(_steps(draw, target))
            id, created = f"ses_{n:04}", BASE + n * _HOUR
            b.session(id, created, title=f"Look into part {n}")
            for m, step in enumerate(steps):
                message = b.message(id, f"msg_{n:04}_{m:05}", step.role, created + m)
                b.part(message, f"prt_{n:04}_{m:05}", step.data, created + m)
            told.append(_told(id, target, steps))
    return told


def _told(id: str, target: int, steps: list[_Step]) -> Told:
    whole = "\n".join(step.text for step in steps)
    talk = "\n".join(step.text for step in steps if step.kind is Kind.TEXT)
    places = list(Place)
    facts, begin = [], 0
    for step in steps:
        at = begin + step.text.index(step.said)
        facts.append(Fact(step.said, step.kind, places[at * len(places) // len(whole)]))
        begin += len(step.text) + 1
    return Told(id=id, target=target, text=whole, talk=talk, facts=tuple(facts))


def _steps(draw: random.Random, target: int) -> Iterator[_Step]:
    numbers = iter(draw.sample(range(10_000, 100_000), 10_000))
    total = turn = 0
    while total < target:
        said = [draw.choice(_SAID).format(next(numbers)) for _ in range(2)]
        role = "user" if turn % _USER_EVERY == 0 else "assistant"
        for step in (_speech(draw, role, said[0]), _call(draw, turn, said[1])):
            total += len(step.text)
            yield step
        turn += 1


def _speech(draw: random.Random, role: str, said: str) -> _Step:
    size = draw.randint(*TEXT)
    at = draw.randrange(size)
    words = f"{_prose(draw, at)} {said}. {_prose(draw, size - at)}"
    return _Step(role, text(words), words, said, Kind.TEXT)


def _call(draw: random.Random, turn: int, said: str) -> _Step:
    if draw.random() < LONG_SHARE:
        kind = draw.choice((Kind.BEGINNING, Kind.MIDDLE, Kind.END))
        size = draw.randint(*LONG)
    else:
        kind, size = Kind.SHORT, draw.randint(*SHORT)
    lines = _log(draw, size)
    lines.insert(_line(draw, kind, len(lines)), said)
    output, command = "\n".join(lines), f"python3 probe.py step{turn}"
    data = tool("bash", {"command": command}, output)
    return _Step("assistant", data, f"{command}\n{output}", said, kind)


def _line(draw: random.Random, kind: Kind, lines: int) -> int:
    """Before which line of an output its fact goes: the first or last five, or the third in the middle."""
    match kind:
        case Kind.BEGINNING:
            return draw.randrange(5)
        case Kind.MIDDLE:
            return draw.randrange(lines // 3, 2 * lines // 3)
        case Kind.END:
            return lines - draw.randrange(5)
    return draw.randrange(lines + 1)


def _prose(draw: random.Random, size: int) -> str:
    return " ".join(draw.choices(_WORDS, k=size // 7))


def _log(draw: random.Random, size: int) -> list[str]:
    lines: list[str] = []
    total = 0
    while total < size:
        lines.append(f"[{len(lines):04}] {' '.join(draw.choices(_WORDS, k=6))} {draw.randrange(1_000)}")
        total += len(lines[-1]) + 1
    return lines
