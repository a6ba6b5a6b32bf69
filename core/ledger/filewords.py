"""Walks through the simple commands of a shell command and keeps where on disk it reads and writes.

Unlike :mod:`core.ledger.looking`, which compares names with topics, this keeps whole paths, of files with any ending.
What runs on another machine or in a container (`ssh`, `docker exec`) names no file here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from core.ledger import shellwords
from core.ledger.codetext import looks_like_path, paths_in_code
from core.ledger.expansion import Variables
from core.ledger.pipelines import consumer, fed_into, reads_listing
from core.ledger.places import resolved
from core.ledger.programs import SEARCHERS, Role
from core.ledger.roles import roles_of
from core.ledger.shellwords import Simple, UnreadableError, Word
from core.ledger.wrappers import ASSIGNMENT, command_at, program
from core.ledger.writers import written_words

MAX_PATHS: Final = 200
"""Paths kept of one command, read and written apart; further ones are dropped."""
MAX_COMMAND: Final = 32_768
"""Characters of a command that are read."""

_READING = """
    awk bat cat cksum cmp column comm cut diff du file gawk gc get-content gsed head hexdump jq less ls mawk md5sum more
    nl od paste readlink realpath rev sed sha1sum sha256sum sort source stat strings tac tail type uniq wc xxd yq zcat .
"""
_READERS: Final = SEARCHERS.union(_READING.split())
"""Programs of which each operand is a file, whatever it is called; to others only what looks like a path is one."""
_ELSEWHERE: Final = frozenset({"ssh", "docker", "podman", "kubectl", "nerdctl", "docker-compose", "wsl", "chroot"})
_MOVING: Final = frozenset({"cd", "pushd", "set-location"})
_DECLARING: Final = frozenset({"export", "local", "declare", "readonly", "typeset"})
_HEADS: Final = frozenset({"do", "then", "{", "else"})
_IN_FOLDER: Final = frozenset({"git", "make", "gmake", "ninja", "tar", "npm", "pnpm", "cargo", "go"})
_REVISION: Final = re.compile(r"[\w./~^@-]*:(?=[^/\\])")
_KEY: Final = re.compile(r"(?:-{1,2}[\w.\-]+|[A-Za-z_]\w*)=@?")


class FileWords:
    """Paths of one command line, resolved against the folder it is run in, each once and in order.

    Attributes:
        reads: files it looks at.
        writes: files it writes, moves or removes.
        patterns: absolute globs it looks at (`/proj/data/*.csv`).
        folder: the folder at its end; empty when that is not known.
    """

    def __init__(self, command: str, directory: str, home: str = "") -> None:
        self.reads: dict[str, None] = {}
        self.writes: dict[str, None] = {}
        self.patterns: dict[str, None] = {}
        self.folder = resolved(directory, "")
        self._home = home
        self._variables = Variables()
        self._read(command[:MAX_COMMAND], 0)

    def _read(self, text: str, depth: int) -> None:
        try:
            script = shellwords.read(text, depth=depth, lenient=True)
        except UnreadableError:
            return
        folders = {0: self.folder}
        for index, simple in enumerate(script.commands):
            if simple.scope not in folders:
                folders[simple.scope] = folders.get(script.parents[simple.scope], folders[0])
            self.folder = folders[simple.scope]
            self._simple(script.commands, index, depth)
            folders[simple.scope] = self.folder
        self.folder = folders[0]

    def _simple(self, commands: list[Simple], index: int, depth: int) -> None:
        simple = commands[index]
        self._assign(simple.words)
        words = [
            Word(word.at, text, word.quoted, word.glob)
            for word in simple.words
            for text in self._variables.expanded(word)
        ][: 4 * MAX_PATHS]
        texts = [word.text for word in words]
        start, _ = command_at(texts)
        name = program(texts[start]) if start < len(texts) else ""
        if not _ELSEWHERE.intersection(map(program, texts[: start + 1])):
            self._arguments(simple, words, texts, start, depth)
        for operator, word in simple.redirects:
            for text in self._variables.expanded(word):
                if operator in {"<", "<>"}:
                    self._keep(self.reads, text)
                elif operator != ">&" or not text.rstrip("-").isdigit():
                    self._keep(self.writes, text)
        if simple.bodies and (kind := consumer(commands, index)):
            for body in simple.bodies:
                self._nested(kind, body.text, depth)
        if name in _MOVING:
            self._move(texts[start + 1 :])

    def _arguments(self, simple: Simple, words: list[Word], texts: list[str], start: int, depth: int) -> None:
        outside, name = self.folder, program(texts[start]) if start < len(texts) else ""
        if name in _IN_FOLDER and "-C" in texts[start:-1]:
            self.folder = self._place(texts[texts.index("-C", start) + 1])
        for text in written_words(texts, start):
            self._keep(self.writes, text)
        sink = fed_into(simple) if simple.sink else ()
        listing = simple.source is not None and reads_listing(simple)
        roles = roles_of(texts, start, fed_into=sink, reads_listing=listing)
        for place, (role, word) in enumerate(zip(roles, words, strict=True)):
            if role in {"shell", "code", "search"}:
                self._nested(role, word.text, depth)
            elif role == "look" and place > start:
                self._look(word, name)
        self.folder = outside

    def _look(self, word: Word, name: str) -> None:
        text = word.text
        if text.startswith("-"):
            text = text.partition("=")[2]
        elif found := _KEY.match(text):
            text = text[found.end() :]
        text = text.removeprefix("@")
        if name == "git" and (found := _REVISION.match(text)):
            text = text[found.end() :]
        if word.glob:
            star = text.find("*")
            if star >= 0 and (folder := self._place(text[:star].rpartition("/")[0] or ".")):
                self._add(self.patterns, folder.rstrip("/") + "/" + text.rpartition("/")[2])
        elif looks_like_path(text) or (word.quoted and looks_like_path(text.replace(" ", "_"))) or name in _READERS:
            self._keep(self.reads, text)

    def _nested(self, role: Role, text: str, depth: int) -> None:
        if role == "shell":
            self._read(text, depth + 1)
        elif role == "code":
            for value in self._variables.replaced(text):
                for path, written in islice(paths_in_code(value), MAX_PATHS):
                    self._keep(self.writes if written else self.reads, path)

    def _move(self, args: Sequence[str]) -> None:
        to = [arg for arg in args if not arg.startswith("-") or arg == "-"]
        self.folder = self._place(to[-1] if to else "~")

    def _assign(self, words: list[Word]) -> None:
        texts = [word.text for word in words]
        head = next((index for index, text in enumerate(texts) if text not in _HEADS), 0)
        if texts[head : head + 1] == ["for"] and texts[head + 2 : head + 3] == ["in"]:
            self._variables.set(texts[head + 1], words[head + 3 :])
            return
        start, _ = command_at(texts)
        declares = start < len(texts) and texts[start] in _DECLARING
        for word, text in zip(words, texts if declares else texts[:start], strict=False):
            if found := ASSIGNMENT.match(text):
                self._variables.set(found[1], [Word(word.at, found[2], word.quoted, word.glob, word.braces)])

    def _place(self, text: str) -> str:
        return resolved(text, self.folder, self._home)

    def _keep(self, kept: dict[str, None], text: str) -> None:
        path = self._place(text)
        if path and not path.startswith(("/dev/", "/proc/", "/sys/")):
            self._add(kept, path)

    def _add(self, kept: dict[str, None], path: str) -> None:
        if len(kept) < MAX_PATHS:
            kept[path] = None
