"""Which files well-known programs write, move or remove.

A program that is not known writes what an option for its output names (`--out data.csv`), and nothing else: what a
script, a build or a branch switch does to files cannot be read from the command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from core.ledger.roles import output_words
from core.ledger.wrappers import program

Writer = Callable[[Sequence[str]], list[str]]
"""From a program's arguments to the paths it changes, as they are written."""

_IN_PLACE = re.compile(r"-[A-Za-z]*i(?:\.\w+)?|-i[^f]*|--in-?place(?:=.*)?")
_PACKED = re.compile(r"\.(?:gz|bz2|xz|zst|lz4|Z)\Z")
_SQL_WRITES = re.compile(r"\b(?:insert|update|delete|replace|create|drop|alter|vacuum)\b", re.IGNORECASE)
_KEEPS_SOURCE = re.compile(r"-[A-Za-z0-9]*[kclt][A-Za-z0-9]*|--(?:keep|stdout|to-stdout|list|test)")


def written_words(words: Sequence[str], at: int) -> list[str]:
    """Paths that a simple command writes, moves or removes, as they are written in it.

    Args:
        words: the command's words, without redirections.
        at: which of them is the program; `len(words)` if none is.
    """
    if at >= len(words):
        return []
    named = [words[index] for index in output_words(words)]
    found = [word.partition("=")[2] if word.startswith("--") else word for word in named]
    known = _WRITERS.get(program(words[at]))
    return found + known(words[at + 1 :]) if known else found


def _operands(args: Sequence[str], valued: str = "") -> list[str]:
    """The words that are neither options nor values of the options in `valued`."""
    takes = frozenset(valued.split())
    found, skip, ended = [], False, False
    for arg in args:
        if skip:
            skip = False
        elif ended or not arg.startswith("-") or arg == "-":
            found.append(arg)
        elif arg == "--":
            ended = True
        else:
            skip = arg in takes
    return found


def _all(args: Sequence[str]) -> list[str]:
    return _operands(args, "-s --size -n -o -m")


def _copy(args: Sequence[str]) -> list[str]:
    """The target; as that may be a folder, also each source's name in it."""
    target = _target_folder(args)
    operands = _operands(args, "-t --target-directory -m -o -g -S -e")
    if not target and len(operands) > 1:
        target = operands.pop()
    if not target:
        return []
    inside = [target.rstrip("/\\") + "/" + re.split(r"[/\\]", source.rstrip("/\\"))[-1] for source in operands]
    return [target, *inside]


def _move(args: Sequence[str]) -> list[str]:
    operands = _operands(args, "-t --target-directory -S")
    return [*(operands if _target_folder(args) else operands[:-1]), *_copy(args)]


def _target_folder(args: Sequence[str]) -> str:
    for index, arg in enumerate(args):
        if arg.startswith("--target-directory="):
            return arg.partition("=")[2]
        if arg in {"-t", "--target-directory"} and index + 1 < len(args):
            return args[index + 1]
    return ""


def _sed(args: Sequence[str]) -> list[str]:
    """With -i: all operands but the script, unless an option brings that."""
    if not any(map(_IN_PLACE.fullmatch, args)):
        return []
    given = any(re.fullmatch(r"-[A-Za-z]*[ef]|--(?:expression|file)(?:=.*)?", arg) for arg in args)
    operands = _operands(args, "-e -f --expression --file -l")
    return operands if given else operands[1:]


def _perl(args: Sequence[str]) -> list[str]:
    """perl and ruby with -i: all operands but the program's file, unless -e brings the program."""
    programs = [arg for arg in args if re.fullmatch(r"-[A-Za-z0-9]*[eE]", arg)]
    if not any(re.fullmatch(r"-[A-Za-z0-9]*i\S*", arg) for arg in args):
        return []
    operands = _operands(args, " ".join(programs))
    return operands if programs else operands[1:]


def _dd(args: Sequence[str]) -> list[str]:
    return [arg[3:] for arg in args if arg.startswith("of=")]


def _git(args: Sequence[str]) -> list[str]:
    operands = _operands(args, "-C -c --git-dir --work-tree -s --source -b -B -m")
    verb = operands[0] if operands else ""
    if verb in {"rm", "mv"}:
        return _move(args[args.index(verb) + 1 :]) if verb == "mv" else operands[1:]
    if verb in {"checkout", "restore"}:
        staged_only = "--staged" in args and "--worktree" not in args
        return [] if staged_only else [*args[args.index("--") + 1 :]] if "--" in args else operands[1:]
    if verb == "stash" and "--" in args:
        return [*args[args.index("--") + 1 :]]
    return []


def _curl(args: Sequence[str]) -> list[str]:
    return _after(args, r"-[a-zA-Z#]*[oDc]|--output|--dump-header|--cookie-jar")


def _wget(args: Sequence[str]) -> list[str]:
    return _after(args, r"-[a-zA-Z]*[Oo]|-a|--output-document|--output-file")


def _after(args: Sequence[str], option: str) -> list[str]:
    return [value for arg, value in pairwise(args) if re.fullmatch(option, arg)]


def _xxd(args: Sequence[str]) -> list[str]:
    return _operands(args, "-l -s -c -g -n -o -R")[1:2]


def _packer(args: Sequence[str]) -> list[str]:
    """`gzip a` puts `a.gz` in its place; `gunzip a.gz` and `gzip -d a.gz` the other way round."""
    if any(_KEEPS_SOURCE.fullmatch(arg) for arg in args if arg[:1] == "-"):
        return []
    files = _operands(args, "-S --suffix -T")
    return [name for file in files for name in (file, _PACKED.sub("", file), file + ".gz")]


def _sqlite(args: Sequence[str]) -> list[str]:
    operands = _operands(args, "-cmd -separator -init")
    return operands[:1] if any(map(_SQL_WRITES.search, operands[1:])) else []


def _formatter(args: Sequence[str]) -> list[str]:
    """What it is given, if an option (or, with `format`, the verb) says that it is mended in place."""
    if {"--write", "-w", "--fix", "-i", "--in-place", "fmt", "format"} & set(args):
        return [file for file in _operands(args) if file not in {"check", "format", "fmt"}]
    return []


def _always(args: Sequence[str]) -> list[str]:
    return [] if {"--check", "--diff", "-l"} & set(args) else _operands(args)


def _patch(args: Sequence[str]) -> list[str]:
    return [] if "--dry-run" in args else _operands(args, "-i -p -o -d -r")[:1]


def _powershell(args: Sequence[str]) -> list[str]:
    named = _after(args, r"(?i:-(?:path|filepath|literalpath|destination))")
    return named or _operands(args, "-Value -Encoding")[:2]


def _table(lines: Mapping[str, Writer]) -> dict[str, Writer]:
    return {name: writer for names, writer in lines.items() for name in names.split()}


_WRITERS = _table(
    {
        "tee truncate shred rm unlink trash trash-put srm sponge dos2unix unix2dos del erase": _all,
        "cp install rsync scp ln copy xcopy": _copy,
        "mv move ren rename-item move-item": _move,
        "sed gsed": _sed,
        "perl ruby": _perl,
        "gzip gunzip pigz bzip2 bunzip2 xz unxz": _packer,
        "prettier eslint ruff gofmt clang-format yq": _formatter,
        "black isort rustfmt autopep8": _always,
        "set-content add-content clear-content out-file tee-object remove-item copy-item": _powershell,
        "dd": _dd,
        "git": _git,
        "curl": _curl,
        "wget": _wget,
        "xxd": _xxd,
        "sqlite3": _sqlite,
        "patch": _patch,
    }
)
