"""Names of files in program text: those a program opens, told from those it writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from core.ledger.names import Matcher, Name

_WINDOW = 240
"""Characters before a name in which the call around it is looked for."""

# String literals, longest delimiters first; comments are consumed so that an apostrophe in one opens no string.
_LITERAL = re.compile(
    r"(?=[\"'`#/\\])(?:"
    r"\"\"\"((?:[^\\\"]|\\.|\"(?!\"\"))*+)\"\"\"|'''((?:[^\\']|\\.|'(?!''))*+)'''"
    r"|\"((?:[^\"\\\n]|\\.)*+)\"|'((?:[^'\\\n]|\\.)*+)'|`((?:[^`\\]|\\.)*+)`"
    r"|(?:(?<![^\s;{}()])#(?![!{])|//)[^\n]*|\\.)",
    re.DOTALL,
)
_LONGEST_CALLEE = 48
_LONGEST_PATH = 1_024
_ONE_PIECE = re.compile(r"[^\s:,;()\[\]{}'\"`]+(?:(?<=\A[A-Za-z]):[^\s:,;()\[\]{}'\"`]+)?")
_FIRST_ARGUMENT = re.compile(r"\(\s*[rRbBfFuU]{0,2}[\"'`]{1,3}\Z")
_TAKES_CONTENT = frozenset({"write", "writelines", "write_text", "write_bytes", "writestr", "print"})
_EXTENSION = re.compile(r"\.[A-Za-z]\w{0,11}\Z")
_OPENERS = re.compile(r"open|path|load|read|file|exists|getsize|stat|memmap|fromfile|to_|save|write")
_PAREN = re.compile(r"[()]")
_CALLEE = re.compile(r"([\w.]+)\s*\Z")
_WRITERS = re.compile(
    r"""(?:.*\.)?(?:to_\w+|savefig|save\w*|imsave|imwrite|dump|tofile|write\w*|writeFile\w*|appendFile\w*|sink_\w+
    |createWriteStream|write\.\w+|saveRDS|file_put_contents|unlink\w*|remove|rename\w*|replace|copy\w*|move|rm\w*
    |makedirs|mkdirp?|touch|truncate)""",
    re.VERBOSE,
)
_WRITTEN_AFTER = re.compile(
    r"""['"`]\s*(?:
        ,\s*(?:mode\s*=\s*)?['"][bt]?[wax][bt+]{0,2}['"]          # open(name, 'w')
        |\)\s*\.\s*(?:write_\w+|touch|unlink|rename|mkdir|open\(\s*(?:mode\s*=\s*)?['"][bt]?[wax])  # Path(name).…
    )""",
    re.VERBOSE,
)
_WRITTEN_BEFORE = re.compile(
    r"""(?:(?<![=\-])>\s*['"]?                                   # print > "name"
        |\binto\s+(?:outfile|dumpfile)\s+['"]                    # MySQL
        |(?:^|\n)\s*\.(?:output|once|save|backup|log)\s+['"]?    # sqlite3
    )\Z""",
    re.VERBOSE | re.IGNORECASE,
)
_WRITING_WORDS = (">", "outfile", "dumpfile", "output", "once", "save", "backup", "log", "to")
"""What stands before a name in all the cases above and below."""
_COPIED_TO = re.compile(r"\b(?:copy|export)\b[^;]*\bto\s+['\"]\Z", re.IGNORECASE)  # SQL


def names_in_code(text: str, matcher: Matcher, below: tuple[str, ...]) -> Iterator[tuple[int, Name, bool]]:
    """Names in the string literals of a program: where, which, and whether the program only writes the file."""
    for literal in _LITERAL.finditer(text):
        group = literal.lastindex
        if group is None or not matcher.inside(literal[group]):
            continue
        start, end = literal.span(group)
        if " " in literal[group] and (name := _spaced(text, start, literal[group], matcher, below)):
            yield start, name, _written(text, start, end)
            continue
        for at, to, name in matcher.scan(literal[group], below):
            yield start + at, name, _written(text, start + at, start + to)


def names_in_text(text: str, matcher: Matcher, below: tuple[str, ...]) -> Iterator[tuple[int, Name, bool]]:
    """The same for text in an unknown language, where names may stand outside of quotes (SQL, dot commands)."""
    for at, to, name in matcher.scan(text, below):
        yield at, name, _written(text, at, to)


def paths_in_code(text: str) -> Iterator[tuple[str, bool]]:
    """String literals of a program that may be paths, whatever they end in, and whether the program writes the file.

    A literal counts when it looks like a path, or when it is the first argument of a call that opens something.
    """
    for literal in _LITERAL.finditer(text):
        group = literal.lastindex
        if group is None or not 0 < len(literal[group]) <= _LONGEST_PATH or "\n" in literal[group]:
            continue
        start, end = literal.span(group)
        before = text[max(0, start - _WINDOW) : start]
        callee = _callee(before).rpartition(".")[2].lower()
        opened = _OPENERS.match(callee) and _FIRST_ARGUMENT.search(before[-8:])
        if callee not in _TAKES_CONTENT and (opened or looks_like_path(literal[group])):
            yield literal[group], _written(text, start, end)


def looks_like_path(text: str) -> bool:
    """Whether a text is one piece and has a folder, an extension or a leading dot."""
    if _ONE_PIECE.fullmatch(text) is None or text.strip("./\\") == "":
        return False
    return "/" in text or "\\" in text or _EXTENSION.search(text[-16:]) is not None


def _spaced(text: str, start: int, literal: str, matcher: Matcher, below: tuple[str, ...]) -> Name | None:
    """The name that a literal with spaces is, if it is the argument of a call that opens something."""
    if not matcher.whole(literal):
        return None
    callee = _callee(text[max(0, start - _WINDOW) : start]).rpartition(".")[2].lower()
    return matcher.name(literal, below) if _OPENERS.match(callee) else None


def _callee(before: str) -> str:
    """The function whose arguments end this text, dots included; empty when there is none."""
    depth = 0
    for paren in reversed([*_PAREN.finditer(before)]):
        if paren[0] == ")":
            depth += 1
        elif depth:
            depth -= 1
        else:
            name = _CALLEE.search(before, max(0, paren.start() - _LONGEST_CALLEE), paren.start())
            return name[1] if name else ""
    return ""


def _written(text: str, start: int, end: int) -> bool:
    """Whether the name at this place is one that is written."""
    if _WRITTEN_AFTER.match(text, end):
        return True
    before = text[max(0, start - _WINDOW) : start]
    if before.rstrip(" \t'\"").lower().endswith(_WRITING_WORDS) and (
        _WRITTEN_BEFORE.search(before[-_LONGEST_CALLEE:]) or _COPIED_TO.search(before)
    ):
        return True
    return _writes(_callee(before))


@lru_cache(maxsize=512)
def _writes(callee: str) -> bool:
    return _WRITERS.fullmatch(callee) is not None
