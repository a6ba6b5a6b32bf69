"""Which command printed which part of a call's output, where that is certain.

Of several commands in one call the output is divided only if all but one print nothing, if lines of `echo` stand
between them, or if each prints exactly one line. Loops, conditions, functions and redirected outputs are not divided.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from core.ledger import shellwords
from core.ledger.programs import INTERPRETERS, SHELLS
from core.ledger.rules.filters import is_silent, passes_lines, prints_one_line
from core.ledger.rules.options import words
from core.ledger.rules.shown import UNKNOWN, Line, Shown, one_line
from core.ledger.shellwords import VALUE, Simple, UnreadableError, Word
from core.ledger.steps import Call
from core.ledger.wrappers import command_at, program

LONGEST_COMMAND: Final = 4_000
"""Characters of a command that is read; a longer one is a script."""
_MOST_UNITS: Final = 40
_CONTROL: Final = words("""
    for while until if case select function then do else elif done fi esac { } ! coproc trap eval exec
""")
_ELSEWHERE: Final = frozenset({"docker", "podman", "nerdctl", "kubectl", "docker-compose", "wsl", "chroot"})
_CUT: Final = re.compile(r"(?:characters left out|output truncated|(?:lines|bytes|chars|characters) truncated)")
_REDIRECTION: Final = re.compile(r"(\d*)(?:&>>?|>>|>\||>&|<>|<|>)[ \t]*\Z")


class _Unclear(Exception):  # noqa: N818
    """It cannot be told which command printed what."""


class _Unit(msgspec.Struct):
    """A pipeline: what it prints is known to be nothing, a certain line, or the output of one command."""

    kind: str
    """`silent`, `marker` or `shows`."""
    marker: str = ""
    producer: Simple | None = None
    filters: frozenset[str] = frozenset()


def shown_of(call: Call) -> list[Shown]:
    """The parts of a call's output, each with its command; empty when nothing is certain."""
    lines = _lines(call.output)
    if not call.command or len(call.command) > LONGEST_COMMAND or (not call.ok and call.exit is None) or not lines:
        return []
    try:
        return _divided(call, call.command, lines)
    except (_Unclear, UnreadableError):
        return []


def _divided(call: Call, text: str, lines: list[Line], depth: int = 0) -> list[Shown]:
    units = _units(text)
    speaking = [unit for unit in units if unit.kind != "silent"]
    if len(speaking) == 1 and (inner := _inner_script(speaking[0])) and depth < 2:
        return _divided(call, inner, lines, depth + 1)
    parts = _parts(speaking, lines)
    whole = len(lines) == len(call.output.splitlines())
    alone = len(parts) == 1 and len(speaking) == 1
    return [
        _shown(call, unit, part, one_line(call.command) if alone else "", last=unit is units[-1], whole=whole)
        for unit, part in parts
    ]


def _units(text: str) -> list[_Unit]:
    """The pipelines of a command line in order."""
    if "`" in text or "((" in text or ">(" in text:
        raise _Unclear
    script = shellwords.read(text)
    inner = len(script.parents) - 1
    values = sum(word.text.count(VALUE) for simple in script.commands for word in _words(simple)) if inner else 0
    if inner and values not in {0, inner}:
        raise _Unclear
    commands = [simple for simple in script.commands if not values or simple.scope == 0]
    heads = [simple for simple in commands if simple.source is None]
    if len(heads) > _MOST_UNITS or not heads:
        raise _Unclear
    return [_unit(_pipeline(head), text) for head in heads]


def _words(simple: Simple) -> list[Word]:
    return [*simple.words, *(word for _, word in simple.redirects)]


def _pipeline(head: Simple) -> list[Simple]:
    """The commands of a pipeline from the first to the last."""
    found = [head]
    while (sink := found[-1].sink) is not None:
        if not sink.words or sink.scope != head.scope or len(found) > _MOST_UNITS:
            raise _Unclear
        found.append(sink)
    return found


def _unit(pipeline: list[Simple], text: str) -> _Unit:
    filters: set[str] = set()
    if any(simple.words and simple.words[0].text in _CONTROL for simple in pipeline):
        raise _Unclear
    if _writes_away(pipeline[-1], text):
        return _Unit("silent")
    for simple in reversed(pipeline):
        name, args = _program(simple)
        if simple.source is not None and passes_lines(name, args):
            filters.add(name)
            continue
        if len(pipeline) == 1 and (not name or is_silent(name, args)):
            return _Unit("silent")
        if len(pipeline) == 1 and name == "echo":
            return _Unit("marker", marker=_marker(args))
        if _writes_away(simple, text):
            raise _Unclear
        return _Unit("shows", producer=simple, filters=frozenset(filters))
    raise _Unclear


def _program(simple: Simple) -> tuple[str, list[str]]:
    words = [word.text for word in simple.words]
    at, _ = command_at(words)
    return (program(words[at]), words[at + 1 :]) if at < len(words) else ("", [])


def _writes_away(simple: Simple, text: str) -> bool:
    """Whether the standard output goes into a file."""
    for operator, word in simple.redirects:
        if operator.startswith("&>") or (operator in {">", ">>", ">|"} and _descriptor(text, word.at) in {"", "1"}):
            return True
    return False


def _descriptor(text: str, at: int) -> str:
    """The number in front of the redirection whose target stands at `at`."""
    found = _REDIRECTION.search(text[max(0, at - 20) : at])
    return found[1] if found else ""


def _marker(args: Sequence[str]) -> str:
    """A pattern for the line that `echo` prints."""
    if args and re.fullmatch(r"-[neE]+", args[0]):
        raise _Unclear
    line = " ".join(args)
    pieces = re.split(r"\$(?:\{[^}]*\}|\w+|[?!@#*$_])", line)
    if len(pieces) > 2 or (len(pieces) == 2 and len(pieces[0].strip()) < 3):
        raise _Unclear
    return ".*".join(map(re.escape, pieces))


def _inner_script(unit: _Unit) -> str:
    """The command line that a shell is given with `-c`; empty when it is none."""
    if unit.producer is None or unit.filters:
        return ""
    name, args = _program(unit.producer)
    if name in SHELLS and name != "ssh" and len(args) == 2 and re.fullmatch(r"-[a-z]*c", args[0]):
        return "" if "$" in args[1] else args[1]
    return ""


def _parts(speaking: list[_Unit], lines: list[Line]) -> list[tuple[_Unit, list[Line]]]:
    """The lines of each command that is not `echo`."""
    if len(speaking) == 1 and speaking[0].kind == "shows":
        return [(speaking[0], lines)]
    places = iter(_markers([unit.marker for unit in speaking if unit.kind == "marker"], lines))
    found: list[tuple[_Unit, list[Line]]] = []
    waiting: list[_Unit] = []
    start = 0
    for unit in speaking:
        if unit.kind == "shows":
            waiting.append(unit)
            continue
        place = next(places)
        found += _shared(waiting, lines[start:place])
        waiting, start = [], place + 1
    return found + _shared(waiting, lines[start:])


def _markers(patterns: list[str], lines: list[Line]) -> list[int]:
    """Where the lines of `echo` stand. Raises `_Unclear` if another command may have printed one of them."""
    hits = {
        pattern: [place for place, line in enumerate(lines) if re.fullmatch(pattern, line.text.rstrip())]
        for pattern in set(patterns)
    }
    if any(len(hits[pattern]) != patterns.count(pattern) for pattern in hits):
        raise _Unclear
    order = [hits[pattern].pop(0) for pattern in patterns]
    if order != sorted(set(order)):
        raise _Unclear
    return order


def _shared(units: list[_Unit], lines: list[Line]) -> list[tuple[_Unit, list[Line]]]:
    """The lines of commands between which nothing stands."""
    if len(units) <= 1:
        return [(unit, lines) for unit in units]
    filled = [line for line in lines if line.text.strip()]
    single = all(unit.producer is not None and prints_one_line(*_program(unit.producer)) for unit in units)
    if not single or len(filled) != len(units):
        raise _Unclear
    return [(unit, [line]) for unit, line in zip(units, filled, strict=True)]


def _shown(call: Call, unit: _Unit, lines: list[Line], command: str, *, last: bool, whole: bool) -> Shown:
    simple = unit.producer
    if simple is None:
        raise _Unclear
    texts = [word.text for word in simple.words]
    at, fed = command_at(texts)
    at = at if at < len(texts) else 0
    name = program(texts[at])
    args = [UNKNOWN + word.text if _is_open(word) else word.text for word in simple.words[at + 1 :]]
    if INTERPRETERS.fullmatch(name) and args[:1] == ["-m"] and len(args) > 1:
        name, args = args[1], args[2:]
    source = simple.source
    return Shown(
        call=call,
        program=name,
        args=tuple(args),
        word=texts[at],
        command=command or one_line(" ".join(texts)),
        lines=tuple(lines),
        whole=whole,
        filters=unit.filters,
        source=tuple(_source_words(source)) if source else (),
        stdin=_stdin(simple),
        fed=fed,
        inside=" ".join(texts[:at]) if any(program(text) in _ELSEWHERE for text in texts[:at]) else "",
        exit=call.exit if last and not unit.filters else None,
    )


def _is_open(word: Word) -> bool:
    return word.glob or word.braces or "$" in word.text


def _source_words(simple: Simple) -> list[str]:
    name, args = _program(simple)
    return [name, *args] if name and simple.source is None and not simple.bodies else ["?"]


def _stdin(simple: Simple) -> str:
    files = [word.text for operator, word in simple.redirects if operator == "<" and not _is_open(word)]
    return files[-1] if files and not simple.bodies else ""


def _lines(output: str) -> list[Line]:
    """The lines of an output without notes of a ledger and without what stands next to a cut."""
    texts = output.splitlines()
    gone: set[int] = set()
    noted = False
    for place, text in enumerate(texts):
        if "<ledger-note>" in text:
            noted = True
        if noted:
            gone.add(place)
        if "</ledger-note>" in text:
            noted = False
        if len(text) <= 200 and ("left out" in text or "truncated" in text) and _CUT.search(text):
            gone.update((place - 1, place, place + 1))
    return [Line(n, text) for n, text in enumerate(texts, 1) if n - 1 not in gone]
