"""The mark of a generated file: one comment line that names the product, its version and a hash of all the rest.

It tells a file that is as it was written from one that the user has edited, and from one that somebody else wrote. It
also holds how many of the folders above the file had to be made for it, so that exactly these can go with it.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

import msgspec

MAX_FOLDERS: Final = 9
_MARK: Final = re.compile(
    r"(?://|#) ledger-tui (?P<version>[0-9][0-9A-Za-z.+-]{0,40}) sha256:(?P<hash>[0-9a-f]{64}) folders:(?P<folders>\d)"
    r"(?: .*)?"
)
_LINES: Final = 2
"""The mark is one of the first lines: the second where the first one opens a block of metadata."""
_REMARK: Final = "written by `ledger-tui init`, removed by `ledger-tui uninit`"


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """What a mark says.

    Attributes:
        version: of the program that wrote the file.
        edited: the file is not as it was written.
        folders: how many folders above the file, counted from it upwards, were made for it.
    """

    version: str
    edited: bool
    folders: int


def marked(text: str, *, version: str, folders: int, comment: str, line: int = 0) -> str:
    """`text` with a mark put in before the line of that index (0 or 1); `comment` opens a comment there: // or #."""
    lines = text.splitlines(keepends=True)
    count = min(folders, MAX_FOLDERS)
    mark = f"{comment} ledger-tui {version} sha256:{_hash(version, count, text)} folders:{count} {_REMARK}\n"
    return "".join([*lines[:line], mark, *lines[line:]])


def read_mark(text: str) -> Mark | None:
    """The mark of a file with that text; None when it bears none. Line ends that were converted are no edit."""
    lines = text.replace("\r\n", "\n").splitlines(keepends=True)
    for index, line in enumerate(lines[:_LINES]):
        found = _MARK.fullmatch(line.rstrip("\n"))
        if found:
            rest = "".join([*lines[:index], *lines[index + 1 :]])
            version, folders = found["version"], int(found["folders"])
            return Mark(version=version, folders=folders, edited=_hash(version, folders, rest) != found["hash"])
    return None


def release(version: str) -> tuple[int, ...]:
    """The numbers of a version, to compare by: "0.10.1" is later than "0.9"."""
    return tuple(int(number) for number in re.findall(r"\d{1,9}", re.split(r"[^0-9.]", version, maxsplit=1)[0]))


def _hash(version: str, folders: int, text: str) -> str:
    return hashlib.sha256(f"{version}\n{folders}\n{text}".encode()).hexdigest()
