"""The short way for the commonest calls: pipelines of reading programs with nothing quoted, redirected or expanded.

Most probes are such (`xxd model.ckpt | head -3`), and the answer is the same as that of reading the command as a shell
would (:mod:`core.ledger.looking`), in a fraction of the time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from core.ledger.names import Matcher, Name

_PLAIN: Final = re.compile(r"[A-Za-z0-9_./+% |-]+")
_READERS: Final = frozenset(
    ("cat", "du", "head", "hexdump", "ls", "md5sum", "od", "sha256sum", "stat", "strings", "tail", "wc", "xxd")
)
"""Programs that look at every file they are given; `xxd` writes its second one."""


def names_read(command: str, matcher: Matcher) -> tuple[Name, ...] | None:
    """The names that a plain command looks at, each time it has them; None when it has to be read as a shell would."""
    if _PLAIN.fullmatch(command) is None:
        return None
    found: list[Name] = []
    for part in command.split("|"):
        words = part.split()
        if not words or words[0] not in _READERS or (words[0] == "xxd" and _writes(words)):
            return None
        for word in words[1:]:
            name = matcher.simple(word)
            if name is not None and word[0] != "-":
                found.append(name)
            elif matcher.inside(word):
                return None
    return tuple(found)


def _writes(words: Sequence[str]) -> bool:
    """Whether a second file may be named, or a dump is turned back into a file."""
    return sum("." in word or "/" in word for word in words[1:]) > 1 or any(word.startswith("-r") for word in words)
