"""What of a tool call can name a key, cut into pieces that are each read in one way.

Left out of a bash command: what is written or filed away (`rm`, `cp`, `git commit -m …`, targets of redirections),
what `echo` and `printf` say unless a program reads it, and comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal

import msgspec

from core.ledger import shellwords
from core.ledger.keynames import words as words_of
from core.ledger.pipelines import consumer
from core.ledger.programs import SEARCHERS, TALKING, Role, files_away
from core.ledger.roles import roles_of
from core.ledger.shellwords import Simple, UnreadableError
from core.ledger.wrappers import command_at, program

Sort = Literal["words", "code", "pattern", "sql", "variables", "url"]

MAX_CHARS: Final = 16_384
"""Characters of a call that are read; what follows names nothing."""

KEY_ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {
    "bash": ("command",),
    "shell": ("command",),
    "grep": ("pattern",),
    "webfetch": ("url",),
    "read": ("filePath",),
    "edit": ("oldString", "newString"),
}
"""Arguments of each tool in which keys are looked for."""

PLACES: Final[dict[str, str]] = {
    "grep": "in the pattern",
    "webfetch": "in the address",
    "read": "in the path",
    "edit": "in the edited text",
}
"""Where a tool other than a shell names a key, for people."""

_SORTS: Final[dict[str, Sort]] = {"grep": "pattern", "webfetch": "url", "edit": "code"}
_SQL = words_of("""
    psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client sqlcmd bq cockroach pgcli mycli litecli usql snowsql
    trino presto pg_dump mysqldump
    """)
_CLIENTS = words_of("curl wget http https httpie xh curlie ab wrk hey grpcurl lynx aria2c siege vegeta")
_SLASHED = re.compile(r"[gm]?awk|g?sed|perl|ruby|vim?|ex|ed")
_IGNORES_CASE = re.compile(r"-[A-Za-z]*i[A-Za-z]*|--ignore-case")
_DEEPEST = 4


class Piece(msgspec.Struct, frozen=True):
    """Some text of a call, and how it is read."""

    sort: Sort
    text: str
    fold: bool = False
    """Case is ignored by whoever reads it."""
    client: bool = False
    """A program that fetches addresses reads it."""
    program: str = ""


def text_of(tool: str, args: Mapping[str, object]) -> str:
    """What of a tool's arguments `KeyIndex.touched` is to be given; empty for a tool that names no keys."""
    values = (args.get(name) for name in KEY_ARGUMENTS.get(tool, ()))
    return "\n".join(value[:MAX_CHARS] for value in values if isinstance(value, str))


def pieces_of(tool: str, text: str) -> list[Piece]:
    """The pieces of a call, in order."""
    text = text[:MAX_CHARS]
    if tool in _SORTS:
        return [Piece(_SORTS[tool], text, fold=text.startswith("(?i)"))]
    if tool not in {"bash", "shell"}:
        return [Piece("words", text)]
    try:
        return list(_of_command(text, 0, lenient=len(text) == MAX_CHARS))
    except UnreadableError:
        return [Piece("words", text)]


def _of_command(text: str, depth: int, *, lenient: bool = False) -> Iterator[Piece]:
    script = shellwords.read(text, depth=depth, lenient=lenient)
    for index, simple in enumerate(script.commands):
        yield from _of_simple(script.commands, index, simple, depth)


def _of_simple(commands: list[Simple], index: int, simple: Simple, depth: int) -> Iterator[Piece]:
    words = [word.text for word in simple.words]
    start, _ = command_at(words)
    name = program(words[start]) if start < len(words) else ""
    if simple.bodies and (role := "sql" if name in _SQL else consumer(commands, index)):
        for body in simple.bodies:
            yield from _read(role, body.text, name, depth)
    if not words or files_away(words):
        return
    if start and (before := " ".join(words[:start])):
        yield Piece("words", before)
    if name in TALKING:
        yield from _said(commands, index, " ".join(words[start + 1 :]), depth)
        return
    if name in _SQL:
        yield Piece("sql", " ".join(words[start:]), program=name)
        return
    yield from _of_words(words, start, name, depth)


def _said(commands: list[Simple], index: int, text: str, depth: int) -> Iterator[Piece]:
    """What is printed: text, but for the variables in it, unless a program reads it."""
    yield Piece("variables", text)
    sink = commands[index].sink
    role = consumer(commands, index)
    if sink is not None and role:
        words = [word.text for word in sink.words]
        at, _ = command_at(words)
        name = program(words[at]) if at < len(words) else ""
        yield from _read("sql" if name in _SQL else role, text, name, depth)


def _of_words(words: list[str], start: int, name: str, depth: int) -> Iterator[Piece]:
    roles = roles_of(words, start)
    searches = name in SEARCHERS or (name == "git" and "grep" in words)
    if name == "git" and not searches and all(role == "aside" for role in roles[start + 1 :]):
        return
    fold = searches and any(_IGNORES_CASE.fullmatch(word) for word in words[start + 1 :])
    plain: list[str] = []
    for word, role in zip(words[start:], roles[start:], strict=True):
        if role == "look":
            plain.append(word)
        elif role == "aside" and searches:
            yield Piece("pattern", word, fold=fold)
        elif role in {"shell", "code", "search"} or (role == "text" and not _is_message(word, words)):
            yield from _read(role, word, name, depth)
    if plain:
        yield Piece("words", " ".join(plain), client=name in _CLIENTS, program=name)


def _is_message(word: str, words: list[str]) -> bool:
    at = words.index(word)
    return at > 0 and words[at - 1] in {"--title", "--body", "--message", "--description", "--notes", "--subject"}


def _read(role: Role | Literal["sql"], text: str, name: str, depth: int) -> Iterator[Piece]:
    if role == "shell":
        if depth < _DEEPEST:
            yield from _of_command(text, depth + 1)
    elif role == "sql":
        yield Piece("sql", text, program=name)
    elif role in {"code", "text", "search"}:
        slashed = _SLASHED.fullmatch(name) is not None
        yield Piece("code", text.replace("/", " ") if slashed else text, program=name)
