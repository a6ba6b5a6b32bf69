"""The command proper of a simple command: behind keywords, assignments and programs that run another one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "done", "{", "}", "!", "fi", "esac"})
_FOLDER = re.compile(r"[/\\]")

_POD = "kubectl"
_DEEPEST = 20
"""Wrappers around wrappers that are followed."""


class _Wrapper(NamedTuple):
    """How to find the command behind a program that runs another one."""

    valued: frozenset[str]
    """Its options that take a value of their own."""
    before: int = 0
    """Words that stand before the command, options aside."""


def _wrappers(table: str) -> dict[str, _Wrapper]:
    """Read lines of `names | words before the command | options with a value`."""
    found = {}
    for line in filter(str.strip, table.splitlines()):
        names, before, valued = line.split("|")
        for name in names.split(","):
            found[name.strip()] = _Wrapper(frozenset(valued.split()), int(before))
    return found


_WRAPPERS = _wrappers("""
    sudo, doas                                      | 0 | -u -g -h -p -C -r -t -U --user --group
    env                                             | 0 | -u -C -S --unset --chdir
    time                                            | 0 | -f -o
    nohup, command, builtin, setsid, unbuffer       | 0 |
    caffeinate, bunx, poetry run, pipenv run        | 0 |
    pdm run, hatch run, rye run                     | 0 |
    exec                                            | 0 | -a
    nice                                            | 0 | -n
    ionice                                          | 0 | -c -n -p
    timeout                                         | 1 | -s -k --signal --kill-after
    chroot                                          | 1 |
    stdbuf                                          | 0 | -i -o -e
    wsl                                             | 0 | -d -u
    watch                                           | 0 | -n --interval
    strace, ltrace                                  | 0 | -e -o -p -s -u
    xargs                                           | 0 | -I -n -P -L -d -a -s -E --max-args --max-procs --delimiter
    parallel                                        | 0 | -j -N -a --jobs
    npx                                             | 0 | -p --package
    uv run                                          | 0 | --with --python -p --group --extra
    conda run                                       | 0 | -n -p --name --prefix
    docker exec, podman exec, nerdctl exec          | 1 | -e -u -w --env --user --workdir --env-file
    docker compose exec, docker-compose exec        | 1 | -e -u -w --env --user --workdir --index
""")
_FED = frozenset({"xargs", "parallel"})
_HEADS = _KEYWORDS | {name.split()[0] for name in _WRAPPERS} | {_POD}
"""Words that can stand before the command proper, assignments aside."""


def command_at(words: Sequence[str]) -> tuple[int, bool]:
    """Where the command proper stands in a simple command.

    Returns:
        The index of its word, `len(words)` when there is none; and whether it is given arguments from a pipe
        (`xargs`).
    """
    at, fed, depth = 0, False, 0
    while at < len(words) and depth < _DEEPEST:
        word = words[at]
        if word not in _HEADS and "=" not in word:
            break
        if word in _KEYWORDS or ("=" in word and ASSIGNMENT.match(word)):
            at += 1
            continue
        depth += 1
        size = next((n for n in (1, 2, 3) if " ".join(words[at : at + n]) in _WRAPPERS), 0)
        if size:
            fed = fed or word in _FED
            at = _behind(words, at + size, _WRAPPERS[" ".join(words[at : at + size])])
        elif word == _POD and words[at + 1 : at + 2] == ["exec"] and "--" in words:
            at = max(at + 1, words.index("--") + 1)
        else:
            break
    return at, fed


def _behind(words: Sequence[str], at: int, wrapper: _Wrapper) -> int:
    """The index behind a wrapper's options, assignments and further words."""
    while at < len(words) and (words[at].startswith("-") or (not wrapper.before and ASSIGNMENT.match(words[at]))):
        at += 2 if words[at] in wrapper.valued else 1
    return min(at + wrapper.before, len(words))


def program(word: str) -> str:
    """The name a program is known by: without folders and `.exe`, lower case."""
    if "/" in word or "\\" in word:
        word = _FOLDER.split(word)[-1]
    return word.lower().removesuffix(".exe")
