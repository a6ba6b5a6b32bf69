"""Which files a finding is about, and which files a finished call changes: both as absolute, normalised paths.

A finding is about the files that its topic or fact names and its supporting calls look at. Where those name none, it is
about what the calls look at, if that is little; a fact about an address, a program or a port is about no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final

from core.ledger.filewords import FileWords
from core.ledger.names import Name, fold, name_of, path_of
from core.ledger.observations import ToolFinished
from core.ledger.places import is_absolute, resolved, same_place
from core.ledger.steps import Call

MAX_FILES: Final = 8
"""Files one finding is about at most."""
MAX_UNNAMED: Final = 3
"""Files that calls may look at for a finding that names none to be about them; more are too many to say which."""

_SHELLS: Final = frozenset({"bash", "shell"})
_NO_PART: Final = r"[\w.~\-]"  # a name ends before and begins behind none of these
_FOLDERS: Final = re.compile(r"(?:(?<![A-Za-z])[A-Za-z]:(?=[/\\]))?[^\s\"'`:;,()|<>]*[/\\]\Z")
_LONGEST_FOLDERS: Final = 512
_NAMED: Final = re.compile(
    r"(?<![^\s\"'`:;,()])(?:[^\s\"'`:;,()|<>*?{}$]*"
    r"(?:[^\s\"'`:;,()|<>*?{}$/.]\.[A-Za-z]\w{0,11}|(?<![^/])\.[A-Za-z][\w.\-]*"
    r"|(?<![^/])(?:Makefile|Dockerfile|LICENSE|README|Gemfile|Rakefile|Procfile|Justfile)))(?![\w/\\(*])"
)
_LONGEST: Final = 1_000
"""Characters of a topic or fact that are searched for names."""


def files_of(
    topic: str, evidence_calls: Sequence[Call], directory: str, *, fact: str = "", home: str = ""
) -> tuple[str, ...]:
    """Files that a finding is about, at most :data:`MAX_FILES`, in the order in which its calls name them.

    Args:
        topic: its topic.
        evidence_calls: the calls that support it; none for a finding that a person added.
        directory: the session's directory, absolute: where relative paths start.
        fact: its text; files that only this names count too.
        home: home folder of the user who runs the commands; empty: guessed from `directory`.
    """
    texts = (fold(topic[:_LONGEST]), fold(fact[:_LONGEST]))
    reads: dict[str, None] = {}
    patterns: dict[str, None] = {}
    folder = resolved(directory, "")
    for call in evidence_calls:
        if call.path and (path := resolved(call.path, directory, home)):
            reads[path] = None
        if call.tool in _SHELLS or call.command:
            words = FileWords(call.command, directory, home)
            reads |= words.reads
            # What a supporting call writes, it or a later one of the calls may have printed.
            reads |= {path: None for path in words.writes if _named(path, texts)}
            patterns |= words.patterns
            folder = words.folder
    found = _longest(reads, texts) or _said(topic[:_LONGEST], patterns, folder, home)
    if not found and len(reads) <= MAX_UNNAMED:
        found = list(reads)
    return tuple(dict.fromkeys(found))[:MAX_FILES]


def written_by(done: ToolFinished, directory: str, *, home: str = "") -> tuple[str, ...]:
    """Files that a finished call writes, moves or removes, as far as the call itself tells.

    It tells what was meant, not what came of it: a write may have brought the bytes that were there, and a script may
    write what no command names. Failed calls of file tools changed nothing; a failed command may have got half-way.
    """
    if done.tool in _SHELLS:
        return tuple(FileWords(done.command, directory, home).writes)
    if not done.ok or done.tool == "read":
        return ()
    places = (resolved(path, directory, home) for path in (done.path, *done.patched) if path)
    return tuple(dict.fromkeys(place for place in places if place))


def _longest(paths: Iterable[str], texts: tuple[str, ...]) -> list[str]:
    """The paths that the texts name; of two names at one place the longer (`my data.csv`, not `data.csv`)."""
    spans = {path: found for path in paths if (found := _named(path, texts))}
    return [path for path, mine in spans.items() if not all(_inside(span, spans.values()) for span in mine)]


def _inside(span: tuple[int, int, int], others: Iterable[list[tuple[int, int, int]]]) -> bool:
    text, start, end = span
    return any(
        text == other[0] and other[1] <= start and end <= other[2] and end - start < other[2] - other[1]
        for spans in others
        for other in spans
    )


def _named(path: str, texts: tuple[str, ...]) -> list[tuple[int, int, int]]:
    """Where the folded texts name a path: which text, start and end of the base; folders before it must agree."""
    base = fold(path.rpartition("/")[2])
    mine = name_of(path) if any(base in text for text in texts) else None
    if mine is None:
        return []
    pattern = re.compile(rf"(?<!{_NO_PART}){re.escape(base)}(?!\w|[.~\-]\w)")
    spans = []
    for index, text in enumerate(texts):
        for found in pattern.finditer(text):
            before = _FOLDERS.search(text[max(0, found.start() - _LONGEST_FOLDERS) : found.start()])
            said = Name("", mine.base, path_of(before[0]) if before else ())
            if mine.agrees(said):
                spans.append((index, found.start(), found.end()))
    return spans


def _said(topic: str, patterns: Iterable[str], folder: str, home: str) -> list[str]:
    """Files that the topic names and no call does by name: where a glob of the calls looks, else where they ended."""
    subject = topic.partition(":")[2] or topic
    found = []
    for name in _NAMED.findall(subject):
        base = name.replace("\\", "/").rpartition("/")[2]
        globbed = [pattern for pattern in patterns if fnmatchcase(base, pattern.rpartition("/")[2])]
        places = [pattern.rpartition("/")[0] + "/" + base for pattern in globbed if "/" not in name]
        if is_absolute(name) or not places:
            places = [resolved(name, folder, home)]
        found += [place for place in places if place]
    return found


def is_about(files: Iterable[str], path: str) -> bool:
    """Whether a resolved path is one of the files of a finding."""
    wanted = same_place(path)
    return any(same_place(file) == wanted for file in files)
