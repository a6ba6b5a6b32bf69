"""Walks through the simple commands of a shell command and keeps which files they look at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from core.ledger import shellwords
from core.ledger.codetext import names_in_code, names_in_text
from core.ledger.expansion import Variables
from core.ledger.names import Matcher, Name, path_of
from core.ledger.pipelines import consumer, fed_into, reads_listing
from core.ledger.programs import Role
from core.ledger.roles import roles_of
from core.ledger.shellwords import Simple, UnreadableError, Word
from core.ledger.wrappers import ASSIGNMENT, command_at, program

_MAX_NAMES = 200
"""Names kept of one call; what stands behind them is not read."""
_SIMPLE = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./\-]*")
_QUERY = re.compile(r"\?[\w.-]+=")
_KEY = re.compile(r"(-{0,2}[\w.\-]+)=@?")
# A quoted word that begins like this is a command for some program that runs it (`tmux send-keys "xxd model.ckpt"`).
_COMMANDS = re.compile(
    r"cat|head|tail|less|xxd|hexdump|od|ls|stat|file|wc|strings|sha256sum|diff|cmp|sort|grep|rg|awk|sed|jq|find|python3?"
    r"|node|bash|sh|sqlite3|cp|mv|rm|touch|cd|sudo"
)
_DECLARING = frozenset({"export", "local", "declare", "readonly", "typeset"})
_MOVING = frozenset({"cd", "pushd", "popd", "Set-Location"})
_LOOP_HEADS = frozenset({"for", "do", "then", "{", "else"})
_Finder = Callable[[str, Matcher, tuple[str, ...]], Iterator[tuple[int, Name, bool]]]


class _EnoughError(Exception):
    """So many names were found that no more are looked for."""


class Looking:
    """What one call looks at, collected while its commands are read."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._looks: list[tuple[int, Name]] = []
        self.asides: list[Name] = []
        """Names that are written, filed away or only talked about."""
        self._variables = Variables()
        self._assigned: dict[str, list[tuple[int, Name]]] = {}
        self._folders: tuple[str, ...] = ()

    def run(self, text: str, *, lenient: bool) -> None:
        """Read the call's command line; `lenient`: its end was cut off.

        Raises:
            UnreadableError: it is no shell command.
        """
        try:
            self.read(text, lenient=lenient)
        except _EnoughError:
            return

    def looked(self) -> tuple[Name, ...]:
        """The names looked at, in order of appearance."""
        for variable, names in self._assigned.items():
            if variable not in self._variables.used:
                self._looks += names
        if len(self._looks) > 1:
            self._looks.sort(key=_where)
        return tuple([name for _, name in self._looks])

    def read(self, text: str, at: int = 0, depth: int = 0, *, lenient: bool = False) -> None:
        """Read a command line that starts at character `at` of the call's.

        Raises:
            UnreadableError: it is no shell command.
        """
        script = shellwords.read(text, depth=depth, lenient=lenient)
        outside = self._folders
        folders = {0: outside}
        for index, simple in enumerate(script.commands):
            if simple.scope not in folders:
                folders[simple.scope] = folders.get(script.parents[simple.scope], outside)
            self._folders = folders[simple.scope]
            self._simple(script.commands, index, at, depth)
            folders[simple.scope] = self._folders
        self._folders = outside

    def _simple(self, commands: list[Simple], index: int, at: int, depth: int) -> None:
        simple = commands[index]
        words = [word.text for word in simple.words]
        start, _ = command_at(words)
        dotted = [place for place, text in enumerate(words) if "." in text or "$" in text or "{" in text]
        waiting = [place for place in dotted if self._counts(simple.words[place])]
        taken = self._assignments(simple.words, words, start, at) if _may_assign(words, start) else ()
        if waiting:
            sink = fed_into(simple) if simple.sink else ()
            listing = simple.source is not None and reads_listing(simple)
            roles = roles_of(words, start, fed_into=sink, reads_listing=listing)
            for place in waiting:
                if place not in taken:
                    role = roles[place]
                    if role == "text" and program(words[start]) in {"echo", "printf"}:
                        role = consumer(commands, index) or "text"
                    self._word(role, simple.words[place], at, depth)
        for operator, word in simple.redirects:
            self._word("look" if operator in {"<", "<>"} else "aside", word, at, depth)
        if simple.bodies and (kind := consumer(commands, index)):
            for body in simple.bodies:
                self._word(kind, body, at, depth)
        if start < len(words) and words[start] in _MOVING:
            self._move(words[start + 1 :])

    def _counts(self, word: Word) -> bool:
        """Whether reading the word can bring a name."""
        text = word.text
        return ("." in text and self._matcher.inside(text)) or word.braces or ("$" in text and bool(self._variables))

    def _move(self, args: list[str]) -> None:
        """The working folder changes; unknown ones (`cd -`, `popd`) leave no folder known."""
        to = [arg for arg in args if not arg.startswith("-")]
        self._folders = path_of(self._variables.replaced(to[-1])[0], self._folders) if to else ()

    def _assignments(self, words: list[Word], texts: list[str], start: int, at: int) -> set[int]:
        """Take assignments and the list of a `for` loop; returns the words that were one."""
        head = next((index for index, text in enumerate(texts) if text not in {"do", "then", "{", "else"}), 0)
        if texts[head : head + 1] == ["for"] and texts[head + 2 : head + 3] == ["in"]:
            self._assign(texts[head + 1], words[head + 3 :], at)
            return set(range(len(words)))
        taken = set()
        declares = start < len(texts) and texts[start] in _DECLARING
        for index, text in enumerate(texts if declares else texts[:start]):
            if "=" in text and (found := ASSIGNMENT.match(text)):
                value = msgspec.structs.replace(words[index], text=found[2], at=words[index].at + found.start(2))
                self._assign(found[1], [value], at)
                taken.add(index)
        return taken

    def _assign(self, name: str, values: list[Word], at: int) -> None:
        names = [(where, found) for word in values if not word.glob for where, found, _ in self._names(word, at)]
        self._variables.set(name, values)
        if names:
            self._assigned.setdefault(name, []).extend(names)

    def _word(self, role: Role, word: Word, at: int, depth: int) -> None:
        if role == "look" and _SIMPLE.fullmatch(word.text):
            if name := self._matcher.simple(word.text, self._folders):
                self._add(at + word.at, name, aside=False)
        elif role == "text":
            self._variables.replaced(word.text)
        elif role == "shell" or (role == "look" and word.quoted and _is_command(word.text)):
            self._shell(word, at, depth)
        elif role in {"code", "search"} or not word.glob:
            find = {"code": names_in_code, "search": names_in_text}.get(role)
            found = self._within(find, word, at) if find else self._names(word, at)
            for where, name, written in found:
                self._add(where, name, aside=written or role == "aside")

    def _shell(self, word: Word, at: int, depth: int) -> None:
        for text in self._variables.expanded(word):
            try:
                self.read(text, at + word.at, depth + 1)
            except UnreadableError:
                for where, name, written in names_in_text(text, self._matcher, self._folders):
                    self._add(at + word.at + where, name, aside=written)

    def _add(self, where: int, name: Name, *, aside: bool) -> None:
        if len(self._looks) + len(self.asides) >= _MAX_NAMES:
            raise _EnoughError
        if aside:
            self.asides.append(name)
        else:
            self._looks.append((where, name))

    def _within(self, find: _Finder, word: Word, at: int) -> Iterator[tuple[int, Name, bool]]:
        for text in self._variables.expanded(word):
            for where, name, written in find(text, self._matcher, self._folders):
                yield at + word.at + where, name, written

    def _names(self, word: Word, at: int) -> Iterator[tuple[int, Name, bool]]:
        """Names in a word of the command line: where, which, and whether the word itself says that it is written."""
        for variant in self._variables.expanded(word):
            text = variant if "://" in variant or "?" not in variant else _QUERY.split(variant, maxsplit=1)[0]
            paths = self._paths(text)
            if paths is None:
                for where, name, written in names_in_text(text, self._matcher, self._folders):
                    yield at + word.at + where, name, written
                continue
            for path in paths:
                if known := self._matcher.name(path, self._folders):
                    yield at + word.at, known, False

    def _paths(self, text: str) -> list[str] | None:
        """The paths that a word is made of; None when it is none and has to be searched."""
        if key := _KEY.match(text):
            text = text[key.end() :]
        text = text.removeprefix("@")
        for separator in (",", " "):
            pieces = text.split(separator)
            if len(pieces) > 1 and all(map(self._matcher.whole, pieces)):
                return pieces
        if not self._matcher.whole(text):
            return None
        return [] if text.startswith("-") else [text]


def _where(look: tuple[int, Name]) -> int:
    return look[0]


def _may_assign(words: list[str], start: int) -> bool:
    """A cheap look whether there can be an assignment or a `for` loop."""
    return start > 0 or (bool(words) and (words[0] in _LOOP_HEADS or words[0] in _DECLARING))


def _is_command(text: str) -> bool:
    first, space, _ = text.partition(" ")
    return space != "" and _COMMANDS.fullmatch(first) is not None
