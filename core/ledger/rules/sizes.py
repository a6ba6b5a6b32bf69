"""Sizes of files from `ls -l` and `stat`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from core.ledger.rules.options import Options, options_of, words
from core.ledger.rules.shown import Found, Line, Shown, said, topic
from core.ledger.rules.subjects import is_file_name, own_file

_LS_FLAGS: Final = frozenset(f"-{letter}" for letter in "laAhHtrS1RcuULdkpqnvXNfF")
"""Options of ls that leave the columns as they are."""
_LS_LONG: Final = words("""
    --all --almost-all --human-readable --color --full-time --time-style --reverse --sort --time --recursive
    --si --group-directories-first --directory --classify --dereference --numeric-uid-gid --literal
""")
_ROW: Final = re.compile(
    r"-[rwxsStT-]{9}[.+@]?[ \t]+\d+[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\d+(?:[.,]\d+)?[BKMGTPE]?i?)[ \t]+"
    r"(?:[^\W\d]{3,5}\.?[ \t]+\d{1,2}|\d{1,2}\.?[ \t]+[^\W\d]{3,5}\.?|\d{4}-\d\d-\d\d|\d\d-\d\d)[ \t]+"
    r"(?:\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:[ \t]+[+-]\d{4})?(?:[ \t]\d{4}(?=[ \t]))?|\d{4})[ \t](.+)"
)
_HEADING: Final = re.compile(r"(\S.*):")
_STAT_VALUED: Final = ("-c", "-f", "-t", "--format", "--printf")
_FULL_FILE: Final = re.compile(r"[ \t]*File: [`'\"‘]?(.+?)['\"’]?")
_FULL_SIZE: Final = re.compile(r"[ \t]*Size: (\d+)[ \t]+Blocks: .*\bregular (?:empty )?file[ \t]*")
_TOKEN: Final = re.compile(r"%-?\d*([a-zA-Z])")
_MOST_TOKENS: Final = 4


def listed_sizes(shown: Shown) -> Iterator[Found]:
    """The sizes of files in a long listing; folders, links and devices have none."""
    if shown.program != "ls" or shown.inside or not shown.passed_by("head", "tail", "grep", "sort"):
        return
    given = options_of(shown.args)
    if (
        not given.any("-l", "-n", "--full-time")
        or not given.flags <= _LS_FLAGS | _LS_LONG
        or not given.values.keys() <= _LS_LONG
    ):
        return
    folder, ordered = _folder(shown, given), not shown.filters & {"head", "tail", "grep", "sort"}
    several = given.any("-R", "--recursive") or len(given.operands) > 1 or shown.names_open
    for line in shown.short:
        if several and (heading := _HEADING.fullmatch(line.text)):
            folder = heading[1] if ordered else ""
        found = _ROW.fullmatch(line.text)
        if found is None:
            continue
        name = _classified(found[4].strip(), given)
        path = name if name in given.operands or not folder else f"{folder.rstrip('/')}/{name}"
        if is_file_name(name):
            yield Found(f"{said(path)} has a size of {_size(found[3])}.", topic("file-size", name), (line.n,))


def _folder(shown: Shown, given: Options) -> str:
    """The folder whose files are listed, where it is not the working folder."""
    one = given.operands[0] if len(given.operands) == 1 else ""
    return one if is_file_name(one) and not shown.names_open and not given.any("-d", "--directory") else ""


def _classified(name: str, given: Options) -> str:
    return name.removesuffix("*") if given.any("-F", "--classify") else name


def _size(text: str) -> str:
    if text == "1":
        return "1 byte"
    return f"{text} bytes" if text.isdigit() else f"{text} (rounded by ls)"


def stat_sizes(shown: Shown) -> Iterator[Found]:
    """The size of a file from `stat`, in its own layout or in one with `%s` or `%z`."""
    if shown.program != "stat" or shown.inside or not shown.passed_by("head", "tail", "sort"):
        return
    given = options_of(shown.args, _STAT_VALUED)
    layout = given.value("-c", "--format", "--printf")
    if layout:
        yield from _laid_out(shown, given, layout.replace("\\n", ""), size="s", name="n")
    elif "%" in given.value("-f"):
        yield from _laid_out(shown, given, given.value("-f"), size="z", name="N")
    elif not given.any("-t", "-f", "--terse", "-x"):
        yield from _full(list(shown.short))


def _full(lines: list[Line]) -> Iterator[Found]:
    for before, line in pairwise(lines):
        name, size = _FULL_FILE.fullmatch(before.text), _FULL_SIZE.fullmatch(line.text)
        if name and size and is_file_name(name[1]):
            fact = f"{said(name[1])} has a size of {_size(size[1])}."
            yield Found(fact, topic("file-size", name[1]), (before.n, line.n))


def _laid_out(shown: Shown, given: Options, layout: str, *, size: str, name: str) -> Iterator[Found]:
    tokens = _TOKEN.findall(layout)
    if tokens.count(size) != 1 or tokens.count(name) > 1 or len(tokens) > _MOST_TOKENS:
        return
    pattern, at = "", 0
    for token in _TOKEN.finditer(layout):
        pattern += re.escape(layout[at : token.start()])
        pattern += {size: r"(?P<size>\d+)", name: "(?P<name>.+)"}.get(token[1], ".+?")
        at = token.end()
    pattern += re.escape(layout[at:])
    alone = own_file(shown, given.operands) if given.operands else ""
    for line in shown.short:
        found = re.fullmatch(pattern, line.text.strip()) if len(line.text) < 300 else None
        if found is None or re.search(r"directory|link|device", line.text.replace(alone, "") if alone else line.text):
            continue
        subject = found["name"].strip("'\"") if name in tokens else alone
        known = subject == alone or subject in given.operands or shown.names_open
        if known and is_file_name(subject) and not subject.endswith("/"):
            yield Found(
                f"{said(subject)} has a size of {_size(found['size'])}.", topic("file-size", subject), (line.n,)
            )
