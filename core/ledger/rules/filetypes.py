"""What `file` says of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from core.ledger.rules.options import options_of
from core.ledger.rules.shown import Found, Shown, said, topic
from core.ledger.rules.subjects import is_file_name, own_file

_NOTHING: Final = re.compile(
    r"cannot open|cannot stat|cannot read|can't|ERROR\b|directory\b|inode/directory|sticky|setgid|regular file, no read"
    r"|.*\(No such file or directory\)|.*: No such file|broken symbolic link|.*Permission denied",
    re.IGNORECASE,
)
"""Descriptions that say nothing of what is in the file."""
_VALUED: Final = (
    "-e",
    "-F",
    "-f",
    "-m",
    "-P",
    "--exclude",
    "--separator",
    "--files-from",
    "--magic-file",
    "--parameter",
)


def file_types(shown: Shown) -> Iterator[Found]:
    """The type of a file as `file` tells it."""
    if shown.program != "file" or shown.inside or not shown.passed_by("head", "tail", "sort", "grep"):
        return
    given = options_of(shown.args, _VALUED)
    if given.any("-F", "--separator", "-0", "--print0", "-C", "--compile", "-c", "-l", "--list", "--help", "--version"):
        return
    brief = given.any("-b", "--brief")
    alone = own_file(shown, given.operands) if given.operands else ""
    for line in shown.short:
        name, kind = (alone, line.text) if brief else _split(line.text, given.operands, names_open=shown.names_open)
        kind = kind.strip()
        if is_file_name(name) and kind and not _NOTHING.match(kind) and (not brief or line is shown.lines[0]):
            yield Found(
                f"{said(name)} is, according to `file`: {said(kind, 240)}", topic("file-format", name), (line.n,)
            )


def _split(text: str, operands: tuple[str, ...], *, names_open: bool) -> tuple[str, str]:
    """Name and description."""
    for name in operands:
        if text.startswith(f"{name}: "):
            return name, text[len(name) + 1 :]
    name, colon, kind = text.partition(": ")
    return (name, kind) if colon and names_open else ("", "")
