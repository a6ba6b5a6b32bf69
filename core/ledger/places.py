"""Where on disk a path of a command leads: absolute, normalised, with `/` between its parts.

Only text is worked on; links are not followed and nothing has to exist. What cannot be known from the text (a variable,
a glob, another user's home folder) leads nowhere.
"""

from __future__ import annotations

import posixpath
import re
from unicodedata import normalize

LONGEST = 4_096
"""Characters of a path; longer ones are none."""

_DRIVE = re.compile(r"([A-Za-z]):(?=/|\Z)")
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\}|\$env:(?:USERPROFILE|HOME)|%USERPROFILE%)(?=/|\Z)", re.IGNORECASE)
_HERE = re.compile(r"(?:\$PWD|\$\{PWD\}|%CD%)(?=/|\Z)")
_UNKNOWN = re.compile(r"[$*?`<>|\"\n]|\{\w*\}|%(?:\w+%|\d*[ds])")
_HOMES = re.compile(r"((?:[A-Za-z]:)?/(?:home|Users)/[^/]+|/root)(?:/|\Z)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:/")


def resolved(text: str, folder: str, home: str = "") -> str:
    """The absolute path that `text` names, as seen from the absolute `folder`; empty when that cannot be told.

    Args:
        text: a path as it is written in a command or a tool's argument, quotes and escapes removed.
        folder: where a relative path starts; empty: not known.
        home: the home folder of the user; empty: guessed from `folder` (`/home/ada/…`).
    """
    if not text or len(text) > LONGEST:
        return ""
    text, folder = _slashes(text), _slashes(folder)
    if text.startswith("file://"):
        text = text[len("file://") :]
    if _SCHEME.match(text) and not _DRIVE.match(text):
        return ""
    if _HOME.match(text):
        home = _slashes(home) or home_of(folder)
        text = _HOME.sub(lambda _: home or "$", text, count=1)
    text = _HERE.sub(lambda _: folder or "$", text, count=1)
    if text.startswith("~") or _UNKNOWN.search(text) or not text.isprintable():
        return ""
    if not is_absolute(text):
        if not folder:
            return ""
        text = posixpath.join(folder, text)
    plain = posixpath.normpath(text)
    return plain[1:] if plain.startswith("//") else plain


def is_absolute(path: str) -> bool:
    """Whether a path with `/` between its parts starts at a root or drive."""
    return path.startswith("/") or _DRIVE.match(path) is not None


def home_of(folder: str) -> str:
    """The home folder that an absolute folder lies in, where its name shows that; else empty."""
    found = _HOMES.match(folder)
    return found[1] if found else ""


def same_place(path: str) -> str:
    """The form in which two resolved paths are compared: names in composed and decomposed Unicode are equal."""
    return path if path.isascii() else normalize("NFC", path)


def _slashes(text: str) -> str:
    return text.replace("\\", "/") if "\\" in text else text
