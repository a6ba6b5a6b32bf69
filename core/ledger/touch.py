"""Which files a bash call looks at.

The command is read as a shell would read it, each of its simple commands says what it does with the files it names
(:mod:`core.ledger.roles`), and the files looked at are returned. Decisions in doubtful cases:

- Edits in place (`sed -i`, `perl -pi`, `prettier --write`) write, archives being made and compression file away.
- A file given to a program that is not known is looked at; so are `test -f`, `find -name` and `ls`.
- Arguments of `echo` and `printf` are text, unless they are handed on (`| xargs cat`). The pattern of `grep` names no
  file, unless it filters a listing (`ls | grep model.ckpt`).
- A here-document counts when something that runs it reads it: `python - <<EOF`, `cat <<EOF | bash`,
  `cat > probe.py <<EOF … python probe.py`.
- An assigned variable counts where it is used; one that is not used by name may be used by a program: a look.
- `cd` gives folders to the names behind it.
- The description only adds files that the command does not name, and no file that it says is created or removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import normalize

from core.ledger.looking import Looking
from core.ledger.names import Matcher, Name, matcher_for
from core.ledger.plain import names_read
from core.ledger.shellwords import UnreadableError
from core.ledger.topics import TopicIndex

__all__ = ["MAX_COMMAND", "MAX_DESCRIPTION", "Name", "TopicIndex", "names_in"]

MAX_COMMAND = 32_768
"""Characters of a command that are read; what is longer is cut, and what follows names nothing."""
MAX_DESCRIPTION = 4_096
"""Characters of a description that are read."""

_REMEMBERED_CHARS = 2_000
"""Longer calls are read anew each time."""

_QUOTED = re.compile(r"(['\"`])([^'\"`\n]{1,200})\1")
_WRITTEN_FIRST = re.compile(
    r"\s*(?:(?:over)?writ|creat|mak|generat|delet|remov|renam|mov|sav|stag|build|copi?|touch|commit|add)"
    r"(?:e|y|es|s|ing|ying)?"
    r"(?:\s+(?:the|a|an|new|old|empty|file|to))*\s+[\"'`(]?\Z",
    re.IGNORECASE,
)


def names_in(command: str, description: str, extensions: frozenset[str]) -> tuple[Name, ...]:
    """Files with one of the extensions that a call looks at, each once, in order of appearance.

    Args:
        command: the shell command.
        description: what the agent says the command is for.
        extensions: without dot, casefolded; `tar.gz` is one. None of them: no names.
    """
    if len(command) + len(description) > _REMEMBERED_CHARS:
        return _names_in(command, description, extensions)
    return _remembered(command, description, extensions)


def _names_in(command: str, description: str, extensions: frozenset[str]) -> tuple[Name, ...]:
    matcher = matcher_for(extensions)
    looked: tuple[Name, ...] = ()
    named: tuple[Name, ...] = ()
    cut = len(command) > MAX_COMMAND
    if matcher.hints(command := command[:MAX_COMMAND]):
        looked, named = _of_command(command, matcher, cut=cut)
    if description and matcher.hints(description := description[:MAX_DESCRIPTION]):
        looked += tuple(_of_description(description, matcher, looked + named))
    return _once(looked) if len(looked) > 1 else looked


_remembered = lru_cache(maxsize=512)(_names_in)
"""An agent that goes in circles runs the same commands again."""


def _of_command(command: str, matcher: Matcher, *, cut: bool) -> tuple[tuple[Name, ...], tuple[Name, ...]]:
    """The names looked at, and those named otherwise."""
    if (plain := names_read(command, matcher)) is not None:
        return plain, ()
    text = command if command.isascii() else normalize("NFC", command)
    looking = Looking(matcher)
    try:
        looking.run(text, lenient=cut)
    except UnreadableError:
        return tuple(_plainly(text, matcher)), ()
    return looking.looked(), tuple(looking.asides)


def _plainly(text: str, matcher: Matcher) -> Iterator[Name]:
    """Names in a text that is no shell command; those a `>` stands before are written."""
    for start, _, name in matcher.scan(text):
        if not text[max(0, start - 8) : start].rstrip(" \"'").endswith(">"):
            yield name


def _of_description(text: str, matcher: Matcher, known: tuple[Name, ...]) -> Iterator[Name]:
    """Names that only the description has."""
    text = normalize("NFC", text)
    for name in known:
        if " " in name.text:
            text = text.replace(name.text, "\0" * len(name.text))
    found = [(quoted.start(), matcher.name(quoted[2])) for quoted in _QUOTED.finditer(text) if matcher.whole(quoted[2])]
    text = _QUOTED.sub(lambda quoted: "\0" * len(quoted[0]) if matcher.whole(quoted[2]) else quoted[0], text)
    found += matcher.prose(text)
    found.sort(key=lambda where: where[0])
    for start, said in found:
        if said and not _WRITTEN_FIRST.match(text[:start]) and not any(said.agrees(other) for other in known):
            yield said


def _once(names: tuple[Name, ...]) -> tuple[Name, ...]:
    seen: dict[tuple[str, tuple[str, ...]], Name] = {}
    for name in names:
        seen.setdefault((name.base, name.folders), name)
    return tuple(seen.values())
