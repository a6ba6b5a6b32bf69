"""Programs at the end of a pipeline that pass lines on as they are, and commands that print nothing or one line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from core.ledger.rules.options import options_of, words

_SILENT: Final = words("""
    cd export set unset mkdir rm rmdir touch cp mv chmod chown ln source . true false : test [ [[ sleep wait
    shopt ulimit umask alias exit local declare readonly deactivate
""")
_LISTING: Final = words("""
    export set alias readonly declare local
""")
"""Commands that print what is set when they are given nothing or only options."""
_LOUD: Final = re.compile(r"-[a-zA-Z]*v[a-zA-Z]*|--verbose")
_ONE_LINE: Final = words("""
    which pwd date whoami nproc hostname uname arch basename dirname realpath readlink
""")
_VERSIONED: Final = re.compile(
    r"node|npm|npx|yarn|pnpm|python[\d.]*|pip[\d.]*|git|rustc|cargo|tsc|ruby|docker|jq|uv|ruff|pytest|poetry"
)
_VERSION_FLAGS: Final = frozenset({"-v", "-V", "--version"})
_GREP_VALUED: Final = ("-A", "-B", "-C", "-m", "--after-context", "--before-context", "--context", "--max-count")
_GREP_CHANGES: Final = ("-c", "-o", "-l", "-L", "-q", "-n", "-b", "-H", "-e", "-f", "-r", "-R", "-T", "-Z")
_LONG_CHANGES: Final = words("""
    --count --only-matching --files-with-matches --quiet --line-number --byte-offset --with-filename --regexp
    --file --recursive
""")


def passes_lines(name: str, args: Sequence[str]) -> bool:
    """Whether the program prints nothing but whole lines of what it reads from a pipe."""
    if name == "tee":
        return True
    if name == "cat":
        return not args
    if name == "sort":
        return not options_of(args, ("-k", "-t", "-o", "--key")).operands
    if name in {"head", "tail"}:
        given = options_of(args, ("-n", "--lines", "-c", "--bytes"))
        return not given.operands and not given.any("-c", "--bytes", "-f", "-F")
    if name in {"grep", "egrep"}:
        given = options_of(args, _GREP_VALUED)
        return len(given.operands) == 1 and not given.any(*_GREP_CHANGES) and not (given.flags & _LONG_CHANGES)
    return False


def is_silent(name: str, args: Sequence[str]) -> bool:
    """Whether the program prints nothing unless it fails."""
    if name == "cd":
        return "-" not in args
    if name in _LISTING and name != "set" and all(arg.startswith("-") for arg in args):
        return False
    if name == "set" and not args:
        return False
    return name in _SILENT and not any(map(_LOUD.fullmatch, args))


def prints_one_line(name: str, args: Sequence[str]) -> bool:
    """Whether the program prints exactly one line, also when it fails."""
    if name in _ONE_LINE:
        return len(args) <= 1
    if len(args) == 1 and args[0] in _VERSION_FLAGS:
        return _VERSIONED.fullmatch(name) is not None
    if name == "go":
        return list(args) == ["version"]
    if name == "stat":
        given = options_of(args, ("-c", "--format"))
        return given.any("-c", "--format") and len(given.operands) == 1 and "*" not in given.operands[0]
    if name in {"wc", "file"}:
        return len(options_of(args).operands) == 1 and not any("*" in arg for arg in args)
    return False
