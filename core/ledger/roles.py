"""What a simple command does with each of its words, seen together with the pipeline it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.ledger.programs import FILING, INTERPRETERS, SEARCHERS, SHELLS, TALKING, Role, files_away, judge
from core.ledger.wrappers import command_at, program

_LISTERS = frozenset(["ls", "find", "fd", "fdfind", "tree", "du", "dir", "stat", "file", "unzip", "lsof", "gci"])
_OUTPUT = re.compile(
    r"--(?:out(?:put)?(?:[-_]?(?:file|path|name|document))?|save(?:[-_](?:to|path|as|file))?|dest(?:ination)?"
    r"|log[-_]?file|outfile)|-out(?:file)?",
    re.IGNORECASE,
)
# Where `-o file` is an output; to grep, strings, od and hexdump it is something else.
_SHORT_OUTPUT = re.compile(
    r"curl|sort|g?cc|[gc]\+\+|clang(?:\+\+)?|ld|as|pandoc|tsc|go|rustc|zstd|gpg|wat2wasm|wasm-opt|esbuild|jupyter"
    r"|iconv|strace|ltrace|uv|npx"
)
_MESSAGE = frozenset(["--title", "--body", "--message", "--description", "--notes", "--subject", "--comment"])
_RUNS_ITS_INPUT = frozenset(["sqlite3", "duckdb", "psql", "mysql", "mariadb", "gnuplot", "octave", "sftp", "read"])
"""Programs whose input holds commands that name files; `read`, of a loop, whose input may be their names."""


def language(words: Sequence[str]) -> Role | None:
    """How a command understands what it reads from its input; None: it only passes it on, or takes it for data."""
    at, fed = command_at(words)
    name = program(words[at]) if at < len(words) else ""
    if fed:
        return "aside" if name in FILING else "search"
    if name in SHELLS:
        return "shell"
    if INTERPRETERS.fullmatch(name):
        return "code"
    return "search" if name in _RUNS_ITS_INPUT or words[:1] == ["done"] else None


def roles_of(words: Sequence[str], at: int, *, fed_into: Sequence[str] = (), reads_listing: bool = False) -> list[Role]:
    """One role for each word of a simple command.

    Args:
        words: the command's words, without redirections.
        at: which of them is the program; `len(words)` if none is.
        fed_into: words of the command that takes this one's output for arguments (`… | xargs rm`), else empty.
        reads_listing: its input lists files (`ls | grep model.ckpt`).
    """
    if fed_into and at < len(words) and (program(words[at]) in TALKING or lists(words)):
        role: Role = "aside" if files_away(fed_into) else "look"
        roles = [role] * len(words)
    elif reads_listing and at < len(words) and program(words[at]) in SEARCHERS:
        roles = ["look"] * len(words)
    else:
        roles = judge(words, at)
    for word in words:
        if word[:2] == "--" or word[:2] == "-o":
            _mark_options(words, roles)
            break
    return roles


def lists(words: Sequence[str]) -> bool:
    """Whether the command prints names of files."""
    at, _ = command_at(words)
    if at >= len(words):
        return False
    name, args = program(words[at]), words[at + 1 :]
    if name == "git":
        return any(arg in {"ls-files", "ls-tree", "status"} for arg in args)
    if name == "tar":
        return any(re.fullmatch(r"-?[a-zA-Z]*t[a-zA-Z]*", arg) for arg in args[:2])
    return name in _LISTERS or "ls" in args[:2] or (name == "rg" and "--files" in args)


def output_words(words: Sequence[str]) -> list[int]:
    """Indices of the words that an option names as output: the value (`--out FILE`), or the whole of `--out=FILE`."""
    return [target for target, role in _options(words) if role == "aside"]


def _mark_options(words: Sequence[str], roles: list[Role]) -> None:
    """Values of options that name an output are written, those of options for a message are text."""
    for target, role in _options(words):
        roles[target] = role


def _options(words: Sequence[str]) -> Iterator[tuple[int, Role]]:
    short = "-o" in words and any(map(_writes_o, words[: words.index("-o")]))
    for index, word in enumerate(words):
        if word[:1] != "-":
            continue
        key, equals, _ = word.partition("=")
        target = index if equals else index + 1
        if target >= len(words):
            break
        if _OUTPUT.fullmatch(key) or (short and word == "-o"):
            yield target, "aside"
        elif key in _MESSAGE:
            yield target, "text"


def _writes_o(word: str) -> bool:
    name = program(word)
    return _SHORT_OUTPUT.fullmatch(name) is not None or INTERPRETERS.fullmatch(name) is not None
