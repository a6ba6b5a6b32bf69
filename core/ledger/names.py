"""Names of files in text: how they are found, cut into base and folders, and compared.

A name is taken whole: `rows.jsonl` is no `rows.json`, `a.bin.gz` no `a.bin`, `args.json()` no file. Comparison ignores
case and Unicode composition (NFC + casefold). A base name that is not fully known names no file: globs (`*.ckpt`),
variables (`$f.json`), templates (`shard_{i}.bin`, `part-%05d.csv`).

Folders, the rule: `.` is removed, `..` takes back the folder before it (a leading one is dropped), drive letters, UNC
and URL hosts, ports and `~` are dropped, and so is everything up to a folder that is not known (`$DIR`, `{root}`,
`%TEMP%`). What remains is the tail of the path that is certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import normalize
from urllib.parse import unquote

import msgspec

# Characters that end a name in running text or code.
_STOPS = r"\s\"'`“”‘’«»()\[\]{}<>|;,=:&*?\0（）：，、。「」『』【】《》—→…"
# CJK scripts put no space after a word, so their letters end a name's extension.
_GOES_ON = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_NOT_AFTER = rf"(?!{_GOES_ON}|[~\-/%*@({{]|\$[\w{{(]|\.\w|\\\w\w)"
_LONGEST = 1024
"""Longest name looked for, in characters; POSIX paths may have 4,096, but those are not typed."""

_SEPARATORS = re.compile(r"[/\\]+")
_UNKNOWN = re.compile(r"[$%{}*?`\0]")
_DRIVE = re.compile(r"[A-Za-z]:")
_SCOPED = re.compile(r"(\$env):", re.IGNORECASE)  # PowerShell: $env:TEMP is one variable
_PORT = re.compile(r"\d+(?=/)")
_URL = re.compile(
    r"(?<!\w)[A-Za-z][A-Za-z0-9+.\-]{0,30}://[^\s/?#'\"`<>\\|)]*([^\s?#'\"`<>|)]*)(?:[?#][^\s'\"`<>|)]*)?"
)
# A word of a command line that is one path as it stands, spaces included.
_PATH = re.compile(
    r"(?:[A-Za-z]:)?(?:[^\"'`=;|<>()\n:*?\[\]{},$]++|\([^()\n]*\)|\[[^\[\]\n]*\]|, |(?<=\w)'(?=\w)"
    r"|\$(?:\{\w+\}|(?:env:)?\w+))+"
)
_OPTION_INSIDE = re.compile(r"\s--?[A-Za-z][\w-]*\s")


class Name(msgspec.Struct, frozen=True):
    """The name of a file as far as a text gives it."""

    text: str
    """As written, without quotes and escapes, in NFC."""
    base: str
    """The last component, NFC and casefolded."""
    folders: tuple[str, ...] = ()
    """Known folders before it, outermost first, NFC and casefolded."""

    def agrees(self, other: Name) -> bool:
        """Whether both can be the same file: equal bases, and equal folders as far as both give them."""
        if self.base != other.base:
            return False
        return all(mine == theirs for mine, theirs in zip(self.folders[::-1], other.folders[::-1], strict=False))


def fold(text: str) -> str:
    """The form in which names are compared."""
    if text.isascii():
        return text.lower()
    return normalize("NFC", normalize("NFC", text).casefold())


def path_of(text: str, below: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Folders that the path `text` names, as seen from the folder `below`."""
    known = [] if text[:1] in {"/", "\\", "~"} else list(below)
    for part in _SEPARATORS.split(text):
        if part == "..":
            del known[-1:]
        elif _UNKNOWN.search(part) or part.startswith("~") or _DRIVE.fullmatch(part):
            known.clear()
        elif part not in {"", "."}:
            known.append(fold(part))
    return tuple(known)


def name_of(text: str, below: tuple[str, ...] = ()) -> Name | None:
    """The name that `text` is, or None when its base name is not known or holds what cannot be printed."""
    if not text.isprintable():
        return None
    if "/" not in text and "\\" not in text:
        return None if _UNKNOWN.search(text) else Name(text, fold(text), below)
    folder, base = text[: -len(last)] if (last := _SEPARATORS.split(text)[-1]) else text, last
    if not base or _UNKNOWN.search(base):
        return None
    if folder.startswith("\\\\"):
        folder = "/" + folder.lstrip("\\").partition("\\")[2]
    return Name(text, fold(base), path_of(folder, below))


class Matcher:
    """Finds names that end in one of some extensions."""

    def __init__(self, extensions: frozenset[str]) -> None:
        cleaned = {fold(extension.removeprefix(".")) for extension in extensions} - {""}
        longest_first = sorted(cleaned, key=lambda extension: (-len(extension), extension))
        self._suffixes = tuple("." + extension for extension in longest_first)
        either = "|".join(map(re.escape, longest_first)) or r"(?!)"
        self._hint = re.compile(rf"[.,{{\"'\\](?:{either})(?!{_GOES_ON})")
        self._ending = re.compile(rf"\.(?:{either}){_NOT_AFTER}", re.IGNORECASE)
        self._token = re.compile(
            rf"(?<![^{_STOPS}])[^{_STOPS}]{{1,{_LONGEST}}}\.(?:{either}){_NOT_AFTER}", re.IGNORECASE
        )
        self._joint = re.compile(rf"(\.(?:{either}))/", re.IGNORECASE)
        self._escaped_dot = re.compile(rf"\\(?=\.(?:{either})\Z)", re.IGNORECASE)

    def hints(self, text: str) -> bool:
        """Whether looking closer can find anything; cheap, and never wrongly False for a name in one piece."""
        return self._hint.search(text.lower() if text.isascii() else fold(text)) is not None

    def inside(self, text: str) -> bool:
        """Whether an extension stands somewhere in this word."""
        return self._ending.search(text) is not None

    def whole(self, text: str) -> bool:
        """Whether this word of a command line is, as it stands, the path of one file (spaces included)."""
        if not fold(text).endswith(self._suffixes) or _PATH.fullmatch(text) is None:
            return False
        return " " not in text or _OPTION_INSIDE.search(text) is None

    def name(self, text: str, below: tuple[str, ...] = ()) -> Name | None:
        """The name that a whole word is."""
        if "\\." in text:
            text = self._escaped_dot.sub("", text)
        return self.stem(name_of(text, below))

    def simple(self, text: str, below: tuple[str, ...] = ()) -> Name | None:
        """The name that a word of letters, digits, dots, dashes and slashes is, if it has one of the extensions."""
        return self.stem(name_of(text, below)) if text.lower().endswith(self._suffixes) else None

    def stem(self, name: Name | None) -> Name | None:
        """The name, unless it is nothing but an extension (`.json`)."""
        return None if name is None or name.base in self._suffixes else name

    def scan(self, text: str, below: tuple[str, ...] = ()) -> Iterator[tuple[int, int, Name]]:
        """Names in running text or code, each with where it starts and ends."""
        if not text.isascii():
            text = normalize("NFC", text)
        if "://" in text:
            yield from self._urls(text)
            text = _URL.sub(lambda found: "\0" * len(found[0]), text)
        if "$" in text:
            text = _SCOPED.sub(r"\1_", text)
        for found in self._token.finditer(text):
            token = self._trimmed(text[found.start() - 1 : found.start()], found[0])
            name = self.stem(name_of(token, below)) if token else None
            if name is not None:
                yield found.start(), found.end(), name

    def prose(self, text: str) -> Iterator[tuple[int, Name]]:
        """Names in a sentence or topic, where a slash may also part two of them or a file and something in it
        (`a.csv/b.csv`, `model.ckpt/layer 3`)."""
        for start, _, name in self.scan(self._joint.sub("\\1\0", text)):
            yield start, name

    def _urls(self, text: str) -> Iterator[tuple[int, int, Name]]:
        for found in _URL.finditer(text):
            path = unquote(found[1]).rstrip(".,;:!")
            name = self.stem(name_of(path)) if fold(path).endswith(self._suffixes) else None
            if name is not None:
                yield found.start(1), found.end(1), name

    def _trimmed(self, before: str, token: str) -> str:
        """The token without what belongs to its surroundings; empty when it is only the end of a pattern."""
        if before and (before in "*?]" or (before in "})" and token[0] not in "/\\")):
            return ""
        if before == ":":
            token = _PORT.sub("", token, count=1) if _PORT.match(token) else token
            token = token[1:] if token.startswith("\\\\") else token
        if "\\." in token:
            token = self._escaped_dot.sub("", token)
        return token.lstrip("-!@^+")


@lru_cache(maxsize=64)
def matcher_for(extensions: frozenset[str]) -> Matcher:
    """The (cached) matcher for a set of extensions, given without a dot; an empty set matches nothing."""
    return Matcher(extensions)
